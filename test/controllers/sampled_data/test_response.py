# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The response of a linear robot to a held force against the matrix exponential."""

import numpy as np
from oracles.held import exponential
import pytest
from softrobot_dynamics.controllers.sampled_data import response

pytestmark = pytest.mark.quick


def ours(M, D, K, T, rows=None):
    """Return G and R; ``rows`` at a time."""
    n, x = len(M), response.allocate_response(len(M))
    shares = [(i, min(n, i + (rows or n))) for i in range(0, n, rows or n)]
    for given, own in zip((M, D, K), x):
        own[:] = given
    G, R = np.zeros((2, n, n))
    response.set_up(T, x)
    for share in shares:
        response.eliminate(x, *share)
    response.first_step(T, x)
    for _ in range(2):
        for share in shares:
            response.multiply(x, *share)
        for share in shares:
            response.double(x, G, R, *share)
        response.symmetrise(x, G, R)
    return x.G, x.R


@pytest.mark.parametrize('damping', [0.0, 0.1, 1.0, 30.0])
@pytest.mark.parametrize('turns', [1e-6, 0.01, 0.3, 0.75])
def test_a_single_motion(damping, turns):
    """G and R of a single mode are right to 2e-3, damped or not, up to 3/4 turn a period."""
    w = np.array([[2.0 * np.pi * turns]])
    matrices = np.eye(1), 2.0 * damping * w, w * w
    limit = max(1.0, w[0, 0] * max(1.0, 2.0 * damping))
    for found, exact in zip(ours(*matrices, 1.0), exponential(*matrices, 1.0)):
        assert abs(found - exact)[0, 0] < 2e-3 / limit


@pytest.mark.parametrize('rows', [None, 5])
def test_stiff_and_damped_motions_together(rows):
    """G and R are right to 2e-5 for rates from 1 to 1e6 1/s, mixed units, any work shares."""
    rng, n = np.random.default_rng(3), 12
    units = np.diag(10.0 ** rng.uniform(-4.0, 4.0, n))
    A, B, C = (rng.normal(size=(n, n)) for _ in range(3))
    M, K = A @ A.T + np.eye(n), B @ np.diag(10.0 ** np.linspace(0.0, 7.0, n)) @ B.T
    D = 0.02 * K + C @ C.T
    found = ours(*(units @ each @ units for each in (M, D, K)), 1e-3, rows)
    for ours_, exact in zip(found, exponential(M, D, K, 1e-3)):
        error = units @ ours_ @ units - exact
        assert np.abs(error).max() < 2e-5 * np.abs(exact).max()


def test_the_response_is_symmetric_and_bounded():
    """G and R are symmetric, and undamped vibrations stay bounded."""
    for turns in np.linspace(1.0, 40.0, 50):
        w = 2.0 * np.pi * turns
        G, R = ours(np.eye(1), np.zeros((1, 1)), np.eye(1) * w * w, 1.0)
        assert abs(G[0, 0]) * w <= 1.0 + 1e-9 and 0.0 <= R[0, 0] * w * w <= 2.0 + 1e-9
    K = np.array([[5.0, 1.0], [3.0, 4.0]])
    G, R = ours(np.eye(2), 0.1 * K, K, 1.0)
    assert np.array_equal(G, G.T) and np.array_equal(R, R.T)
