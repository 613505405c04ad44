# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Plain sums that may be reordered, and so vectorised, but in which NaN stays NaN."""

from softrobot_dynamics.compiling.jit import summing


@summing
def dot(x, y):
    """Inner product of x and y (k,)."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@summing
def row_times(row, A, out):
    """Fill out (n,) with row (n,) times A (n, n)."""
    out[:] = 0.0
    for j in range(len(row)):
        factor, source = row[j], A[j]
        if factor != 0.0:
            for k in range(len(out)):
                out[k] += factor * source[k]
