# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Derivatives of bodies whose position is linear in q by their own coordinates, in closed form.

See :mod:`softrobot_dynamics.kernels.layout` for what the derivatives are, and
:mod:`softrobot_dynamics.bodies.linear_basis_kernels` for the numbers P. The acceleration of matter
is a = a_S + B p + C J qd + J qdd with B . = dw/dt x . + w x (w x .) and C . = 2 w x ., all linear
in (1, q), (0, qd) and (0, qdd). So the derivatives follow from the moments of the terms, and from

    N_k = int p Phi_k^T dm,  V_k = int (J qd) Phi_k^T dm,  A_k = int a Phi_k^T dm.
"""

from softrobot_dynamics.bodies.linear_basis_kernels import inertial_numbers, mix, points_at
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.derivative_sums import initialise_derivatives
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.point_frames import frame_derivatives
from softrobot_dynamics.kernels.reductions import dot

FIELD_ROWS = 18  # of B and C


@kernel
def derivatives_scratch(n):
    """Scratch of :func:`linear_derivatives` [numbers]."""
    return 39 * (n + 1) + FIELD_ROWS


@kernel
def linear_derivatives(P, q, qd, qdd, motion, D, S):
    """Fill the derivatives D of a body of linear basis with constant K and D."""
    n = int(P[0])
    m = n + 1
    initialise_derivatives(n, P[inertial_numbers(n) :], D)
    moments, second = P[2 : 2 + 3 * m], P[2 + 3 * m : 2 + 3 * m + 9 * m * m]
    tip = P[2 + 3 * m + 9 * m * m + n * n :][: 9 * m]
    place, speed, push = S[:m], S[m : 2 * m], S[2 * m : 3 * m]  # (1, q), (0, qd), (0, qdd)
    place[0], speed[0], push[0] = 1.0, 0.0, 0.0
    copy(q[:n], place[1:])
    copy(qd[:n], speed[1:])
    copy(qdd[:n], push[1:])
    N, V, A = S[3 * m : 12 * m], S[12 * m : 21 * m], S[21 * m : 30 * m]
    B, C = S[39 * m : 39 * m + 9], S[39 * m + 9 : 39 * m + 18]
    tip_derivatives(n, tip, S[: 3 * m], S[30 * m : 39 * m], D)
    mix(m, second, place, N)
    mix(m, second, speed, V)
    mix(m, second, push, A)
    _fields(motion, B, C)
    _add_forces(m, moments, motion, (B, C), N, V, A)
    _columns(n, moments, (B, C), N, V, A, D)
    _own_forces(n, second, B, C, D)
    _spin(m, speed, N, D[layout.spin_offset(n) :])


@kernel
def _fields(motion, B, C):
    """B = [dw/dt] + [w] [w] and C = 2 [w], row-major."""
    w0, w1, w2, d0, d1, d2 = motion[0], motion[1], motion[2], motion[3], motion[4], motion[5]
    B[0], B[4], B[8] = -w1 * w1 - w2 * w2, -w0 * w0 - w2 * w2, -w0 * w0 - w1 * w1
    B[1], B[2], B[5] = w0 * w1 - d2, w0 * w2 + d1, w1 * w2 - d0
    B[3], B[6], B[7] = w0 * w1 + d2, w0 * w2 - d1, w1 * w2 + d0
    C[0] = C[4] = C[8] = 0.0
    C[1], C[2], C[5] = -2.0 * w2, 2.0 * w1, -2.0 * w0
    C[3], C[6], C[7] = 2.0 * w2, -2.0 * w1, 2.0 * w0


@kernel
def _add_forces(m, moments, motion, fields, N, V, A):
    """Add the shares of a_S, B p and C J qd to A_k, which holds that of J qdd."""
    B, C = fields
    for a in range(3):
        for b in range(3):
            row = A[(3 * a + b) * m : (3 * a + b + 1) * m]
            for c in range(3):
                x, y, at = B[3 * a + c], C[3 * a + c], (3 * c + b) * m
                for j in range(m):
                    row[j] += x * N[at + j] + y * V[at + j]
            for j in range(m):
                row[j] += motion[6 + a] * moments[3 * j + b]


@kernel
def _columns(n, moments, fields, N, V, A, D):
    """Wrenches by q_k and qd_k, and the spins N_k."""
    m = n + 1
    B, C = fields
    forces, spins = layout.force_derivatives_offset(n), layout.spins_offset(n)
    for k in range(n):
        j, f, g = k + 1, forces + 6 * k, forces + 6 * (n + k)
        p, v, a = _matrix(N, m, j), _matrix(V, m, j), _matrix(A, m, j)
        x = _crossed(_times_transposed(p, B))
        y = _crossed(a)
        z = _crossed(_times_transposed(p, C))
        s = _crossed(_times(C, p))
        t = _crossed(v)
        for c in range(3):
            D[f + c], D[g + c] = x[c] - y[c], z[c]
            D[spins + 3 * k + c] = s[c] + 2.0 * t[c]
            first, last = 3 * j, 3 * c
            h0, h1, h2 = moments[first], moments[first + 1], moments[first + 2]
            D[f + 3 + c] = B[last] * h0 + B[last + 1] * h1 + B[last + 2] * h2
            D[g + 3 + c] = C[last] * h0 + C[last + 1] * h1 + C[last + 2] * h2


@kernel
def _own_forces(n, second, B, C, D):
    """Add int Phi_j . B Phi_k dm to dQ_j/dq_k, and the same with C to dQ_j/dqd_k."""
    m, own = n + 1, layout.own_derivatives_offset(n)
    for j in range(n):
        row = second[9 * m * (j + 1) : 9 * m * (j + 2)]
        for c in range(9):
            b, r, x, y = row[c * m + 1 : (c + 1) * m], own + j, B[c], C[c]
            for k in range(n):
                D[r + n * k] += x * b[k]
                D[r + n * (n + k)] += y * b[k]


@kernel
def _spin(m, speed, N, out):
    """Matrix of e -> 2 int p x (e x J qd) dm = 2 (tr T - T^T) e with T = int p (J qd)^T dm."""
    trace = 0.0
    for a in range(3):
        for b in range(3):
            T = 2.0 * dot(speed, N[(3 * a + b) * m : (3 * a + b + 1) * m])
            out[3 * b + a] = -T
            trace += T if a == b else 0.0
    out[0] += trace
    out[4] += trace
    out[8] += trace


@inlined
def _matrix(N, m, j):
    """Nine numbers of one coordinate, row-major."""
    return (
        (N[j], N[m + j], N[2 * m + j]),
        (N[3 * m + j], N[4 * m + j], N[5 * m + j]),
        (N[6 * m + j], N[7 * m + j], N[8 * m + j]),
    )


@inlined
def _times_transposed(a, B):
    """Rows of a B^T, for a (3, 3) in rows and B (9,)."""
    return (_applied(B, a[0]), _applied(B, a[1]), _applied(B, a[2]))


@inlined
def _times(B, a):
    """Rows of B a, for B (9,) and a (3, 3) in rows."""
    x = _applied(B, (a[0][0], a[1][0], a[2][0]))
    y = _applied(B, (a[0][1], a[1][1], a[2][1]))
    z = _applied(B, (a[0][2], a[1][2], a[2][2]))
    return ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))


@inlined
def _applied(B, x):
    """B x."""
    return (
        B[0] * x[0] + B[1] * x[1] + B[2] * x[2],
        B[3] * x[0] + B[4] * x[1] + B[5] * x[2],
        B[6] * x[0] + B[7] * x[1] + B[8] * x[2],
    )


@inlined
def _crossed(a):
    """Int x cross y of the matrix a = int x y^T, in rows."""
    return a[1][2] - a[2][1], a[2][0] - a[0][2], a[0][1] - a[1][0]


@kernel
def tip_derivatives(n, tip, weights, S, D):
    """
    Fill the first derivatives D of a body, those of its tip's twists.

    ``tip`` 9 (n + 1) numbers of [o, u, v]; ``weights``: (1, q), (0, qd), (0, qdd); S is room.
    """
    m = n + 1
    here, moved = points_at(tip, weights[:m]), points_at(tip, weights[m : 2 * m])
    pushed = points_at(tip, weights[2 * m : 3 * m])
    frame_derivatives(n, tip[9:], (here, moved, pushed), weights[m + 1 : 2 * m], S, D)
