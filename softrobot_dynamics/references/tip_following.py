# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Postures for a stream of points, each found from the posture before.

The same conditions of optimality as in :mod:`softrobot_dynamics.references.inverse_statics`, by a
few Newton iterations from the solution for the point before. A point that no admissible u can hold
is approached along the straight line from there, as far as that goes. So are poses, points with an
orientation; the tip turns about one axis then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.dynamics.arguments import body_index, checked
from softrobot_dynamics.dynamics.calls import forward_kinematics
from softrobot_dynamics.errors import NotConvergedError
from softrobot_dynamics.references.inverse_statics import (
    actuation_coordinates,
    BARRIER_WEIGHT,
    Search,
)
from softrobot_dynamics.references.rotations import between, turned

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

PENALTY_STIFFNESS = 1e6  # offsets of some 1e-5 robot's lengths, and the search is short
MAX_ITERATIONS = 15  # for a point near the one before
# of a solution: gap, forces, last step: relative
GAP_TOLERANCE, FORCE_TOLERANCE, STEP_TOLERANCE = 2e-4, 1e-5, 1e-4
# barrier weight and penalty stiffness, in turn
CONTINUATION_STAGES = (
    (1.0, 1e1),
    (1.0, 1e2),
    (0.1, 1e3),
    (1e-2, 1e4),
    (BARRIER_WEIGHT, 1e5),
    (BARRIER_WEIGHT, PENALTY_STIFFNESS),
)
STAY_WEIGHT = 100.0  # of the distance of joints with limits from their start
# solutions for one point, and the least way between two [lengths]
MAX_SUBDIVISIONS, MIN_WAY = 40, 5e-4
MAX_WAY = 0.02  # of the robot's length, from one solution to the next
# [m] of a robot and of a radian's lever on it; others in proportion
LEVER_LENGTH, LEVER = 0.6, 0.1


class Goal(NamedTuple):
    """Desired point or pose of a tip, base frame; ``lever`` [m] is what a radian counts as."""

    point: Vector  # (3,) [m]
    lever: float
    rotation: Matrix | None = None  # (3, 3) of the tip's axes; None: whatever comes

    def displacement(self, other: Goal) -> Vector:
        """Return the displacement to another [m], then the rotation by the lever, if any."""
        shift = other.point - self.point
        if self.rotation is None or other.rotation is None:
            return shift
        return np.concatenate([shift, self.lever * between(self.rotation, other.rotation)])

    def after(self, displacement: Vector) -> Goal:
        """Return the Goal at the end of a displacement."""
        if self.rotation is None or len(displacement) == 3:
            return self._replace(point=self.point + displacement[:3], rotation=None)
        rotation = turned(self.rotation, displacement[3:] / self.lever)
        return self._replace(point=self.point + displacement[:3], rotation=rotation)


@former_names(off='position_error', turn='rotation_error')
class ReachableTip(NamedTuple):
    """Nearest point, or pose, that a tip can reach."""

    y: Vector  # (m,) the outputs in the posture found
    point: Vector  # (3,) [m] where the tip is then, base frame
    position_error: float  # [m] from there to the desired point
    rotation: Matrix | None = None  # (3, 3) of the tip then, if one was desired
    rotation_error: float = 0.0  # [rad] from there to the desired one


class TipFollower:
    """Follows points with the tip of one body; ``q0`` (n,) is where the robot is at the start."""

    def __init__(self, model: CompiledModel, body: str, q0: ArrayLike) -> None:
        self._model, self._index = model, body_index(model, body)
        self._lever = LEVER * model.scales.length / LEVER_LENGTH
        self._search = _PoseSearch(
            model, [self._index], checked('q0', q0, (model.n,)), 1.0, STAY_WEIGHT
        )
        length = model.scales.length
        self._max_step, self._min_step = MAX_WAY * length, MIN_WAY * length
        self._step = self._max_step
        self._last_target: Goal | None = None  # where the search was last for the nearest
        if not self._settle(self._goal(self.tip(q0)), CONTINUATION_STAGES):
            raise NotConvergedError(
                f'posture with the tip of {body} at its present place', 0, np.nan
            )
        self._current = self._goal(self.tip(self._search.q))

    def _goal(self, point: Vector) -> Goal:
        return Goal(point, self._lever)

    def tip(self, q: ArrayLike) -> Vector:
        """Return where the tip is at q (n,): (3,) [m], base frame."""
        return self._pose(q).point

    def follow(self, point: ArrayLike, rotation: ArrayLike | None = None) -> ReachableTip:
        """
        Return the :class:`ReachableTip` for a point (3,) [m], base frame.

        With a ``rotation`` (3, 3) of the tip's axes for that pose: where it cannot be, the tip
        goes near in both, a radian counting as a sixth of the robot's length.
        """
        target = self._goal(checked('point', point, (3,)))
        if rotation is not None:
            target = target._replace(rotation=checked('rotation', rotation, (3, 3)))
            if self._current.rotation is None:
                self._current = self._current._replace(
                    rotation=self._pose(self._search.q).rotation
                )
        else:
            self._current = self._goal(self._current.point)
        if not self._walk(target):
            self._approach(target)
        y = actuation_coordinates(self._model, self._search.q)
        displacement = self._current.displacement(target)
        return ReachableTip(
            y=y,
            point=self._current.point,
            position_error=float(np.linalg.norm(displacement[:3])),
            rotation=self._current.rotation,
            rotation_error=float(np.linalg.norm(displacement[3:])) / self._lever,
        )

    def distance_from(self, q: ArrayLike) -> float:
        """Return the distance of the tip, at q (n,), from the last target [m], with rotation."""
        return float(np.linalg.norm(self._pose(q).displacement(self._current)))

    def _pose(self, q: ArrayLike) -> Goal:
        T = forward_kinematics(self._model, q=q)[self._index]
        return self._goal(T[:3, 3].copy())._replace(rotation=T[:3, :3].copy())

    def _walk(self, target: Goal) -> bool:
        """Move straight towards a point, in steps; return whether it was reached."""
        for _ in range(MAX_SUBDIVISIONS):
            displacement = self._current.displacement(target)
            left = float(np.linalg.norm(displacement))
            share = min(1.0, self._step / left) if left > 0.0 else 1.0
            goal = self._current.after(share * displacement)
            if self._holds(goal):
                self._current = goal
                self._step = min(2.0 * self._step, self._max_step)
                if share == 1.0:
                    return True
            elif self._step <= self._min_step:
                return False
            else:
                self._step = max(0.25 * min(self._step, left), self._min_step)
        return False

    def _approach(self, target: Goal) -> None:
        """Move to the posture whose tip is nearest to a point, if that is nearer; takes long."""
        tried = self._last_target
        same = tried is not None and (tried.rotation is None) == (target.rotation is None)
        if (
            tried is not None
            and same
            and np.linalg.norm(target.displacement(tried)) < 0.5 * self._max_step
        ):
            return
        self._last_target = target
        before, left = self._search.z, np.linalg.norm(self._current.displacement(target))
        if self._settle(target, CONTINUATION_STAGES):
            near = self._pose(self._search.q)
            if np.linalg.norm(near.displacement(target)) < left - self._min_step:
                self._current = near if target.rotation is not None else self._goal(near.point)
                return
        self._search.z = before

    def _settle(self, goal: Goal, stages: Sequence[tuple[float, float]]) -> bool:
        """Move to the posture at rest whose tip is nearest to a goal; return if there is one."""
        good: Any = None
        for barrier, stiffness in stages:
            _, balance, change = self._search.solve(
                goal, barrier, stiffness, 4 * MAX_ITERATIONS, STEP_TOLERANCE
            )
            if balance < FORCE_TOLERANCE and change < 10.0 * STEP_TOLERANCE:
                good = self._search.z
        self._search.z = self._search.z if good is None else good
        return good is not None

    def _holds(self, goal: Goal) -> bool:
        """Move to the posture for a goal, and return whether there is one."""
        before = self._search.z
        found = self._search.solve(
            goal, BARRIER_WEIGHT, PENALTY_STIFFNESS, MAX_ITERATIONS, STEP_TOLERANCE
        )
        gap, balance, change = found
        if gap < GAP_TOLERANCE and balance < FORCE_TOLERANCE and change < STEP_TOLERANCE:
            return True
        self._search.z = before
        return False


class _PoseSearch(Search):
    """A search for the posture of one tip whose targets are :class:`Goal`."""

    def aims(self, target: Goal) -> tuple[Vector, Matrix]:
        """Return the displacement from tip to goal, (3,) or (6,) [m], and its derivative by q."""
        poses, jacobians = self._statics.tip_poses(self._bodies)
        T, J = poses[0], jacobians[0]
        displacement = target._replace(point=T[:3, 3], rotation=T[:3, :3]).displacement(target)
        return displacement, J[3:] if len(displacement) == 3 else np.vstack(
            [J[3:], target.lever * J[:3]]
        )
