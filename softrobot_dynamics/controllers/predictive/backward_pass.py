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
from softrobot_dynamics.kernels.linalg import cholesky, copy, solve_lower, solve_lower_transposed

AT_RATE = 1e-12  # distance from a limit, of its size, that is none


class Policy(NamedTuple):
    """Changes of N commands: a share of ``move``, and ``gain`` on what z differs in."""

    move: Matrix  # (N, m)
    gain: Array  # (N, m, z), z = 2 n + m


class BackwardWorkspace(NamedTuple):
    """Room of a backward pass."""

    V: Vector  # (z,) gradient of the cost to go
    W: Matrix  # (z, z) its Hessian
    P: Matrix  # (2 n, z) W F of the state
    Qz: Vector  # (z,) gradient by z
    Qu: Vector  # (m,) by u
    by_zz: Matrix  # (z, z)
    by_uz: Matrix  # (m, z)
    by_uu: Matrix  # (m, m)
    Z: Matrix  # (m, z)
    low: Vector  # (m,) box of a change
    high: Vector  # (m,)
    r: Vector  # (m,)
    free: Integers  # (m,) 1: free, 0: held at a limit of its own, 2: at one of its rate
    order: Integers  # (m,) the free ones
    factor: Matrix  # (m, m)
    column: Vector  # (m,)
    qp: Scratch


def allocate_policy(n: int, m: int, count: int) -> Policy:
    """Return a :class:`Policy` that changes nothing."""
    return Policy(move=np.zeros((count, m)), gain=np.zeros((count, m, 2 * n + m)))


def allocate_backward(n: int, m: int) -> BackwardWorkspace:
    """Return a :class:`BackwardWorkspace` for n coordinates and m commands."""
    z = 2 * n + m
    vectors = {x: np.zeros(m) for x in ('Qu', 'low', 'high', 'r', 'column')}
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
        order=np.zeros(m, dtype=np.int64),
        factor=np.zeros((m, m)),
        qp=allocate_scratch(m),
        **vectors,
    )


@kernel
def backward_pass(b, F, costs, weights, aims, limits, U, last, h, count, policy, extra):
    """
    Fill the :class:`Policy` of ``count`` steps about the commands U (N, m) after ``last`` (m,).

    ``extra`` is added to the Hessian by u, relative to its diagonal. Returns the largest gradient
    by a command that may still move, times the range it can move by, or -1 where a Hessian is not
    positive definite.
    """
    b.V[:] = 0.0
    for i in range(len(b.W)):
        b.W[i, :] = 0.0
    residual = 0.0
    for k in range(count - 1, -1, -1):
        before = U[k - 1] if k > 0 else last
        _expand(b, F[k], costs, weights, aims, U[k], before, h, k)
        for i in range(len(last)):
            b.by_uu[i, i] *= 1.0 + extra
            reach = limits.rate[i] * h
            b.low[i] = max(limits.lower[i], before[i] - reach) - U[k, i]
            b.high[i] = max(min(limits.upper[i], before[i] + reach) - U[k, i], b.low[i])
            b.r[i] = -b.Qu[i]
        move = policy.move[k]
        move[:] = 0.0
        if solve_box_qp(b.by_uu, b.r, b.low, b.high, move, b.qp) < 0:
            return -1.0
        _classify(b, limits, U[k], before, move, h)
        if _fill_gain(b, policy.gain[k]) != 0:
            return -1.0
        for i in range(len(move)):
            residual = max(residual, abs(b.Qu[i] * move[i]))
        _go_back(b, policy.gain[k], move)
    return residual


@kernel
def _expand(b, F, costs, weights, aims, u, before, h, k):
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
        row = b.P[i]
        row[:] = 0.0
        for j in range(x):
            add_multiple(b.W[i, j], F[j], row)
        add_multiple(b.V[i], F[i], b.Qz)
    for i in range(z):
        b.by_zz[i, :] = 0.0
    for i in range(x):
        for j in range(z):
            add_multiple(F[i, j], b.P[i], b.by_zz[j])
    for i in range(m):  # of the command that will be the one before
        row = b.Z[i]
        row[:] = 0.0
        for j in range(x):
            add_multiple(b.W[x + i, j], F[j], row)
    for i in range(m):
        own, effort, change = x + i, h * weights.effort[i], weights.change[i] / h
        off, moved = u[i] - aims.u[i], u[i] - before[i]
        b.Qu[i] = b.Qz[own] + b.V[own] + effort * off + change * moved
        for j in range(x):
            b.by_uz[i, j] = b.by_zz[own, j] + b.Z[i, j]
        for j in range(m):
            both = b.Z[i, x + j] + b.Z[j, x + i]
            b.by_uu[i, j] = b.by_zz[own, x + j] + both + b.W[own, x + j]
            b.by_uz[i, x + j] = 0.0
        b.by_uu[i, i] += effort + change
        b.by_uz[i, own] = -change
    for i in range(m):
        own, change = x + i, weights.change[i] / h
        b.by_zz[own, :] = 0.0
        for j in range(x):
            b.by_zz[j, own] = 0.0
        b.by_zz[own, own] = change
        b.Qz[own] = -change * (u[i] - before[i])


@kernel
def _classify(b, limits, u, before, move, h):
    """Tell commands that are free, at a limit of their own, or at one of their rate."""
    for i in range(len(u)):
        reach, size = limits.rate[i] * h, 1e-300 + abs(b.low[i]) + abs(b.high[i])
        b.free[i] = 1
        if b.high[i] <= b.low[i] or move[i] <= b.low[i] + AT_RATE * min(size, 1e9):
            b.free[i] = 2 if before[i] - reach > limits.lower[i] else 0
        elif move[i] >= b.high[i] - AT_RATE * min(size, 1e9):
            b.free[i] = 2 if before[i] + reach < limits.upper[i] else 0


@kernel
def _fill_gain(b, gain):
    """Fill the gain (m, z) of the free commands and those at limits; returns 0, or 1."""
    m, z, count = len(b.Qu), len(b.V), 0
    for i in range(m):
        gain[i, :] = 0.0
        if b.free[i] == 2:
            gain[i, z - m + i] = 1.0
        elif b.free[i] == 1:
            b.order[count] = i
            count += 1
    for i in range(count):
        for j in range(i + 1):
            b.factor[i, j] = b.by_uu[b.order[i], b.order[j]]
    if count == 0:
        return 0
    if cholesky(b.factor[:count, :count]) != 0:
        return 1
    column = b.column[:count]
    for c in range(z):
        at_rate = c - (z - m)
        for i in range(count):
            column[i] = -b.by_uz[b.order[i], c]
            if at_rate >= 0 and b.free[at_rate] == 2:
                column[i] -= b.by_uu[b.order[i], at_rate]
        solve_lower(b.factor[:count, :count], column)
        solve_lower_transposed(b.factor[:count, :count], column)
        for i in range(count):
            gain[b.order[i], c] = column[i]
    return 0


@kernel
def _go_back(b, gain, move):
    """Fill the cost to go before the step, of what the policy makes of it."""
    m, z = len(move), len(b.V)
    for i in range(m):
        slope, row = b.Qu[i], b.Z[i]
        copy(b.by_uz[i], row)
        for j in range(m):
            slope += b.by_uu[i, j] * move[j]
            add_multiple(b.by_uu[i, j], gain[j], row)
        b.r[i] = slope
    copy(b.Qz, b.V)
    for i in range(z):
        copy(b.by_zz[i], b.W[i])
    for i in range(m):
        add_multiple(b.r[i], gain[i], b.V)
        add_multiple(move[i], b.by_uz[i], b.V)
        for j in range(z):
            add_multiple(gain[i, j], b.Z[i], b.W[j])
            add_multiple(b.by_uz[i, j], gain[i], b.W[j])
    for i in range(z):
        for j in range(i):
            b.W[i, j] = b.W[j, i] = 0.5 * (b.W[i, j] + b.W[j, i])
