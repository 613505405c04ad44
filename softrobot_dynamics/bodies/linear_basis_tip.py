# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
How the twists of a tip frame vary that is made of three points linear in q, by Gram-Schmidt.

With o, u = a - o and v = b - o the axes are x along u, z along u x v, y = z x x. The spin of the
frame along a direction, (w0, w1, w2) in its own axes, follows from how u and v move along it: ::

    w1 = -z . u' / |u|,   w2 = y . u' / |u|,   w0 = (z . v' + (x . v) w1) / (y . v)

The same formulas differentiated along another direction give all that is needed.
"""

import math

from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.lanes import add_cross, cross

ROWS = 9  # of each coordinate: spin (3), x . u', x . v', y . v', and d(spin)/dt (3)


@kernel
def tip_slopes(n, tip, weights, S, D):
    """
    Fill the first slopes D of a body, those of its tip's twists.

    ``tip`` 9 (n + 1) numbers of [o, u, v]; ``weights``: (1, q), (0, qd), (0, qdd); S is room.
    """
    m = n + 1
    here = _points(tip, weights[:m])
    axes, size = _frame(here[1], here[2])
    rates, pushes = weights[m + 1 : 2 * m], weights[2 * m + 1 : 3 * m]
    w, reach = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for j in range(n):
        spin, reached = _along(axes, size, _three(tip, 9 * j + 12), _three(tip, 9 * j + 15))
        _put(spin, S, ROWS * j)
        _put(reached, S, ROWS * j + 3)
        w, reach = _add(w, spin, rates[j]), _add(reach, reached, rates[j])
    turn = 0.0, 0.0, 0.0  # d(spin)/dt of the whole motion
    for j in range(n):
        spin = _three(S, ROWS * j)
        change = _change(size, spin, _three(S, ROWS * j + 3), w, reach)
        _put(change, S, ROWS * j + 6)
        turn = _add(_add(turn, change, rates[j]), spin, pushes[j])
    moved, pushed = _points(tip, weights[m : 2 * m]), _points(tip, weights[2 * m : 3 * m])
    _fill_second(n, tip, (axes, size), (here, moved, pushed), (w, reach, turn), S, D)
    for k in range(n):
        other, reached, step = _three(S, ROWS * k), _three(S, ROWS * k + 3), _three(tip, 9 * k + 9)
        for j in range(n):
            spin = _three(S, ROWS * j)
            change = _change(size, spin, _three(S, ROWS * j + 3), other, reached)
            W, dW = _out(axes, spin), _out(axes, add_cross(change, other, spin))
            _put(dW, D, 6 * n * k + 6 * j)
            _put(add_cross(cross(step, W), here[0], dW), D, 6 * n * k + 6 * j + 3)


@kernel
def _fill_second(n, tip, frame, points, motion, S, D):
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
        s, c = _three(S, ROWS * j), _three(S, ROWS * j + 6)
        Xj, VXj, VYj = _three(S, ROWS * j + 3)
        uj, vj = _three(tip, 9 * j + 12), _three(tip, 9 * j + 15)
        dXj, dVXj, dVYj = _dot(dx, uj), _dot(dx, vj), _dot(dy, vj)
        e1 = turn[0] * s[2] + w[0] * c[2] + (w[1] * Xj + s[1] * X) * X / (r * r)
        e1 -= (turn[1] * Xj + w[1] * dXj + c[1] * X + s[1] * dX) / r
        e2 = (w[2] * Xj + s[2] * X) * X / (r * r) - turn[0] * s[1] - w[0] * c[1]
        e2 -= (turn[2] * Xj + w[2] * dXj + c[2] * X + s[2] * dX) / r
        e0 = turn[1] * VXj + w[1] * dVXj - turn[0] * VYj - w[0] * dVYj
        e0 += dda * s[1] + 2.0 * da * c[1] + a * e1 - 2.0 * c[0] * dh - s[0] * ddh
        swept = cross(w, s)
        second = add_cross((e0 / h, e1, e2), w, _add(swept, c, 2.0))
        second = add_cross(second, turn, s)
        W, dW, ddW = _out(axes, s), _out(axes, _add(swept, c, 1.0)), _out(axes, second)
        linear = _add(add_cross(cross(ddo, W), o, ddW), cross(do, dW), 2.0)
        d = layout.second_twists_offset(n) + 6 * j
        _put(ddW, D, d)
        _put(linear, D, d + 3)


@inlined
def _points(tip, weights):
    """O, u and v with these weights of the tip's numbers."""
    o, u, v = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(len(weights)):
        o = _add(o, _three(tip, 9 * i), weights[i])
        u = _add(u, _three(tip, 9 * i + 3), weights[i])
        v = _add(v, _three(tip, 9 * i + 6), weights[i])
    return o, u, v


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
def _three(A, i):
    """Three numbers from place i on."""
    return A[i], A[i + 1], A[i + 2]


@inlined
def _put(v, A, i):
    """Store three numbers from place i on."""
    A[i], A[i + 1], A[i + 2] = v


@inlined
def _add(a, b, scale):
    """Return a + scale b."""
    return a[0] + scale * b[0], a[1] + scale * b[1], a[2] + scale * b[2]


@inlined
def _dot(a, b):
    """Inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
