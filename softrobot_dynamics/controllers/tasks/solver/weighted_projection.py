# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Least squares in levels where tips are led and limits are met: projection onto the limits.

Where actuators are at their limits, others could do their part of a tip's motion, with whatever
leverage they have left: a base that turns an arm whose tip is near its axis has next to none. And
what would slow them belongs to later levels, to which nothing is left. In strict levels a robot is
so driven to any speed. Of all w within the limits that one is taken that is nearest to the
solution w_0 without limits, in ::

    sum over rows of tips |A (w - w_0)|^2 + s^2 (w - w_0)' W (w - w_0)

W being the work of forces in a period. s is a share, ``MIN_LEVERAGE_FRACTION``, of the leverage of
all w on these rows, the root of the trace of A W^-1 A'. Where w_0 does not do what the rows ask
for as well as possible, near a singularity, nothing jumps when limits are met. Directions with
less leverage than the share are hardly used, as in damped least squares (Nakamura and Hanafusa, J.
Dynamic Systems, Measurement, and Control 108, 1986); outputs whose actuators have room then move
as without limits.

Rows of levels before those of tips count ``EARLIER_LEVEL_FACTOR`` times as much for each level
between. Those of levels after them do not count, or by a weight that is at most 1: then A w is
also near their own b. Squares of the first such level count ``LATER_LEVEL_FACTOR`` times as much
as those of tips at most, and rows of each further one ``EARLIER_LEVEL_FACTOR`` times less.
"""

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.tasks.solver.active_set import (
    BOUND_TOLERANCE,
    solve_least_distance,
    violation,
    whiten,
)
from softrobot_dynamics.kernels.linalg import cholesky, copy, solve_lower, solve_lower_transposed
from softrobot_dynamics.kernels.sums import dot

MIN_LEVERAGE_FRACTION = 0.02  # of the leverage of all w; a direction with less is hardly used
WORK_REGULARISATION = 1e-9  # of its work, added for each of w, so that redundant ones differ
EARLIER_LEVEL_FACTOR = 10.0  # of rows, for each level between
# of the square of the tips' rows: that of the first later level, at full weight
LATER_LEVEL_FACTOR = 10.0


@kernel
def last_tip_level(p):
    """Return the last level of a :class:`.HierarchyWorkspace` that leads a tip; 0: none does."""
    last = 0
    for k in range(len(p.b)):
        if p.task[k] > 0:
            last = max(last, p.level[k])
    return last


@kernel
def violates(p, w):
    """Fill ``inequality_values``, C w, and tell whether w (c,) violates an inequality."""
    violated = False
    for i in range(len(p.lower)):
        p.inequality_values[i] = dot(p.C[i], w)
        violated |= violation(p, i, 0.0, BOUND_TOLERANCE) > 0.0
    return violated


@kernel
def project_onto_bounds(p, level, later, w):
    """
    Bring w (c,), the solution without limits, to the nearest that keeps them.

    Rows count up to a ``level``, those after it by a weight, ``later``. Returns the iterations,
    or -1.
    """
    c = len(w)
    if not (_factorise_metric(p, level, later, True) or _factorise_metric(p, level, later, False)):
        return -1
    if later > 0.0:
        _step_to_later_levels(p, level, later, w)
    if not violates(p, w):
        return 0
    for i in range(c):
        for j in range(c):
            p.B[i, j] = p.Z[j, i] if j >= i else 0.0
    for i in range(c):
        for j in range(c):
            p.Z[i, j] = 1.0 if i == j else 0.0
    for i in range(len(p.lower)):
        p.sign[i] = p.force[i] = 0.0
        p.compliance[i] = 0.0
    whiten(p, 0, c, c, 1.0)
    iterations = solve_least_distance(p, c)
    for i in range(c - 1, -1, -1):
        for j in range(i + 1, c):
            p.y[i] -= p.B[i, j] * p.y[j]
        p.y[i] /= p.B[i, i]
    for i in range(c):
        w[i] += p.y[i]
    return iterations


@kernel
def _factorise_metric(p, level, later, coupled):
    """
    Fill Z with the Cholesky factor of the metric of w; False if there is none.

    Not ``coupled``: W counts by its diagonal, where it is not positive definite.
    """
    c, total = len(p.Z), 0.0
    _copy_work(p, coupled)
    if cholesky(p.Z) != 0:
        return False
    for k in range(len(p.b)):
        if 0 < p.level[k] <= level:
            copy(p.A[k], p.y)
            solve_lower(p.Z, p.y)
            total += dot(p.y, p.y) * EARLIER_LEVEL_FACTOR ** (2 * (level - p.level[k]))
    share = MIN_LEVERAGE_FRACTION * MIN_LEVERAGE_FRACTION * total if total > 0.0 else 1.0
    _copy_work(p, coupled)
    for i in range(c):
        for j in range(i + 1):
            p.Z[i, j] *= share
    for k in range(len(p.b)):
        times = _weight(p.level[k], level, later)
        if times > 0.0:
            for i in range(c):
                for j in range(i + 1):
                    p.Z[i, j] += times * p.A[k, i] * p.A[k, j]
    return cholesky(p.Z) == 0


@kernel
def _weight(row_level, level, later):
    """Return what rows of a level, ``row_level``, count, squared; 0: not at all."""
    if row_level > level:
        return (
            LATER_LEVEL_FACTOR * later * EARLIER_LEVEL_FACTOR ** (2 * (level + 1 - row_level))
            if later > 0.0
            else 0.0
        )
    return EARLIER_LEVEL_FACTOR ** (2 * (level - row_level)) if row_level > 0 else 0.0


@kernel
def _step_to_later_levels(p, level, later, w):
    """Move w to the optimum without limits, by the factor, where levels after one count."""
    step = p.y
    step[:] = 0.0
    for k in range(len(p.b)):
        if p.level[k] > level:
            gap = _weight(p.level[k], level, later) * (p.b[k] - dot(p.A[k], w))
            for i in range(len(w)):
                step[i] += gap * p.A[k, i]
    solve_lower(p.Z, step)
    solve_lower_transposed(p.Z, step)
    for i in range(len(w)):
        w[i] += step[i]


@kernel
def _copy_work(p, coupled):
    """Fill the lower triangle of Z with W."""
    for i in range(len(p.Z)):
        for j in range(i):
            p.Z[i, j] = p.work[i, j] if coupled else 0.0
        p.Z[i, i] = (1.0 + WORK_REGULARISATION) * p.work[i, i]
