# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Terms of a Cosserat rod, by a march along its material nodes; one compilation for all rods.

The strain xi(s) = (kappa, gamma) is linear in q, and dT/ds = T hat(xi). A step T' = T exp(Omega)
leads from node to node, with Omega = A + [A, D] of the moments A = int xi ds and D = 1/h int
(s - s_mid) xi ds: Magnus' expansion to fourth order (Blanes, Casas, Ros 2000), exact where the
strain is constant. A column of the Jacobian is a twist V_j of the section about the origin of
S_J, in S_J: V' = V + Ad_T dexp(Omega) dOmega/dq_j. So what belongs to one step is computed for
many steps side by side, lane by lane; only frames and sums run along the rod.

Parameters P: n, the number of steps, whether strains vary within them, the strain of each
coordinate (n,), whether each strain's functions vary (6,), K and D (n, n); then for each LANES
steps, lane by lane, the mass at the end of a step, its second moments along the section's x and y,
A and D of the reference strain (12), and A (n) and D (n) per unit of each coordinate.
"""

from softrobot_dynamics.bodies.cosserat.rod_steps import (
    bracket,
    evaluate_steps,
    LANES,
    MAP_A,
    MAP_D,
    MOMENTS,
    put,
    RATE,
    six,
    TWIST,
)
from softrobot_dynamics.bodies.cosserat.rod_sums import add_block, ROWS, tip
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.reductions import damped_spring

B = LANES


def scratch_size(n: int) -> int:
    """Numbers of scratch that ``rod_terms`` needs for n coordinates."""
    return (ROWS + 6 * n) * LANES + 24 + 6 * n


@kernel
def rod_terms(P, q, qd, w, W, S):
    """Fill the slab W of a rod, see :mod:`softrobot_dynamics.kernels.layout`."""
    n, steps, varying, P = int(P[0]), int(P[1]), P[2] > 0.0, P[3:]
    strain, varies, matrices = P[:n], P[n : n + 6], P[n + 6 : n + 6 + 2 * n * n]
    blocks, size = (steps + B - 1) // B, (15 + 2 * n) * B
    table = P[n + 6 + 2 * n * n :][: blocks * size]
    twists, carry = S[ROWS * B :][: 6 * n * B], S[(ROWS + 6 * n) * B :][: 24 + 6 * n]
    S = S[: ROWS * B]
    W[layout.inertia_offset(n) : layout.body_size(n)] = 0.0
    carry[:] = 0.0
    carry[0] = carry[4] = carry[8] = 1.0
    for block in range(blocks):
        C = table[block * size : (block + 1) * size]
        count = min(B, steps - block * B)
        strain_moments(n, strain, varies, C, q, qd, S)
        evaluate_steps(count, varying, carry, S)
        _rates(count, carry, S)
        increments(n, strain, varies, C[15 * B :], twists, S)
        accumulate(n, count, carry[24:], twists)
        add_block(n, C[: 3 * B], w, twists, S, W)
    tip(n, carry, W)
    damped_spring(n, matrices, q, qd, W)


@kernel
def strain_moments(n, strain, varies, C, q, qd, S):
    """Moments of the strain and their rates, from the table."""
    moments = S[MOMENTS : MOMENTS + 24 * B]
    reference = C[3 * B : 15 * B]
    for k in range(12 * B):
        moments[k] = reference[k]
        moments[12 * B + k] = 0.0
    A, dA = moments[: 6 * B], moments[12 * B : 18 * B]
    D, dD = moments[6 * B : 12 * B], moments[18 * B :]
    for j in range(n):
        c = int(strain[j])
        _add(q[j], qd[j], C[(15 + j) * B :], A[c * B :], dA[c * B :])
        if varies[c] > 0.0:
            _add(q[j], qd[j], C[(15 + n + j) * B :], D[c * B :], dD[c * B :])


@inlined
def _add(value, rate, row, out, out_rate):
    """Add a row times the value and the rate of its coordinate."""
    for k in range(B):
        out[k] += value * row[k]
        out_rate[k] += rate * row[k]


@kernel
def _rates(steps, carry, S):
    """
    Sum the rows TWIST and RATE along the lanes: V' = V + dV, and dV'/dt = dV/dt + rate + [V, V'].

    The carry's twist and rate, after its pose, become those at the end of the block.
    """
    v0, v1, v2, v3, v4, v5 = carry[12], carry[13], carry[14], carry[15], carry[16], carry[17]
    a0, a1, a2, a3, a4, a5 = carry[18], carry[19], carry[20], carry[21], carry[22], carry[23]
    for k in range(steps):
        u0, u1, u2, u3, u4, u5 = six(S, TWIST, k)
        x0, x1, x2, x3, x4, x5 = bracket(v0, v1, v2, v3, v4, v5, u0, u1, u2, u3, u4, u5)
        y0, y1, y2, y3, y4, y5 = six(S, RATE, k)
        a0, a1, a2 = a0 + x0 + y0, a1 + x1 + y1, a2 + x2 + y2
        a3, a4, a5 = a3 + x3 + y3, a4 + x4 + y4, a5 + x5 + y5
        v0, v1, v2, v3, v4, v5 = v0 + u0, v1 + u1, v2 + u2, v3 + u3, v4 + u4, v5 + u5
        put(S, TWIST, k, v0, v1, v2, v3, v4, v5)
        put(S, RATE, k, a0, a1, a2, a3, a4, a5)
    carry[12], carry[13], carry[14], carry[15], carry[16], carry[17] = v0, v1, v2, v3, v4, v5
    carry[18], carry[19], carry[20], carry[21], carry[22], carry[23] = a0, a1, a2, a3, a4, a5


@kernel
def increments(n, strain, varies, C, twists, S):
    """Fill what each step adds to the columns V_j, six rows each."""
    maps, others = S[MAP_A : MAP_A + 27 * B], S[MAP_D : MAP_D + 27 * B]
    for j in range(n):
        _scale(C[j * B :], maps[_place(int(strain[j])) :], twists[6 * j * B :])
    for j in range(n):
        c = int(strain[j])
        if varies[c] > 0.0:
            _add_scaled(C[(n + j) * B :], others[_place(c) :], twists[6 * j * B :])


@kernel
def accumulate(n, steps, carry, twists):
    """
    Replace increments by the columns V_j at the end of each step.

    ``carry`` (6 n,): the columns at the block's start, which become those at its end.
    """
    for j in range(n):
        _accumulate(steps, carry[6 * j :], twists[6 * j * B :])


@inlined
def _place(c):
    """Where the image of strain c begins in a map: a curvature turns, a shear shifts."""
    return (9 * c + 3) * B if c < 3 else 9 * (c - 3) * B


@inlined
def _scale(row, rows, out):
    """Set six rows to others, multiplied by one lane by lane."""
    for k in range(B):
        x0, x1, x2, x3, x4, x5 = six(rows, 0, k)
        a = row[k]
        put(out, 0, k, a * x0, a * x1, a * x2, a * x3, a * x4, a * x5)


@inlined
def _add_scaled(row, rows, out):
    """Add six rows, multiplied by one lane by lane."""
    for k in range(B):
        x0, x1, x2, x3, x4, x5 = six(rows, 0, k)
        y0, y1, y2, y3, y4, y5 = six(out, 0, k)
        a = row[k]
        put(out, 0, k, y0 + a * x0, y1 + a * x1, y2 + a * x2, y3 + a * x3, y4 + a * x4,
            y5 + a * x5)  # fmt: skip


@inlined
def _accumulate(steps, carry, V):
    """Replace increments along the lanes by their sums, from ``carry`` (6,) on."""
    x0, x1, x2, x3, x4, x5 = carry[0], carry[1], carry[2], carry[3], carry[4], carry[5]
    for k in range(steps):
        a0, a1, a2, a3, a4, a5 = six(V, 0, k)
        x0, x1, x2, x3, x4, x5 = x0 + a0, x1 + a1, x2 + a2, x3 + a3, x4 + a4, x5 + a5
        put(V, 0, k, x0, x1, x2, x3, x4, x5)
    carry[0], carry[1], carry[2], carry[3], carry[4], carry[5] = x0, x1, x2, x3, x4, x5
