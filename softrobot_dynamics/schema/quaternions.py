# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Quaternions as rotations: of numbers, and of messages, whose lengths are checked."""

from collections.abc import Iterable
from math import hypot
from typing import Protocol

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix
from softrobot_dynamics.errors import MessageError

LENGTH_TOLERANCE = 1e-3  # of a measured quaternion's length from 1


class QuaternionMessage(Protocol):
    """The fields of a geometry_msgs/Quaternion."""

    x: float
    y: float
    z: float
    w: float


def rotation_of(quaternion: Iterable[float]) -> Matrix:
    """Return the rotation (3, 3) of a unit quaternion (x, y, z, w)."""
    x, y, z, w = map(float, quaternion)
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def quaternions_of(rotations: Array) -> Array:
    """
    Return the unit quaternions (..., 4) of rotations (..., 3, 3), as (x, y, z, w >= 0).

    Each is the column of 4 q q^T with the largest pivot, which is exact for any angle.
    """
    R = np.asarray(rotations)
    trace = np.trace(R, axis1=-2, axis2=-1)[..., None, None]
    products = np.empty((*R.shape[:-2], 4, 4))
    products[..., :3, :3] = R + np.swapaxes(R, -1, -2) + (1.0 - trace) * np.eye(3)
    skew = R[..., (2, 0, 1), (1, 2, 0)] - R[..., (1, 2, 0), (2, 0, 1)]
    products[..., :3, 3] = products[..., 3, :3] = skew
    products[..., 3, 3] = 1.0 + trace[..., 0, 0]
    pivots = np.argmax(np.diagonal(products, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(products, pivots[..., None, None], axis=-1)[..., 0]
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    q[q[..., 3] < 0.0] *= -1.0
    return q


def read_orientation(quaternion: QuaternionMessage, tolerance: float = LENGTH_TOLERANCE) -> Matrix:
    """
    Return the rotation (3, 3) that a geometry_msgs/Quaternion describes.

    Its length may differ from 1 by a tolerance, and is divided out. MessageError for any other
    length, and for numbers that are not finite.
    """
    values = quaternion.x, quaternion.y, quaternion.z, quaternion.w
    length = hypot(*values)
    if not abs(length - 1.0) <= tolerance:  # nan, inf included
        words = f'the orientation is a quaternion of length {length:.4g}, expected 1'
        raise MessageError(f'not a number: {words}; x, y, z, w = {values}')
    return rotation_of([value / length for value in values])
