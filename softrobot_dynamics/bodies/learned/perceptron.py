# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A multilayer perceptron and its derivatives over a block of material points.

Every value of the network is carried as a *bundle* of C = n + 2 rows, BLOCK numbers each: the
value z, its derivatives z_j by the n coordinates, and its second derivative z_b along qd. Where
derivatives by place are wanted too there is one more bundle for each direction t: dz/dt, its
derivatives by the coordinates, and its second derivative along qd. A linear layer acts on all
rows alike; only the activation mixes them, by
:mod:`softrobot_dynamics.bodies.learned.chain_rule`. The loops run over layers of any size, so that
one compiled kernel serves all networks. ``rows`` are (those of z, those of each dz/dt,
directions); bundles of other rows are in
:mod:`softrobot_dynamics.bodies.learned.perceptron_derivatives`.
"""

import math

from softrobot_dynamics.bodies.learned import chain_rule
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.point_frames import point_frame, put
from softrobot_dynamics.kernels.reductions import BLOCK


@kernel
def first_layer(n, rows, units, weights, q, table, Z):
    """
    Bundles of the first layer, whose part that depends on x is a ``table``.

    Row g units + u of the table: value of unit u, g = 0, or its derivative along direction g.
    ``weights`` (units, n) are those of q.
    """
    B = BLOCK
    base, each, directions = rows
    width = (base + directions * each) * B
    for u in range(units):
        row, own = Z[u * width : (u + 1) * width], weights[u * n : (u + 1) * n]
        row[:] = 0.0
        shift = 0.0
        for j in range(n):
            shift += own[j] * q[j]
            column = row[(1 + j) * B : (2 + j) * B]
            column[:] = own[j]
        for g in range(1 + directions):
            first = (base + (g - 1) * each) * B if g > 0 else 0
            value = row[first : first + B]
            given = table[(g * units + u) * B : (g * units + u + 1) * B]
            for k in range(B):
                value[k] = given[k] + shift
            shift = 0.0


@kernel
def linear_layer(inputs, outputs, width, W, b, A, Z):
    """
    Z_o = sum_i W[o, i] A_i for rows of ``width`` numbers, b[o] added to the first BLOCK.

    ``inputs`` and ``outputs`` are multiples of four: tiles of 4 x 4 weights make an eighth of the
    memory traffic.
    """
    for o in range(outputs):
        row = Z[o * width : (o + 1) * width]
        row[:] = 0.0
        row[:BLOCK] = b[o]
    for o in range(0, outputs, 4):
        rows = Z[o * width : (o + 4) * width]
        for i in range(0, inputs, 4):
            _add_tile(inputs, width, W[o * inputs + i :], A[i * width : (i + 4) * width], rows)


@kernel
def _add_tile(stride, width, W, A, Z):
    a0, a1, a2, a3 = A[:width], A[width : 2 * width], A[2 * width : 3 * width], A[3 * width :]
    z0, z1, z2, z3 = Z[:width], Z[width : 2 * width], Z[2 * width : 3 * width], Z[3 * width :]
    u0, u1, u2, u3 = W[0], W[1], W[2], W[3]
    W = W[stride:]
    v0, v1, v2, v3 = W[0], W[1], W[2], W[3]
    W = W[stride:]
    w0, w1, w2, w3 = W[0], W[1], W[2], W[3]
    W = W[stride:]
    x0, x1, x2, x3 = W[0], W[1], W[2], W[3]
    for k in range(width):
        c0, c1, c2, c3 = a0[k], a1[k], a2[k], a3[k]
        z0[k] += u0 * c0 + u1 * c1 + u2 * c2 + u3 * c3
        z1[k] += v0 * c0 + v1 * c1 + v2 * c2 + v3 * c3
        z2[k] += w0 * c0 + w1 * c1 + w2 * c2 + w3 * c3
        z3[k] += x0 * c0 + x1 * c1 + x2 * c2 + x3 * c3


@kernel
def activate(n, directions, qd, D, row):
    """
    Chain rule through one unit: bundles of z in ``row`` become those of f(z).

    ``D`` as in :mod:`softrobot_dynamics.bodies.learned.chain_rule`, then two rows of scratch.
    """
    B = BLOCK
    C = (n + 2) * B
    rate, turn = D[4 * B : 5 * B], D[5 * B : 6 * B]
    base, bias = row[:C], row[C - B : C]
    along(n, qd, base, 1, rate)
    for g in range(1, 1 + directions):
        own = row[g * C : (g + 1) * C]
        along(n, qd, own, 1, turn)
        chain_rule.third(D, own, rate, rate, turn, turn, bias, own[C - B :])
        for j in range(n):
            chain_rule.second(D, own, base[(1 + j) * B :], own[(1 + j) * B :])
        chain_rule.first(D, own)
    chain_rule.second(D, rate, rate, bias)
    for j in range(n):
        chain_rule.first(D, base[(1 + j) * B :])
    for k in range(B):
        base[k] = D[k]


@kernel
def along(n, rates, bundle, rows, out):
    """Fill ``rows`` of ``out`` with sum_j z_j rates_j, z_j those of coordinates in ``bundle``."""
    R = rows * BLOCK
    for k in range(R):
        out[k] = 0.0
    for j in range(n):
        scale, z_j = rates[j], bundle[(1 + j) * R : (2 + j) * R]
        for k in range(R):
            out[k] += scale * z_j[k]


@kernel
def positions(columns, table, width, N, out):
    """
    Rows 3 c + i of ``out``: c-th row of p = c + s N, c and s of ``table`` (4 rows: s, c).

    ``N``: three units of ``width``, of which the first ``columns`` rows count.
    """
    B = BLOCK
    s = table[:B]
    for c in range(columns):
        for i in range(3):
            to, given = out[(3 * c + i) * B : (3 * c + i + 1) * B], N[i * width + c * B :]
            for k in range(B):
                to[k] = s[k] * given[k]
    for k in range(3 * B):
        out[k] += table[B + k]


@kernel
def derivatives_by_place(rows, table, width, N, out):
    """
    Bundles of dp/dt = c_t + s_t N + s dN/dt of all T directions t, at rows (3 c + i) T + t.

    ``table``: four rows s, c, then four rows s_t, c_t for each direction.
    """
    B = BLOCK
    base, each, T = rows
    s = table[:B]
    for t in range(T):
        own = table[4 * B * (t + 1) : 4 * B * (t + 2)]
        s_t = own[:B]
        for c in range(each):
            for i in range(3):
                r = (3 * c + i) * T + t
                to, N_i = out[r * B : (r + 1) * B], N[i * width : (i + 1) * width]
                value = N_i[c * B : (c + 1) * B]
                derivative = N_i[(base + t * each + c) * B : (base + t * each + c + 1) * B]
                for k in range(B):
                    to[k] = s_t[k] * value[k] + s[k] * derivative[k]
        for i in range(3):
            to, c_t = out[(i * T + t) * B : (i * T + t + 1) * B], own[(1 + i) * B : (2 + i) * B]
            for k in range(B):
                to[k] += c_t[k]


@kernel
def gradient_rate(n, qd, X, mass, density, Y):
    """F (9 rows) from its bundles X, its rate (9), room for a stress (9), volumes, into Y."""
    B = BLOCK
    for k in range(9 * B):
        Y[k] = X[k]
    along(n, qd, X, 9, Y[9 * B : 18 * B])
    for k in range(B):
        Y[27 * B + k] = mass[k] / density


@kernel
def stretch(n, weight, qd, X, out):
    """
    Add the length of a curve with tangents dp/dt (bundles in X) to ``out``, with derivatives.

    ``out``: sum of weight |v|, its gradient by q (n,), its bias; v the tangent, of one direction.
    """
    B = BLOCK
    v, v_b = X[: 3 * B], X[(3 * n + 3) * B : (3 * n + 6) * B]
    for k in range(B):
        v0, v1, v2 = v[k], v[B + k], v[2 * B + k]
        norm = math.sqrt(v0 * v0 + v1 * v1 + v2 * v2)
        scale = weight[k] / norm
        r0 = r1 = r2 = 0.0
        for j in range(n):
            v_j = X[3 * (1 + j) * B : 3 * (2 + j) * B]
            d0, d1, d2 = v_j[k], v_j[B + k], v_j[2 * B + k]
            out[1 + j] += scale * (v0 * d0 + v1 * d1 + v2 * d2)
            r0, r1, r2 = r0 + qd[j] * d0, r1 + qd[j] * d1, r2 + qd[j] * d2
        along = (v0 * r0 + v1 * r1 + v2 * r2) / norm
        second = v0 * v_b[k] + v1 * v_b[B + k] + v2 * v_b[2 * B + k]
        out[0] += weight[k] * norm
        out[1 + n] += scale * (r0 * r0 + r1 * r1 + r2 * r2 - along * along + second)


@kernel
def tip_frame(n, qd, S, room, W):
    """Fill the frame slab W by the first three points of a block; ``room``: 9 n numbers."""
    for j in range(n):
        store_points(three_points(S, 3 + 3 * j), room, 9 * j)
    point_frame(n, room, three_points(S, 0), three_points(S, 3 + 3 * n), qd, W)


@inlined
def three_points(S, row):
    """[o, a - o, b - o] of the first three numbers of three rows."""
    x, y, z = row * BLOCK, (row + 1) * BLOCK, (row + 2) * BLOCK
    o = S[x], S[y], S[z]
    u = S[x + 1] - o[0], S[y + 1] - o[1], S[z + 1] - o[2]
    return o, u, (S[x + 2] - o[0], S[y + 2] - o[1], S[z + 2] - o[2])


@inlined
def store_points(points, A, i):
    """Store [o, u, v] from place i on."""
    put(points[0], A, i)
    put(points[1], A, i + 3)
    put(points[2], A, i + 6)
