# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Constant poses, as homogeneous transforms (plain numpy, set-up time)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.schema.fields import vector

# rotation, row by row, and translation, as kernels take them
IDENTITY_POSE = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True)
class Pose:
    """A frame in another: translation and roll, pitch, yaw about fixed axes, as in URDF."""

    xyz: tuple[float, float, float] = vector('m', 3, default=(0.0, 0.0, 0.0))
    rpy: tuple[float, float, float] = vector('rad', 3, default=(0.0, 0.0, 0.0))

    def matrix(self) -> Matrix:
        """Return the transform (4, 4) from this frame's coordinates to the other's."""
        (sr, sp, sy), (cr, cp, cy) = np.sin(self.rpy), np.cos(self.rpy)
        return transform(
            [
                [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                [-sp, cp * sr, cp * cr],
            ],
            self.xyz,
        )


def transform(rotation: ArrayLike, translation: ArrayLike = (0.0, 0.0, 0.0)) -> Matrix:
    """Return the transform (4, 4) of a rotation (3, 3) and a translation (3,) [m]."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation, translation
    return T


def dh_row(alpha: float, a: float, d: float, theta0: float) -> Matrix:
    """Return Rz(theta0) Tz(d) Tx(a) Rx(alpha), (4, 4): a row of the standard DH table."""
    return (
        Pose((0.0, 0.0, d), (0.0, 0.0, theta0)).matrix()
        @ Pose((a, 0.0, 0.0), (alpha, 0.0, 0.0)).matrix()
    )


def z_onto(axis: Sequence[float]) -> Matrix:
    """Return the least rotation, as (4, 4), that turns z onto the nonzero `axis` (3,)."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    if z < 0:  # by way of -z: the formula below is 0/0 there
        return z_onto((-x, -y, -z)) @ np.diag([1.0, -1.0, -1.0, 1.0])
    k = 1 / (1 + z)
    return transform([[1 - k * x * x, -k * x * y, x], [-k * x * y, 1 - k * y * y, y], [-x, -y, z]])


def flat(T: Matrix) -> Vector:
    """Return a transform (4, 4) as twelve numbers: rotation row-major, then translation."""
    return np.concatenate([T[:3, :3].ravel(), T[:3, 3]])
