# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Convex quadratic programme over a box, by projected Newton steps on the free variables.

minimise  1/2 w' S w - r' w   subject to  lower <= w <= upper,   S symmetric positive definite.

Few variables (actuators), started from the last tick's solution: two or three iterations, some
microseconds. Method: Bertsekas 1982; Tassa, Mansard, Todorov 2014.
"""

from softrobot_dynamics.kernels.jit import kernel
from softrobot_dynamics.kernels.linalg import cholesky, solve_lower, solve_lower_transposed

MAX_ITERATIONS = 60
_TOLERANCE = 1e-12


@kernel
def solve_box_qp(S, r, lower, upper, w, g, step, trial, F, free):
    """
    Solve into w (m,), which holds the starting point; returns the iterations, or -1.

    ``g``, ``step``, ``trial`` (m,), ``F`` (m, m) and ``free`` (m,) of integers are scratch. -1:
    S is not positive definite, or the limit of iterations was reached; w is then still in the box.
    """
    m = len(w)
    for i in range(m):
        w[i] = min(max(w[i], lower[i]), upper[i])
    for iteration in range(MAX_ITERATIONS):
        count, largest = _gradient(S, r, lower, upper, w, g, free)
        if largest <= _TOLERANCE:
            return iteration
        for i in range(count):
            step[i] = -g[free[i]]
            for j in range(i + 1):
                F[i, j] = S[free[i], free[j]]
        if cholesky(F[:count, :count]) != 0:
            return -1
        solve_lower(F[:count, :count], step[:count])
        solve_lower_transposed(F[:count, :count], step[:count])
        if not _search(S, r, lower, upper, w, g, step, trial, free, count):
            return iteration  # rounding: no step lowers the objective any more
    return -1


@kernel
def _gradient(S, r, lower, upper, w, g, free):
    """Gradient S w - r; list the variables not held by a bound; the largest free entry, scaled."""
    m, count, largest = len(w), 0, 0.0
    for i in range(m):
        total, size = -r[i], abs(r[i])
        for j in range(m):
            total += S[i, j] * w[j]
            size += abs(S[i, j] * w[j])
        g[i] = total
        held = (w[i] <= lower[i] and total >= 0.0) or (w[i] >= upper[i] and total <= 0.0)
        if not held:
            free[count] = i
            count += 1
            largest = max(largest, abs(total) / max(size, 1e-300))
    return count, largest


@kernel
def _search(S, r, lower, upper, w, g, step, trial, free, count):
    """Move along the projected path until the objective falls enough; False if it cannot."""
    m, scale = len(w), 1.0
    for _ in range(40):
        for i in range(m):
            trial[i] = 0.0
        slope = 0.0
        for i in range(count):
            k = free[i]
            trial[k] = min(max(w[k] + scale * step[i], lower[k]), upper[k]) - w[k]
            slope += g[k] * trial[k]
        curvature = 0.0
        for i in range(m):
            for j in range(m):
                curvature += trial[i] * S[i, j] * trial[j]
        if slope < 0.0 and slope + 0.5 * curvature <= 0.1 * slope:
            for i in range(m):
                w[i] = min(max(w[i] + trial[i], lower[i]), upper[i])
            return True
        scale *= 0.5
    return False
