# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Derivatives of a joint or a body by its own coordinates, where nothing else moves.

They are what :mod:`softrobot_dynamics.recursion.derivative_passes` needs besides the terms, in the
layout of :mod:`softrobot_dynamics.kernels.layout`. Parts without coordinates, and joints that move
along one twist, need none. Most have kernels of their own. Others are differenced: exactly by
velocities, in which forces are quadratic, and to fourth order by q.
"""

from typing import NamedTuple

from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import call
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.layout import ANGULAR_BIAS, JACOBIAN, LINEAR_BIAS, ORIGIN
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.spatial import cross_motion, read_six, rotate
from softrobot_dynamics.recursion.finite_differences import (
    derivative,
    ELEMENT_STEP,
    ONE_SIDED_STEP,
    shift,
)
from softrobot_dynamics.recursion.passes import (
    AT_JOINT,
    BODY_COUNT,
    BODY_FIRST,
    body_force,
    BODY_KERNEL,
    BODY_NUMBERS,
    BODY_SLAB,
    FULL,
    JOINT_COUNT,
    JOINT_FIRST,
    JOINT_KERNEL,
    JOINT_NUMBERS,
    JOINT_SLAB,
    JOINT_WRENCH,
    STATE,
    TIP_WRENCH,
)

CONSTANT, DIFFERENCES = 0, 1  # in place of the address of a kernel


class DerivativeKernels(NamedTuple):
    """The kernels of all derivatives of a robot, for joint and body of each module."""

    addresses: Integers  # (N, 2) or CONSTANT, DIFFERENCES
    numbers: Integers  # (N, 2) offsets into P
    P: Array  # parameters
    scratch: int  # numbers
    units: Vector  # (n,) of coordinates, see softrobot_dynamics.model.scales; steps are shares


class Work(NamedTuple):
    """Scratch of derivatives, for parts of n coordinates at most."""

    x: Vector  # (2 n,) own q and qd
    y: Matrix  # (4, .) what is differenced
    W: Array  # state and slab
    S: Array  # of kernels


@kernel
def evaluate_derivatives(robot, t, q, qd, qdd):
    """Fill ``t.derivatives`` of parts with own kernels, of the modules whose turn it is."""
    kernels = t.kernels
    for i in range(t.module_range[0], t.module_range[1]):
        m = robot.modules[i]
        if kernels.addresses[i, 0] > DIFFERENCES:
            j, P = m[JOINT_FIRST], kernels.P[kernels.numbers[i, 0] :]
            D = t.derivatives[t.places[i, 0] :]
            call(kernels.addresses[i, 0], P, q[j:], qd[j:], qdd[j:], D)
        if kernels.addresses[i, 1] > DIFFERENCES:
            j, P = m[BODY_FIRST], kernels.P[kernels.numbers[i, 1] :]
            D = t.derivatives[t.places[i, 1] :]
            motion = robot.W[i * STATE + AT_JOINT :]
            call(kernels.addresses[i, 1], P, q[j:], qd[j:], qdd[j:], motion, D, t.work.S)


@kernel
def difference_derivatives(robot, one_sided, t, q, qd, qdd):
    """Fill those of the others, after a forward pass; one-sided for bodies if ``one_sided``."""
    kernels = t.kernels
    for i in range(t.module_range[0], t.module_range[1]):
        if kernels.addresses[i, 0] == DIFFERENCES:
            D = t.derivatives[t.places[i, 0] :]
            joint_derivatives(robot, i, kernels.units, q, qd, qdd, t.work, D)
        if kernels.addresses[i, 1] == DIFFERENCES:
            D = t.derivatives[t.places[i, 1] :]
            body_derivatives(robot, i, one_sided, kernels.units, q, qd, qdd, t.work, D)


@kernel
def joint_derivatives(robot, i, units, q, qd, qdd, work, D):
    """Fill the derivatives D of the joint of module i, after a forward pass at (q, qd, qdd)."""
    m, x, y, W = robot.modules[i], work.x, work.y, work.W
    n, first = m[JOINT_COUNT], m[JOINT_FIRST]
    v, push = qd[first : first + n], qdd[first : first + n]
    copy(q[first : first + n], x[:n])
    for k in range(n):
        step = ELEMENT_STEP * units[first + k]
        for point in range(4):
            x[k] = q[first + k] + shift(point) * step
            call(robot.kernels[i, JOINT_KERNEL], robot.P[m[JOINT_NUMBERS] :], x, v, W)
            _motion(W, 0, n, v, push, y[point])
        x[k] = q[first + k]
        _store_twists(y, 4, step, k, n, D)
    _motion(robot.W, m[JOINT_SLAB], n, v, push, y[0])
    _second_twists(y[0], n, v, D)


@kernel
def body_derivatives(robot, i, one_sided, units, q, qd, qdd, work, D):
    """Fill D of the body of module i, after a forward pass; ``one_sided`` or not."""
    m, x, y, W = robot.modules[i], work.x, work.y, work.W
    n, first, s, f = m[BODY_COUNT], m[BODY_FIRST], i * STATE, m[BODY_SLAB]
    rates = qd[first : first + n]
    v, push, count = x[n : 2 * n], qdd[first : first + n], 6 * n + 6
    copy(q[first : first + n], x[:n])
    copy(rates, v)
    copy(robot.W[s + AT_JOINT : s + AT_JOINT + 9], W[AT_JOINT : AT_JOINT + 9])
    if one_sided:
        _accelerate(robot, i, x, push, work, y[1])
    points, share = (1, ONE_SIDED_STEP) if one_sided else (4, ELEMENT_STEP)
    for k in range(n):
        step = share * units[first + k]
        for point in range(points):
            x[k] = q[first + k] + shift(point) * step
            _accelerate(robot, i, x, push, work, y[point])
        x[k] = q[first + k]
        _store_twists(y, points, step, k, n, D)
        _store_forces(y, points, step, k, n, 0, D)
    points, share = (1, ONE_SIDED_STEP) if one_sided else (2, 1.0)
    for k in range(n):
        step = share * units[first + k]
        for point in range(points):
            x[n + k] = rates[k] + shift(point) * step
            _accelerate(robot, i, x, push, work, y[point])
        x[n + k] = rates[k]
        _store_forces(y, points, step, k, n, 1, D)
    for e in range(3):
        for point in range(points):
            W[AT_JOINT + e] = robot.W[s + AT_JOINT + e] + shift(point) * share
            _accelerate(robot, i, x, push, work, y[point])
        W[AT_JOINT + e] = robot.W[s + AT_JOINT + e]
        for r in range(3):
            D[layout.spin_offset(n) + 3 * r + e] = derivative(y, points, share, count + r)
        for k in range(n):
            D[layout.spins_offset(n) + 3 * k + e] = derivative(y, points, share, count + 6 + k)
    _subtract_rigid(robot.W, s, f, n, D)
    _motion(robot.W, f, n, rates, push, y[0])
    _second_twists(y[0], n, rates, D)


@kernel
def _accelerate(robot, i, x, qdd, work, y):
    """Fill y with twists and motion of a body at x = (q, qd), and the forces this takes."""
    W, m = work.W, robot.modules[i]
    n = m[BODY_COUNT]
    q, qd, numbers = x[:n], x[n : 2 * n], robot.P[m[BODY_NUMBERS] :]
    call(robot.kernels[i, BODY_KERNEL], numbers, q, qd, W, W[STATE:], robot.S)
    _motion(W, STATE, n, qd, qdd, y)
    for c in range(6):
        W[TIP_WRENCH + c] = 0.0
    body_force(n, STATE, 0, W, qdd, FULL, y[6 * n + 12 :])
    copy(W[JOINT_WRENCH : JOINT_WRENCH + 6], y[6 * n + 6 : 6 * n + 12])


@kernel
def _motion(W, f, n, qd, qdd, y):
    """Fill y (6 n + 6) with the twists of a frame W[f:] and its own spatial acceleration."""
    t0, t1, t2 = W[f + ORIGIN], W[f + ORIGIN + 1], W[f + ORIGIN + 2]
    p, c = f + ANGULAR_BIAS, f + LINEAR_BIAS
    d0, d1, d2 = rotate(W, f, W[p], W[p + 1], W[p + 2])
    a0, a1, a2 = W[c], W[c + 1], W[c + 2]
    w0 = w1 = w2 = v0 = v1 = v2 = 0.0
    for j in range(n):
        k = f + JACOBIAN + 3 * j
        x = k + 3 * n
        g0, g1, g2 = rotate(W, f, W[k], W[k + 1], W[k + 2])
        h0, h1, h2 = W[x], W[x + 1], W[x + 2]
        y[6 * j], y[6 * j + 1], y[6 * j + 2] = g0, g1, g2
        y[6 * j + 3] = h0 + t1 * g2 - t2 * g1
        y[6 * j + 4] = h1 + t2 * g0 - t0 * g2
        y[6 * j + 5] = h2 + t0 * g1 - t1 * g0
        w0, w1, w2 = w0 + g0 * qd[j], w1 + g1 * qd[j], w2 + g2 * qd[j]
        v0, v1, v2 = v0 + h0 * qd[j], v1 + h1 * qd[j], v2 + h2 * qd[j]
        d0, d1, d2 = d0 + g0 * qdd[j], d1 + g1 * qdd[j], d2 + g2 * qdd[j]
        a0, a1, a2 = a0 + h0 * qdd[j], a1 + h1 * qdd[j], a2 + h2 * qdd[j]
    x = 6 * n
    y[x], y[x + 1], y[x + 2] = d0, d1, d2
    y[x + 3] = a0 + t1 * d2 - t2 * d1 - w1 * v2 + w2 * v1
    y[x + 4] = a1 + t2 * d0 - t0 * d2 - w2 * v0 + w0 * v2
    y[x + 5] = a2 + t0 * d1 - t1 * d0 - w0 * v1 + w1 * v0


@kernel
def _store_twists(y, points, step, k, n, D):
    """Store differences of twists, and of the acceleration, by q_k."""
    for r in range(6 * n):
        D[6 * n * k + r] = derivative(y, points, step, r)
    for r in range(6):
        D[layout.second_twists_offset(n) + 6 * k + r] = derivative(y, points, step, 6 * n + r)


@kernel
def _store_forces(y, points, step, k, n, by_rate, D):
    """Store differences of forces by q_k, or by qd_k."""
    f = layout.force_derivatives_offset(n) + 6 * (n * by_rate + k)
    offset = layout.own_derivatives_offset(n) + n * (n * by_rate + k)
    for r in range(6):
        D[f + r] = derivative(y, points, step, 6 * n + 6 + r)
    for r in range(n):
        D[offset + r] = derivative(y, points, step, 6 * n + 12 + r)


@kernel
def _second_twists(y, n, qd, D):
    """
    Turn derivatives of the acceleration A into those of the twists by time.

    As dV/dq_k = dS_k/dt + S_k x V, dA/dq_k = d2S_k/dt2 + dS_k/dt x V + S_k x A.
    """
    V, A = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), read_six(y, 6 * n)
    for j in range(n):
        V = add_scaled(V, read_six(y, 6 * j), qd[j])
    for k in range(n):
        moved = cross_motion(own_rate(D, n, k, qd), V)
        turned = cross_motion(read_six(y, 6 * k), A)
        for c in range(6):
            D[layout.second_twists_offset(n) + 6 * k + c] -= moved[c] + turned[c]


@inlined
def own_rate(D, n, k, qd):
    """Return the derivative by time of the twist of the k-th coordinate, by derivatives D."""
    rate = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for j in range(n):
        rate = add_scaled(rate, read_six(D, 6 * n * j + 6 * k), qd[j])
    return rate


@inlined
def add_scaled(a, b, scale):
    """Return a + scale b, six numbers each."""
    return (
        a[0] + scale * b[0],
        a[1] + scale * b[1],
        a[2] + scale * b[2],
        a[3] + scale * b[3],
        a[4] + scale * b[4],
        a[5] + scale * b[5],
    )


@kernel
def _subtract_rigid(W, s, f, n, D):
    """
    Leave in the spins what is not rigid, and what the matter's velocity makes of w.

    Of the moment, w x I w turns into [w] I - [I w]; of Q_k, w x int p x J_k dm is missing.
    """
    w0, w1, w2 = W[s + AT_JOINT], W[s + AT_JOINT + 1], W[s + AT_JOINT + 2]
    ten, spin = f + layout.inertia_offset(n), layout.spin_offset(n)
    xx, yy, zz, xy, xz, yz = read_six(W, ten + 4)
    L0 = xx * w0 + xy * w1 + xz * w2
    L1 = xy * w0 + yy * w1 + yz * w2
    L2 = xz * w0 + yz * w1 + zz * w2
    D[spin] -= w1 * xz - w2 * xy
    D[spin + 1] -= w1 * yz - w2 * yy + L2
    D[spin + 2] -= w1 * zz - w2 * yz - L1
    D[spin + 3] -= w2 * xx - w0 * xz - L2
    D[spin + 4] -= w2 * xy - w0 * yz
    D[spin + 5] -= w2 * xz - w0 * zz + L0
    D[spin + 6] -= w0 * xy - w1 * xx + L1
    D[spin + 7] -= w0 * yy - w1 * xy - L0
    D[spin + 8] -= w0 * yz - w1 * xz
    for k in range(n):
        h, x = f + layout.coupling_offset(n) + 6 * k, layout.spins_offset(n) + 3 * k
        D[x] += w1 * W[h + 2] - w2 * W[h + 1]
        D[x + 1] += w2 * W[h] - w0 * W[h + 2]
        D[x + 2] += w0 * W[h + 1] - w1 * W[h]
