# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Solve M x = b for accelerations, and notice where M is singular."""

import math

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import cholesky, solve_lower, solve_lower_transposed


@kernel
def solve_mass(M, least, floor, L, scale, rows):
    """
    Replace each row of ``rows`` (k, n) by M^-1 row, M (n, n) scaled to a unit diagonal.

    Returns 0, or 1 + i where the diagonal entry is not above ``least`` (n,), or a pivot of the
    scaled matrix not above ``floor`` (or not a number). ``L`` (n, n) and ``scale`` (n,) are room.
    """
    n = len(least)
    for i in range(n):
        if not M[i, i] > least[i]:
            return 1 + i
        scale[i] = 1.0 / math.sqrt(M[i, i])
        for j in range(i + 1):
            L[i, j] = M[i, j] * scale[i] * scale[j]
    failed = cholesky(L, floor)
    if failed != 0:
        return failed
    for k in range(len(rows)):
        row = rows[k]
        for i in range(n):
            row[i] *= scale[i]
        solve_lower(L, row)
        solve_lower_transposed(L, row)
        for i in range(n):
            row[i] *= scale[i]
    return 0
