# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Positions of material points of a Cosserat rod and their derivatives; compiled once for all rods.

The march of :mod:`softrobot_dynamics.bodies.cosserat.rod` leads to the nodes, whose frames and
columns V_j are kept; from the node before each point a step of its own leads on to its section.

Parameters P: n, the number of steps, whether strains vary within them, the number of blocks of
LANES points, the strain of each coordinate (n,), whether each strain's functions vary (6,); then
for each LANES steps, lane by lane, rows as in the table of the march; then the same for points,
but first the node that a point's step starts from and its x1 and x2.
"""

from softrobot_dynamics.bodies.cosserat.rod import accumulate, increments, strain_moments
from softrobot_dynamics.bodies.cosserat.rod_steps import (
    evaluate_branches,
    evaluate_steps,
    FRAME,
    MAP_A,
    STEP_ROWS,
)
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.lanes import get6, get12, LANES
from softrobot_dynamics.kernels.reductions import BLOCK

B = LANES
LANE_BLOCKS = BLOCK // LANES  # lane blocks in a block of results


def scratch_size(n: int, steps: int) -> int:
    """Numbers of scratch that ``values`` needs."""
    return (STEP_ROWS + 6 * n) * LANES + n + (steps + 2) * (12 + 6 * n)


@kernel
def values(P, q, V, S):
    """Rows of ``programs.point_values`` for all points."""
    n, steps, varying, points = int(P[0]), int(P[1]), P[2] > 0.0, int(P[3])
    strain, varies, P = P[4 : 4 + n], P[4 + n : 10 + n], P[10 + n :]
    size, width, rows = (15 + 2 * n) * B, 12 + 6 * n, 9 * (n + 1) * BLOCK
    twists, nodes = S[STEP_ROWS * B :][: 6 * n * B], S[(STEP_ROWS + 6 * n) * B :]
    still, nodes = nodes[:n], nodes[n:][: (steps + 2) * width]
    S = S[: STEP_ROWS * B]
    still[:] = 0.0
    blocks = (steps + B - 1) // B
    carry = nodes[(steps + 1) * width :]
    carry[:] = 0.0
    carry[0] = carry[4] = carry[8] = 1.0
    _keep(width, carry, nodes)
    for block in range(blocks):
        C, count = P[block * size : (block + 1) * size], min(B, steps - block * B)
        strain_moments(n, strain, varies, C, q, still, S)
        evaluate_steps(count, varying, carry[:12], S)
        increments(n, strain, varies, C[15 * B :], S[MAP_A : MAP_A + 54 * B], twists)
        accumulate(n, count, carry[12:], twists)
        _keep_nodes(n, count, twists, S, nodes[(1 + block * B) * width :])
    for block in range(points):
        C = P[(blocks + block) * size : (blocks + block + 1) * size]
        strain_moments(n, strain, varies, C, q, still, S)
        evaluate_branches(C[:B], nodes, width, varying, S)
        increments(n, strain, varies, C[15 * B :], S[MAP_A : MAP_A + 54 * B], twists)
        _add_columns(n, C[:B], nodes, twists)
        first = block // LANE_BLOCKS * rows + block % LANE_BLOCKS * B
        _place(n, C[B : 3 * B], twists, S, V[first : first + rows - BLOCK + B])


@kernel
def _keep(width, carry, node):
    for i in range(width):
        node[i] = carry[i]


@kernel
def _keep_nodes(n, count, twists, S, nodes):
    """Keep frames and columns at the ends of steps."""
    width = 12 + 6 * n
    for k in range(count):
        node = nodes[k * width : (k + 1) * width]
        for i in range(12):
            node[i] = S[FRAME + i * B + k]
        for i in range(6 * n):
            node[12 + i] = twists[i * B + k]


@kernel
def _add_columns(n, starts, nodes, twists):
    """Add the columns where the step of each point starts."""
    width = 12 + 6 * n
    for k in range(B):
        node = nodes[int(starts[k]) * width + 12 :]
        for i in range(6 * n):
            twists[i * B + k] += node[i]


@kernel
def _place(n, x, twists, S, U):
    """Points (x1, x2) of rigid sections; the rows of U are BLOCK numbers apart."""
    for k in range(B):
        r0, r1, r2, r3, r4, r5, r6, r7, r8, t0, t1, t2 = get12(S, FRAME, k)
        a, b = x[k], x[B + k]
        p0, p1, p2 = t0 + r0 * a + r1 * b, t1 + r3 * a + r4 * b, t2 + r6 * a + r7 * b
        _put_three(U, 0, k, p0, p1, p2)
        _put_three(U, 3, k, r0, r3, r6)
        _put_three(U, 6, k, r1, r4, r7)
        for j in range(n):
            w0, w1, w2, v0, v1, v2 = get6(twists, 6 * j * B, k)
            v0, v1, v2 = v0 + w1 * p2 - w2 * p1, v1 + w2 * p0 - w0 * p2, v2 + w0 * p1 - w1 * p0
            row = 9 * (1 + j)
            _put_three(U, row, k, v0, v1, v2)
            _put_three(U, row + 3, k, w1 * r6 - w2 * r3, w2 * r0 - w0 * r6, w0 * r3 - w1 * r0)
            _put_three(U, row + 6, k, w1 * r7 - w2 * r4, w2 * r1 - w0 * r7, w0 * r4 - w1 * r1)


@kernel
def _put_three(U, row, k, x, y, z):
    i = row * BLOCK + k
    U[i], U[i + BLOCK], U[i + 2 * BLOCK] = x, y, z
