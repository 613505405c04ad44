# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Gauss points along a rod, piece by piece, steps from one to the next, and integrals there."""

from collections.abc import Callable
import functools
from itertools import pairwise
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Matrix, Value, Values, Vector
from softrobot_dynamics.kernels.quadrature import gauss_legendre

# pairs (node, weight) of the four-point rule with node > 0
_POSITIVE_GAUSS_NODES = tuple(zip(*(v[2:] for v in np.polynomial.legendre.leggauss(4))))


@functools.cache
def march(ends: tuple[float, ...], count: int) -> tuple[Any, ...]:
    """Return steps between Gauss points and ends of pieces: start, end, weight of the end."""
    points, weights = [], []
    for a, b in pairwise(ends):
        nodes, shares = gauss_legendre(count, a, b)
        points += [*nodes, b]
        weights += [*shares, 0.0]
    return np.array([ends[0], *points[:-1]]), np.array(points), np.array(weights)


def rows_of(values: Values, like: Vector) -> Matrix:
    """Array (., K) of numbers and arrays (K,)."""
    return np.array([np.broadcast_to(v, like.shape) for v in values], dtype=float)


def moments(
    functions: Callable[[Any], Values], low: Value, high: Value, length: Value
) -> tuple[list[Value], list[Value]]:
    """
    Moments over steps from ``low`` to ``high`` of functions of sigma = s / L.

    Two lists: A = int f ds and D = 1/h int (s - s_mid) f ds, h the length of the step.
    """
    half = 0.5 * (high - low)
    mean, derivative = list[Value](), list[Value]()
    for node, weight in _POSITIVE_GAUSS_NODES:
        before, after = functions(low + half * (1.0 - node)), functions(low + half * (1.0 + node))
        mean = mean or [0.0] * len(before)
        derivative = derivative or [0.0] * len(before)
        for i, (a, b) in enumerate(zip(before, after)):
            mean[i] = mean[i] + weight * (a + b)
            derivative[i] = derivative[i] + 0.5 * weight * node * (b - a)
    reach = length * half
    return [reach * v for v in mean], [reach * v for v in derivative]


def triples(s: Vector, square_x: Vector, square_y: Vector) -> Matrix:
    """Return three points (3 K, 3) for sections at s (K,), of squared radii of gyration (K,)."""
    angles = 2.0 * np.pi * np.arange(3) / 3.0
    x = np.sqrt(2.0 * square_x)[:, None] * np.cos(angles)
    y = np.sqrt(2.0 * square_y)[:, None] * np.sin(angles)
    return np.stack(np.broadcast_arrays(x, y, s[:, None]), axis=-1).reshape(-1, 3)
