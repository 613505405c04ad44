# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Type aliases for annotations. Shapes and units are in the docstrings.

A formula is ordinary Python that runs with numbers, with arrays, and with nodes while it is
traced. No type says that, so a :data:`Value` may be anything that has arithmetic.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]  # one index
Matrix: TypeAlias = NDArray[np.float64]  # two
Array: TypeAlias = NDArray[np.float64]  # any number of them
Integers: TypeAlias = NDArray[np.integer[Any]]

Value: TypeAlias = Any
Values: TypeAlias = Sequence[Value] | NDArray[Any]
Function: TypeAlias = Callable[[Value], Value]
FrameFormula: TypeAlias = tuple[Values, Values]  # rotation (9), row-major, and origin (3) [m]

Complaints: TypeAlias = Iterator[tuple[str, object, str]]
"""Faults that ``validate`` yields: path of a field, its value, and what would be right."""


class Math(Protocol):
    """The functions that a formula may call."""

    pi: float
    number: Callable[[float], Value]
    sqrt: Function
    exp: Function
    log: Function
    sin: Function
    cos: Function
    tan: Function
    sinh: Function
    cosh: Function
    tanh: Function
    step: Function  # 1 where a > 0, else 0
    positive: Function  # a where a > 0, else NaN
    cubic: Function  # the largest root w of w^3 - w = a
    arctan2: Callable[[Value, Value], Value]  # (y, x), the angle of a point [rad]
    stumpff: Callable[[int, Value], Value]  # (k, z), c_k(z) = sum_j (-z)^j / (k + 2 j)!
