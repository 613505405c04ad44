# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Gauss points along a rod, piece by piece, and the steps from one to the next."""

import functools
from itertools import pairwise
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.kernels.quadrature import gauss_legendre


@functools.cache
def march(ends: tuple[float, ...], count: int) -> tuple[Any, ...]:
    """Return steps between Gauss points and ends of pieces: start, end, weight of the end."""
    points, weights = [], []
    for a, b in pairwise(ends):
        nodes, shares = gauss_legendre(count, a, b)
        points += [*nodes, b]
        weights += [*shares, 0.0]
    return np.array([ends[0], *points[:-1]]), np.array(points), np.array(weights)


def rows_of(values: Any, like: Any) -> Matrix:
    """Array (., K) of numbers and arrays (K,)."""
    return np.array([np.broadcast_to(v, like.shape) for v in values], dtype=float)
