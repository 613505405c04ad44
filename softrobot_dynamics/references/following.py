# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Postures for points that come one after the other, each soon: from the posture for the one before.

The same conditions of optimality as in :mod:`softrobot_dynamics.references.postures`, by a few
Newton iterations from the solution for the point before. A point that no admissible u can hold is
approached along the straight line from there, as far as that goes.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.arguments import body_index, checked
from softrobot_dynamics.dynamics.calls import forward_kinematics
from softrobot_dynamics.errors import NotConvergedError
from softrobot_dynamics.references.postures import actuation_coordinates, BARRIER, Search

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

STIFFNESS = 1e6  # of the penalty [1/m^2]: offsets of some 1e-5 m, and the search is short
ITERATIONS = 15  # for a point near the one before
HELD, BALANCED, SETTLED = 2e-4, 1e-5, 1e-4  # of a solution: gap [m], forces, last step: relative
STAGES = ((1.0, 1e1), (1.0, 1e2), (0.1, 1e3), (1e-2, 1e4), (BARRIER, 1e5), (BARRIER, STIFFNESS))
STAY = 100.0  # how much joints with limits rather stay where they are at the start
STEPS, FINEST = 40, 5e-4  # solutions for one point, and the least way between two [m]
WAY = 0.02  # [m] that the tip may go from one solution to the next


class Place(NamedTuple):
    """What a tip can do about a point."""

    y: Vector  # (m,) the outputs in the posture found
    point: Vector  # (3,) [m] where the tip is then, base frame
    off: float  # [m] from there to the point asked for


class TipFollower:
    """Follows points with the tip of one body; ``q0`` (n,) is where the robot is at the start."""

    def __init__(self, model: CompiledModel, body: str, q0: ArrayLike) -> None:
        self._model, self._index = model, body_index(model, body)
        self._search = Search(model, [self._index], checked('q0', q0, (model.n,)), 1.0, STAY)
        self._step, self._tried = WAY, np.full(3, np.inf)  # where the search was last for nearest
        if not self._settle(self.tip(q0), STAGES):
            raise NotConvergedError(f'posture with the tip of {body} where it is', 0, np.nan)
        self._point = self.tip(self._search.q)

    def tip(self, q: ArrayLike) -> Vector:
        """Return where the tip is at q (n,): (3,) [m], base frame."""
        return forward_kinematics(self._model, q=q)[self._index, :3, 3].copy()

    def follow(self, point: ArrayLike) -> Place:
        """Return the :class:`Place` for a point (3,) [m], base frame."""
        asked = checked('point', point, (3,))
        if not self._walk(asked):
            self._go_near(asked)
        y = actuation_coordinates(self._model, self._search.q)
        return Place(y, self._point, float(np.linalg.norm(asked - self._point)))

    def _walk(self, asked: Vector) -> bool:
        """Go straight towards a point, in steps; tell whether it was reached."""
        for _ in range(STEPS):
            way = asked - self._point
            left = float(np.linalg.norm(way))
            share = min(1.0, self._step / max(left, 1e-12))
            if self._holds(self._point + share * way):
                self._point = self._point + share * way
                self._step = min(2.0 * self._step, WAY)
                if share == 1.0:
                    return True
            elif self._step <= FINEST:
                return False
            else:
                self._step = max(0.25 * min(self._step, left), FINEST)
        return False

    def _go_near(self, asked: Vector) -> None:
        """Go to the posture whose tip is the nearest to a point, if that is nearer; takes long."""
        if np.linalg.norm(asked - self._tried) < 0.5 * WAY:
            return
        self._tried = asked
        before, left = self._search.z, np.linalg.norm(asked - self._point)
        if self._settle(asked, STAGES):
            near = self.tip(self._search.q)
            if np.linalg.norm(asked - near) < left - FINEST:
                self._point = near
                return
        self._search.z = before

    def _settle(self, point: Vector, stages: Any) -> bool:
        """Go to the posture at rest whose tip is the nearest to a point; tell if there is one."""
        good: Any = None
        for barrier, stiffness in stages:
            _, balance, change = self._search.solve(
                point[None], barrier, stiffness, 4 * ITERATIONS, SETTLED
            )
            if balance < BALANCED and change < 10.0 * SETTLED:
                good = self._search.z
        self._search.z = self._search.z if good is None else good
        return good is not None

    def _holds(self, point: Any) -> bool:
        """Go to the posture for a point, and tell whether there is one; else stay."""
        before = self._search.z
        found = self._search.solve(point[None], BARRIER, STIFFNESS, ITERATIONS, SETTLED)
        off, balance, change = found
        if off < HELD and balance < BALANCED and change < SETTLED:
            return True
        self._search.z = before
        return False
