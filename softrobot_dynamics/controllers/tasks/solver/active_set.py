# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Least-distance problem of a level: the shortest step that meets its inequalities.

An active set on the dual: non-negative least squares in the multipliers (Lawson and Hanson,
Solving Least Squares Problems, Ch. 23), each inequality yielding by its compliance; see
:mod:`~.solver.hierarchy`.

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
REFINEMENT_TOLERANCE = 1e-8  # of the widest gap to a bound; compliance may leave that much
MAX_REFINEMENTS = 6
# Bounds that depend on each other but for rounding have no refined multipliers. Signs of these
# then go round, or keep a bound out. Beyond so many iterations, or where a bound that was kept
# out is exceeded by more than a part of what is compared, multipliers are not refined any more.
MAX_REFINED_ITERATIONS = 50
SKIPPED_TOLERANCE = 1e-6
_MAX_ITERATIONS = 200


@kernel
def violation(p, i, step, tolerance):
    """By how much inequality i is violated a ``step`` beyond C w, < 0: less than a tolerance."""
    value = p.inequality_values[i]
    at, rounding = value + step, tolerance * (abs(value) + abs(step))
    low, high = p.lower[i] - at, at - p.upper[i]
    return max(low - rounding, high - rounding)


@kernel
def whiten(p, first, rank, d, free_weight):
    """Fill V and the lengths of its rows, before they are made one."""
    R = p.B
    for i in range(len(p.lower)):
        v, C = p.V[i], p.C[i]
        for j in range(d):
            total = 0.0
            for k in range(len(C)):
                total += C[k] * p.Z[k, first + j]
            v[j] = total if j < rank else total / free_weight
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
def solve_least_distance(p, d):
    """
    Fill y (d,), the shortest in whitened variables that meets the inequalities; the iterations.

    Begins with those that have a ``sign``, as they are in ``order``. -1 if the limit of iterations
    is reached.
    """
    count, best, last, refinements, refined = 0, -1, -1, 0, False
    for i in range(len(p.lower)):
        count += p.sign[i] != 0.0
    p.y[:d] = 0.0
    for iteration in range(_MAX_ITERATIONS):
        if iteration > 0 or count == 0:
            best = _most_violated(p, d, last)
            if best >= 0:
                _activate(p, best, count, d)
                count += 1
            elif refinements > 0:
                if last < 0 or not _violation_at_solution(p, last, d, SKIPPED_TOLERANCE) > 0.0:
                    return iteration
                last, refinements = -1, 0
                continue
            elif refined or not _compliance_matters(p, count):
                return iteration
            else:
                last, refinements, refined = -1, MAX_REFINEMENTS, True
        if iteration > MAX_REFINED_ITERATIONS:
            refinements = 0
        count = _drop_negative_multipliers(p, count, d, refinements)
        if count < 0:
            return -1
        last = best if best >= 0 and p.sign[best] == 0.0 else -1  # it would come at once again
        for j in range(d):
            p.y[j] = 0.0
            for a in range(count):
                i = p.order[a]
                p.y[j] += p.force[i] * p.V[i, j]
    return -1


@kernel
def _violation_at_solution(p, i, d, tolerance):
    """Return by how much y violates inequality i, see :func:`violation`."""
    return violation(p, i, p.length[i] * dot(p.V[i, :d], p.y[:d]), tolerance)


@kernel
def _most_violated(p, d, last):
    """Return the index of the inequality that y violates most, none that is active; -1: none."""
    best, worst = -1, 0.0
    for i in range(len(p.lower)):
        if p.sign[i] == 0.0 and p.length[i] > 0.0 and i != last:
            amount = _violation_at_solution(p, i, d, BOUND_TOLERANCE) / p.length[i]
            if amount > worst:
                best, worst = i, amount
    return best


@kernel
def _activate(p, i, count, d):
    """Let inequality i be the last of the active ones."""
    at = p.inequality_values[i] + p.length[i] * dot(p.V[i, :d], p.y[:d])
    p.sign[i], p.force[i] = 1.0 if p.lower[i] - at > at - p.upper[i] else -1.0, 0.0
    p.order[count] = i


@kernel
def _compliance_matters(p, count):
    """Tell whether active bounds yield noticeably by the ``BOUND_COMPLIANCE``."""
    widest, largest = 0.0, 0.0
    for a in range(count):
        widest, largest = max(widest, abs(p.gap[a])), max(largest, abs(p.force[p.order[a]]))
    return BOUND_COMPLIANCE * largest > REFINEMENT_TOLERANCE * widest


@kernel
def _drop_negative_multipliers(p, count, d, refinements):
    """Leave out active ones that would pull, and fill ``force``; how many are left, or -1."""
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
        dropped = kept < count
        count = kept
        if all_in or not dropped:
            break
    return count


@kernel
def _solve_active(p, count, d, refinements):
    """Fill s with the multipliers that let all active ones meet their bounds, compliance aside."""
    F, s = p.F[:count, :count], p.s[:count]
    for a in range(count):
        i = p.order[a]
        bound = p.lower[i] if p.sign[i] > 0.0 else p.upper[i]
        p.gap[a] = s[a] = p.sign[i] * (bound - p.inequality_values[i]) / p.length[i]
        for e in range(a + 1):
            k = p.order[e]
            F[a, e] = p.sign[i] * p.sign[k] * dot(p.V[i, :d], p.V[k, :d])
        F[a, a] += p.compliance[i] + BOUND_COMPLIANCE
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
    F, s, y, residual = p.F[:count, :count], p.s[:count], p.y, p.residual[:count]
    widest, missed = 0.0, 0.0
    y[:d] = 0.0
    for a in range(count):
        i = p.order[a]
        for j in range(d):
            y[j] += p.sign[i] * s[a] * p.V[i, j]
    for a in range(count):
        i = p.order[a]
        residual[a] = p.gap[a] - p.sign[i] * dot(p.V[i, :d], y[:d]) - p.compliance[i] * s[a]
        widest, missed = max(widest, abs(p.gap[a])), max(missed, abs(residual[a]))
    if missed <= REFINEMENT_TOLERANCE * widest:
        return False
    solve_lower(F, residual)
    solve_lower_transposed(F, residual)
    for a in range(count):
        s[a] += residual[a]
    return True
