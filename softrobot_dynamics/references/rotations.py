# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Rotations as vectors along their axes, as long as their angles."""

from __future__ import annotations

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.schema.quaternions import quaternions_of, rotation_of


def between(start: Matrix, end: Matrix) -> Vector:
    """Return the least turn (3,) [rad], base frame, that leads a rotation (3, 3) to another."""
    x, y, z, w = quaternions_of(end @ start.T)
    axis = np.array([x, y, z])
    length = float(np.linalg.norm(axis))
    if length < 1e-12:
        return 2.0 * axis
    return 2.0 * np.arctan2(length, w) / length * axis


def turned(start: Matrix, turn: Vector) -> Matrix:
    """Return a rotation (3, 3) after a turn (3,) [rad], base frame."""
    angle = float(np.linalg.norm(turn))
    axis = turn / max(angle, 1e-300)
    return rotation_of(np.append(np.sin(0.5 * angle) * axis, np.cos(0.5 * angle))) @ start
