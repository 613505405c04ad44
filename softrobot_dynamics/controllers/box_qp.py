# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Convex quadratic programme over a box, by the primal active-set method.

minimise  1/2 w' H w - r' w   subject to  lower <= w <= upper,   H symmetric positive definite.

A Newton step of the variables that are not held at a bound, up to the first bound in its way,
which then holds one more; at the minimum of a face, the variable that gains most is let go. Every
step goes down, so no face comes twice. Few variables (actuators), started from the solution
without limits: some microseconds. Nocedal and Wright, Numerical Optimization, Sec. 16.5.
"""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import cholesky, solve_lower, solve_lower_transposed

MAX_ITERATIONS = 200
_GRADIENT_TOLERANCE = 1e-12  # at a bound, relative to the terms that the gradient is the sum of


class Scratch(NamedTuple):
    """Scratch of a solution for m variables."""

    g: Vector  # (m,) gradient
    size: Vector  # (m,) of the terms that it is the sum of
    step: Vector  # (m,)
    F: Matrix  # (m, m) factor of the rows and columns of the free variables
    order: Integers  # (m,) the free variables, then the held ones


def allocate_scratch(m: int) -> Scratch:
    """Return :class:`Scratch` for m variables."""
    vectors = {name: np.zeros(m) for name in ('g', 'size', 'step')}
    return Scratch(**vectors, F=np.zeros((m, m)), order=np.zeros(m, dtype=np.int64))


@kernel
def solve_box_qp(H, r, lower, upper, w, scratch):
    """
    Solve into w (m,), which holds the starting point; returns the iterations, or -1.

    -1: H is not positive definite, or the limit of iterations was reached; w is then still in the
    box.
    """
    g, size, step, F, order = scratch
    count = _start(lower, upper, w, order)
    released = -1
    for iteration in range(MAX_ITERATIONS):
        _gradient(H, r, w, g, size)
        for i in range(count):
            step[i] = -g[order[i]]
            for j in range(i + 1):
                F[i, j] = H[order[i], order[j]]
        if cholesky(F[:count, :count]) != 0:
            return -1
        solve_lower(F[:count, :count], step[:count])
        solve_lower_transposed(F[:count, :count], step[:count])
        share, blocked = _advance(lower, upper, w, step, order, count)
        if blocked >= 0:
            if share == 0.0 and order[blocked] == released:
                return iteration  # rounding: its gradient is as good as zero
            count -= 1
            order[blocked], order[count] = order[count], order[blocked]
            continue
        _gradient(H, r, w, g, size)
        best = _worst_held(lower, upper, w, g, size, order, count)
        if best < 0:
            return iteration
        released = order[best]
        order[best], order[count] = order[count], order[best]
        count += 1
    return -1


@kernel
def _start(lower, upper, w, order):
    """Put w into the box; list the variables strictly inside first, and return their number."""
    count, held = 0, len(w)
    for i in range(len(w)):
        w[i] = min(max(w[i], lower[i]), upper[i])
        if lower[i] < w[i] < upper[i]:
            order[count] = i
            count += 1
        else:
            held -= 1
            order[held] = i
    return count


@kernel
def _gradient(H, r, w, g, size):
    """Gradient H w - r, and the sum of its terms' sizes."""
    for i in range(len(w)):
        total, terms = -r[i], abs(r[i])
        for j in range(len(w)):
            total += H[i, j] * w[j]
            terms += abs(H[i, j] * w[j])
        g[i], size[i] = total, terms


@kernel
def _advance(lower, upper, w, step, order, count):
    """Move the free variables along the step; (its share, place of the one blocked or -1)."""
    share, blocked = 1.0, -1
    for i in range(count):
        k = order[i]
        room = (upper[k] if step[i] > 0.0 else lower[k]) - w[k]
        if abs(room) < share * abs(step[i]):
            share, blocked = room / step[i], i
    for i in range(count):
        k = order[i]
        w[k] = min(max(w[k] + share * step[i], lower[k]), upper[k])
    if blocked >= 0:
        k = order[blocked]
        w[k] = upper[k] if step[blocked] > 0.0 else lower[k]
    return share, blocked


@kernel
def _worst_held(lower, upper, w, g, size, order, count):
    """Place of the held variable with the steepest way into the box, or -1."""
    best, steepest = -1, _GRADIENT_TOLERANCE
    for i in range(count, len(w)):
        k = order[i]
        if lower[k] < upper[k] and size[k] > 0.0:
            derivative = (-g[k] if w[k] <= lower[k] else g[k]) / size[k]
            if derivative > steepest:
                best, steepest = i, derivative
    return best
