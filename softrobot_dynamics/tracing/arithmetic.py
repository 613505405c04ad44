# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The functions a kinematics formula may call, for numbers and numpy arrays.

``position(x, q, NUMERIC)`` runs a formula on arrays: offline tables are made this way, and so are
oracles. Another arithmetic (say, arbitrary precision) is a class with the same names.
"""

import math
from typing import cast

import numpy as np
from softrobot_dynamics.annotations import Math, Value
from softrobot_dynamics.kernels.functions import CUBIC_LIMIT, cubic_root

SERIES_TERMS = 20


class Numeric:
    """numpy under the names of :class:`softrobot_dynamics.tracing.graph.Symbolic`."""

    pi = math.pi
    number = staticmethod(float)
    sqrt, exp, log = np.sqrt, np.exp, np.log
    sin, cos, tan = np.sin, np.cos, np.tan
    sinh, cosh, tanh = np.sinh, np.cosh, np.tanh
    arctan2 = np.arctan2

    @staticmethod
    def step(a: Value) -> Value:
        """1 where a > 0, else 0."""
        return np.heaviside(a, 0.0)

    @staticmethod
    def positive(a: Value) -> Value:
        """Return a where a > 0, else NaN."""
        return np.where(np.greater(a, 0.0), a, np.nan)

    @staticmethod
    def stumpff(k: int, z: Value) -> Value:
        """c_k(z) of an array, by its series for |z| <= 4 and by sine and cosine beyond."""
        z = np.asarray(z, dtype=float)
        total = np.zeros_like(z)
        for j in range(SERIES_TERMS, -1, -1):
            total = total * -z + 1.0 / math.factorial(k + 2 * j)
        far = np.where(np.abs(z) > 4.0, z, 5.0)
        return np.where(np.abs(z) > 4.0, _from_trigonometry(k, far), total)

    @staticmethod
    def cubic(a: Value) -> Value:
        """Largest root w of w^3 - w = a of an array; NaN for |a| >= 2 / (3 sqrt 3)."""
        a = np.asarray(a, dtype=float)
        inside = np.abs(a) < CUBIC_LIMIT
        root = np.vectorize(cubic_root.py_func, otypes=[float])
        return np.where(inside, root(np.where(inside, a, 0.0)), np.nan)


def _from_trigonometry(k: int, z: Value) -> Value:
    """Return c_k(z) by sine and cosine, or by the hyperbolic ones for z < 0."""
    value: Value
    root = np.sqrt(np.abs(z))
    if k % 2 == 0:
        value = np.where(z > 0, np.cos(root), np.cosh(root))
    else:
        value = np.where(z > 0, np.sin(root), np.sinh(root)) / root
    for lower in range(k % 2, k, 2):  # c_{k+2} = (1/k! - c_k) / z
        value = (1.0 / math.factorial(lower) - value) / z
    return value


NUMERIC = cast(Math, Numeric())
