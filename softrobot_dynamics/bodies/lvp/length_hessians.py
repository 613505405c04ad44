# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Second derivatives of the length of a material curve through a body of sections on a backbone.

The curve goes along F t, t = (dx1/dx3, dx2/dx3, 1). So its length is an energy |F t| of the
deformation gradient F, whose stress and its changes are traced.
"""

from softrobot_dynamics.annotations import Value
from softrobot_dynamics.bodies.lvp.dilation_rows import DILATION_ROWS
from softrobot_dynamics.bodies.lvp.stress_derivatives import (
    add_bent_stress,
    fill_columns,
    fill_gradients,
    WORK_ROWS,
)
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.reductions import BLOCK, dot
from softrobot_dynamics.tracing import programs
from softrobot_dynamics.tracing.differentiate import direction, tangent
from softrobot_dynamics.tracing.graph import Node, SYMBOLIC
from softrobot_dynamics.tracing.loops import LaneRows, traced_loop

B = BLOCK

# rows of scratch: F and dF/dt, stress, its change, no force (3), work; then of each coordinate
# dF/dq and its derivative by time
STRESS, CHANGE, ZERO_FORCE, WORK = 18, 27, 36, 39
COORDINATES = WORK + WORK_ROWS


@inlined
def fibre_rows(n):
    """Return the number of rows of scratch of :func:`add_length_hessians`."""
    return COORDINATES + 18 * n


@kernel
def add_length_hessians(n, strains, shapes, derivatives, tables, rows, S, out):
    """
    Add the second derivatives of the length of a block to out (n n,).

    ``tables``: weights [m], points (2 rows) and derivatives of the curve (2 rows); ``rows``:
    strains and dilation; S is scratch.
    """
    weight, places, along = tables
    Z, U = rows[0], rows[1][: DILATION_ROWS * B]
    F, G = S[: STRESS * B], S[COORDINATES * B : (COORDINATES + 9 * n) * B]
    stress, change = S[STRESS * B : CHANGE * B], S[CHANGE * B : ZERO_FORCE * B]
    none = S[ZERO_FORCE * B : WORK * B]
    none[:] = 0.0
    fill_gradients(places, Z, U, F)
    fill_columns(
        n, strains, shapes, derivatives, places, (Z, U), G, S[(COORDINATES + 9 * n) * B :]
    )
    _fill_stress(weight, along, F, stress)
    for k in range(n):
        _fill_change(weight, along, F, G[9 * B * k : 9 * B * (k + 1)], change)
        for j in range(k + 1):
            value = dot(G[9 * B * j : 9 * B * (j + 1)], change)
            out[n * k + j] += value
            if j < k:
                out[n * j + k] += value
    rows = (Z, U, stress, none, none)
    add_bent_stress(n, strains, shapes, derivatives, places, rows, S[WORK * B :], out)


@traced_loop(B)
def _fill_stress(weight, along, F, stress):
    """Stress of the length, nine rows, times the weight."""
    stress.write(0, _stress(weight, along, F))


@traced_loop(B)
def _fill_change(weight, along, F, G, change):
    """Fill the change of this stress with a coordinate."""
    by_coordinate = direction((F.rows(0, 9), G.rows(0, 9)))
    change.write(0, tangent(_stress(weight, along, F), by_coordinate))


def _stress(weight: LaneRows, along: LaneRows, F: LaneRows) -> list[Node]:
    """Return the derivatives of the weighted length |F t| by F."""
    t: list[Value] = [*along.rows(0, 2), 1.0]
    v = [programs.dot(F.rows(3 * i), t) for i in range(3)]
    length = weight[0] * SYMBOLIC.sqrt(programs.dot(v, v))
    return [tangent([length], {x.value: 1.0})[0] for x in F.rows(0, 9)]
