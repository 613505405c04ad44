# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Rotation residuals: measured rotations against those of the model."""

import math

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.jit import inlined

_ORTHOGONALITY_TOLERANCE = 1e-6  # by which rows may miss being orthogonal unit vectors


@inlined
def turn_from(R, z):
    """Rotation vector [rad], base axes, from a rotation R to z, both row by row in (9,)."""
    # the turn E = R_z R^T
    e00 = z[0] * R[0] + z[1] * R[1] + z[2] * R[2]
    e01 = z[0] * R[3] + z[1] * R[4] + z[2] * R[5]
    e02 = z[0] * R[6] + z[1] * R[7] + z[2] * R[8]
    e10 = z[3] * R[0] + z[4] * R[1] + z[5] * R[2]
    e11 = z[3] * R[3] + z[4] * R[4] + z[5] * R[5]
    e12 = z[3] * R[6] + z[4] * R[7] + z[5] * R[8]
    e20 = z[6] * R[0] + z[7] * R[1] + z[8] * R[2]
    e21 = z[6] * R[3] + z[7] * R[4] + z[8] * R[5]
    e22 = z[6] * R[6] + z[7] * R[7] + z[8] * R[8]
    x, y, w = 0.5 * (e21 - e12), 0.5 * (e02 - e20), 0.5 * (e10 - e01)
    sine = math.sqrt(x * x + y * y + w * w)
    angle = math.atan2(sine, 0.5 * (e00 + e11 + e22 - 1.0))
    stretch = angle / sine if sine > 1e-9 else 1.0
    return stretch * x, stretch * y, stretch * w


def is_rotation(rows: list[list[float]]) -> bool:
    """Tell whether three rows are those of a rotation; quicker than by small arrays."""
    a, b, c = rows
    across = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    lengths = max(abs(sum(v * v for v in row) - 1.0) for row in (a, b))
    angle = abs(sum(v * w for v, w in zip(a, b)))
    off = max(abs(v - w) for v, w in zip(across, c))
    return max(lengths, angle, off) < _ORTHOGONALITY_TOLERANCE


def rotation(vector: Vector) -> Matrix:
    """Return the rotation (3, 3) by a rotation vector (3,) [rad]."""
    angle = float(np.linalg.norm(vector))
    x, y, z = vector / (angle or 1.0)
    axis = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * axis + (1.0 - math.cos(angle)) * axis @ axis
