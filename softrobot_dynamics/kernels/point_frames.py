# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Tip frames made of three points by Gram-Schmidt [P, (5)-(7)], and derivatives of their twists.

With o, u = a - o and v = b - o the axes are x along u, z along u x v, y = z x x. The spin of the
frame along a direction, (w0, w1, w2) in its own axes, follows from how u and v move along it: ::

    w1 = -z . u' / |u|,   w2 = y . u' / |u|,   w0 = (z . v' + (x . v) w1) / (y . v)

The same formulas differentiated along another direction give all that is needed. [o, u, v] are
nine numbers each, and so are their derivatives.
"""

import math

from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.lanes import add_cross, cross

ROWS = 9  # of each coordinate: spin (3), x . u', x . v', y . v', and d(spin)/dt (3)


@kernel
def point_frame(n, moved, here, push, rates, W):
    """
    Fill the frame slab W (see :mod:`softrobot_dynamics.kernels.layout`).

    ``moved`` (9 n,): [o, u, v] by each coordinate; ``here``: [o, u, v]; ``push``: their second
    derivatives along ``rates`` (n,), which are qd.
    """
    axes, size = _frame(here[1], here[2])
    x, y, z = axes
    W[0], W[1], W[2], W[3], W[4], W[5] = x[0], y[0], z[0], x[1], y[1], z[1]
    W[6], W[7], W[8] = x[2], y[2], z[2]
    put(here[0], W, 9)
    w, reach = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for j in range(n):
        spin, reached = _along(axes, size, three(moved, 9 * j + 3), three(moved, 9 * j + 6))
        put(spin, W, layout.JACOBIAN + 3 * j)
        put(three(moved, 9 * j), W, layout.JACOBIAN + 3 * (n + j))
        w, reach = add_scaled(w, spin, rates[j]), add_scaled(reach, reached, rates[j])
    bias = _along(axes, size, push[1], push[2])[0]
    put(add_scaled(bias, _change(size, w, reach, w, reach), 1.0), W, 12)
    put(push[0], W, 15)


@kernel
def frame_derivatives(n, moved, points, rates, S, D):
    """
    Fill the first derivatives D of a body, those of its tip's twists, of points linear in q.

    ``moved`` (9 n,): [o, u, v] by each coordinate; ``points``: [o, u, v] and their first and
    second derivative by time; ``rates`` (n,): qd; S (9 n,) is filled with ROWS.
    """
    here, speed, push = points
    axes, size = _frame(here[1], here[2])
    w, reach = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for j in range(n):
        spin, reached = _along(axes, size, three(moved, 9 * j + 3), three(moved, 9 * j + 6))
        put(spin, S, ROWS * j)
        put(reached, S, ROWS * j + 3)
        w, reach = add_scaled(w, spin, rates[j]), add_scaled(reach, reached, rates[j])
    turn = _along(axes, size, push[1], push[2])[0]  # d(spin)/dt of the whole motion
    for j in range(n):
        change = _change(size, three(S, ROWS * j), three(S, ROWS * j + 3), w, reach)
        put(change, S, ROWS * j + 6)
        turn = add_scaled(turn, change, rates[j])
    _fill_second(n, moved, (axes, size), points, (w, reach, turn), S, D)
    for k in range(n):
        other, reached, step = three(S, ROWS * k), three(S, ROWS * k + 3), three(moved, 9 * k)
        for j in range(n):
            spin = three(S, ROWS * j)
            change = _change(size, spin, three(S, ROWS * j + 3), other, reached)
            W, dW = _out(axes, spin), _out(axes, add_cross(change, other, spin))
            put(dW, D, 6 * n * k + 6 * j)
            put(add_cross(cross(step, W), here[0], dW), D, 6 * n * k + 6 * j + 3)


@kernel
def bend_frame(n, points, rates, bent, S, D):
    """
    Add to the derivatives of :func:`frame_derivatives` what the points are not linear in q.

    ``bent``: the second derivatives of [o, u, v] by q_j and q_k for j <= k, k by k, then for each
    j the first and the second derivative by time of those by q_j.
    """
    here, speed, _ = points
    axes, size = _frame(here[1], here[2])
    w, reach = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for j in range(n):
        w = add_scaled(w, three(S, ROWS * j), rates[j])
        reach = add_scaled(reach, three(S, ROWS * j + 3), rates[j])
    at = 0
    for k in range(n):
        for j in range(k + 1):
            dW = _out(axes, _along(axes, size, three(bent, at + 3), three(bent, at + 6))[0])
            linear = add_cross(three(bent, at), here[0], dW)
            _add_twist(dW, linear, D, 6 * n * k + 6 * j)
            if j < k:
                _add_twist(dW, linear, D, 6 * n * j + 6 * k)
            at += 9
    for j in range(n):
        spin, reached = _along(axes, size, three(bent, at + 3), three(bent, at + 6))
        second = _along(axes, size, three(bent, at + 12), three(bent, at + 15))[0]
        second = add_scaled(second, _change(size, spin, reached, w, reach), 2.0)
        second = add_scaled(second, cross(w, spin), 2.0)
        dW, ddW = _out(axes, spin), _out(axes, second)
        linear = add_cross(three(bent, at + 9), here[0], ddW)
        linear = add_scaled(linear, cross(speed[0], dW), 2.0)
        _add_twist(ddW, linear, D, layout.second_twists_offset(n) + 6 * j)
        at += 18


@kernel
def _fill_second(n, moved, frame, points, motion, S, D):
    """
    Fill the second derivatives of the twists by time.

    ``frame``: axes and sizes; ``points``: [o, u, v] and their derivatives by time; ``motion``: the
    spin w, what :func:`_along` says besides, and dw/dt.
    """
    axes, (r, h, a) = frame
    (o, _, v), (do, du, dv), (ddo, ddu, ddv) = points
    w, reach, turn = motion
    dx, dy = _out(axes, (0.0, w[2], -w[1])), _out(axes, (-w[2], 0.0, w[0]))  # of the axes
    X, dX = reach[0], _dot(dx, du) + _dot(axes[0], ddu)
    dVX, dVY = _dot(dx, dv) + _dot(axes[0], ddv), _dot(dy, dv) + _dot(axes[1], ddv)
    da, dh = w[2] * h + reach[1], reach[2] - w[2] * a
    dda, ddh = turn[2] * h + w[2] * dh + dVX, dVY - turn[2] * a - w[2] * da
    for j in range(n):
        s, c = three(S, ROWS * j), three(S, ROWS * j + 6)
        Xj, VXj, VYj = three(S, ROWS * j + 3)
        uj, vj = three(moved, 9 * j + 3), three(moved, 9 * j + 6)
        dXj, dVXj, dVYj = _dot(dx, uj), _dot(dx, vj), _dot(dy, vj)
        e1 = turn[0] * s[2] + w[0] * c[2] + (w[1] * Xj + s[1] * X) * X / (r * r)
        e1 -= (turn[1] * Xj + w[1] * dXj + c[1] * X + s[1] * dX) / r
        e2 = (w[2] * Xj + s[2] * X) * X / (r * r) - turn[0] * s[1] - w[0] * c[1]
        e2 -= (turn[2] * Xj + w[2] * dXj + c[2] * X + s[2] * dX) / r
        e0 = turn[1] * VXj + w[1] * dVXj - turn[0] * VYj - w[0] * dVYj
        e0 += dda * s[1] + 2.0 * da * c[1] + a * e1 - 2.0 * c[0] * dh - s[0] * ddh
        swept = cross(w, s)
        second = add_cross((e0 / h, e1, e2), w, add_scaled(swept, c, 2.0))
        second = add_cross(second, turn, s)
        W, dW, ddW = _out(axes, s), _out(axes, add_scaled(swept, c, 1.0)), _out(axes, second)
        linear = add_scaled(add_cross(cross(ddo, W), o, ddW), cross(do, dW), 2.0)
        d = layout.second_twists_offset(n) + 6 * j
        put(ddW, D, d)
        put(linear, D, d + 3)


@inlined
def _frame(u, v):
    """Axes x, y, z, and |u|, y . v, x . v."""
    r = math.sqrt(_dot(u, u))
    x = u[0] / r, u[1] / r, u[2] / r
    z = cross(x, v)
    h = math.sqrt(_dot(z, z))
    z = z[0] / h, z[1] / h, z[2] / h
    return (x, cross(z, x), z), (r, h, _dot(x, v))


@inlined
def _along(axes, size, du, dv):
    """Spin in the frame's axes along a direction in which u and v move so; x.u', x.v', y.v'."""
    x, y, z = axes
    r, h, a = size
    w1 = -_dot(z, du) / r
    w0 = (_dot(z, dv) + a * w1) / h
    return (w0, w1, _dot(y, du) / r), (_dot(x, du), _dot(x, dv), _dot(y, dv))


@inlined
def _change(size, s, of, w, by):
    """Change of the spin s, with x.u', x.v', y.v' ``of`` it, along a spin w with those ``by``."""
    r, h, a = size
    e1 = w[0] * s[2] - (w[1] * of[0] + s[1] * by[0]) / r
    e2 = -(w[2] * of[0] + s[2] * by[0]) / r - w[0] * s[1]
    e0 = w[1] * of[1] - w[0] * of[2] + (w[2] * h + by[1]) * s[1]
    return (e0 + a * e1 - s[0] * (by[2] - w[2] * a)) / h, e1, e2


@inlined
def _out(axes, v):
    """From the axes of the frame to those of its base."""
    x, y, z = axes
    return (
        x[0] * v[0] + y[0] * v[1] + z[0] * v[2],
        x[1] * v[0] + y[1] * v[1] + z[1] * v[2],
        x[2] * v[0] + y[2] * v[1] + z[2] * v[2],
    )


@inlined
def three(A, i):
    """Three numbers from place i on."""
    return A[i], A[i + 1], A[i + 2]


@inlined
def put(v, A, i):
    """Store three numbers from place i on."""
    A[i], A[i + 1], A[i + 2] = v


@inlined
def _add_twist(angular, linear, A, i):
    """Add to six numbers from place i on."""
    put(add_scaled(three(A, i), angular, 1.0), A, i)
    put(add_scaled(three(A, i + 3), linear, 1.0), A, i + 3)


@inlined
def add_scaled(a, b, scale):
    """Return a + scale b."""
    return a[0] + scale * b[0], a[1] + scale * b[1], a[2] + scale * b[2]


@inlined
def _dot(a, b):
    """Inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
