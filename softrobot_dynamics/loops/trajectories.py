# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""References from trajectory_msgs/JointTrajectory; nothing here needs a node."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import NamedTuple, Protocol

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.message_contracts import Stamp, Stamped
from softrobot_dynamics.loops.message_fields import MAX_MAGNITUDE, NameOrder, SECOND, stamp_of
from softrobot_dynamics.references.piecewise import constant, hermite, Reference, spline

MIN_MOVING_RATIO = 1e-3  # of its greatest rate, from which an output moves


class TrajectoryPoint(Protocol):
    """A trajectory_msgs/JointTrajectoryPoint."""

    @property
    def positions(self) -> Sized: ...

    @property
    def velocities(self) -> Sized: ...

    @property
    def accelerations(self) -> Sized: ...

    @property
    def time_from_start(self) -> Stamp: ...


class JointTrajectoryMessage(Stamped, Protocol):
    """A trajectory_msgs/JointTrajectory."""

    @property
    def joint_names(self) -> Sequence[str]: ...

    @property
    def points(self) -> Sequence[TrajectoryPoint]: ...


class ReceivedTrajectory(NamedTuple):
    """K points for c outputs, whose times are since ``stamp``."""

    stamp: int  # [ns]; 0: whenever it is taken up
    times: Vector  # (K,) [s], >= 0, increasing
    y: Matrix  # (K, c)
    rates: Matrix | None
    accelerations: Matrix | None

    def ahead(self, now: int) -> float:
        """Return the time [s] from now [ns] to the first point, < 0 if it has passed."""
        return (self.stamp - now if self.stamp else 0) / SECOND + float(self.times[0])

    def reference(self, ahead: float) -> Reference:
        """
        Return the Reference whose first point is ``ahead`` [s]; MessageError if all is over.

        Outputs that pass the first point at a rate, and not yet, run up to it from rest.
        """
        times = ahead + self.times - self.times[0]
        if times[-1] < 0.0:
            raise MessageError(f'stale: its last point was {-times[-1]:.3g} s ago')
        if len(times) == 1:
            return constant(self.y[0])
        if self.rates is None:
            return spline(times, self.y)
        y, rates, accelerations = self.y, self.rates, self.accelerations
        bent = accelerations is not None and accelerations[0].any()
        if ahead > 0.0 and (bent or rates[0].any()):
            times, y = np.concatenate([[0.0], times]), np.vstack([self._run_up(ahead), y])
            rates = np.vstack([0.0 * rates[:1], rates])
            if accelerations is not None:
                accelerations = np.vstack([0.0 * accelerations[:1], accelerations])
        return hermite(times, y, rates, accelerations)

    def _run_up(self, duration: float) -> Vector:
        """Return where (c,) a motion begins that from rest reaches the first point smoothly."""
        y, rate = self.y[0], 0.0 if self.rates is None else self.rates[0]
        bend = 0.0 if self.accelerations is None else self.accelerations[0]
        return y - 0.5 * rate * duration + bend * duration**2 / 12.0


class TrajectoryReader:
    """Reads a JointTrajectory for the outputs of the actuator `names`, in their order."""

    def __init__(self, names: Sequence[str]) -> None:
        self._size, self._names = len(names), NameOrder(names)

    def read(self, message: JointTrajectoryMessage) -> ReceivedTrajectory:
        """Return the trajectory; MessageError if the message does not end at rest."""
        order = self._names.of(list(message.joint_names))
        points = message.points
        if not points:
            raise MessageError('wrong size: there are no points')
        y = self._rows(points, 'positions', order)
        rates, accelerations = (
            self._rows(points, name, order) if any(len(getattr(p, name)) for p in points) else None
            for name in ('velocities', 'accelerations')
        )
        if accelerations is not None and rates is None:
            raise MessageError('wrong size: there are accelerations, but no velocities')
        if rates is not None:
            _bring_to_rest(rates)
        return ReceivedTrajectory(
            stamp=stamp_of(message),
            times=_times(points),
            y=y,
            rates=rates,
            accelerations=accelerations,
        )

    def _rows(
        self, points: Sequence[TrajectoryPoint], field: str, order: Integers | None
    ) -> Matrix:
        """Return one field of all points (K, c), the outputs in our order."""
        sizes = [len(getattr(point, field)) for point in points]
        for i, size in enumerate(sizes):
            if size != self._size:
                words = f'point {i} has {size} {field}, expected {self._size}'
                raise MessageError(f'wrong size: {words}')
        rows = np.concatenate([getattr(point, field) for point in points]).astype(float)
        rows = rows.reshape(len(points), self._size)
        usable = (np.abs(rows) <= MAX_MAGNITUDE).all(axis=1)
        if not usable.all():
            words = f'{field} of point {np.argmin(usable)} contain NaN, inf or more than'
            raise MessageError(f'not a number: {words} {MAX_MAGNITUDE:g}')
        return rows if order is None else rows[:, order]


def _times(points: Sequence[TrajectoryPoint]) -> Vector:
    """Return the times of points (K,) [s]."""
    durations = [point.time_from_start for point in points]
    times = np.array([d.sec + d.nanosec * 1e-9 for d in durations])
    if times[0] < 0.0:
        raise MessageError(f'out of order: point 0 is {-times[0]:.3g} s before the start')
    if not (np.diff(times) > 0.0).all():
        i = int(np.argmin(np.diff(times) > 0.0)) + 1
        raise MessageError(f'out of order: point {i} is not after the one before it')
    return times


def _bring_to_rest(rates: Matrix) -> None:
    """Set rounding errors of the last rates (K, c) to zero; MessageError if they are larger."""
    if (np.abs(rates[-1]) > MIN_MOVING_RATIO * np.abs(rates).max(axis=0)).any() and rates[
        -1
    ].any():
        words = f'{[float(x) for x in rates[-1]]}, expected 0: it ends at rest'
        raise MessageError(f'contradiction: the velocities of the last point are {words}')
    rates[-1] = 0.0
