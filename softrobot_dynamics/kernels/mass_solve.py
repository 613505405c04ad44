# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Solve M x = b for accelerations, and notice where M is singular."""

import math

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import cholesky, solve_lower, solve_lower_transposed


@kernel
def factorise_mass(M, min_diagonal, floor, L, scale):
    """
    Fill the lower triangle of L (n, n) with the factor of M (n, n) scaled to a unit diagonal.

    Returns 0, or 1 + i where the diagonal entry is not above ``min_diagonal`` (n,), or a pivot of
    the scaled matrix not above ``floor`` (or not a number). ``scale`` (n,) is filled, too.
    """
    n = len(min_diagonal)
    for i in range(n):
        if not M[i, i] > min_diagonal[i]:
            return 1 + i
        scale[i] = 1.0 / math.sqrt(M[i, i])
        for j in range(i + 1):
            L[i, j] = M[i, j] * scale[i] * scale[j]
    return cholesky(L, floor)


@kernel
def solve_mass(M, min_diagonal, floor, L, scale, rows):
    """
    Replace each row of ``rows`` (k, n) by M^-1 row; returns what :func:`factorise_mass` does.

    ``L`` (n, n) and ``scale`` (n,) are scratch.
    """
    failed = factorise_mass(M, min_diagonal, floor, L, scale)
    if failed != 0:
        return failed
    for k in range(len(rows)):
        solve_row(L, scale, rows[k])
    return 0


@kernel
def solve_row(L, scale, row):
    """Replace ``row`` (n,) by M^-1 row, by what :func:`factorise_mass` has filled."""
    for i in range(len(row)):
        row[i] *= scale[i]
    solve_lower(L, row)
    solve_lower_transposed(L, row)
    for i in range(len(row)):
        row[i] *= scale[i]


@kernel
def solve_columns(L, scale, X):
    """Replace X (n, k) by M^-1 X, as :func:`solve_row`, all columns at once."""
    n = len(X)
    for i in range(n):
        target, own = X[i], 1.0 / L[i, i]
        for c in range(len(target)):
            target[c] *= scale[i]
        for j in range(i):
            _subtract(L[i, j], X[j], target)
        for c in range(len(target)):
            target[c] *= own
    for i in range(n - 1, -1, -1):
        target, own = X[i], 1.0 / L[i, i]
        for j in range(i + 1, n):
            _subtract(L[j, i], X[j], target)
        for c in range(len(target)):
            target[c] *= own
    for i in range(n):
        target = X[i]
        for c in range(len(target)):
            target[c] *= scale[i]


@kernel
def _subtract(factor, source, target):
    for c in range(len(target)):
        target[c] -= factor * source[c]
