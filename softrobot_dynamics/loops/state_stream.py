# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The states on one topic: each is dated, validated, unwrapped, and given velocities; no ROS."""

from __future__ import annotations

from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.contracts import MessageInbox
from softrobot_dynamics.loops.message_contracts import StateMessage
from softrobot_dynamics.loops.message_fields import stamp_of
from softrobot_dynamics.loops.sensor_clock import SensorClock
from softrobot_dynamics.loops.state_reader import StateReader
from softrobot_dynamics.loops.state_validation import MOVED, StateValidator, UNCONFIRMED
from softrobot_dynamics.loops.velocity_estimation import delay_of, VelocityEstimator

_MAX_MISSING_VELOCITIES = 3  # messages in a row without velocities that may be a fault


STALE_STATE = 'stale: it may have been sent before the watchdog ran out'


class StateStream:
    """
    The states on one topic, of all coordinates of a robot or of some: (k,) of them.

    ``period`` [ns]: the expected one, by which the delay of estimated velocities is stated.
    Attributes of the state that was accepted last: ``q``, ``qd`` (k,), its ``stamp`` and
    ``arrival`` [ns], ``expires``, when the watchdog runs out, ``late`` [ns], by how much the state
    is older than the stamp, and ``moved``, whether the robot was moved since the one before.
    """

    def __init__(self, reader: StateReader, validator: StateValidator, period: int) -> None:
        bounds = validator.bounds
        n = len(bounds.names)
        self.q, self.qd = np.zeros(n), np.zeros(n)
        self.stamp = self.arrival = self.expires = self.late = 0
        self.moved = False
        self.header: Any = None  # of its message, as long as no other has come
        self.delay = 0  # [ns] of a state whose velocities are estimated, 0: none is
        self._reader, self._validator, self.period = reader, validator, period
        self._clock, self._sender, self._sent = SensorClock(), b'', 0  # by whose clock, and when
        self._turn = np.zeros(n) if bounds.turns is None else bounds.turns.period
        self._missing = np.zeros(n, dtype=bool)  # velocities, in some message
        self._measured, self._lacking = False, 0  # all there once; messages in a row without
        self._estimator: VelocityEstimator | None = None

    @property
    def ignored(self) -> tuple[str, ...]:
        """The names in the last message that are none of the coordinates."""
        return self._reader.ignored

    @property
    def estimated(self) -> tuple[str, ...]:
        """The names of the coordinates whose velocities were missing in some message."""
        names = self._validator.bounds.names
        return tuple(name for name, missing in zip(names, self._missing) if missing)

    @property
    def lateness(self) -> int:
        """Delay of estimated velocities [ns]."""
        return self.delay

    def silent(self, moment: int) -> tuple[str, ...]:
        """Return the names of the parts without a valid state at a moment [ns]: there are none."""
        return ()

    def forget(self, moment: int) -> None:
        """Accept none of the states so far, as :meth:`StateValidator.forget`."""
        self._validator.forget()

    def take(
        self,
        message: StateMessage,
        inbox: MessageInbox[Any],
        arrival: int,
        due: int,
        watchdog: int,
    ) -> bool:
        """
        Take a message of an inbox; return whether it has a state to act on; or MessageError.

        ``arrival``, and ``due``, when the watchdog runs out, by the steady clock; ``watchdog``
        [ns].
        """
        sent, age = inbox.sent(), 0
        known = sent.sender == self._sender and sent.stamp > self._sent  # else its clock was set
        if known:
            self._sent = sent.stamp
            self._clock.update(sent.stamp, arrival)
            age = self._clock.age(sent.stamp, arrival)
        if arrival > due or age > watchdog:
            raise MessageError(STALE_STATE)
        q, qd = self._reader.read(message)
        stamp = stamp_of(message)
        if self._reader.missing is not None:
            self._require_estimation(self._reader.missing)
        elif self._lacking or not self._measured:
            self._measured, self._lacking = True, 0
        verdict = self._check(q, qd, stamp, arrival)
        if not known:
            self._clock, self._sender, self._sent = SensorClock(), sent.sender, sent.stamp
            self._clock.update(sent.stamp, arrival)
        if verdict == UNCONFIRMED:
            return False
        self.moved |= verdict == MOVED
        if self._estimator is not None:
            found = self._estimator.accept()
            if found is None:
                return False
            q, qd, self.late = found
        self.q, self.qd = self._validator.unwrapped(q, qd)
        self.header = message.header
        self.stamp, self.arrival = stamp, arrival
        self.expires = arrival - age + watchdog
        return True

    def _require_estimation(self, missing: Array) -> None:
        """
        Estimate the velocities of the coordinates (n,) that lack them from now on.

        MessageError for the first messages without after those with all: that may be a fault.
        """
        self._lacking += 1
        if self._estimator is None and self._measured and self._lacking <= _MAX_MISSING_VELOCITIES:
            names = self._validator.bounds.names
            name = names[int(np.argmax(missing))]
            raise MessageError(f'not a number: the velocity of {name} is missing, and was there')
        self._missing |= missing
        if self._estimator is None:
            self._estimator = VelocityEstimator(self._validator.bounds.unit, self._turn)
            self.delay = delay_of(self.period)

    def _check(self, q: Vector, qd: Vector, stamp: int, arrival: int) -> int:
        """Validate a state, with estimated velocities where it has none."""
        if self._estimator is None:
            return self._validator.check(q, qd, stamp, arrival)
        qd = self._estimator.propose(q, qd, stamp or arrival)
        try:
            return self._validator.check(q, qd, stamp, arrival)
        except MessageError:
            self._estimator.refuse()
            raise

    def state(self) -> tuple[Vector, Vector]:
        """Return (q, qd) at the stamp, or ``delay`` before it."""
        if self._estimator is None:
            return self.q, self.qd
        return self.at(self.late - self.delay)

    def at(self, ahead: int) -> tuple[Vector, Vector]:
        """Return (q, qd) so much [ns] after the moment of the state, by its velocities."""
        return self.q + ahead * 1e-9 * self.qd, self.qd
