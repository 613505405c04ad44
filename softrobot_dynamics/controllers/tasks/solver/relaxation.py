# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Bounds that contradict each other, or the limits of actuators, are relaxed in an order.

Limits first, then order after order: of all w that exceed the bounds before as little as they had
to be exceeded, those that exceed the bounds of this order least, in the sum of squares. What is
exceeded then becomes the bound. Kanoun, Lamiraux and Wieber, Kinematic control of redundant
manipulators: generalizing the task-priority framework to inequality tasks, IEEE Trans. Robotics
27 (2011).

Each order is exact to some 1e-5 of the span of its bounds, as long as bounds are the same or
differ in direction by 1e-5 at least. Near singularities a later order may hang on as little.
"""

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.tasks.solver.active_set import (
    BOUND_TOLERANCE,
    solve_least_distance,
    violation,
    whiten,
)
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.sums import dot

# of bounds of this order, relative to the way to keep them; each proximal step begins anew at w
RELAXED_COMPLIANCE = 1e-6
PROXIMAL_STEPS = 4
PROXIMAL_TOLERANCE = 1e-6  # of w; a shorter step is the last


@kernel
def initialise_basis(p, w):
    """Begin at what is favoured, with all of w (c,) free in the basis of its own axes."""
    copy(p.favoured, w)
    for i in range(len(w)):
        for j in range(len(w)):
            p.Z[i, j] = 1.0 if i == j else 0.0


@kernel
def relax_bounds(p, w):
    """
    Relax the bounds of a :class:`.HierarchyWorkspace` such that w (c,) keeps them, and fill it.

    Returns False if there is no answer.
    """
    last = 0
    initialise_basis(p, w)
    for i in range(len(p.lower)):
        last = max(last, p.relaxation_order[i])
    for order in range(last + 1):
        violated = False
        for i in range(len(p.lower)):
            p.inequality_values[i] = dot(p.C[i], w)
            of_order = p.relaxation_order[i] == order
            violated |= of_order and violation(p, i, 0.0, BOUND_TOLERANCE) > 0.0
        if not violated:
            continue
        if not _relax_order(p, w, order):
            return False
        for i in range(len(p.lower)):
            if p.relaxation_order[i] <= order:
                at = dot(p.C[i], w)
                p.lower[i], p.upper[i] = min(p.lower[i], at), max(p.upper[i], at)
    return True


@kernel
def _relax_order(p, w, order):
    """
    Bring w to where bounds of an order are exceeded least, in proximal steps.

    With a single one the ``RELAXED_COMPLIANCE`` would leave what little leverage could reach.
    Returns False if there is no answer.
    """
    c = len(w)
    whiten(p, 0, 0, c, 1.0)
    _set_compliance(p, order)
    for i in range(len(p.lower)):
        p.sign[i] = p.force[i] = 0.0
    for step in range(PROXIMAL_STEPS):
        for i in range(len(p.lower)):
            p.inequality_values[i] = dot(p.C[i], w)
        if solve_least_distance(p, c) < 0:
            return step > 0
        for i in range(c):
            w[i] += p.y[i]
        if dot(p.y, p.y) <= PROXIMAL_TOLERANCE * PROXIMAL_TOLERANCE * dot(w, w):
            break
    return True


@kernel
def _set_compliance(p, order):
    """Let inequalities of an order yield to those before, and leave out those after."""
    stiffest = 0.0
    for i in range(len(p.lower)):
        if p.relaxation_order[i] > order:
            p.length[i] = 0.0
        elif p.relaxation_order[i] == order:
            stiffest = max(stiffest, p.length[i] / p.unit[i])
    for i in range(len(p.lower)):
        p.compliance[i] = 0.0
        if 0 < p.relaxation_order[i] == order and p.length[i] > 0.0:
            p.compliance[i] = RELAXED_COMPLIANCE * (stiffest * p.unit[i] / p.length[i]) ** 2
