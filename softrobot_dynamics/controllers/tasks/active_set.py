# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The least change that meets the inequalities of a level, by an active set on its dual.

That is non-negative least squares in the multipliers (Lawson and Hanson, Solving Least Squares
Problems, Ch. 23), each inequality yielding by its softness; see :mod:`~.tasks.levels`.

Active bounds may depend on each other, so all yield a little more, in proportion to what they
cost. Near a singularity that is much: the multipliers are refined by what the bounds are missed
by, which is the method of multipliers (Bertsekas, Constrained Optimization and Lagrange
Multiplier Methods, Ch. 2).
"""

import math

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import cholesky, solve_lower, solve_lower_transposed
from softrobot_dynamics.kernels.sums import dot

BOUND_TOLERANCE = 1e-9  # of the terms that are compared, by which a bound may be exceeded
# by which active bounds yield, as they may depend on each other; refinement undoes it
BOUND_COMPLIANCE = 1e-13
REFINEMENT_TOLERANCE = 1e-10  # of the widest gap to a bound; compliance may leave that much
MAX_REFINEMENTS = 6
# Bounds that depend on each other but for rounding have no refined multipliers. Signs of these
# then go round, or keep a bound out. Beyond so many iterations, or where a bound that was kept
# out is exceeded by more than a part of what is compared, multipliers are not refined any more.
REFINED_ITERATIONS = 50
SKIPPED_TOLERANCE = 1e-6
_MAX_ITERATIONS = 200


@kernel
def excess(p, i, step, tolerance):
    """By how much inequality i is violated a ``step`` beyond C w, < 0: less than a tolerance."""
    value = p.inequality_values[i]
    at, rounding = value + step, tolerance * (abs(value) + abs(step))
    low, high = p.lower[i] - at, at - p.upper[i]
    return max(low - rounding, high - rounding)


@kernel
def whiten(p, first, rank, d, cheap):
    """Fill V and the lengths of its rows, before they are made one."""
    R = p.B
    for i in range(len(p.lower)):
        v, C = p.V[i], p.C[i]
        for j in range(d):
            total = 0.0
            for k in range(len(C)):
                total += C[k] * p.Z[k, first + j]
            v[j] = total if j < rank else total / cheap
        for j in range(rank):  # R^-T
            for k in range(j):
                v[j] -= R[k, j] * v[k]
            v[j] = v[j] / R[j, j] if R[j, j] != 0.0 else 0.0
        length = 0.0
        for j in range(d):
            length += v[j] * v[j]
        p.length[i] = length = math.sqrt(length)
        for j in range(d):
            v[j] = v[j] / length if length > 0.0 else 0.0


@kernel
def nearest(p, d):
    """
    Fill y (d,), the shortest in whitened variables that meets the inequalities; the iterations.

    -1 if their limit is reached.
    """
    y, L, count, last, refinements = p.y, len(p.lower), 0, -1, MAX_REFINEMENTS
    y[:d] = 0.0
    for iteration in range(_MAX_ITERATIONS):
        if iteration == REFINED_ITERATIONS:
            refinements = 0
        best, worst, skipped = -1, 0.0, False
        for i in range(L):
            if p.sign[i] == 0.0 and p.length[i] > 0.0:
                step = p.length[i] * dot(p.V[i, :d], y[:d])
                beyond = excess(p, i, step, BOUND_TOLERANCE) / p.length[i]
                if i == last:
                    skipped = excess(p, i, step, SKIPPED_TOLERANCE) > 0.0
                elif beyond > worst:
                    best, worst = i, beyond
        if best < 0:
            if not skipped or refinements == 0:
                return iteration
            last, refinements = -1, 0
            continue
        step = p.length[best] * dot(p.V[best, :d], y[:d])
        value = p.inequality_values[best]
        below = p.lower[best] - value - step > value + step - p.upper[best]
        p.sign[best], p.force[best] = 1.0 if below else -1.0, 0.0
        p.order[count] = best
        count += 1
        while count > 0:
            if not _solve_active(p, count, d, refinements):
                return -1
            share = 1.0
            for a in range(count):
                if p.s[a] <= 0.0:
                    now = abs(p.force[p.order[a]])
                    share = min(share, now / (now - p.s[a]) if now > 0.0 else 0.0)
            kept, all_in = 0, share == 1.0
            for a in range(count):
                i = p.order[a]
                now = abs(p.force[i])
                now = p.s[a] if all_in else now + share * (p.s[a] - now)
                if all_in or not (p.s[a] <= 0.0 and now <= 1e-14 * abs(p.s[a])):
                    p.force[i] = p.sign[i] * now
                    p.order[kept] = i
                    kept += 1
                else:
                    p.sign[i] = p.force[i] = 0.0
            last = -1 if p.sign[best] != 0.0 else best  # it would come at once again
            dropped = kept < count
            count = kept
            if all_in or not dropped:
                break
        for j in range(d):
            y[j] = 0.0
            for a in range(count):
                i = p.order[a]
                y[j] += p.force[i] * p.V[i, j]
    return -1


@kernel
def _solve_active(p, count, d, refinements):
    """Fill s with the multipliers that let all active ones meet their bounds, softness aside."""
    F, s = p.F[:count, :count], p.s[:count]
    for a in range(count):
        i = p.order[a]
        bound = p.lower[i] if p.sign[i] > 0.0 else p.upper[i]
        p.gap[a] = s[a] = p.sign[i] * (bound - p.inequality_values[i]) / p.length[i]
        for e in range(a + 1):
            k = p.order[e]
            F[a, e] = p.sign[i] * p.sign[k] * dot(p.V[i, :d], p.V[k, :d])
        F[a, a] += p.softness[i] + BOUND_COMPLIANCE
    if cholesky(F) != 0:
        return False
    solve_lower(F, s)
    solve_lower_transposed(F, s)
    for _ in range(refinements):
        if not _refine(p, count, d):
            break
    return True


@kernel
def _refine(p, count, d):
    """Correct s by how far its y, which is filled, misses the bounds; False: not needed."""
    F, s, y, gap = p.F[:count, :count], p.s[:count], p.y, p.residual[:count]
    widest, largest = 0.0, 0.0
    for a in range(count):
        widest, largest = max(widest, abs(p.gap[a])), max(largest, abs(s[a]))
    if BOUND_COMPLIANCE * largest <= REFINEMENT_TOLERANCE * widest:
        return False
    y[:d] = 0.0
    for a in range(count):
        i = p.order[a]
        for j in range(d):
            y[j] += p.sign[i] * s[a] * p.V[i, j]
    for a in range(count):
        i = p.order[a]
        gap[a] = p.gap[a] - p.sign[i] * dot(p.V[i, :d], y[:d]) - p.softness[i] * s[a]
    solve_lower(F, gap)
    solve_lower_transposed(F, gap)
    for a in range(count):
        s[a] += gap[a]
    return True
