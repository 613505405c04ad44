# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Second and third derivatives of a multilayer perceptron over a block of material points.

As :mod:`softrobot_dynamics.bodies.learned.perceptron`, but a bundle has more rows: the value z,
z_j by the n coordinates, z_jk by two of them, j <= k and k by k; and, of z itself, the third
derivatives T_k along qd twice and by q_k. The bundles of directions, dz/dt, have no T_k.
"""

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
def activate_derivatives(n, directions, qd, derivatives, row):
    """
    Chain rule through one unit: bundles of z in ``row`` become those of f(z).

    ``derivatives``: f, f', f'', f''' of z, BLOCK numbers each; after them three rows of scratch.
    """
    each = (1 + n + pairs(n)) * B
    base = row[: each + n * B]
    for t in range(directions):
        first = each * (1 + t) + n * B
        _activate_direction(n, derivatives, base, row[first : first + each])
    _activate_motion(n, qd, derivatives, base, base[each : each + n * B])
    f, f1, f2 = derivatives[:B], derivatives[B : 2 * B], derivatives[2 * B : 3 * B]
    value, lead, at = base[:B], derivatives[4 * B : 5 * B], (1 + n) * B
    for k in range(n):
        z_k = base[(1 + k) * B : (2 + k) * B]
        for i in range(B):
            lead[i] = f2[i] * z_k[i]
        for j in range(k + 1):
            z_j, z_jk = base[(1 + j) * B : (2 + j) * B], base[at : at + B]
            for i in range(B):
                z_jk[i] = f1[i] * z_jk[i] + lead[i] * z_j[i]
            at += B
    for k in range(n):
        z_k = base[(1 + k) * B : (2 + k) * B]
        for i in range(B):
            z_k[i] *= f1[i]
    for i in range(B):
        value[i] = f[i]


@kernel
def _activate_direction(n, derivatives, base, own):
    """Change the bundle ``own`` of g = dz/dt; that of z is still before the activation."""
    f1, f2, f3 = derivatives[B : 2 * B], derivatives[2 * B : 3 * B], derivatives[3 * B : 4 * B]
    turned, other, lead = (
        derivatives[4 * B : 5 * B],
        derivatives[5 * B : 6 * B],
        derivatives[6 * B : 7 * B],
    )
    g, at = own[:B], (1 + n) * B
    for i in range(B):
        turned[i] = f2[i] * g[i]
    for k in range(n):
        z_k, g_k = base[(1 + k) * B : (2 + k) * B], own[(1 + k) * B : (2 + k) * B]
        for i in range(B):
            other[i] = f2[i] * z_k[i]
            lead[i] = f2[i] * g_k[i] + f3[i] * g[i] * z_k[i]
        for j in range(k + 1):
            z_j, g_j = base[(1 + j) * B : (2 + j) * B], own[(1 + j) * B : (2 + j) * B]
            z_jk, g_jk = base[at : at + B], own[at : at + B]
            for i in range(B):
                g_jk[i] = (
                    f1[i] * g_jk[i] + turned[i] * z_jk[i] + other[i] * g_j[i] + lead[i] * z_j[i]
                )
            at += B
    for k in range(n):
        z_k, g_k = base[(1 + k) * B : (2 + k) * B], own[(1 + k) * B : (2 + k) * B]
        for i in range(B):
            g_k[i] = f1[i] * g_k[i] + turned[i] * z_k[i]
    for i in range(B):
        g[i] *= f1[i]


@kernel
def _activate_motion(n, qd, derivatives, base, third):
    """
    Turn T_k, ``third``, into f' T_k + f'' (2 r r_k + b z_k) + f''' r r z_k.

    r and r_k are the rates of z and z_k, b = sum_k r_k qd_k.
    """
    f1, f2, f3 = derivatives[B : 2 * B], derivatives[2 * B : 3 * B], derivatives[3 * B : 4 * B]
    rate, bias, moved = (
        derivatives[4 * B : 5 * B],
        derivatives[5 * B : 6 * B],
        derivatives[6 * B : 7 * B],
    )
    along(n, qd, base, rate)
    bias[:] = 0.0
    for k in range(n):
        own, scale = third[k * B : (k + 1) * B], qd[k]
        moved[:] = 0.0
        add_rate(n, k, qd, base[(1 + n) * B :], 1, moved)
        for i in range(B):
            own[i] = f1[i] * own[i] + 2.0 * f2[i] * rate[i] * moved[i]
        for i in range(B):
            bias[i] += scale * moved[i]
    for i in range(B):
        bias[i] = f3[i] * rate[i] * rate[i] + f2[i] * bias[i]
    for k in range(n):
        own, z_k = third[k * B : (k + 1) * B], base[(1 + k) * B : (2 + k) * B]
        for i in range(B):
            own[i] += bias[i] * z_k[i]


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
    S[: 3 * R] = 0.0
    for k in range(R):
        S[k] = X[k]
    speed, acceleration = S[R : 2 * R], S[2 * R : 3 * R]
    for j in range(n):
        own, J = S[(3 + 3 * j) * R : (6 + 3 * j) * R], X[(1 + j) * R : (2 + j) * R]
        along, moving, bending = own[:R], own[R : 2 * R], own[2 * R :]
        rest = third[j * R : (j + 1) * R]
        moving[:] = 0.0
        for k in range(R):
            along[k], bending[k] = J[k], rest[k]
        add_rate(n, j, qd, second, 3, moving)
        add_rate(n, j, qdd, second, 3, bending)
        v, a = qd[j], qdd[j]
        for k in range(R):
            speed[k] += v * along[k]
        for k in range(R):
            acceleration[k] += a * along[k] + v * moving[k]
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
    """Scratch of :func:`tip_derivatives` [numbers]."""
    return 36 * n + 9 * pairs(n)


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
    rate[:] = 0.0
    moved[: n * R] = 0.0
    for j in range(n):
        v, F_j = qd[j], X[(1 + j) * R : (2 + j) * R]
        for k in range(R):
            rate[k] += v * F_j[k]
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
