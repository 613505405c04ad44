# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Forces of contact as arrows wherever a robot is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.dynamics.contacts import contacts

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_GRAVITY = 9.81  # [m/s^2]
_WEIGHT_LENGTH, _MAX_LENGTH = 0.5, 0.5  # lengths, as shares of the robot's size
_HEAD_LENGTH, _HEAD_WIDTH = 0.3, 0.35  # of an arrow, and how wide besides


class ForceArrows:
    """
    Arrows for forces at points; lengths grow with the root of the force, so that small ones show.

    The weight of a robot is as long as half of its ``size`` [m], and nothing is longer.
    Places and directions are in the base frame; what is returned is in the world frame.
    """

    def __init__(self, model: CompiledModel, size: float) -> None:
        self._model, self._size = model, size
        modules = [m for m in model.description.modules if not m.is_object]
        mass = sum(float(m.body.material_points()[1].sum()) for m in modules)
        self._weight = mass * _GRAVITY or 1.0
        self._to_world = model.description.base.matrix()

    def ends(self, points: Matrix, forces: Matrix) -> Array:
        """Return begin and end (C, 2, 3) [m] of the arrows of forces (C, 3) [N] at points."""
        sizes = np.linalg.norm(forces, axis=1, keepdims=True)
        shares = np.minimum(_WEIGHT_LENGTH * np.sqrt(sizes / self._weight), _MAX_LENGTH)
        ways = forces / np.where(sizes > 0.0, sizes, 1.0) * shares * self._size
        R, p = self._to_world[:3, :3], self._to_world[:3, 3]
        found: Array = np.stack([points, points + ways], axis=1) @ R.T + p
        return found

    def at(self, q: Vector, t: float = 0.0) -> Array:
        """Return those (C, 2, 3) of the normal forces of a robot at rest at q (n,) at t [s]."""
        found = contacts(self._model, q=q, t=t)
        pushed = found.force > 0.0
        forces = found.force[pushed, None] * found.normals[pushed]
        return self.ends(found.points[pushed], forces)


def lines_of(ends: Array, viewed: Vector | None = None) -> Array:
    """
    Return the lines (L, 2, 3) that draw arrows (C, 2, 3): a shaft and two strokes of a head each.

    The head is spread across the direction ``viewed`` (3,) along which one looks, or anyhow.
    """
    if not len(ends):
        return np.zeros((0, 2, 3))
    begin, end = ends[:, 0], ends[:, 1]
    way = end - begin
    across = np.cross(way, np.array([0.31, 0.83, 0.46]) if viewed is None else viewed)
    across *= (
        _HEAD_LENGTH
        * _HEAD_WIDTH
        * np.linalg.norm(way, axis=1, keepdims=True)
        / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12)
    )
    neck = end - _HEAD_LENGTH * way
    strokes = [np.stack([neck + side * across, end], axis=1) for side in (-1.0, 1.0)]
    return np.concatenate([ends, *strokes])
