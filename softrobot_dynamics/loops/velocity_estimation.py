# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Velocities that a driver does not report, estimated from its positions; no ROS.

A straight line is fitted to the newest positions of each coordinate by least squares, and the
state taken at the centre of that window: there the mean of the positions lies on the line, its
slope is the velocity without a bias by constant acceleration, and both are of the same moment,
which is known. The law is told how late that is and predicts with its model, which leaves less of
noise and of steps of an encoder in the commands than any estimate for the present
(`benchmarks/missing_velocities.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.periodic_coordinates import whole_turns
from softrobot_dynamics.loops.realtime import SECOND

MODES = 'auto', 'measured', 'differentiated'
"""Velocities are estimated where a message has none; never; always."""

MAX_WINDOW, MIN_WINDOW = 9, 3  # positions
MAX_CENTRE_AGE = SECOND // 100  # [ns] of the centre of a window of more than MIN_WINDOW
MAX_DEVIATION = 0.05  # [rad or lengths of the body] from the line; beyond it another motion begins
_MAX_SILENT_WINDOWS = 4  # without a position, after which a window is discarded


def delay_of(period: int) -> int:
    """Return by how much the estimated state of a stream with a period [ns] is late [ns]."""
    late = [(size - 1) * period // 2 for size in range(MAX_WINDOW, MIN_WINDOW - 1, -1)]
    return next((each for each in late if each <= MAX_CENTRE_AGE), late[-1])


class EstimatedState(NamedTuple):
    """A state at the centre of a window."""

    q: Vector  # (n,)
    qd: Vector  # (n,) where measured the mean of what was measured
    late: int  # [ns] from that centre to the newest position


class _Window:
    """The newest states of one motion."""

    def __init__(self, n: int) -> None:
        self._times = np.zeros(MAX_WINDOW, dtype=np.int64)
        self._q, self._qd = np.zeros((2, MAX_WINDOW, n))
        self.count = 0

    @property
    def full(self) -> bool:
        """Tell whether there are enough positions for a line."""
        return self.count >= MIN_WINDOW

    def clear(self) -> None:
        """Forget everything."""
        self.count = 0

    def drop(self) -> None:
        """Forget the newest state."""
        self.count = max(0, self.count - 1)

    def ahead(self, time: int) -> Vector | None:
        """Return where the line is at a time [ns], None if that is too long after the last."""
        k = self.count
        if k == 0 or not 0 < time - self._times[k - 1]:
            return None
        if k == 1:
            return self._q[0]
        span = int(self._times[k - 1] - self._times[0])
        passed = int(time - self._times[k - 1])
        if passed > _MAX_SILENT_WINDOWS * span:
            return None
        q: Vector = self._q[k - 1] + passed * 1e-9 * self.slope()
        return q

    def turn(self, added: Vector) -> None:
        """Add whole turns (n,) [rad] to the positions."""
        self._q[: self.count] += added

    def add(self, q: Vector, qd: Vector, time: int) -> None:
        """Add a state at a time [ns]."""
        while self.count == MAX_WINDOW or (
            self.count >= MIN_WINDOW and time - self._times[0] > 2.2 * MAX_CENTRE_AGE
        ):  # the oldest one is too old
            k = self.count
            self._times[: k - 1], self._q[: k - 1] = self._times[1:k], self._q[1:k].copy()
            self._qd[: k - 1] = self._qd[1:k].copy()
            self.count -= 1
        k = self.count
        self._times[k], self._q[k], self._qd[k] = time, q, qd
        self.count += 1

    def slope(self) -> Vector:
        """Return the slope of the line [1/s]; zero for a single position."""
        k = self.count
        x = (self._times[:k] - self._times[0]) * 1e-9
        x -= x.mean()
        square = x @ x
        slope: Vector = (x @ self._q[:k]) / square if square > 0.0 else np.zeros(self._q.shape[1])
        return slope

    def centre(self) -> EstimatedState:
        """Return the state at the centre."""
        k = self.count
        qd = self._qd[:k].mean(axis=0)
        unknown = np.isnan(qd)
        if unknown.any():
            qd[unknown] = self.slope()[unknown]
        late = self._times[k - 1] - self._times[0] - (self._times[:k] - self._times[0]).mean()
        return EstimatedState(self._q[:k].mean(axis=0), qd, int(late))


class VelocityEstimator:
    """
    Estimates the velocities that are nan in the states of one stream.

    ``unit`` (n,): change of the shape by one unit of a coordinate; ``turn`` (n,): 2 pi of an angle
    that may be reported within a turn, else 0; see
    :class:`~softrobot_dynamics.loops.state_validation.StateBounds`. A position that is far from
    where the motion leads begins another window, so that an outlier spoils no velocity.
    """

    def __init__(self, unit: Vector, turn: Vector) -> None:
        self._unit, self._turn = unit, turn
        self._accepted, self._others = _Window(len(unit)), _Window(len(unit))
        self._used = self._others

    def propose(self, q: Vector, qd: Vector, time: int) -> Vector:
        """Return the velocities (n,) at a new state of a time [ns], for the validation of it."""
        for window in (self._accepted, self._others):
            there = window.ahead(time)
            if there is None:
                continue
            turned = whole_turns(q - there, self._turn)
            if (abs(q - there - turned) * self._unit <= MAX_DEVIATION).all():
                if turned.any():
                    window.turn(turned)
                break
        else:
            window = self._others
            window.clear()
        window.add(q, qd, time)
        self._used = window
        return np.where(np.isnan(qd), window.slope(), qd)

    def refuse(self) -> None:
        """Forget the state that was proposed last, unless it may be one of another motion."""
        if self._used is self._accepted:
            self._accepted.drop()

    def accept(self) -> EstimatedState | None:
        """Return the state at the centre of the window of the last one, None: too few yet."""
        if self._used is self._others:
            self._accepted, self._others = self._others, self._accepted
            self._others.clear()
        return self._used.centre() if self._used.full else None
