# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Bodies whose position is linear in q: p = x + sum_j Phi_j(x) q_j, for any number of coordinates.

The Jacobian is constant, so that all inertial terms are polynomials in q whose coefficients are
integrals over the body, made once. With Phi_0 = x and q_0 = 1 these are the moments int Phi_i dm
and int Phi_i Phi_j^T dm; no loop over material points is left, and one compiled kernel serves all
such bodies. Its numbers P begin, for n coordinates, with

====================  ============  ==============================================================
n                     1
m                     1             mass [kg]
moments               3 (n + 1)     int Phi_i dm, i by i
second moments        9 (n + 1)^2   int Phi_i,a Phi_j,b dm at [i, 3 a + b, j]
mass matrix           n n           int Phi_i . Phi_j dm, i, j >= 1
tip                   9 (n + 1)     of [o, a - o, b - o], i by i: three points linear in q, too
====================  ============  ==============================================================

Then the K and D matrices (n, n) each; a strain energy has more behind them.
"""

import math

from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.point_frames import add_scaled, point_frame, three
from softrobot_dynamics.kernels.reductions import BLOCK, damped_spring, dot


@kernel
def inertial_numbers(n):
    """Count of the numbers above."""
    return 2 + 12 * (n + 1) + 9 * (n + 1) * (n + 1) + n * n


@kernel
def inertial_scratch(n):
    """Scratch of :func:`inertial_terms` [numbers]."""
    return 20 * (n + 1) + 24


@kernel
def linear_terms(P, q, qd, w, W, S):
    """Slab of a body of linear basis with constant K and D."""
    n = int(P[0])
    inertial_terms(P, q, qd, w, W, S)
    damped_spring(n, P[inertial_numbers(n) :], q, qd, W)


@kernel
def inertial_terms(P, q, qd, w, W, S):
    """Fill the slab W of a body of linear basis, all but its elastic and damping force."""
    n = int(P[0])
    m = n + 1
    moments = P[2 : 2 + 3 * m]
    second = P[2 + 3 * m : 2 + 3 * m + 9 * m * m]
    rest = 2 + 3 * m + 9 * m * m
    mass, tip = P[rest : rest + n * n], P[rest + n * n : rest + n * n + 9 * m]
    place, speed = S[:m], S[m : 2 * m]  # (1, q) and (0, qd)
    N, V = S[2 * m : 11 * m], S[11 * m : 20 * m]
    total = S[20 * m : 20 * m + 24]
    place[0], speed[0] = 1.0, 0.0
    for j in range(n):
        place[1 + j], speed[1 + j] = q[j], qd[j]
    zero = (0.0, 0.0, 0.0)
    point_frame(n, tip[9:], points_at(tip, place), (zero, zero, zero), qd, W)
    mix(m, second, place, N)  # int p Phi_j^T dm
    mix(m, second, speed, V)  # int (J qd) Phi_j^T dm
    _sums(m, moments, place, speed, N, total)
    _rigid(P[1], w, total, W[layout.inertia_offset(n) : layout.inertia_offset(n) + 16])
    coupling, block, bias = layout.coupling_offset(n), layout.mass_offset(n), layout.bias_offset(n)
    _coordinates(m, moments, w, N, V, W[coupling : coupling + 6 * n], W[bias : bias + n])
    copy(mass, W[block : block + n * n])


@kernel
def mix(m, second, weights, out):
    """Sum the second moments by weights: with (1, q) int p Phi_j^T dm, at [3 a + b, j]."""
    out[:] = 0.0
    for i in range(m):
        row, x = second[9 * m * i : 9 * m * (i + 1)], weights[i]
        for k in range(9 * m):
            out[k] += x * row[k]


@kernel
def _sums(m, moments, place, speed, N, total):
    """Int p p^T dm (9), int p (J qd)^T dm (9), int p dm (3), int J qd dm (3), into total."""
    for c in range(9):
        row = N[c * m : (c + 1) * m]
        total[c], total[9 + c] = dot(place, row), dot(speed, row)
    total[18:24] = 0.0
    for j in range(m):
        for c in range(3):
            total[18 + c] += place[j] * moments[3 * j + c]
            total[21 + c] += speed[j] * moments[3 * j + c]


@kernel
def _rigid(mass, w, total, out):
    """Ten inertia numbers about S_J and the wrench of a = w x (w x p) + 2 w x (J qd)."""
    w0, w1, w2 = w[0], w[1], w[2]
    xx, yy, zz = total[0], total[4], total[8]
    xy, xz, yz = total[1], total[2], total[5]
    h0, h1, h2 = total[18], total[19], total[20]
    out[0], out[1], out[2], out[3] = mass, h0, h1, h2
    out[4], out[5], out[6] = yy + zz, xx + zz, xx + yy
    out[7], out[8], out[9] = -xy, -xz, -yz
    # moment: w x (I w) + 2 (w tr V - V^T w) with V = int p (J qd)^T dm
    L0 = out[4] * w0 - xy * w1 - xz * w2
    L1 = out[5] * w1 - xy * w0 - yz * w2
    L2 = out[6] * w2 - xz * w0 - yz * w1
    V = total[9:18]
    trace = V[0] + V[4] + V[8]
    out[10] = w1 * L2 - w2 * L1 + 2.0 * (w0 * trace - V[0] * w0 - V[3] * w1 - V[6] * w2)
    out[11] = w2 * L0 - w0 * L2 + 2.0 * (w1 * trace - V[1] * w0 - V[4] * w1 - V[7] * w2)
    out[12] = w0 * L1 - w1 * L0 + 2.0 * (w2 * trace - V[2] * w0 - V[5] * w1 - V[8] * w2)
    # force: w x (w x h + 2 int J qd dm)
    u0 = w1 * h2 - w2 * h1 + 2.0 * total[21]
    u1 = w2 * h0 - w0 * h2 + 2.0 * total[22]
    u2 = w0 * h1 - w1 * h0 + 2.0 * total[23]
    out[13] = w1 * u2 - w2 * u1
    out[14] = w2 * u0 - w0 * u2
    out[15] = w0 * u1 - w1 * u0


@kernel
def _coordinates(m, moments, w, N, V, coupling, bias):
    """
    Coupling (int p x Phi_j dm, int Phi_j dm) and generalized bias of each coordinate.

    The bias is int Phi_j . a dm = w . N_j w - |w|^2 tr N_j + 2 w . int (J qd) x Phi_j dm.
    """
    w0, w1, w2 = w[0], w[1], w[2]
    square = w0 * w0 + w1 * w1 + w2 * w2
    for j in range(1, m):
        xx, xy, xz = N[j], N[m + j], N[2 * m + j]
        yx, yy, yz = N[3 * m + j], N[4 * m + j], N[5 * m + j]
        zx, zy, zz = N[6 * m + j], N[7 * m + j], N[8 * m + j]
        k = 6 * (j - 1)
        coupling[k], coupling[k + 1], coupling[k + 2] = yz - zy, zx - xz, xy - yx
        for c in range(3):
            coupling[k + 3 + c] = moments[3 * j + c]
        swirl = (
            w0 * (V[5 * m + j] - V[7 * m + j])
            + w1 * (V[6 * m + j] - V[2 * m + j])
            + w2 * (V[m + j] - V[3 * m + j])
        )
        bias[j - 1] = (
            w0 * (xx * w0 + (xy + yx) * w1 + (xz + zx) * w2)
            + w1 * (yy * w1 + (yz + zy) * w2)
            + w2 * w2 * zz
            - square * (xx + yy + zz)
            + 2.0 * swirl
        )


@inlined
def points_at(tip, weights):
    """O, u and v with these weights of the tip's numbers."""
    o, u, v = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(len(weights)):
        o = add_scaled(o, three(tip, 9 * i), weights[i])
        u = add_scaled(u, three(tip, 9 * i + 3), weights[i])
        v = add_scaled(v, three(tip, 9 * i + 6), weights[i])
    return o, u, v


@kernel
def fibre_length(P, q, qd, out, S):
    """
    Length of a curve whose tangent is linear in q, t = sum_i t_i q_i: sum of weight |t|.

    ``out``: length [m], gradient by q (n,), bias (d/dt gradient) qd. P: n, blocks; per block the
    weights, then three rows of t_i for i = 0 ... n, BLOCK numbers each.
    """
    B = BLOCK
    n, blocks = int(P[0]), int(P[1])
    size = (4 + 3 * n) * B
    out[: n + 2] = 0.0
    t, v, pull = S[0 : 3 * B], S[3 * B : 6 * B], S[6 * B : 9 * B]
    for block in range(blocks):
        C = P[2 + block * size : 2 + (block + 1) * size]
        weight = C[0:B]
        for k in range(3 * B):
            t[k], v[k] = C[B + k], 0.0
        for j in range(n):
            row = C[(4 + 3 * j) * B : (7 + 3 * j) * B]
            for k in range(3 * B):
                t[k] += q[j] * row[k]
                v[k] += qd[j] * row[k]
        out[0] += _stretch(weight, t, v, pull, out[n + 1 :])
        for j in range(n):
            out[1 + j] += dot(C[(4 + 3 * j) * B : (7 + 3 * j) * B], pull)


@kernel
def _stretch(weight, t, v, pull, bias):
    """Length of a block; weight t/|t| into pull; adds to bias (|v|^2 - (t.v)^2/|t|^2) / |t|."""
    B = BLOCK
    length = 0.0
    for k in range(B):
        t0, t1, t2 = t[k], t[B + k], t[2 * B + k]
        v0, v1, v2 = v[k], v[B + k], v[2 * B + k]
        norm = math.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
        t0, t1, t2 = t0 / norm, t1 / norm, t2 / norm
        along = t0 * v0 + t1 * v1 + t2 * v2
        length += weight[k] * norm
        bias[0] += weight[k] * (v0 * v0 + v1 * v1 + v2 * v2 - along * along) / norm
        pull[k], pull[B + k], pull[2 * B + k] = weight[k] * t0, weight[k] * t1, weight[k] * t2
    return length


@kernel
def values(P, q, V, S):
    """
    Material points and how they vary, as ``programs.point_values``; V and S as there.

    P: n, blocks, and the rows of each block where q = 0, then those of each coordinate.
    """
    n, blocks, rows = int(P[0]), int(P[1]), 9 * BLOCK
    size = (1 + n) * rows
    P, V = P[2 : 2 + blocks * size], V[: blocks * size]
    copy(P, V)
    for block in range(blocks):
        C, U = P[block * size : (block + 1) * size], V[block * size : (block + 1) * size]
        for j in range(n):
            moved = C[(1 + j) * rows : (2 + j) * rows]
            for k in range(rows):
                U[k] += q[j] * moved[k]
