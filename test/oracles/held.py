# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The response of a linear robot to a held force, by the matrix exponential."""

import numpy as np
from scipy.linalg import expm


def exponential(M, D, K, T):
    """Return G and R, (n, n) each, by one matrix exponential."""
    n, inverse = len(M), np.linalg.inv(M)
    own = [[np.zeros((n, n)), np.eye(n), np.zeros((n, n))], [-inverse @ K, -inverse @ D, inverse]]
    flow = expm(np.block([*own, [np.zeros((n, 3 * n))]]) * T)
    return flow[n : 2 * n, 2 * n :], flow[:n, 2 * n :]
