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
    evaluate_steps,
    MAP_A,
    MOMENTS,
    RATE,
    TWIST,
)
from softrobot_dynamics.bodies.cosserat.rod_sums import add_block, ROWS, tip
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.lanes import (
    add6,
    bracket,
    get6,
    LANES,
    load6,
    put6,
    scale6,
    store6,
)
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
        increments(n, strain, varies, C[15 * B :], S[MAP_A : MAP_A + 54 * B], twists)
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
    v, a = load6(carry[12:]), load6(carry[18:])
    for k in range(steps):
        u = get6(S, TWIST, k)
        a = add6(add6(a, bracket(v, u)), get6(S, RATE, k))
        v = add6(v, u)
        put6(S, TWIST, k, v)
        put6(S, RATE, k, a)
    store6(v, carry[12:])
    store6(a, carry[18:])


@kernel
def increments(n, strain, varies, C, maps, twists):
    """Fill the increments of steps to the columns V_j, six rows each, by the maps of A and D."""
    maps, others = maps[: 27 * B], maps[27 * B : 54 * B]
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
    """Return the row at which the image of strain c begins: a curvature turns, a shear shifts."""
    return (9 * c + 3) * B if c < 3 else 9 * (c - 3) * B


@inlined
def _scale(row, rows, out):
    """Set six rows to others, multiplied by one lane by lane."""
    for k in range(B):
        put6(out, 0, k, scale6(row[k], get6(rows, 0, k)))


@inlined
def _add_scaled(row, rows, out):
    """Add six rows, multiplied by one lane by lane."""
    for k in range(B):
        put6(out, 0, k, add6(get6(out, 0, k), scale6(row[k], get6(rows, 0, k))))


@inlined
def _accumulate(steps, carry, V):
    """Replace increments along the lanes by their sums, from ``carry`` (6,) on."""
    x = load6(carry)
    for k in range(steps):
        x = add6(x, get6(V, 0, k))
        put6(V, 0, k, x)
    store6(x, carry)
