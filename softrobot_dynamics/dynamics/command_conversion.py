# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Forces on a robot under commands, some of which are positions that drives hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.dynamics.arguments import checked, require_finite
from softrobot_dynamics.model.cable_drives import cable_drives_of
from softrobot_dynamics.recursion.cable_drives import convert, measure, update_tensions
from softrobot_dynamics.recursion.passes import Robot

if TYPE_CHECKING:
    from softrobot_dynamics.dynamics.derivatives import Differentiator
    from softrobot_dynamics.model.model import CompiledModel


def efforts(model: CompiledModel, *, q: ArrayLike, command: ArrayLike) -> Vector:
    """
    Return the efforts u (m,) along y at rest at q (n,) under a command (m,).

    For a position-controlled tendon it is the tension [N] of its drive and cable, never negative;
    for two on one motor, the difference of their tensions; for all other actuators, the command.
    Raises ArgumentError.
    """
    q, command = checked('q', q, (model.n,)), checked('command', command, (model.m,))
    found: Vector = model.per_thread.conversion.efforts(q, command)
    require_finite(model, q, found)
    return found


def commands(model: CompiledModel, *, q: ArrayLike, u: ArrayLike) -> Vector:
    """
    Return the command (m,) under which u (m,) acts at rest at q (n,), limits aside.

    The inverse of :func:`efforts`, continued beyond its range: for a negative tension the cable is
    slack by as much as that would shorten it. Raises ArgumentError.
    """
    q, u = checked('q', q, (model.n,)), checked('u', u, (model.m,))
    found: Vector = model.per_thread.conversion.commands(q, u)
    require_finite(model, q, found)
    return found


class HeldCables:
    """
    The cables of one model that are held: their pulls and their stiffness.

    ``robot`` is that of an Evaluator, ``derivatives`` the Differentiator, if stiffness is asked.
    If ``commanded``, under commands, and all of it; else under u, and what two cables on one motor
    pull with in common, which u does not say.
    """

    def __init__(
        self,
        model: CompiledModel,
        robot: Robot,
        derivatives: Differentiator | None = None,
        commanded: bool = True,
    ) -> None:
        self._drives, self._zero = cable_drives_of(model, robot), np.zeros(model.n)
        self._commanded, (first, count) = commanded, self._drives.cables.T
        self._one, self._other = first[count == 2], first[count == 2] + 1
        self._measure = cached(measure, 'VECTOR, VECTOR', drives=self._drives)
        self._convert = cached(convert, 'VECTOR, boolean', drives=self._drives)
        self._update_tensions = cached(update_tensions, 'VECTOR', drives=self._drives)
        if derivatives is not None:
            own, hessians = (
                cable_drives_of(model, derivatives.robot).robot,
                model.hessians(cables=True),
            )
            self._of_tension = derivatives.along(own, hessians)

    def pulls(self, q: Vector, u: Vector) -> Matrix:
        """Return T dl/dq of each cable, (s, n), at q where the robot was evaluated last."""
        found: Matrix = self._tensions(q, u)[:, None] * self._drives.J
        return found

    def tension(self) -> float:
        """Return the sum [N] of the tensions of all cables, as there."""
        return float(np.maximum(self._drives.tension, 0.0).sum())

    def stiffness(self, q: Vector, u: Vector) -> Matrix:
        """Return the derivative (n, n) by q of the sum of `pulls`, as there."""
        tensions, drives = self._tensions(q, u), self._drives
        taut, rows = drives.tension > 0.0, drives.J
        k = np.where(taut, drives.stiffness, 0.0)
        if not self._commanded:
            both = taut[self._one] & taut[self._other]
            k = np.where(both, 0.5 * drives.stiffness[self._one], 0.0)
            rows = rows[self._one] + rows[self._other]
        K: Matrix = rows.T @ (k[:, None] * rows) - self._of_tension(q, -tensions)
        return K

    def _tensions(self, q: Vector, u: Vector) -> Vector:
        """Return the tensions (s,) that count."""
        self._measure(q, self._zero)
        command = np.array(u)
        if not self._commanded:
            self._convert(command, 0)
        self._update_tensions(command)
        tensions = np.maximum(self._drives.tension, 0.0)
        if self._commanded:
            return tensions
        common, mean = np.zeros(len(tensions)), 0.5 * (tensions[self._one] + tensions[self._other])
        common[self._one] = common[self._other] = mean
        return common
