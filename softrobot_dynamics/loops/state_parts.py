# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
States that come in parts on several topics, as whole states to act on; no ROS.

Each topic has a sender, a clock and a rate of its own, so each part is dated, validated and
unwrapped by itself. One of the parts makes a tick; the others are converted to its time by their
velocities, or all to an earlier one if some part is older (:mod:`~.loops.part_synchronisation`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.contracts import MessageInbox
from softrobot_dynamics.loops.message_contracts import StateMessage
from softrobot_dynamics.loops.part_synchronisation import PartSynchronisation, StateHistory
from softrobot_dynamics.loops.sensor_clock import SensorClock
from softrobot_dynamics.loops.state_reader import StateReader
from softrobot_dynamics.loops.state_stream import StateStream
from softrobot_dynamics.loops.statistics import Window

_MAX_MESSAGES_PER_PERIOD = 32  # of a part and the ticks; beyond it the thread rests
_MIN_STEPS = 3  # of each part, before the slowest is known


class SourcePart(NamedTuple):
    """One of the parts in which states come."""

    name: str
    indices: tuple[int, ...]  # of its coordinates (k,)
    stream: StateStream
    steps: Window  # from one state that was accepted to the next, by arrivals [ns]


class PartReader:
    """
    Positions of all coordinates from messages (part, message) of some parts.

    ``parts`` of :class:`StateReader` and indices (k,) each; ``q`` (n,) where none has come.
    """

    def __init__(self, readers: Sequence[tuple[StateReader, Sequence[int]]], q: Vector) -> None:
        self._readers = [(reader, np.array(indices)) for reader, indices in readers]
        self._q, self.parts = q.copy(), len(readers)

    def read(self, numbered: tuple[int, StateMessage]) -> tuple[Vector]:
        """Return (q (n,)) with those of a message; MessageError if it is unusable."""
        reader, indices = self._readers[numbered[0]]
        self._q[indices] = reader.read(numbered[1])[0]
        return (self._q,)


class StateParts:
    """
    States in parts, as :class:`StateStream` for all coordinates; messages are (part, message).

    A message of the part ``tick`` makes a whole state, at its moment; '' for the slowest part, as
    it is found when all are first there. The others are brought to that moment by their
    velocities, and ages count by stamps: those of ``shared_clock`` as they are, those of clocks of
    their own as if the fastest message of the last second had taken no time. A part that is silent
    for longer than the watchdog ends all.

    If a part is older at the ticks than velocities make up for, and the law ``predicts`` states
    that are late, whole states are of a moment ``delay`` [ns] before the ticks, see
    :class:`PartSynchronisation`.
    """

    def __init__(
        self,
        parts: Sequence[SourcePart],
        tick: str = '',
        shared_clock: bool = False,
        predicts: bool = True,
    ) -> None:
        self.parts = tuple(parts)
        self.stamp = self.arrival = self.expires = self.delay = 0
        self.moved = False
        self.header: Any = None
        self._shared = shared_clock
        self._wanted = next((part for part in self.parts if part.name == tick), None)
        self._tick: SourcePart | None = self._wanted
        self._stamps = [SensorClock() for _ in self.parts]  # by stamps of their headers
        self._moments = [0] * len(self.parts)  # of the last states, by one clock [ns]
        self._ages = PartSynchronisation(len(self.parts), self.parts[0].stream.period, predicts)
        self._histories = [StateHistory() for _ in self.parts]
        self._indices = [np.array(part.indices) for part in self.parts]
        self._q, self._qd = np.zeros((2, sum(len(part.indices) for part in self.parts)))

    @property
    def ignored(self) -> tuple[str, ...]:
        """The names in the last messages that are none of the coordinates."""
        return tuple(name for part in self.parts for name in part.stream.ignored)

    @property
    def estimated(self) -> tuple[str, ...]:
        """The names of the coordinates whose velocities were missing in some message."""
        return tuple(name for part in self.parts for name in part.stream.estimated)

    @property
    def ages(self) -> Sequence[Window]:
        """The ages of the parts at the last ticks, as far as known [ns]."""
        return self._ages.windows

    @property
    def lateness(self) -> int:
        """The largest delay of estimated velocities among the parts [ns]."""
        return max(part.stream.delay for part in self.parts)

    def silent(self, moment: int) -> tuple[str, ...]:
        """Return the names of the parts without a valid state at a moment [ns]."""
        return tuple(part.name for part in self.parts if part.stream.expires <= moment)

    def forget(self, moment: int) -> None:
        """Accept none of the states of the parts that are silent at a moment [ns]."""
        for index, part in enumerate(self.parts):
            if part.stream.expires <= moment:
                part.stream.forget(moment)
                self._histories[index].clear()
                self._tick = self._wanted

    def take(
        self,
        numbered: tuple[int, StateMessage],
        inbox: MessageInbox[Any],
        arrival: int,
        due: int,
        watchdog: int,
    ) -> bool:
        """As :meth:`StateStream.take`, of a part; a MessageError names it."""
        index, message = numbered
        part = self.parts[index]
        before = part.stream.arrival
        if arrival - before < part.stream.period // _MAX_MESSAGES_PER_PERIOD:
            inbox.rest()  # other parts would never have their turn
        try:
            if not part.stream.take(message, inbox, arrival, due, watchdog):
                return False
            if before:
                part.steps.add(arrival - before)
            self._date(index, arrival, watchdog)
        except MessageError as error:
            raise MessageError(f'{error.reason} (part {part.name})') from None
        self.expires = min(each.stream.expires for each in self.parts)
        if self.expires <= arrival:  # of some part there is none
            return False
        if self._tick is None:
            if min(each.steps.count for each in self.parts) < _MIN_STEPS:
                return False
            self._tick = max(self.parts, key=lambda each: each.steps.median() or 0.0)
        if part is not self._tick:
            return False
        stream = part.stream
        self.stamp, self.arrival = stream.stamp, arrival
        self.header = message.header
        if not self._shared and max(self._moments) - min(self._moments) > watchdog:
            self._count_anew()  # a clock was set, or stood still
        return self._assemble(self._moments[index] + stream.late, stream.delay, watchdog)

    def _count_anew(self) -> None:
        """Restart the clocks: states are dated by their arrivals from now on."""
        self._stamps = [SensorClock() for _ in self.parts]
        for index, part in enumerate(self.parts):
            self._histories[index].clear()
            self._keep(index, part.stream.arrival - part.stream.late)

    def _date(self, index: int, arrival: int, watchdog: int) -> None:
        """Note the moment of the state of a part that was accepted."""
        stream, clock = self.parts[index].stream, self._stamps[index]
        stamp = stream.stamp
        if self._shared and stamp:
            arrival = stamp
        elif stamp:
            clock.update(stamp, arrival)
            arrival -= clock.age(stamp, arrival)
        moment = arrival - stream.late
        if stream.moved or abs(moment - self._moments[index]) > watchdog:
            self._histories[index].clear()  # nobody knows what was in between
        self._keep(index, moment)

    def _keep(self, index: int, moment: int) -> None:
        """Store the newest state of a part, with its time."""
        stream = self.parts[index].stream
        self._histories[index].add(stream.q.copy(), stream.qd.copy(), moment)
        self._moments[index] = moment

    def _assemble(self, moment: int, least: int, watchdog: int) -> bool:
        """Assemble the state of a tick at a moment, ``least`` before it or more; if known."""
        for part, there in zip(self.parts, self._moments):
            if self._shared and abs(moment - there) > watchdog:
                behind = f'{(moment - there) * 1e-9:.3g} s before that of the tick'
                raise MessageError(
                    f'stale: part {part.name} is stamped {behind}: expected stamps of one clock,'
                    ' or states.shared_clock: false'
                )
        self._ages.add([moment - there for there in self._moments], least)
        if not self._ages.known:
            return False
        self.delay = self._ages.delay
        q, qd = np.empty_like(self._q), np.empty_like(self._q)
        for part, own, history in zip(self.parts, self._indices, self._histories):
            q[own], qd[own] = history.at(moment - self.delay)
            self.moved |= part.stream.moved
            part.stream.moved = False
        self._q, self._qd = q, qd
        return True

    def state(self) -> tuple[Vector, Vector]:
        """Return (q, qd) at the stamp, or ``delay`` before it."""
        return self._q, self._qd
