# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Linear complementarity problems: w = A x + b, with x >= 0, w >= 0 and x w = 0."""

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector

_PIVOTS = 50  # per unknown


def complementary(A: Matrix, b: Vector) -> Vector:
    """
    Return x (k,) of the complementarity problem of A (k, k), symmetric positive definite, b (k,).

    By principal pivoting with the least index, which ends for every such A. Murty, Linear
    Complementarity, Linear and Nonlinear Programming (1988), Sec. 4.1.
    """
    k = len(b)
    x, basic = np.zeros(k), np.zeros(k, dtype=bool)
    # what is negative by rounding alone would be exchanged without end
    slack = 1e-12 * np.abs(b).max(initial=0.0)
    for _ in range(_PIVOTS * k):
        x = np.zeros(k)
        if basic.any():
            x[basic] = np.linalg.solve(A[np.ix_(basic, basic)], -b[basic])
        w = A @ x + b
        wrong = np.flatnonzero(np.where(basic, x * np.diag(A), w) < -slack)
        if not len(wrong):
            break
        basic[wrong[0]] = not basic[wrong[0]]
    found: Vector = np.maximum(x, 0.0)
    return found
