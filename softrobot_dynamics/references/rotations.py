# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Rotations as vectors along their axes, as long as their angles."""

from __future__ import annotations

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.schema.quaternions import rotation_of


def between(start: Matrix, end: Matrix) -> Vector:
    """Return the least turn (3,) [rad], base frame, that leads a rotation (3, 3) to another."""
    x, y, z, w = _quaternion(end @ start.T)
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


def _quaternion(R: Matrix) -> Vector:
    """Return (x, y, z, w >= 0) of a rotation: the column of 4 q q^T that has the largest pivot."""
    products = np.empty((4, 4))
    products[:3, :3] = R + R.T + (1.0 - np.trace(R)) * np.eye(3)
    products[:3, 3] = products[3, :3] = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    products[3, 3] = 1.0 + np.trace(R)
    q = products[:, int(np.argmax(np.diag(products)))]
    return q / np.linalg.norm(q) * (1.0 if q[3] >= 0.0 else -1.0)
