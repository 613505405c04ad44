# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Length of a curve along a rod: the integral of |u|, where u is linear in the coordinates.

Parameters P: n, blocks of LANES points; for each block, lane by lane, the weights, u at q = 0 (3)
and du/dq_j (3) for each coordinate.
"""

import math

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.lanes import LANES
from softrobot_dynamics.kernels.reductions import dot

B = LANES
SCRATCH = 10 * LANES


@kernel
def rod_fibre(P, q, qd, out, S):
    """Fill ``out`` with the length [m], its gradient by q (n,) and its bias (d/dt gradient) qd."""
    n, blocks = int(P[0]), int(P[1])
    size = (4 + 3 * n) * B
    table = P[2 : 2 + blocks * size]
    out[: n + 2] = 0.0
    S = S[:SCRATCH]
    u, rate, along = S[: 3 * B], S[3 * B : 6 * B], S[6 * B : 9 * B]
    for block in range(blocks):
        C = table[block * size : (block + 1) * size]
        for k in range(3 * B):
            u[k] = C[B + k]
            rate[k] = 0.0
        for j in range(n):
            column = C[(4 + 3 * j) * B : (7 + 3 * j) * B]
            value, speed = q[j], qd[j]
            for k in range(3 * B):
                u[k] += value * column[k]
                rate[k] += speed * column[k]
        length, bias = _measure(C[:B], u, rate, along)
        out[0] += length
        out[n + 1] += bias
        for j in range(n):
            out[1 + j] += dot(along, C[(4 + 3 * j) * B : (7 + 3 * j) * B])


@kernel
def _measure(weight, u, rate, along):
    """Length and bias of a block; ``along`` becomes weight u / |u|."""
    length = bias = 0.0
    for k in range(B):
        u0, u1, u2 = u[k], u[B + k], u[2 * B + k]
        v0, v1, v2 = rate[k], rate[B + k], rate[2 * B + k]
        size = math.sqrt(u0 * u0 + u1 * u1 + u2 * u2)
        factor = weight[k] / size
        a0, a1, a2 = factor * u0, factor * u1, factor * u2
        length += weight[k] * size
        bias += factor * (v0 * v0 + v1 * v1 + v2 * v2)
        bias -= (u0 * v0 + u1 * v1 + u2 * v2) * (a0 * v0 + a1 * v1 + a2 * v2) / (size * size)
        along[k], along[B + k], along[2 * B + k] = a0, a1, a2
    return length, bias
