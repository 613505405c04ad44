# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Second and third derivatives of a multilayer perceptron over a block of material points.

As :mod:`softrobot_dynamics.bodies.learned.perceptron`, but a bundle has more rows: the value z,
z_j by the n coordinates, z_jk by two of them, j <= k and k by k; and, of z itself, the third
derivatives T_k along qd twice and by q_k. The bundles of directions, dz/dt, have no T_k.
"""

from softrobot_dynamics.bodies.learned import chain_rule
from softrobot_dynamics.bodies.learned.perceptron import along, store_points, three_points
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.point_frames import bend_frame, frame_derivatives
from softrobot_dynamics.kernels.reductions import BLOCK, dot

B = BLOCK


@inlined
def pairs(n):
    """Return the number of pairs j <= k of n coordinates."""
    return n * (n + 1) // 2


@inlined
def bundle_rows(n, directions):
    """Rows of a unit: (of z, of each dz/dt, directions)."""
    columns = 1 + n + n * (n + 1) // 2
    return columns + n, columns, directions


@kernel
def activate_derivatives(n, directions, qd, D, row):
    """
    Chain rule through one unit: bundles of z in ``row`` become those of f(z).

    ``D`` as in :mod:`softrobot_dynamics.bodies.learned.chain_rule`, then n + 2 rows of scratch.
    """
    base, each, _ = bundle_rows(n, directions)
    pair = (1 + n) * B
    _activate_motion(n, qd, D, row, row[each * B :])
    for k in range(n):
        z_k = row[(1 + k) * B :]
        for j in range(k + 1):
            z_j, z_jk = row[(1 + j) * B :], row[pair:]
            for t in range(directions):
                g = row[(base + t * each) * B :]
                g_j, g_k = g[(1 + j) * B :], g[(1 + k) * B :]
                chain_rule.third(D, g, z_j, z_k, g_j, g_k, z_jk, g[pair:])
            chain_rule.second(D, z_j, z_k, z_jk)
            pair += B
    for k in range(n):
        z_k = row[(1 + k) * B :]
        for t in range(directions):
            g = row[(base + t * each) * B :]
            chain_rule.second(D, g, z_k, g[(1 + k) * B :])
        chain_rule.first(D, z_k)
    for t in range(directions):
        chain_rule.first(D, row[(base + t * each) * B :])
    for i in range(B):
        row[i] = D[i]


@kernel
def _activate_motion(n, qd, D, base, third):
    """Turn the third derivatives T_k of z, ``third``, into those of f(z)."""
    rates, bias = D[4 * B : (5 + n) * B], D[(5 + n) * B : (6 + n) * B]  # dz/dt, dz_k/dt; d2z/dt2
    rates[:] = 0.0
    along(n, qd, base, 1, rates)
    for k in range(n):
        add_rate(n, k, qd, base[(1 + n) * B :], 1, rates[(1 + k) * B :])
    along(n, qd, rates, 1, bias)
    for k in range(n):
        z_k, rate_k = base[(1 + k) * B :], rates[(1 + k) * B :]
        chain_rule.third(D, rates, rates, z_k, bias, rate_k, rate_k, third[k * B :])


@kernel
def add_rate(n, k, rates, second, rows, out):
    """Add sum_j z_jk rates_j to ``rows`` of ``out``, z_jk those of pairs in ``second``."""
    for j in range(n):
        pair = k * (k + 1) // 2 + j if j < k else j * (j + 1) // 2 + k
        scale, given = rates[j], second[pair * rows * B : (pair + 1) * rows * B]
        for i in range(rows * B):
            out[i] += scale * given[i]


@kernel
def move_points(n, qd, qdd, X, S):
    """
    Fill S for ``derivative_sums.derivative_block`` with points along a motion.

    ``X``: p (3), J_j (3 each), d2p / dq_j dq_k of the pairs (3 each), T_k (3 each), BLOCK each.
    """
    R = 3 * B
    last = (1 + n + pairs(n)) * R
    second, third = X[(1 + n) * R : last], X[last : last + n * R]
    for k in range(R):
        S[k] = X[k]
    acceleration = S[2 * R : 3 * R]
    along(n, qd, X, 3, S[R : 2 * R])
    along(n, qdd, X, 3, acceleration)
    for j in range(n):
        own, J = S[(3 + 3 * j) * R : (6 + 3 * j) * R], X[(1 + j) * R : (2 + j) * R]
        column, moving, bending = own[:R], own[R : 2 * R], own[2 * R :]
        rest = third[j * R : (j + 1) * R]
        moving[:] = 0.0
        for k in range(R):
            column[k], bending[k] = J[k], rest[k]
        add_rate(n, j, qd, second, 3, moving)
        add_rate(n, j, qdd, second, 3, bending)
        for k in range(R):
            acceleration[k] += qd[j] * moving[k]
    rest = S[(3 + 3 * n) * R :]
    for k in range(pairs(n) * R):
        rest[k] = second[k]


@kernel
def tip_derivatives(n, qd, S, room, D):
    """
    Fill the derivatives of the tip frame of a block's first three points, as S has them.

    ``room``: :func:`tip_workspace_size` numbers.
    """
    moved, bent, own = room[: 9 * n], room[9 * n :], room[27 * n + 9 * pairs(n) :]
    points = three_points(S, 0), three_points(S, 3), three_points(S, 6)
    many = pairs(n)
    for c in range(many):
        store_points(three_points(S, 9 + 9 * n + 3 * c), bent, 9 * c)
    for j in range(n):
        store_points(three_points(S, 9 + 9 * j), moved, 9 * j)
        store_points(three_points(S, 12 + 9 * j), bent, 9 * many + 18 * j)
        store_points(three_points(S, 15 + 9 * j), bent, 9 * many + 18 * j + 9)
    frame_derivatives(n, moved, points, qd, own, D)
    bend_frame(n, points, qd, bent, own, D)


@inlined
def tip_workspace_size(n):
    """Scratch of :func:`tip_derivatives` [numbers]: Python asks for it, too."""
    return 36 * n + 9 * (n * (n + 1) // 2)


@kernel
def move_gradient(n, qd, X, moved, Y):
    """
    F and its rate (9 rows each) into Y, and the rates of dF/dq_k (9 rows each) into ``moved``.

    ``X``: F (9), dF/dq_j (9 each), d2F / dq_j dq_k of the pairs (9 each), BLOCK numbers each.
    """
    R = 9 * B
    second, rate = X[(1 + n) * R :], Y[R : 2 * R]
    for k in range(R):
        Y[k] = X[k]
    along(n, qd, X, 9, rate)
    moved[: n * R] = 0.0
    for j in range(n):
        add_rate(n, j, qd, second, 9, moved[j * R : (j + 1) * R])


@kernel
def add_bending(n, second, stress, own):
    """Add the work of a ``stress`` (9 rows) along d2F / dq_j dq_k to ``own``, dQ/dq (n, n)."""
    R, at = 9 * B, 0
    for k in range(n):
        for j in range(k + 1):
            value = dot(second[at : at + R], stress)
            own[n * k + j] += value
            if j < k:
                own[n * j + k] += value
            at += R
