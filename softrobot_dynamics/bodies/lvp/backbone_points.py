# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Material points p = o(s) + R(s) (d1, d2, 0) of sections that deform in their own plane.

Works on blocks of points, as :mod:`softrobot_dynamics.kernels.reductions` does.
"""

from softrobot_dynamics.bodies.lvp.backbone import BIAS, COLUMNS, ORIGIN, RATE, SPIN_BIAS
from softrobot_dynamics.bodies.lvp.backbone_tables import NODES
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.reductions import BLOCK


@inlined
def frames_at(n, strains, B, F, L, G):
    """Frames at B points, a literal, G, from those at the nodes, F, by L (16, B)."""
    interpolate(0, COLUMNS, B, F, L, G)
    for j in range(n):
        turning, moving = COLUMNS + 3 * j, COLUMNS + 3 * (n + j)
        if strains[j] < 3:
            interpolate(turning, turning + 3, B, F, L, G)
        else:
            G[turning * B : (turning + 3) * B] = 0.0
        if strains[j] < 6:
            interpolate(moving, moving + 3, B, F, L, G)
        else:
            G[moving * B : (moving + 3) * B] = 0.0


@inlined
def interpolate(first, last, B, F, L, G):
    """Rows at B points from those at 16 nodes, by L (16, B); in registers."""
    for r in range(first, last):
        f, g = F[NODES * r : NODES * r + NODES], G[B * r : B * r + B]
        f0, f1, f2, f3, f4, f5, f6, f7 = f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]
        f8, f9, fa, fb, fc, fd, fe, ff = f[8], f[9], f[10], f[11], f[12], f[13], f[14], f[15]
        for k in range(B):
            first = f0 * L[k] + f1 * L[B + k] + f2 * L[2 * B + k] + f3 * L[3 * B + k]
            second = f4 * L[4 * B + k] + f5 * L[5 * B + k] + f6 * L[6 * B + k] + f7 * L[7 * B + k]
            third = f8 * L[8 * B + k] + f9 * L[9 * B + k] + fa * L[10 * B + k] + fb * L[11 * B + k]
            fourth = (
                fc * L[12 * B + k] + fd * L[13 * B + k] + fe * L[14 * B + k] + ff * L[15 * B + k]
            )
            g[k] = (first + second) + (third + fourth)


@kernel
def place(n, strains, G, D, S):
    """
    Point values for ``reduce_block`` into S: positions, Jacobian columns, biases.

    ``strains`` (n,): which one each coordinate moves, kappa first, then gamma. G: frames of the
    points; D: rows d, dd/dt, its bias (2 each), and dd/dq_j (2 n).
    """
    B = BLOCK
    w = G[RATE * B : (RATE + 3) * B]
    a = G[SPIN_BIAS * B : (SPIN_BIAS + 3) * B]
    o, b = G[ORIGIN * B : (ORIGIN + 3) * B], G[BIAS * B : (BIAS + 3) * B]
    p, bias = S[: 3 * B], S[(3 + 3 * n) * B : (6 + 3 * n) * B]
    R, u = G[: 9 * B], S[(6 + 3 * n) * B : (9 + 3 * n) * B]
    _turn(R, D[: 2 * B], u)  # R d, kept in a row that reduce_block overwrites later
    _turn(R, D[2 * B : 4 * B], p)  # R dd/dt, for a moment
    _turn(R, D[4 * B : 6 * B], bias)
    for k in range(B):
        u0, u1, u2 = u[k], u[B + k], u[2 * B + k]
        w0, w1, w2 = w[k], w[B + k], w[2 * B + k]
        a0, a1, a2 = a[k], a[B + k], a[2 * B + k]
        v0 = w1 * u2 - w2 * u1 + 2.0 * p[k]
        v1 = w2 * u0 - w0 * u2 + 2.0 * p[B + k]
        v2 = w0 * u1 - w1 * u0 + 2.0 * p[2 * B + k]
        bias[k] += b[k] + a1 * u2 - a2 * u1 + w1 * v2 - w2 * v1
        bias[B + k] += b[B + k] + a2 * u0 - a0 * u2 + w2 * v0 - w0 * v2
        bias[2 * B + k] += b[2 * B + k] + a0 * u1 - a1 * u0 + w0 * v1 - w1 * v0
    for k in range(3 * B):
        p[k] = o[k] + u[k]
    for j in range(n):
        J = S[(3 + 3 * j) * B : (6 + 3 * j) * B]
        _turn(R, D[(6 + 2 * j) * B : (8 + 2 * j) * B], J)
        if strains[j] < 6:
            origin = G[(COLUMNS + 3 * (n + j)) * B : (COLUMNS + 3 * (n + j) + 3) * B]
            for k in range(3 * B):
                J[k] += origin[k]
        if strains[j] < 3:
            _add_cross(G[(COLUMNS + 3 * j) * B : (COLUMNS + 3 * j + 3) * B], u, J)


@kernel
def place_values(n, strains, G, D, V):
    """
    Rows of ``programs.point_values`` into V, of one block.

    G and ``strains`` as for :func:`place`; D: rows d, dd/dx1 and dd/dx2 (2 each), then their
    derivatives by each coordinate.
    """
    B = BLOCK
    R, o = G[: 9 * B], G[ORIGIN * B : (ORIGIN + 3) * B]
    for j in range(n + 1):
        for v in range(3):
            d = D[(6 * j + 2 * v) * B : (6 * j + 2 * v + 2) * B]
            _turn(R, d, V[(9 * j + 3 * v) * B : (9 * j + 3 * v + 3) * B])
    for j in range(n):
        own = V[9 * (1 + j) * B : 9 * (2 + j) * B]
        if strains[j] < 3:  # before the origin is added: R d and its derivatives turn
            eta = G[(COLUMNS + 3 * j) * B : (COLUMNS + 3 * j + 3) * B]
            for v in range(3):
                _add_cross(eta, V[3 * v * B : (3 * v + 3) * B], own[3 * v * B : (3 * v + 3) * B])
        if strains[j] < 6:
            origin = G[(COLUMNS + 3 * (n + j)) * B : (COLUMNS + 3 * (n + j) + 3) * B]
            for k in range(3 * B):
                own[k] += origin[k]
    for k in range(3 * B):
        V[k] += o[k]


@kernel
def _turn(R, d, out):
    """Out = R (d1, d2, 0)."""
    B = BLOCK
    for k in range(B):
        x, y = d[k], d[B + k]
        out[k] = R[k] * x + R[B + k] * y
        out[B + k] = R[3 * B + k] * x + R[4 * B + k] * y
        out[2 * B + k] = R[6 * B + k] * x + R[7 * B + k] * y


@kernel
def _add_cross(a, b, out):
    """Add a x b."""
    B = BLOCK
    for k in range(B):
        a0, a1, a2 = a[k], a[B + k], a[2 * B + k]
        b0, b1, b2 = b[k], b[B + k], b[2 * B + k]
        out[k] += a1 * b2 - a2 * b1
        out[B + k] += a2 * b0 - a0 * b2
        out[2 * B + k] += a0 * b1 - a1 * b0
