# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
# ruff: noqa: B023 (functions used at once)
"""Central differences of eighth order, exact to about 1e-12 for smooth functions."""

import numpy as np

STEP = 0.02
_WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}


def derivative(function, step=STEP):
    """Return the derivative at t = 0 of a function of one number t (an array of any shape)."""
    return sum(
        weight / step * (np.asarray(function(i * step)) - np.asarray(function(-i * step)))
        for i, weight in _WEIGHTS.items()
    )


def gradient(function, q, step=STEP, reach=1.0):
    """Return derivatives by each entry of q (n,), along a last axis; steps ``step * reach``."""
    ways = np.eye(len(q)) * reach
    return np.stack([derivative(lambda t: function(q + t * e), step) for e in ways], -1) / reach


def derivative_at_once(function, step=STEP):
    """Return the derivative at t = 0 of a function that takes many t (K,), along a first axis."""
    counts, weights = np.array([(k * i, k * w) for i, w in _WEIGHTS.items() for k in (1, -1)]).T
    return np.tensordot(weights / step, function(step * counts), 1)


def gradient_by_rows(function, q, step=STEP, reach=1.0):
    """Return the same of a function that takes many q (..., n) at once and returns numbers."""
    ways = np.eye(len(q)) * reach
    return derivative_at_once(lambda t: function(q + t[:, None, None] * ways), step) / reach


def assert_close(found, wanted, tolerance=1e-9):
    """Compare with the largest entry of the wanted array."""
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=tolerance * np.abs(wanted).max())
