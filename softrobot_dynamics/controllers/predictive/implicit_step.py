# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Implicit steps of a robot under a held command, and their exact derivatives.

The method is SDIRK2 (Alexander, SIAM J. Numer. Anal. 14, 1977): two stages, second order,
L-stable, so that a step may be much longer than the fastest damped motion. With g = L_STABLE_GAMMA
h, each stage finds the acceleration A for which the inverse dynamics balance::

    R(A) = ID(Q, V, A) - J(Q)' s u - f = 0,   V = v + g A,   Q = q + g V

from its base (q, v). The second stage begins at q + (1 - L_STABLE_GAMMA) h V1, v + (1 -
L_STABLE_GAMMA) h A1, and ends at the new state. Newton's matrix is S = M + g D + g^2 K, of the
derivatives of ID - J' s u by q (K), qd (D) and qdd (M). The same S gives the derivatives of the
step, by the implicit function theorem: S dA = -K dq - (g K + D) dv + J' s du. They are exact where
the stages have converged. With contact (:mod:`~.predictive.contact`) ID has its forces, and their
derivatives leave out how normals turn. Cables that motors hold at commanded positions pull in ID,
too. As such forces change abruptly, where surfaces touch and cables become slack, corrections are
shortened where they do not help.
"""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import TYPE_CHECKING

from softrobot_dynamics.compiling.addresses import run, run_three
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.dynamics.response import fill_actuator_stiffness
from softrobot_dynamics.kernels.linalg import copy, invert
from softrobot_dynamics.recursion.constants import L_STABLE_GAMMA
from softrobot_dynamics.recursion.passes import propagate_acceleration

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.predictive.step_workspace import StepArrays, StepWorkspace

NEWTON_TOLERANCE = 1e-10  # of the last correction of Q, in units of the coordinates
# the same of roll-outs without derivatives: what is left is a hundredth of it
ROUGH_TOLERANCE = 1e-5
# the same from which one exact step of Newton's method leaves less than NEWTON_TOLERANCE
QUADRATIC_CONVERGENCE = 1e-5
# in all; the first may use Newton's matrix of before
MAX_NEWTON_ITERATIONS, MAX_STALE_ITERATIONS = 12, 4
DERIVATIVE_WORK = 2.0  # evaluations that take as long as the derivatives of a stage, about
# of abrupt forces; the first take whole corrections
MAX_ABRUPT_ITERATIONS, FULL_STEP_ITERATIONS = 40, 8
_STEP_TYPES = 'int64, VECTOR, VECTOR, float64, VECTOR, boolean, boolean, float64'


def single_step(w: StepWorkspace, steps: StepArrays) -> Callable[..., int]:
    """Return :func:`make_step` for a workspace, a function of (k, x, u, ...), see there."""
    found: Callable[..., int] = cached(make_step, _STEP_TYPES, w=w, steps=steps)
    return found


@kernel
def make_step(w, steps, k, x, u, h, end, linearise, fresh, tolerance):
    """
    Fill ``end`` (2 n,) with the state ``h`` [s] after x (2 n,) under u (m,); returns 0, or 1.

    1: there is no such step. In row ``k`` of ``steps`` (:class:`StepArrays`) A holds a guess, and
    in the end the accelerations, whose last correction is within the ``tolerance``, see
    :data:`NEWTON_TOLERANCE`. With ``linearise`` the row is filled with the derivatives; else they
    are used as they are. ``fresh``: those of before are of no use.
    """
    A, inverse, by_all, F = steps.A[k], steps.inverse[k], steps.by_all[k], steps.F[k]
    n, g, rest = len(w.q), L_STABLE_GAMMA * h, (1.0 - L_STABLE_GAMMA) * h
    for i in range(len(u)):
        w.output_forces[i], w.command[i] = w.signs[i] * u[i], u[i]
    w.time[0] += g
    for i in range(n):
        w.base_q[i], w.base_v[i] = x[i], x[n + i]
    if _solve_stage(w, A[0], g, inverse[0], linearise, fresh, tolerance) != 0:
        if _restart(w, A[0], g, inverse[0], linearise, tolerance) != 0:
            return 1
    if linearise:
        w.by_q[:] = 0.0
        w.by_v[:] = 0.0
        for i in range(n):
            w.by_q[i, i] = w.by_v[i, n + i] = 1.0
        _differentiate_end(w, g, inverse[0], by_all[0])
    w.time[0] += rest
    for i in range(n):
        w.base_q[i], w.base_v[i] = x[i] + rest * w.v[i], x[n + i] + rest * A[0, i]
    if _solve_stage(w, A[1], g, inverse[1], linearise, fresh, tolerance) != 0:
        if _restart(w, A[1], g, inverse[1], linearise, tolerance) != 0:
            return 1
    if linearise:
        for i in range(n):  # by_v is that of V1 now
            add_scaled_row(w.by_v[i], rest, by_all[0, i], w.by_q[i], w.right_hand_side[i], n, i)
        for i in range(n):
            copy(w.right_hand_side[i], w.by_v[i])
        _differentiate_end(w, g, inverse[1], by_all[1])
        for i in range(n):
            copy(w.by_q[i], F[i])
            copy(w.by_v[i], F[n + i])
    for i in range(n):
        end[i], end[n + i] = w.q[i], w.v[i]
        w.position_correction[i] = g * g * w.correction[i]
    return 0


@kernel
def add_scaled_row(V, rest, A, base_q, base_v, n, i):
    """Fill row i of the derivatives of the second base from those of V1 and A1."""
    for c in range(len(V)):
        base_q[c] = rest * V[c]
        base_v[c] = rest * A[c]
    base_q[i] += 1.0
    base_v[n + i] += 1.0


@kernel
def _restart(w, A, g, inverse, linearise, tolerance):
    """Do as :func:`_solve_stage` without the guess, where an abrupt force made it useless."""
    if w.abrupt == 0:
        return 1
    A[:] = 0.0
    return _solve_stage(w, A, g, inverse, linearise, True, tolerance)


@kernel
def _solve_stage(w, A, g, inverse, linearise, fresh, tolerance):
    """Solve a stage for A (n,); its state is then in w.q and w.v. Returns 0, or 1."""
    n, before = len(A), math.inf
    for iteration in range(MAX_ABRUPT_ITERATIONS if w.abrupt else MAX_NEWTON_ITERATIONS):
        _evaluate(w, A, g)
        differentiated = fresh or iteration >= MAX_STALE_ITERATIONS
        if differentiated and _differentiate(w, A, g, inverse) != 0:
            return 1
        size = _correct(w, g, inverse)
        if w.abrupt and not (differentiated or size < before):  # the force is another here
            if _differentiate(w, A, g, inverse) != 0:
                return 1
            size, differentiated, fresh = _correct(w, g, inverse), True, True
        before = size
        if not size < 1e6:
            return 1
        last = size < tolerance
        if linearise and size < QUADRATIC_CONVERGENCE and not differentiated:
            if _differentiate(w, A, g, inverse) != 0:
                return 1
            last = _correct(w, g, inverse) < QUADRATIC_CONVERGENCE
        for i in range(n):
            A[i] += w.correction[i]
            w.v[i] = w.base_v[i] + g * A[i]
            w.q[i] = w.base_q[i] + g * w.v[i]
        if last:
            return 0
        if w.abrupt and iteration >= FULL_STEP_ITERATIONS:
            _damp_correction(w, A, g, inverse, size)
    return 1


@kernel
def _damp_correction(w, A, g, inverse, size):
    """Halve the correction that A (n,) has got until the next is smaller, if it helps."""
    whole, share = w.position_correction, 1.0  # written over until the step has ended
    copy(w.correction, whole)
    while share > 1e-2:
        _evaluate(w, A, g)
        if _correct(w, g, inverse) <= (1.0 - 0.25 * share) * size:
            return
        share *= 0.5
        add_multiple(-share, whole, A)


@kernel
def _evaluate(w, A, g):
    """Fill the terms at the stage of A (n,), and w.r (n,) with R."""
    n, m, terms = len(A), len(w.output_forces), w.terms
    w.work[0] += 1.0
    for i in range(n):
        w.v[i] = w.base_v[i] + g * A[i]
        w.q[i] = w.base_q[i] + g * w.v[i]
    run(w.parts.evaluate, w.q, w.v)
    for i in range(n):
        total, row = terms.h[i], terms.M[i]
        for j in range(n):
            total += row[j] * A[j]
        w.r[i] = total
    for k in range(m):
        force, row = w.output_forces[k], terms.J[k]
        for i in range(n):
            w.r[i] -= row[i] * force


@kernel
def _differentiate(w, A, g, inverse):
    """Fill K, D, S and the inverse of S after an evaluation at A (n,); returns 0, or 1."""
    n = len(A)
    w.work[0] += DERIVATIVE_WORK
    propagate_acceleration(w.robot, w.q, w.v, A)
    run_three(w.parts.differentiate, w.q, w.v, A)
    fill_actuator_stiffness(w.parts.fibres, w.parts.lines, w.q, w.output_forces)
    for i in range(n):
        own = w.by_state[i]
        for j in range(n):
            w.K[i, j], w.D[i, j] = own[j] - w.stiffness[i, j], own[n + j]
            w.S[i, j] = w.terms.M[i, j] + g * (w.D[i, j] + g * w.K[i, j])
        copy(w.S[i], inverse[i])
    return 0 if invert(inverse) == 0 else 1


@kernel
def _correct(w, g, inverse):
    """Fill the correction (n,) of A; returns how much it moves Q, in units."""
    n, size = len(w.r), 0.0
    for i in range(n):
        total, row = 0.0, inverse[i]
        for j in range(n):
            total -= row[j] * w.r[j]
        w.correction[i] = total
        size += abs(g * g * total) / w.units[i]
    return size if math.isfinite(size) else math.inf


@kernel
def _differentiate_end(w, g, inverse, by_all):
    """Replace the derivatives of a stage's base by those of its end; fill those of A (n, k)."""
    n, m = len(w.q), len(w.output_forces)
    for i in range(n):
        row = w.right_hand_side[i]
        row[:] = 0.0
        for j in range(n):
            add_multiple(-w.K[i, j], w.by_q[j], row)
            add_multiple(-(g * w.K[i, j] + w.D[i, j]), w.by_v[j], row)
        for k in range(m):
            row[2 * n + k] += w.terms.J[k, i] * w.signs[k]
    if w.by_command.address != 0:
        run(w.by_command, w.q, w.v)
    for i in range(n):
        row = by_all[i]
        row[:] = 0.0
        for j in range(n):
            add_multiple(inverse[i, j], w.right_hand_side[j], row)
        add_multiple(g, row, w.by_v[i])
        add_multiple(g, w.by_v[i], w.by_q[i])


@kernel
def add_multiple(factor, source, target):
    """Add a multiple of one array (k,) to another."""
    for c in range(len(target)):
        target[c] += factor * source[c]
