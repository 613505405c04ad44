# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The backward pass of control-limited differential dynamic programming.

From the last step to the first, the cost to go is a quadratic function of z = (q, qd, u before),
and the best change of a command solves a convex quadratic programme over the box of its limits
(Tassa, Mansard, Todorov, ICRA 2014). The command before is a part of the state, as its change has
a cost and a limit. So a limit of the rate moves with the state: a command that is held there moves
along, with a gain of one on the command before; one at a limit of its own has none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.box_qp import allocate_scratch, Scratch, solve_box_qp
from softrobot_dynamics.controllers.predictive.implicit_step import add_multiple
from softrobot_dynamics.kernels.linalg import cholesky, copy

LIMIT_TOLERANCE = 1e-12  # of a limit's size; a nearer move is at the limit


class Policy(NamedTuple):
    """Changes of N commands: a share of the ``feedforward``, and a ``gain`` on deviations of z."""

    feedforward: Matrix  # (N, m) actuator units
    gain: Array  # (N, m, z), z = 2 n + m


class BackwardWorkspace(NamedTuple):
    """Workspace of a backward pass."""

    V: Vector  # (z,) gradient of the cost to go
    W: Matrix  # (z, z) its Hessian, symmetric
    P: Matrix  # (2 n, z) W F of the state
    Qz: Vector  # (z,) gradient by z
    Qu: Vector  # (m,) by u
    by_zz: Matrix  # (z, z) from the diagonal on
    by_uz: Matrix  # (m, z)
    by_uu: Matrix  # (m, m)
    Z: Matrix  # (m, z)
    low: Vector  # (m,) box of a change
    high: Vector  # (m,)
    r: Vector  # (m,)
    free: Integers  # (m,) 1: free, 0: held at a limit of its own, 2: at one of its rate
    qp: Scratch
    predicted_decrease: Vector  # (1,) of the quadratic cost by the whole feedforward


def allocate_policy(n: int, m: int, count: int) -> Policy:
    """Return a :class:`Policy` that changes nothing."""
    return Policy(feedforward=np.zeros((count, m)), gain=np.zeros((count, m, 2 * n + m)))


def allocate_backward(n: int, m: int) -> BackwardWorkspace:
    """Return a :class:`BackwardWorkspace` for n coordinates and m commands."""
    z = 2 * n + m
    vectors = {x: np.zeros(m) for x in ('Qu', 'low', 'high', 'r')}
    return BackwardWorkspace(
        V=np.zeros(z),
        W=np.zeros((z, z)),
        P=np.zeros((2 * n, z)),
        Qz=np.zeros(z),
        by_zz=np.zeros((z, z)),
        by_uz=np.zeros((m, z)),
        by_uu=np.zeros((m, m)),
        Z=np.zeros((m, z)),
        free=np.zeros(m, dtype=np.int64),
        qp=allocate_scratch(m),
        predicted_decrease=np.zeros(1),
        **vectors,
    )


@kernel
def backward_pass(b, F, costs, weights, aims, limits, U, last, h, count, policy, extra):
    """
    Fill the :class:`Policy` of ``count`` steps about the commands U (N, m) after ``last`` (m,).

    ``extra`` is added to the Hessian by u, relative to its diagonal. Returns the largest gradient
    by a command that may still move, times the range it can move by, or -1 where a Hessian is not
    positive definite. ``b.predicted_decrease`` is the gain of the whole feedforward where the cost
    is quadratic.
    """
    b.V[:] = 0.0
    for i in range(len(b.W)):
        b.W[i, :] = 0.0
    residual = b.predicted_decrease[0] = 0.0
    for k in range(count - 1, -1, -1):
        before = U[k - 1] if k > 0 else last
        _expand_cost(b, F[k], costs, weights, aims, U[k], before, h, k)
        for i in range(len(last)):
            b.by_uu[i, i] *= 1.0 + extra
            reach = limits.rate[i] * h
            b.low[i] = max(limits.lower[i], before[i] - reach) - U[k, i]
            b.high[i] = max(min(limits.upper[i], before[i] + reach) - U[k, i], b.low[i])
            b.r[i] = -b.Qu[i]
        feedforward = policy.feedforward[k]
        feedforward[:] = 0.0
        if solve_box_qp(b.by_uu, b.r, b.low, b.high, feedforward, b.qp) < 0:
            return -1.0
        _classify_commands(b, limits, U[k], before, feedforward, h)
        if _fill_gain(b, policy.gain[k]) != 0:
            return -1.0
        for i in range(len(feedforward)):
            residual = max(residual, abs(b.Qu[i] * feedforward[i]))
        _update_cost_to_go(b, policy.gain[k], feedforward)
    return residual


@kernel
def _expand_cost(b, F, costs, weights, aims, u, before, h, k):
    """Fill the derivatives of the cost of step k and of all after it by z and u."""
    n, m, z = len(b.P) // 2, len(u), len(b.V)
    x = 2 * n
    gradient, by_qq, by_vv = costs.gradient[k], costs.by_qq[k], costs.by_vv[k]
    for i in range(x):
        b.V[i] += gradient[i]
    for i in range(n):
        add_multiple(1.0, by_qq[i], b.W[i, :n])
        b.W[n + i, n + i] += by_vv[i]
    b.Qz[:] = 0.0  # by (q, qd, u) at first
    for i in range(x):
        b.P[i, :] = 0.0
        add_products(b.W, i, F, 0, b.P[i])  # W is symmetric
        add_multiple(b.V[i], F[i], b.Qz)
    for i in range(z):
        b.by_zz[i, :] = 0.0
        add_products(F, i, b.P, i, b.by_zz[i])  # from the diagonal on
    for i in range(m):  # of the command that will be the one before
        b.Z[i, :] = 0.0
        add_products(b.W, x + i, F, 0, b.Z[i])
    for i in range(m):
        command_index, effort, change = x + i, h * weights.effort[i], weights.change[i] / h
        error, moved = u[i] - aims.u[i], u[i] - before[i]
        b.Qu[i] = b.Qz[command_index] + b.V[command_index] + effort * error + change * moved
        for j in range(x):
            b.by_uz[i, j] = b.by_zz[j, command_index] + b.Z[i, j]
        for j in range(m):
            low, high = min(command_index, x + j), max(command_index, x + j)
            both = b.Z[i, x + j] + b.Z[j, command_index]
            b.by_uu[i, j] = b.by_zz[low, high] + both + b.W[command_index, x + j]
            b.by_uz[i, x + j] = 0.0
        b.by_uu[i, i] += effort + change
        b.by_uz[i, command_index] = -change
    for i in range(m):
        command_index, change = x + i, weights.change[i] / h
        b.by_zz[command_index, :] = 0.0
        for j in range(x):
            b.by_zz[j, command_index] = 0.0
        b.by_zz[command_index, command_index] = change
        b.Qz[command_index] = -change * (u[i] - before[i])


@kernel
def add_products(A, j, M, first, target):
    """Add column j of A times the rows of M (r, c), from column ``first`` on, to a row (c,)."""
    count, own, i = len(M), target[first:], 0
    while i + 4 <= count:  # four rows at a time: the target is loaded and stored less often
        a0, a1, a2, a3 = A[i, j], A[i + 1, j], A[i + 2, j], A[i + 3, j]
        m0, m1, m2, m3 = M[i, first:], M[i + 1, first:], M[i + 2, first:], M[i + 3, first:]
        for c in range(len(own)):
            own[c] += a0 * m0[c] + a1 * m1[c] + a2 * m2[c] + a3 * m3[c]
        i += 4
    while i < count:
        add_multiple(A[i, j], M[i, first:], own)
        i += 1


@kernel
def _classify_commands(b, limits, u, before, feedforward, h):
    """Tell commands that are free, at a limit of their own, or at one of their rate."""
    for i in range(len(u)):
        reach, size = limits.rate[i] * h, 1e-300 + abs(b.low[i]) + abs(b.high[i])
        b.free[i] = 1
        if b.high[i] <= b.low[i] or feedforward[i] <= b.low[i] + LIMIT_TOLERANCE * min(size, 1e9):
            b.free[i] = 2 if before[i] - reach > limits.lower[i] else 0
        elif feedforward[i] >= b.high[i] - LIMIT_TOLERANCE * min(size, 1e9):
            b.free[i] = 2 if before[i] + reach < limits.upper[i] else 0


@kernel
def _fill_gain(b, gain):
    """Fill the gain (m, z) of the free commands and those at limits; returns 0, or 1."""
    m, z, count, known = len(b.Qu), len(b.V), 0, True
    L, order = b.qp.F, b.qp.order  # the factor of those that the solver left free, in order
    for i in range(m):
        gain[i, :] = 0.0
        if b.free[i] == 2:
            gain[i, z - m + i] = 1.0
        count += b.free[i] == 1
    for i in range(count):
        known &= b.free[order[i]] == 1
    if not known and _factorise_free(b) != 0:
        return 1
    for i in range(count):
        row = gain[order[i]]
        add_multiple(-1.0, b.by_uz[order[i]], row)
        for r in range(m):
            if b.free[r] == 2:
                row[z - m + r] -= b.by_uu[order[i], r]
        for k in range(i):
            add_multiple(-L[i, k], gain[order[k]], row)
        scale(1.0 / L[i, i], row)
    for i in range(count - 1, -1, -1):
        row = gain[order[i]]
        for k in range(i + 1, count):
            add_multiple(-L[k, i], gain[order[k]], row)
        scale(1.0 / L[i, i], row)
    return 0


@kernel
def _factorise_free(b):
    """Factorise the Hessian of the free commands, listed first in the order; returns 0, or 1."""
    L, order, count = b.qp.F, b.qp.order, 0
    for i in range(len(b.free)):
        if b.free[i] == 1:
            order[count] = i
            count += 1
    for i in range(count):
        for j in range(i + 1):
            L[i, j] = b.by_uu[order[i], order[j]]
    return 0 if cholesky(L[:count, :count]) == 0 else 1


@kernel
def scale(factor, row):
    """Multiply a row (k,) by a factor."""
    for c in range(len(row)):
        row[c] *= factor


@kernel
def _update_cost_to_go(b, gain, feedforward):
    """Fill the cost to go before the step, of what the policy makes of it."""
    m, z = len(feedforward), len(b.V)
    for i in range(m):
        slope, row = b.Qu[i], b.Z[i]
        copy(b.by_uz[i], row)
        add_products(b.by_uu, i, gain, 0, row)
        for j in range(m):
            slope += b.by_uu[i, j] * feedforward[j]
        b.r[i] = slope
    copy(b.Qz, b.V)
    for i in range(m):
        b.predicted_decrease[0] -= 0.5 * (b.Qu[i] + b.r[i]) * feedforward[i]
        add_multiple(b.r[i], gain[i], b.V)
        add_multiple(feedforward[i], b.by_uz[i], b.V)
    for i in range(z):
        copy(b.by_zz[i, i:], b.W[i, i:])
        add_products(gain, i, b.Z, i, b.W[i])
        add_products(b.by_uz, i, gain, i, b.W[i])
        for j in range(i + 1, z):
            b.W[j, i] = b.W[i, j]
