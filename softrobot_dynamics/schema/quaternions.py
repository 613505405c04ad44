# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Quaternions as rotations: of numbers, and of messages, whose lengths are checked."""

from collections.abc import Iterable
from math import hypot
from typing import Protocol

import numpy as np
from softrobot_dynamics.annotations import Matrix
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
