# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
State validation: does a state follow from those before it? No ROS.

Three questions, none of which compares metres with radians: does its stamp come after the last
one, and not far ahead of it, as time has passed here? Is every rate one that its joint can have?
Have the positions gone where the velocities led? For the last, changes of a coordinate are
measured by what they do to the shape of the robot, see
:class:`softrobot_dynamics.model.scales.Scales`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.dynamics.periodic_coordinates import (
    distance,
    periodic_coordinates,
    PeriodicCoordinates,
    RotationVectors,
)
from softrobot_dynamics.errors import ArgumentError, MessageError
from softrobot_dynamics.loops.unwrapping import meet, Unwrapped

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

#: Verdicts on a state that is not refused.
UNCONFIRMED, FOLLOWS, MOVED = range(3)

MAX_SPEED_RATIO = 2.0  # of the joint's `limits.velocity`; beyond it the sensor is wrong
MIN_CONSISTENT_STATES = 3  # in a row
MIN_CONSISTENT_TIME = 40_000_000  # [ns] for which states have to agree before they are accepted
MAX_STAMP_LEAD = 100_000_000  # [ns] of a stamp to the time that has passed here
# [ns] more than states usually are: they may have waited for this process
LATE_ARRIVAL = 10_000_000
CATCH_UP_STEP = 1_000_000  # [ns] by which late states have become less late

# how far positions may be from where the velocities lead: noise and resolution of the position,
# what was forgotten of the velocities' errors, and what they do between two states
POSITION_TOLERANCE = 0.01  # [rad or lengths of the body]
VELOCITY_MEMORY = 0.02  # [s]
MOVED_DISTANCE = 0.05  # [the same] from its last position; beyond it the robot has been moved
VELOCITY_TOLERANCE = 0.2  # of T |v1 - v0|: a smooth motion has less than 0.1
# A driver that is late by up to a period may stamp by the clock what it moved by its period, or
# make up for that: then v times the difference is allowed besides, v being in both states.
PERIOD_GAIN = 0.03  # by which the usual time between states follows that of one state
_PREDICTION_TYPES = 'VECTOR, VECTOR, VECTOR, VECTOR, float64, float64'


class StateBounds(NamedTuple):
    """Bounds of the coordinates, known before any state has come."""

    names: tuple[str, ...]  # (n)
    velocity: Vector  # (n,) what the joints are built for, inf for no limit [unit/s]
    unit: Vector  # (n,) change of the shape by one unit of the coordinate [1/unit]
    turns: PeriodicCoordinates | None = None  # None: a whole turn of any one is a change


def part_of(bounds: StateBounds, indices: Sequence[int]) -> StateBounds:
    """
    Return the :class:`StateBounds` of some coordinates, in the order of increasing indices.

    ArgumentError if a rotation vector is torn apart.
    """
    own, turns = list(indices), bounds.turns
    if turns is not None:
        vectors = []
        for part, longest in turns.vectors:
            inside = [i for i in range(part.start, part.stop) if i in own]
            if inside and len(inside) < part.stop - part.start:
                torn = ', '.join(bounds.names[part])
                raise ArgumentError('states', torn, 'the rotation vector of a joint in one part')
            if inside:
                first = own.index(part.start)
                vectors.append(RotationVectors(slice(first, first + 3), longest))
        turns = PeriodicCoordinates(turns.period[own], tuple(vectors))
    names = tuple(bounds.names[i] for i in own)
    return StateBounds(names, bounds.velocity[own], bounds.unit[own], turns)


def bounds_of(model: CompiledModel) -> StateBounds:
    """Return the :class:`StateBounds` of a compiled model."""
    units, turns = 1.0 / model.scales.units, periodic_coordinates(model.description)
    return StateBounds(model.coordinate_names, model.qd_limit, units, turns)


@kernel
def check_prediction(unit, q, qd, predicted, last, T, late):
    """
    Compare q with the dead reckoning from ``predicted`` over T [s], or over T less ``late``.

    Returns the first coordinate that is elsewhere, or -1 with ``predicted`` and ``last``, the
    velocities, brought up to date: drawn a little towards q, as velocities have their errors.
    """
    for i in range(len(q)):
        gap = q[i] - predicted[i] - 0.5 * T * (last[i] + qd[i])
        bound = POSITION_TOLERANCE / unit[i] + VELOCITY_TOLERANCE * T * abs(qd[i] - last[i])
        if not abs(gap) <= bound + late * _common(last[i], qd[i]):
            return i
    share = VELOCITY_MEMORY / (VELOCITY_MEMORY + T)
    for i in range(len(q)):
        gap = q[i] - predicted[i] - 0.5 * T * (last[i] + qd[i])
        bound = POSITION_TOLERANCE / unit[i] + VELOCITY_TOLERANCE * T * abs(qd[i] - last[i])
        gap = min(max(gap, -bound), bound)  # more is a matter of the stamp, and over
        predicted[i], last[i] = q[i] - share * gap, qd[i]
    return -1


@inlined
def _common(one, other):
    """Return the lesser speed of two velocities, 0 if they point in different directions."""
    return min(abs(one), abs(other)) if one * other > 0.0 else 0.0


@kernel
def too_fast(velocity, qd):
    """Return the first coordinate that is faster than its joint can be, or -1."""
    for i in range(len(qd)):
        if not abs(qd[i]) <= MAX_SPEED_RATIO * velocity[i]:
            return i
    return -1


class _Track:
    """States that follow from one another, and where they lead."""

    def __init__(self, bounds: StateBounds, ahead: int) -> None:
        self._names, self._unit, self._max_lead = bounds.names, bounds.unit, ahead
        n = len(bounds.names)
        self._turns = bounds.turns or PeriodicCoordinates(np.zeros(n))
        self.unwrapping = np.zeros(n)  # [rad] by which angles have jumped since the first state
        self._q, self._predicted, self._velocity = np.zeros(n), np.zeros(n), np.zeros(n)
        self._check_prediction = cached(check_prediction, _PREDICTION_TYPES, unit=bounds.unit)
        self._stamp = self.arrival = self._start = self._lateness = 0
        self._usual_step = 0.0  # time between states [s], 0 before it is known
        self.count = 0  # of the states; what is kept of them means nothing while it is 0

    def begin(self, q: Vector, qd: Vector, stamp: int, arrival: int) -> None:
        """Start with this state, whatever was before."""
        self._predicted[:], self._velocity[:], self._stamp = q, qd, 0
        self.unwrapping = np.zeros(len(q))
        self._store_state(q, stamp, arrival)
        self.count, self._start, self._lateness = 1, arrival, arrival - stamp
        self._usual_step = 0.0

    def lasted(self) -> int:
        """Return the time [ns] from the first state, or the last that caught up, to the last."""
        return self.arrival - self._start

    def catch_up(self, lateness: int) -> None:
        """Let what lasts begin with the last state, if it is less late than that which began."""
        if self._lateness - lateness > CATCH_UP_STEP:
            self._start, self._lateness = self.arrival, lateness

    def refusal_reason(self, q: Vector, qd: Vector, stamp: int, arrival: int) -> str | None:
        """
        Take the state as the next one, or return in words why it is not, changing nothing.

        The words are empty if there is none before.
        """
        if not self.count:
            return ''
        passed = arrival - self.arrival
        step = stamp - self._stamp if stamp and self._stamp else passed
        if step <= 0 and stamp:
            return f'out of order: stamped {-step * 1e-9:.6f} s before the last one'
        if step - passed > self._max_lead:
            return (
                f'from the future: stamped {step * 1e-9:.3f} s after the last one,'
                f' which came {passed * 1e-9:.3f} s ago'
            )
        velocity = self._velocity
        T = max(0, step) * 1e-9
        late = min(abs(T - self._usual_step), self._usual_step)
        wrong = self._check_prediction(q, qd, self._predicted, velocity, T, late)
        if wrong >= 0 and not self._accept_whole_turns(q, qd, T, late):
            return (
                f'contradiction: {self._names[wrong]} went from {self._q[wrong]:.4g} to'
                f' {q[wrong]:.4g} in {step * 1e-9:.4g} s, at rates of {velocity[wrong]:.4g}'
                f' and {qd[wrong]:.4g}'
            )
        self._store_state(q, stamp, arrival)
        self.count += 1
        usual = self._usual_step or T
        self._usual_step = min(max(T, (1.0 - PERIOD_GAIN) * usual), (1.0 + PERIOD_GAIN) * usual)
        return None

    def _accept_whole_turns(self, q: Vector, qd: Vector, T: float, late: float) -> bool:
        """Take a state that follows but for whole turns; tell whether it does."""
        predicted, velocity = self._predicted.copy(), self._velocity.copy()
        jumps = meet(self._turns, q, predicted, velocity, T)
        if self._check_prediction(q, qd, predicted, velocity, T, late) >= 0:
            return False
        self._predicted[:], self._velocity[:] = predicted, velocity
        self.unwrapping = self.unwrapping + jumps
        return True

    def apart(self, q: Vector) -> bool:
        """Tell whether q (n,) is far from the last state, or there is none."""
        if not self.count:
            return True
        return not (abs(distance(self._turns, q, self._q)) * self._unit <= MOVED_DISTANCE).all()

    def _store_state(self, q: Vector, stamp: int, arrival: int) -> None:
        self._q[:] = q
        self.arrival = arrival
        if stamp:
            self._stamp = stamp


class StateValidator:
    """
    Refuses states that do not follow from those before.

    What it refuses it does not remember as a state, so that one outlier costs no more than itself.
    States that agree among themselves, :data:`MIN_CONSISTENT_STATES` at least and for
    :data:`MIN_CONSISTENT_TIME`, are accepted: the first ones, and those of a sender that has
    restarted, of a clock that has been set, or of a robot that has been moved. States that waited
    while this process was stopped come faster than they were made: they agree, and are too old, so
    that the time counts from the last of them.
    """

    def __init__(self, bounds: StateBounds, ahead: int = MAX_STAMP_LEAD) -> None:
        self.bounds = bounds
        self._names, self._limits = bounds.names, bounds.velocity
        self._too_fast = cached(too_fast, 'VECTOR', velocity=bounds.velocity)
        self._accepted, self._candidate = _Track(bounds, ahead), _Track(bounds, ahead)
        self._unwrapped = Unwrapped(
            bounds.turns or PeriodicCoordinates(np.zeros(len(bounds.names)))
        )
        zero = np.zeros(len(bounds.names))
        self._candidate.begin(zero, zero, 0, 0)
        self._candidate.refusal_reason(zero, zero, 0, 1)  # compiles
        self._too_fast(zero)
        self._candidate.count, self._forgotten, self._moved = 0, 1, True
        self._soonest: float = inf  # least lateness of a state that was accepted [ns]

    def forget(self) -> None:
        """Accept none of the states so far; none at all if none has come since the last call."""
        self._accepted.count = 0
        if self._candidate.arrival == self._forgotten:
            self._candidate.count = 0
        self._forgotten = self._candidate.arrival

    def check(self, q: Vector, qd: Vector, stamp: int, arrival: int) -> int:
        """
        Return FOLLOWS for a state to act on, MOVED if the robot has been moved since the last one.

        UNCONFIRMED: it agrees with those before, but not for long enough yet. ``q``, ``qd`` (n,),
        stamp [ns], 0 for none, and steady arrival time [ns]. Raises MessageError.
        """
        self._refuse_speed(qd)
        reason = self._accepted.refusal_reason(q, qd, stamp, arrival)
        if reason is None:
            self._candidate.count = 0
            self._soonest = min(self._soonest, arrival - stamp)
            return FOLLOWS
        others = self._candidate
        apart = others.refusal_reason(q, qd, stamp, arrival)
        if apart is not None:
            others.begin(q, qd, stamp, arrival)
            self._moved = self._accepted.apart(q)
        if (
            LATE_ARRIVAL
            < arrival - stamp - self._soonest
            < arrival - self._accepted.arrival + LATE_ARRIVAL
        ):
            others.catch_up(arrival - stamp)
        if others.count >= MIN_CONSISTENT_STATES and others.lasted() >= MIN_CONSISTENT_TIME:
            return self._accept(q, arrival - stamp)
        if reason or apart:
            raise MessageError(reason or str(apart))
        return UNCONFIRMED

    def unwrapped(self, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
        """Return the state that was accepted last as one without jumps by whole turns."""
        return self._unwrapped(q, qd, self._accepted.unwrapping)

    def _refuse_speed(self, qd: Vector) -> None:
        wrong = self._too_fast(qd)
        if wrong >= 0:
            raise MessageError(
                f'too fast: {self._names[wrong]} at {qd[wrong]:.4g}/s, with limits.velocity'
                f' {self._limits[wrong]:.4g} in the robot file;'
                f' {MAX_SPEED_RATIO:g} times that at most'
            )

    def _accept(self, q: Vector, lateness: int) -> int:
        self._accepted, self._candidate = self._candidate, self._accepted
        self._unwrapped.begin(q, self._accepted.unwrapping)
        self._candidate.count, self._soonest = 0, lateness
        return MOVED if self._moved else FOLLOWS
