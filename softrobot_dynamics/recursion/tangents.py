# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The recursion differentiated: dID/dq and dID/dqd in closed form, in one pass there and back.

A change of the coordinate q_k displaces all matter beyond it along the twist S_k, and changes the
acceleration of a point p by the field (d2S_k/dt2)(p) + 2 (dS_k/dt)_w x dp/dt, besides turning it;
one of qd_k changes it by 2 (dS_k/dt)(p) + 2 (S_k)_w x dp/dt. So what the matter beyond a frame has
to say is its inertia I, the matrix B = 2 int (p x (. x dp/dt), . x dp/dt) dm and the wrench F that
accelerates it, all of which add up along the tree. With the wrench of each coordinate,

    C_k = I d2S_k/dt2 + B (dS_k/dt)_w + S_k x* F   by q_k,   2 I dS_k/dt + B (S_k)_w   by qd_k,

the force along a coordinate j before k changes by S_j . C_k; that along k itself by one before it,
as its twist and all beyond move along, by (I S_k) . d2S_j/dt2 + (B^T S_k) . (dS_j/dt)_w. For rigid
bodies these are the formulas of Singh, Russell and Wensing (2022). A body that deforms adds to B
what its matter moves in it, and to C_k and I S_k what its own coordinates do by themselves: see
:mod:`softrobot_dynamics.recursion.slopes`.
"""

from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.spatial import (
    cross_wrench,
    inertia_times,
    move_inertia,
    move_wrench,
    read_six,
    rotate,
    rotate_back,
)
from softrobot_dynamics.recursion.passes import (
    AT_JOINT,
    backward,
    BODY_COUNT,
    BODY_FIRST,
    BODY_SLAB,
    forward,
    FULL,
    JOINT_COUNT,
    JOINT_FIRST,
    JOINT_NUMBERS,
    JOINT_POSE,
    JOINT_SLAB,
    JOINT_WRENCH,
    PARENT,
    poses,
    Robot,
    STATE,
    TIP_POSE,
    TIP_WRENCH,
)
from softrobot_dynamics.recursion.slopes import body_slopes, CONSTANT, joint_slopes
from softrobot_dynamics.recursion.twists import (
    between,
    carry_twists,
    last_tip,
    MOTION,
    RATE,
    SECOND,
    TWIST,
)

BY_Q, BY_RATE, ALONG, TURNING, ROWS = 18, 24, 30, 36, 39  # C_k by q and qd, I S, B^T S
INERTIA, SPIN, MOMENTUM, MATTER = 0, 10, 19, 22  # I; B: to moment, 2 int dp/dt dm


class Work(NamedTuple):
    """Scratch of what is differenced, for parts of n coordinates at most."""

    x: Vector  # (2 n,) own q and qd
    y: Matrix  # (4, .) what is differenced
    W: Array  # state and slab


class Tangents(NamedTuple):
    """Arrays for :func:`tangents` of one robot; for one thread at a time."""

    by_state: Matrix  # (n, 2 n) the result, dID/dq and dID/dqd
    force: Vector  # (n,) ID itself
    columns: Matrix  # (ROWS, n) of each coordinate
    motions: Vector  # (.,) V and A of all frames
    matter: Vector  # (.,) I and B of what is beyond each frame
    slopes: Vector  # (.,) of all parts
    places: Integers  # (N, 2) where those of joint and body are in it; 0: they need none
    work: Work


def allocate_tangents(robot: Robot, n: int) -> Tangents:
    """Return :class:`Tangents` for a robot of n coordinates."""
    counts = robot.modules[:, [JOINT_COUNT, BODY_COUNT]].astype(int)
    N, own = len(counts), int(counts.max())
    needed = robot.slopes != CONSTANT
    sizes = [layout.slopes_size(count) for count in np.where(needed, counts, 0).ravel().tolist()]
    starts = np.cumsum([1, *sizes])
    work = Work(
        x=np.zeros(2 * own),
        y=np.zeros((4, 7 * own + 12)),
        W=np.zeros(STATE + layout.slab(own).size),
    )
    return Tangents(
        by_state=np.zeros((n, 2 * n)),
        force=np.zeros(n),
        columns=np.zeros((ROWS, n)),
        motions=np.zeros((2 * N + 2) * MOTION),
        matter=np.zeros((N + 1) * MATTER),
        slopes=np.zeros(starts[-1]),
        places=np.where(needed, starts[:-1].reshape(N, 2), 0).astype(np.uint32),
        work=work,
    )


@kernel
def tangents(robot, rough, t, q, qd, qdd):
    """
    Fill ``t.by_state`` with the derivatives of ID(q, qd, qdd) by q and by qd, (n, 2 n).

    With ``rough`` those of bodies that are differenced are one-sided. ``t.force`` is ID.
    """
    forward(robot, q, qd, qdd, FULL)
    differentiate(robot, rough, t, q, qd, qdd)


@kernel
def differentiate(robot, rough, t, q, qd, qdd):
    """As :func:`tangents`, after a forward pass; all its terms are left."""
    backward(robot, q, qd, qdd, FULL, t.force)
    poses(robot)
    for i in range(len(robot.modules)):
        if t.places[i, 0] > 0:
            joint_slopes(robot, i, q, qd, qdd, t.work, t.slopes[t.places[i, 0] :])
        if t.places[i, 1] > 0:
            body_slopes(robot, i, rough, q, qd, qdd, t.work, t.slopes[t.places[i, 1] :])
    carry_twists(robot, t, qd, qdd)
    _gather(robot, t, qd)


@kernel
def _gather(robot, t, qd):
    """Backward: what is beyond each frame, and the forces along coordinates."""
    W, N = robot.W, len(robot.modules)
    t.by_state[:] = 0.0  # branches of a tree do not see each other
    t.matter[:] = 0.0
    for i in range(N - 1, -1, -1):
        m, s, beyond = robot.modules[i], np.uint32(i * STATE), np.uint32(i * MATTER)
        joint, body, before = s + JOINT_POSE, s + TIP_POSE, m[PARENT] * STATE + TIP_POSE
        n, first, slopes = m[BODY_COUNT], m[BODY_FIRST], t.places[i, 1]
        if n > 0:
            part = n, first, slopes
            F = _wrench(robot, body, s + TIP_WRENCH)
            _columns(t, part, beyond, F)
            _block(robot, t, part, joint, F)
            _add_body_slopes(robot, t, part, m[BODY_SLAB], joint, t.motions[2 * i * MOTION :])
            _rows(robot, t, i, part)
        _add_matter(robot, t, i, qd)
        n, first, slopes = m[JOINT_COUNT], m[JOINT_FIRST], t.places[i, 0]
        if n > 0:
            part = n, first, slopes
            F = _wrench(robot, joint, s + JOINT_WRENCH)
            _columns(t, part, beyond, F)
            _block(robot, t, part, before, F)
            _add_springs(robot, t, part, m[JOINT_NUMBERS])
            _rows(robot, t, i, part)
        for c in range(MATTER):
            t.matter[m[PARENT] * MATTER + c] += t.matter[beyond + c]


@inlined
def _wrench(robot, pose, g):
    """Wrench W[g:g+6] at a frame's origin in it, in base axes about the last tip."""
    W = robot.W
    return move_wrench(W, pose, between(W, last_tip(robot), pose), read_six(W, g))


@inlined
def _columns(t, part, y, F):
    """Fill the columns of a part by what is beyond it: its matter and the wrench F."""
    n, first, _ = part
    X, Y = t.columns, t.matter
    b, p = y + np.uint32(SPIN), y + np.uint32(MOMENTUM)
    p0, p1, p2 = Y[p], Y[p + 1], Y[p + 2]
    for j in range(n):
        k = first + np.uint32(j)
        S = read_column(X, TWIST, k)
        w0, w1, w2, v0, v1, v2 = S
        d0, d1, d2, e0, e1, e2 = read_column(X, RATE, k)
        along = inertia_times(Y, y, w0, w1, w2, v0, v1, v2)
        moved = inertia_times(Y, y, d0, d1, d2, e0, e1, e2)
        d = rotate(Y, b, d0, d1, d2)
        w = rotate(Y, b, w0, w1, w2)
        by_q = (d[0], d[1], d[2], d1 * p2 - d2 * p1, d2 * p0 - d0 * p2, d0 * p1 - d1 * p0)
        by_rate = (w[0], w[1], w[2], w1 * p2 - w2 * p1, w2 * p0 - w0 * p2, w0 * p1 - w1 * p0)
        turned = cross_wrench(S, F)
        d0, d1, d2, e0, e1, e2 = read_column(X, SECOND, k)
        pushed = inertia_times(Y, y, d0, d1, d2, e0, e1, e2)
        for c in range(6):
            X[BY_Q + c, k] = by_q[c] + pushed[c] + turned[c]
            X[BY_RATE + c, k] = by_rate[c] + 2.0 * moved[c]
            X[ALONG + c, k] = along[c]
        t0, t1, t2 = rotate_back(Y, b, w0, w1, w2)
        X[TURNING, k] = t0 + p1 * v2 - p2 * v1
        X[TURNING + 1, k] = t1 + p2 * v0 - p0 * v2
        X[TURNING + 2, k] = t2 + p0 * v1 - p1 * v0


@inlined
def read_column(X, row, k):
    """Six numbers of a column, from a row on."""
    return X[row, k], X[row + 1, k], X[row + 2, k], X[row + 3, k], X[row + 4, k], X[row + 5, k]


@inlined
def _block(robot, t, part, base, F):
    """Forces along coordinates of a part by those of the same, from what is beyond it."""
    n, first, slopes = part
    W, X, N = robot.W, t.columns, np.uint32(len(t.force))
    r0, r1, r2 = between(W, last_tip(robot), base)
    m0, m1, m2, f0, f1, f2 = F  # at the base's origin, and in its axes
    m0, m1, m2 = m0 - r1 * f2 + r2 * f1, m1 - r2 * f0 + r0 * f2, m2 - r0 * f1 + r1 * f0
    m0, m1, m2 = rotate_back(W, base, m0, m1, m2)
    f0, f1, f2 = rotate_back(W, base, f0, f1, f2)
    for k in range(n):
        column = first + np.uint32(k)
        C, R = read_column(X, BY_Q, column), read_column(X, BY_RATE, column)
        for j in range(n):
            row = first + np.uint32(j)
            S = read_column(X, TWIST, row)
            by_q, by_rate = _product(S, C), _product(S, R)
            if slopes > 0:
                d = slopes + 6 * n * np.uint32(k) + 6 * np.uint32(j)
                by_q += _product(read_six(t.slopes, d), (m0, m1, m2, f0, f1, f2))
            t.by_state[row, column] = by_q
            t.by_state[row, N + column] = by_rate


@inlined
def _product(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@inlined
def _add_body_slopes(robot, t, part, f, pose, motion):
    """Add what a body's own coordinates do to its own forces, and to its wrench."""
    n, first, slopes = part
    W, X, N = robot.W, t.columns, np.uint32(len(t.force))
    r = between(W, last_tip(robot), pose)
    r0, r1, r2 = r
    w0, w1, w2 = motion[0], motion[1], motion[2]
    v0 = 2.0 * (motion[3] + w1 * r2 - w2 * r1)
    v1 = 2.0 * (motion[4] + w2 * r0 - w0 * r2)
    v2 = 2.0 * (motion[5] + w0 * r1 - w1 * r0)
    forces, own = layout.force_slopes_offset(n), layout.own_slopes_offset(n)
    D, spins, coupling = t.slopes[slopes:], layout.spins_offset(n), f + layout.coupling_offset(n)
    for k in range(n):
        column = first + np.uint32(k)
        by_q = move_wrench(W, pose, r, read_six(D, forces + 6 * k))
        by_rate = move_wrench(W, pose, r, read_six(D, forces + 6 * (n + k)))
        H = move_wrench(W, pose, r, read_six(W, coupling + 6 * k))
        for c in range(6):
            X[BY_Q + c, column] += by_q[c]
            X[BY_RATE + c, column] += by_rate[c]
            X[ALONG + c, column] += H[c]
        x = spins + 3 * k
        n0, n1, n2 = rotate(W, pose, D[x], D[x + 1], D[x + 2])
        X[TURNING, column] += n0 + v1 * H[5] - v2 * H[4]
        X[TURNING + 1, column] += n1 + v2 * H[3] - v0 * H[5]
        X[TURNING + 2, column] += n2 + v0 * H[4] - v1 * H[3]
        for j in range(n):
            row = first + np.uint32(j)
            t.by_state[row, column] += D[own + n * k + j]
            t.by_state[row, N + column] += D[own + n * n + n * k + j]


@inlined
def _add_springs(robot, t, part, numbers):
    """Add stiffness and damping along the coordinates of a joint."""
    n, first, _ = part
    for j in range(n):
        k = first + np.uint32(j)
        t.by_state[k, k] += robot.P[numbers + j]
        t.by_state[k, len(t.force) + k] += robot.P[numbers + n + j]


@inlined
def _rows(robot, t, i, part):
    """Forces along a part's coordinates by those beyond it, and the other way round."""
    n, first, _ = part
    X, A, N, below = t.columns, t.by_state, np.uint32(len(t.force)), robot.below
    for j in range(n):
        k = first + np.uint32(j)
        S = read_column(X, TWIST, k)
        R = read_column(X, RATE, k)
        a = read_column(X, SECOND, k)
        for g in range(below[i], below[i + 1], 2):
            for c in range(max(first + n, below[g]), below[g + 1]):
                H, w = read_column(X, ALONG, c), (X[TURNING, c], X[TURNING + 1, c], X[TURNING + 2, c])
                A[k, c] = _product(S, read_column(X, BY_Q, c))
                A[k, N + c] = _product(S, read_column(X, BY_RATE, c))
                A[c, k] = _product(H, a) + w[0] * R[0] + w[1] * R[1] + w[2] * R[2]
                moved = 2.0 * _product(H, R)
                A[c, N + k] = moved + w[0] * S[0] + w[1] * S[1] + w[2] * S[2]


@kernel
def _add_matter(robot, t, i, qd):
    """Add inertia and B of the body of module i to what is beyond its joint."""
    m, W, s, Y = robot.modules[i], robot.W, np.uint32(i * STATE), t.matter[i * MATTER :]
    f, n, pose = m[BODY_SLAB], m[BODY_COUNT], s + JOINT_POSE
    r0, r1, r2 = between(W, last_tip(robot), pose)
    ten = move_inertia(W, pose, (r0, r1, r2), f + layout.inertia_offset(n))
    mass, h0, h1, h2, Ixx, Iyy, Izz, Ixy, Ixz, Iyz = ten
    w0, w1, w2, v0, v1, v2 = read_six(t.motions, np.uint32(2 * i * MOTION))
    xx, yy, zz = 0.5 * (Iyy + Izz - Ixx), 0.5 * (Ixx + Izz - Iyy), 0.5 * (Ixx + Iyy - Izz)
    # int (w x p + v) p^T dm, of int p p^T dm = [xx, -Ixy, ...]
    a00 = -w1 * Ixz + w2 * Ixy + v0 * h0
    a01 = -w1 * Iyz - w2 * yy + v0 * h1
    a02 = w1 * zz + w2 * Iyz + v0 * h2
    a10 = w2 * xx + w0 * Ixz + v1 * h0
    a11 = -w2 * Ixy + w0 * Iyz + v1 * h1
    a12 = -w2 * Ixz - w0 * zz + v1 * h2
    a20 = -w0 * Ixy - w1 * xx + v2 * h0
    a21 = w0 * yy + w1 * Ixy + v2 * h1
    a22 = -w0 * Iyz + w1 * Ixz + v2 * h2
    for c in range(10):
        Y[INERTIA + c] += ten[c]
    p = (
        mass * v0 + w1 * h2 - w2 * h1,
        mass * v1 + w2 * h0 - w0 * h2,
        mass * v2 + w0 * h1 - w1 * h0,
    )
    spin = (a11 + a22, -a01, -a02, -a10, a00 + a22, -a12, -a20, -a21, a00 + a11)
    for c in range(9):
        Y[SPIN + c] += 2.0 * spin[c]
    for c in range(3):
        Y[MOMENTUM + c] += 2.0 * p[c]
    if n > 0:
        _add_inner_motion(robot, t, i, qd)


@kernel
def _add_inner_motion(robot, t, i, qd):
    """Add to B what the matter of the body of module i moves in its frame."""
    m, W, s, Y = robot.modules[i], robot.W, np.uint32(i * STATE), t.matter[i * MATTER :]
    f, n, first, pose = m[BODY_SLAB], m[BODY_COUNT], m[BODY_FIRST], s + JOINT_POSE
    r0, r1, r2 = between(W, last_tip(robot), pose)
    p0 = p1 = p2 = 0.0
    for j in range(n):
        h, rate = f + layout.coupling_offset(n) + 6 * j, 2.0 * qd[first + j]
        p0, p1, p2 = p0 + rate * W[h + 3], p1 + rate * W[h + 4], p2 + rate * W[h + 5]
    p0, p1, p2 = rotate(W, pose, p0, p1, p2)
    Y[MOMENTUM] += p0
    Y[MOMENTUM + 1] += p1
    Y[MOMENTUM + 2] += p2
    D = t.slopes[t.places[i, 1] + layout.spin_offset(n) :]
    along = p0 * r0 + p1 * r1 + p2 * r2
    p, r = (p0, p1, p2), (r0, r1, r2)
    for row in range(3):  # R D R^T, row by row
        x, y, z = W[pose + 3 * row], W[pose + 3 * row + 1], W[pose + 3 * row + 2]
        u = rotate_back(D, 0, x, y, z)
        v = rotate(W, pose, u[0], u[1], u[2])
        for c in range(3):
            Y[SPIN + 3 * row + c] += v[c] - p[row] * r[c]
        Y[SPIN + 4 * row] += along
