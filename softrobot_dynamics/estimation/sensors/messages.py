# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Values in the fields of ROS messages, and back, without ROS.

A message is any object with its fields as attributes; to be written, it is a mapping of field
names to numbers, texts, lists, and mappings for the messages within it. What cannot be used raises
MessageError, whose reason begins with its cause: 'wrong size', 'wrong name' or 'not a number'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import math
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.errors import ArgumentError, MessageError
from softrobot_dynamics.schema.quaternions import quaternions_of

MessageFields: TypeAlias = Mapping[str, object]
"""Field names of a message with their values; those that are left out keep their defaults."""


class Message(Protocol):
    """A received message: its fields are attributes, which it documents itself."""

    def __getattr__(self, name: str, /) -> Any: ...


def finite_numbers(values: Iterable[float]) -> list[float]:
    """Return the values as a list; MessageError unless all are finite."""
    numbers = list(values)
    if not all(map(math.isfinite, numbers)):
        raise MessageError(f'not a number: {numbers}, expected finite ones')
    return numbers


def read_array(name: str, value: ArrayLike, shape: tuple[int, ...], expected: str) -> Array:
    """Return a value as an array of a shape, NaN where nothing is measured; ArgumentError."""
    try:
        found = np.array(value, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != shape or np.isinf(found).any():
        raise ArgumentError(name, value, expected)
    return found


def point(values: Vector) -> MessageFields:
    """Return the fields of a geometry_msgs Point or Vector3 of three numbers (3,)."""
    x, y, z = values.tolist()
    return {'x': x, 'y': y, 'z': z}


def quaternion(R: Matrix) -> MessageFields:
    """Return the fields of the geometry_msgs/Quaternion of a rotation (3, 3)."""
    x, y, z, w = quaternions_of(R).tolist()
    return {'w': w, 'x': x, 'y': y, 'z': z}


def named_numbers(message: Message, field: str, names: Sequence[str]) -> Vector:
    """
    Return the numbers (K,) that a field of a sensor_msgs/JointState has for ``names``.

    NaN stands for one that is not there. MessageError if none is.
    """
    given = getattr(message, field)
    if len(given) != len(message.name):
        words = f'{field} has {len(given)} values, expected {len(message.name)}'
        raise MessageError(f'wrong size: {words}')
    found = dict(zip(message.name, given))
    if not any(name in found for name in names):
        words = f'{list(message.name)[:3]}, expected some of {list(names)}'
        raise MessageError(f'wrong name: {words}')
    return np.array([found.get(name, math.nan) for name in names])
