# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Hierarchical (lexicographic) least squares with linear inequalities, for few variables.

Of all w that keep the inequalities, those with the least |A_1 w - b_1|; of these, those with the
least |A_2 w - b_2|, and so on; what is left then stays at ``favoured``. Rows of a level differ by
their weights, which A and b contain.

A level works in a basis Z of what the levels before it left free, which is split into the part
that the level's rows determine, and the rest (:mod:`~.solver.reduction`). Inequalities are then a
least-distance problem, solved in its dual: non-negative least squares by an active set (Lawson
and Hanson, Solving Least Squares Problems, Ch. 23). Escande, Mansard and Wieber, Hierarchical
quadratic programming, Int. J. Robotics Research 33 (2014).

No inequality can make the problem infeasible: where some contradict each other they are relaxed
before the tasks (:mod:`~.solver.relaxation`), in an order.

Where rows lead tips (those with a ``task``) and inequalities are met, levels are weighted instead,
and w is near what it would be without inequalities (:mod:`~.solver.weighted_projection`). From
there :func:`include_later_levels` goes on to where levels after those of tips count, too
(:mod:`~.tasks.runaway`).
"""

from __future__ import annotations

import math

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.tasks.solver.active_set import (
    BOUND_TOLERANCE,
    solve_least_distance,
    violation,
    whiten,
)
from softrobot_dynamics.controllers.tasks.solver.reduction import (
    DAMPED,
    NEAR_SINGULAR_RATIO,
    PIVOT_RATIO,
    reduce_level,
)
from softrobot_dynamics.controllers.tasks.solver.relaxation import initialise_basis, relax_bounds
from softrobot_dynamics.controllers.tasks.solver.weighted_projection import (
    last_tip_level,
    project_onto_bounds,
    violates,
)
from softrobot_dynamics.kernels.linalg import all_finite, copy
from softrobot_dynamics.kernels.sums import dot

# of a level's own, for what it leaves free, while inequalities are met
FREE_DIRECTION_WEIGHT = 1e-3
# of the sum of what an inequality compares, by which it may be exceeded
INEQUALITY_TOLERANCE = 1e-6


@kernel
def solve_hierarchy(p, w, iterations):
    """
    Fill w (c,) with the solution of a :class:`.HierarchyWorkspace`, and the ``iterations`` (1,).

    These are those of inequalities; 0: none was met. -1: no answer, as numbers are not finite, or
    the limit of iterations was reached. Near a singularity of a task w is between the solutions
    with and without the pivots that are nearly none, and goes to the latter.
    """
    w = w[: p.A.shape[1]]  # where it is called by address, its length is not known
    copy(p.lower, p.original_bounds[0])
    copy(p.upper, p.original_bounds[1])
    level = last_tip_level(p)
    total = _solve_by_projection(p, w, level) if level > 0 else _solve_relaxed(p, w)
    _fill_relaxed(p, w)
    iterations[0] = total


@kernel
def include_later_levels(p, later, w):
    """
    Bring w (c,), the solution, to where levels after those of tips count, too.

    They do by a weight, ``later`` (1,) (:mod:`~.solver.weighted_projection`), and errors of tips
    without as much of b as is ``excess_b``. Bounds are exceeded where w exceeds them. w stays if
    there is no answer.
    """
    w, level = w[: p.A.shape[1]], last_tip_level(p)
    if level == 0:
        return
    for k in range(len(p.b)):
        p.b[k] -= later[0] * p.excess_b[k]
    _remove_bounds(p)
    found = _solve_free(p, p.slowed) >= 0
    for i in range(len(p.lower)):
        at = dot(p.C[i], w)
        p.lower[i], p.upper[i] = min(p.original_bounds[0, i], at), max(p.original_bounds[1, i], at)
    if (
        found
        and project_onto_bounds(p, level, later[0], p.slowed) >= 0
        and not _exceeds(p, p.lower, p.upper, p.slowed)
        and all_finite(p.slowed)
    ):
        copy(p.slowed, w)
    _fill_relaxed(p, w)


@kernel
def _fill_relaxed(p, w):
    """Fill by how much w exceeds bounds."""
    for i in range(len(p.lower)):
        at = dot(p.C[i], w)
        p.relaxed[i] = max(p.original_bounds[0, i] - at, at - p.original_bounds[1, i], 0.0)


@kernel
def _solve_by_projection(p, w, level):
    """Fill w with the solution where tips are led up to a level; the iterations, or -1."""
    _remove_bounds(p)
    total = _solve_free(p, w)
    copy(w, p.free)
    _restore_bounds(p)
    if total >= 0 and violates(p, w):
        total = _project_or_relax(p, w, level)
    copy(w, p.limited)
    return total if all_finite(w) else -1


@kernel
def _remove_bounds(p):
    """Leave all inequalities out."""
    for i in range(len(p.lower)):
        p.lower[i], p.upper[i] = -math.inf, math.inf


@kernel
def _project_or_relax(p, w, level):
    """Bring w, the solution without limits, to the nearest within them; the iterations, or -1."""
    total = project_onto_bounds(p, level, 0.0, w)
    if total < 0 or _exceeds(p, p.original_bounds[0], p.original_bounds[1], w):
        _restore_bounds(p)
        if not relax_bounds(p, w):
            return -1
        copy(p.free, w)
        total = project_onto_bounds(p, level, 0.0, w)
    return total


@kernel
def _solve_free(p, w):
    """Fill w with the solution without limits, also near a singularity; 0, or -1."""
    p.pivot_state[PIVOT_RATIO], p.pivot_state[DAMPED] = NEAR_SINGULAR_RATIO, 0.0
    total = _solve_in_order(p, w)
    if total >= 0 and p.pivot_state[PIVOT_RATIO] < NEAR_SINGULAR_RATIO:
        part = (p.pivot_state[PIVOT_RATIO] / NEAR_SINGULAR_RATIO) ** 2
        copy(w, p.undamped)
        p.pivot_state[DAMPED] = 1.0
        total = _solve_in_order(p, w)
        for i in range(len(w)):
            w[i] += part * (p.undamped[i] - w[i])
    return total


@kernel
def _solve_relaxed(p, w):
    """Fill w with the solution, of relaxed bounds where it takes that; the iterations, or -1."""
    total = _solve_in_order(p, w)
    if total < 0 or _exceeds(p, p.original_bounds[0], p.original_bounds[1], w):
        _restore_bounds(p)
        total = _solve_in_order(p, w) if relax_bounds(p, w) else -1
    return total


@kernel
def _restore_bounds(p):
    """Undo what was relaxed."""
    copy(p.original_bounds[0], p.lower)
    copy(p.original_bounds[1], p.upper)


@kernel
def _exceeds(p, lower, upper, w):
    """Tell whether C w exceeds bounds (L,) by more than the ``INEQUALITY_TOLERANCE``."""
    size = math.sqrt(dot(w, w))
    for i in range(len(p.lower)):
        C = p.C[i]
        at = dot(C, w)
        if max(lower[i] - at, at - upper[i]) > INEQUALITY_TOLERANCE * math.sqrt(dot(C, C)) * size:
            return True
    return False


@kernel
def _solve_in_order(p, w):
    """Bring w from level to level; returns the iterations, or -1."""
    c, last, first, total = len(w), 0, 0, 0
    initialise_basis(p, w)
    for k in range(len(p.b)):
        last = max(last, p.level[k])
    for i in range(len(p.lower)):
        p.multiplier[i] = 0.0
        p.compliance[i] = 0.0
    for level in range(1, last + 2):
        if first == c:
            break
        if level <= last:
            rank = reduce_level(p, w, level, first)
        elif total > 0 or first == 0:  # otherwise nothing has led away from what is favoured
            rank = _reduce_to_favoured(p, w, first)
        else:
            break
        if level <= last and rank == 0:
            continue
        iterations = _solve_level(p, w, first, rank)
        if iterations < 0:
            return -1
        total += iterations
        first += rank
    return total if all_finite(w) else -1


@kernel
def _reduce_to_favoured(p, w, first):
    """Have the problem be to return, in all that is free, to what is favoured; its rank."""
    d = len(w) - first
    for j in range(d):
        p.r[j] = 0.0
        for i in range(len(w)):
            p.r[j] += p.Z[i, first + j] * (p.favoured[i] - w[i])
        for i in range(d):
            p.B[i, j] = 1.0 if i == j else 0.0
    return d


@kernel
def _solve_level(p, w, first, rank):
    """Bring w to the optimum of a level, and bounds to it; returns the iterations, or -1."""
    d, L, y = len(w) - first, len(p.lower), p.y
    for j in range(d):
        y[j] = p.r[j] if j < rank else 0.0
    _solve_upper(p.B, y, rank)
    _add_in_basis(p.Z, first, y, d, w)
    violated = False
    for i in range(L):
        p.inequality_values[i] = dot(p.C[i], w)
        p.sign[i] = p.force[i] = 0.0
        violated |= violation(p, i, 0.0, BOUND_TOLERANCE) > 0.0
    if not violated:
        return 0
    free_weight = 1.0
    if rank > 0:
        free_weight = 0.0
        for j in range(rank):
            free_weight = max(free_weight, FREE_DIRECTION_WEIGHT * abs(p.B[j, j]))
    whiten(p, first, rank, d, free_weight)
    iterations = solve_least_distance(p, d)
    if iterations < 0:
        return -1
    _solve_upper(p.B, y, rank)
    for j in range(rank, d):
        y[j] /= free_weight
    _add_in_basis(p.Z, first, y, d, w)
    for i in range(L):
        at = dot(p.C[i], w)
        p.lower[i], p.upper[i] = min(p.lower[i], at), max(p.upper[i], at)
        p.multiplier[i] = p.force[i] / p.length[i] if p.length[i] > 0.0 else 0.0
    return iterations


@kernel
def _solve_upper(R, y, rank):
    """Replace y[:rank] by R^-1 y."""
    for i in range(rank - 1, -1, -1):
        total = y[i]
        for j in range(i + 1, rank):
            total -= R[i, j] * y[j]
        y[i] = total / R[i, i] if R[i, i] != 0.0 else 0.0


@kernel
def _add_in_basis(Z, first, y, d, w):
    """Add to w what y (d,) is in the basis."""
    for i in range(len(w)):
        for j in range(d):
            w[i] += Z[i, first + j] * y[j]
