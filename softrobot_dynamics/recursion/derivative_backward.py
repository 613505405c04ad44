# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Derivative backward pass of :mod:`softrobot_dynamics.recursion.derivative_passes`, part by part.

A ``part`` is a joint or a body: its number of columns, the first of them, and where its
derivatives are (0: it has none). All is by columns, as if no joint followed another.
"""

import numpy as np
from softrobot_dynamics.compiling.jit import inlined
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.spatial import (
    between,
    cross_wrench,
    inertia_times,
    move_wrench,
    read_six,
    rotate,
    rotate_back,
)
from softrobot_dynamics.recursion.composite_inertia import MOMENTUM, SPIN
from softrobot_dynamics.recursion.twists import last_tip, RATE, SECOND, TWIST

BY_Q, BY_RATE, ALONG, TURNING, ROWS = 18, 24, 30, 36, 39  # C_k by q and qd, I S, B^T S


@inlined
def fill_columns(t, part, y, F):
    """Fill the columns of a part by the composite inertia beyond it and the wrench F."""
    n, first, _ = part
    X, Y = t.columns, t.composite
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
def fill_block(robot, t, part, base, F):
    """Fill the forces along coordinates of a part by the same, from the composite beyond it."""
    n, first, derivatives = part
    X, N = t.columns, np.uint32(len(t.full))
    force = wrench_at_base(robot, base, F)
    for k in range(n):
        column = first + np.uint32(k)
        C, R = read_column(X, BY_Q, column), read_column(X, BY_RATE, column)
        for j in range(n):
            row = first + np.uint32(j)
            S = read_column(X, TWIST, row)
            by_q, by_rate = product(S, C), product(S, R)
            if derivatives > 0:
                d = derivatives + 6 * n * np.uint32(k) + 6 * np.uint32(j)
                by_q += product(read_six(t.derivatives, d), force)
            t.full[row, column] = by_q
            t.full[row, N + column] = by_rate


@inlined
def wrench_at_base(robot, base, F):
    """Return a wrench F about the last tip as that at a frame's origin in its axes."""
    W = robot.W
    r0, r1, r2 = between(W, last_tip(robot), base)
    m0, m1, m2, f0, f1, f2 = F
    m0, m1, m2 = m0 - r1 * f2 + r2 * f1, m1 - r2 * f0 + r0 * f2, m2 - r0 * f1 + r1 * f0
    return rotate_back(W, base, m0, m1, m2) + rotate_back(W, base, f0, f1, f2)


@inlined
def product(a, b):
    """Return the inner product of six numbers each."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@inlined
def add_body_derivatives(robot, t, part, f, pose, motion):
    """Add the derivatives of a body's own forces, and of its wrench, by its own coordinates."""
    n, first, derivatives = part
    W, X, N = robot.W, t.columns, np.uint32(len(t.full))
    r = between(W, last_tip(robot), pose)
    r0, r1, r2 = r
    w0, w1, w2 = motion[0], motion[1], motion[2]
    v0 = 2.0 * (motion[3] + w1 * r2 - w2 * r1)
    v1 = 2.0 * (motion[4] + w2 * r0 - w0 * r2)
    v2 = 2.0 * (motion[5] + w0 * r1 - w1 * r0)
    forces, own = layout.force_derivatives_offset(n), layout.own_derivatives_offset(n)
    D, spins, coupling = (
        t.derivatives[derivatives:],
        layout.spins_offset(n),
        f + layout.coupling_offset(n),
    )
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
            t.full[row, column] += D[own + n * k + j]
            t.full[row, N + column] += D[own + n * n + n * k + j]


@inlined
def add_springs(robot, t, part, numbers):
    """Add stiffness and damping along the coordinates of a joint."""
    n, first, _ = part
    for j in range(n):
        k = first + np.uint32(j)
        t.full[k, k] += robot.P[numbers + j]
        t.full[k, len(t.full) + k] += robot.P[numbers + n + j]


@inlined
def fill_rows(robot, t, i, part):
    """Fill the forces along a part's coordinates by those beyond it, and the other way round."""
    n, first, _ = part
    X, A, N, below = t.columns, t.full, np.uint32(len(t.full)), robot.below
    for j in range(n):
        k = first + np.uint32(j)
        S = read_column(X, TWIST, k)
        R = read_column(X, RATE, k)
        a = read_column(X, SECOND, k)
        for g in range(below[i], below[i + 1], 2):
            for c in range(max(first + n, below[g]), below[g + 1]):
                H, w = (
                    read_column(X, ALONG, c),
                    (X[TURNING, c], X[TURNING + 1, c], X[TURNING + 2, c]),
                )
                A[k, c] = product(S, read_column(X, BY_Q, c))
                A[k, N + c] = product(S, read_column(X, BY_RATE, c))
                A[c, k] = product(H, a) + w[0] * R[0] + w[1] * R[1] + w[2] * R[2]
                moved = 2.0 * product(H, R)
                A[c, N + k] = moved + w[0] * S[0] + w[1] * S[1] + w[2] * S[2]
