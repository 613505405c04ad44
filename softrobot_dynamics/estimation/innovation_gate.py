# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Gate of innovations: reject parts of a measurement by a chi-square test, each part alone."""

import math

from softrobot_dynamics.compiling.jit import inlined
from softrobot_dynamics.kernels.linalg import all_finite, cholesky, solve_lower
from softrobot_dynamics.kernels.sums import dot, row_times

UNMEASURED, ACCEPTED, OUTLIER = 0, 1, 2  # verdicts on a part of a measurement


def gate_threshold(probability: float, size: int) -> float:
    """Return the quantile of chi-square with ``size`` degrees of freedom; inf for 1."""
    from scipy.special import gammaincinv  # late: scipy is slow to import

    return math.inf if probability == 1.0 else 2.0 * float(gammaincinv(0.5 * size, probability))


@inlined
def gate_part(w, S, g):
    """Fill of part g of UpdateArrays w the rows of T, the normalised square and the verdict."""
    first, end = w.starts[g], w.starts[g + 1]
    size = end - first
    w.squares[g], w.verdicts[g] = 0.0, UNMEASURED
    for r in range(first, end):
        if not (w.residual[r] * 0.0 == 0.0 and all_finite(w.H[r])):
            return
        row_times(w.H[r], S, w.T[r])
    C, e = w.C[:size, :size], w.e[:size]
    for a in range(size):
        e[a] = w.residual[first + a]
        for b in range(a + 1):
            C[a, b] = dot(w.T[first + a], w.T[first + b])
        C[a, a] += w.noise[first + a] ** 2
    if cholesky(C) != 0:
        return
    solve_lower(C, e)
    w.squares[g] = dot(e, e)
    w.verdicts[g] = ACCEPTED if w.squares[g] <= w.gates[g] else OUTLIER
