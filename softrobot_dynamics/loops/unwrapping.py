# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Unwrap angles, or rotation vectors, that a sender reports within a turn.

States are validated as reported: what the validator predicts from earlier states is shifted to the
turn of the new one. Only accepted states are unwrapped, for everything behind the validation.
"""

from __future__ import annotations

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.periodic_coordinates import (
    nearest_vector,
    PeriodicCoordinates,
    whole_turns,
)

# [rad^2] of the distance beyond which another rotation vector is nearer
_HALF_TURN_SQUARED = np.pi**2


def meet(
    turns: PeriodicCoordinates, q: Vector, reckoned: Vector, velocity: Vector, T: float
) -> Vector:
    """
    Bring (reckoned, velocity), (n,) each, to the turn of q, reached after T [s]; in place.

    The pose and its motion stay the same. Return the whole turns (n,) [rad] that were added to
    angles.
    """
    ahead = reckoned + T * velocity
    added = whole_turns(q - ahead, turns.period)
    reckoned += added
    for part, _ in turns.vectors:
        r, rate = nearest_vector(ahead[part], velocity[part], q[part])
        reckoned[part], velocity[part] = r - T * rate, rate
    return added


class Unwrapped:
    """
    The accepted states of one sender, without jumps by whole turns.

    In a new sequence of states turns are only added to angles from which the sender left some out
    before: another sender may count turns itself, as may that of a robot that was moved.
    """

    def __init__(self, turns: PeriodicCoordinates) -> None:
        n = len(turns.period)
        self._turns, self._wraps = turns, np.zeros(n, dtype=bool)
        self._start = self._added = self._turned = np.zeros(n)
        self._adds = False
        self._last: Vector | None = None

    def begin(self, q: Vector, turned: Vector) -> None:
        """Go on with a new sequence that has come to q (n,), and has ``turned`` by so much."""
        if self._last is None:
            added = np.zeros(len(q))
        else:
            added = np.where(self._wraps, whole_turns(self._last - q, self._turns.period), 0.0)
        self._start, self._turned = added + turned, turned
        self._add(added)

    def __call__(self, q: Vector, qd: Vector, turned: Vector) -> tuple[Vector, Vector]:
        """
        Return the state (q, qd), (n,) each, unwrapped; the same arrays where it is.

        ``turned`` (n,) [rad] is how far angles have jumped by whole turns in this sequence.
        """
        if turned is not self._turned:
            self._turned = turned
            self._add(self._start - turned)
        if self._adds:
            q = q + self._added
        if self._turns.vectors and self._last is not None:
            q, qd = self._continued(q, qd, self._last)
        self._last = q
        return q, qd

    def _add(self, added: Vector) -> None:
        self._added, self._adds = added, bool(added.any())
        self._wraps |= added != 0.0

    def _continued(self, q: Vector, qd: Vector, last: Vector) -> tuple[Vector, Vector]:
        """Return (q, qd) with the rotation vectors that are nearest to the last ones."""
        for part, longest in self._turns.vectors:
            gap = q[part] - last[part]
            if gap @ gap > _HALF_TURN_SQUARED:
                r, rate = nearest_vector(q[part], qd[part], last[part])
                if r @ r <= longest * longest:
                    q, qd = q.copy(), qd.copy()
                    q[part], qd[part] = r, rate
        return q, qd
