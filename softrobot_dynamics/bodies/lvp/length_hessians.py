# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Second derivatives of the length of a material curve through a body of sections on a backbone.

The curve goes along F t, t = (dx1/dx3, dx2/dx3, 1). So its length is an energy of the deformation
gradient F, with the stress v t^T / |v| where v = F t, and

    d2|v| / dq_j dq_k = (v_j . v_k - v . v_j v . v_k / |v|^2) / |v| + v . d2F/dq_j dq_k t / |v|.
"""

import math

from softrobot_dynamics.bodies.lvp.dilation_rows import DILATION_ROWS
from softrobot_dynamics.bodies.lvp.stress_derivatives import (
    add_bent_stress,
    fill_columns,
    fill_gradients,
    WORK_ROWS,
)
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.reductions import BLOCK, dot

B = BLOCK

# rows of scratch: F, dF/dt, stress, no force (3), one column, work; then of each coordinate dF/dq,
# its derivative by time, and a column
RATE, STRESS, ZERO_FORCE, COLUMN, WORK = 9, 18, 27, 30, 34
COORDINATES = WORK + WORK_ROWS


@inlined
def fibre_rows(n):
    """Return the number of rows of scratch of :func:`add_length_hessians`."""
    return COORDINATES + 22 * n


@kernel
def add_length_hessians(n, strains, shapes, derivatives, tables, rows, S, out):
    """
    Add the second derivatives of the length of a block to out (n n,).

    ``tables``: weights [m], points (2 rows) and derivatives of the curve (2 rows); ``rows``:
    strains and dilation; S is scratch.
    """
    weight, places, along = tables
    Z, U = rows[0], rows[1][: DILATION_ROWS * B]
    F, G = S[: 9 * B], S[COORDINATES * B : (COORDINATES + 9 * n) * B]
    moved, columns = (
        S[(COORDINATES + 9 * n) * B : (COORDINATES + 18 * n) * B],
        S[(COORDINATES + 18 * n) * B :],
    )
    stress, none, column = (
        S[STRESS * B : ZERO_FORCE * B],
        S[ZERO_FORCE * B : COLUMN * B],
        S[COLUMN * B :],
    )
    none[:] = 0.0
    fill_gradients(places, Z, U, F, S[RATE * B : STRESS * B], moved)
    fill_columns(n, strains, shapes, derivatives, places, (Z, U), G, moved)
    _stretch(weight, along, F, stress)
    for k in range(n):
        own = columns[4 * B * k : 4 * B * (k + 1)]
        _turn(weight, along, (F, G[9 * B * k : 9 * B * (k + 1)]), own, column)
        for j in range(k + 1):
            value = dot(columns[4 * B * j : 4 * B * (j + 1)], column[: 4 * B])
            out[n * k + j] += value
            if j < k:
                out[n * j + k] += value
    rows = (Z, U, stress, none, none)
    add_bent_stress(n, strains, shapes, derivatives, places, rows, S[WORK * B :], out)


@inlined
def _times(F, k, t1, t2):
    """F t, with t = (t1, t2, 1)."""
    return (
        F[k] * t1 + F[B + k] * t2 + F[2 * B + k],
        F[3 * B + k] * t1 + F[4 * B + k] * t2 + F[5 * B + k],
        F[8 * B + k],
    )


@kernel
def _stretch(weight, along, F, stress):
    """Stress of the length, nine rows, times the weight."""
    for k in range(B):
        t1, t2 = along[k], along[B + k]
        a, b, c = _times(F, k, t1, t2)
        w = weight[k] / math.sqrt(a * a + b * b + c * c)
        a, b, c = w * a, w * b, w * c
        stress[k], stress[B + k], stress[2 * B + k] = a * t1, a * t2, a
        stress[3 * B + k], stress[4 * B + k], stress[5 * B + k] = b * t1, b * t2, b
        stress[6 * B + k], stress[7 * B + k], stress[8 * B + k] = c * t1, c * t2, c


@kernel
def _turn(weight, along, gradients, own, column):
    """Fill v_k, v . v_k / |v|, and their factors in the term of v_j and v_k in d2|v|."""
    F, G = gradients
    for k in range(B):
        t1, t2 = along[k], along[B + k]
        v, (a, b, c) = _times(F, k, t1, t2), _times(G, k, t1, t2)
        speed = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
        d, w = (v[0] * a + v[1] * b + v[2] * c) / speed, weight[k] / speed
        own[k], own[B + k], own[2 * B + k], own[3 * B + k] = a, b, c, d
        column[k], column[B + k], column[2 * B + k], column[3 * B + k] = (
            w * a,
            w * b,
            w * c,
            -w * d,
        )
