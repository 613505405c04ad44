# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The kernel of derivatives of a body of sections on a backbone, summed over points.

Only the dilation of sections and the moduli of the material are emitted; the rest is the same for
all bodies: :mod:`softrobot_dynamics.bodies.lvp.backbone_derivatives`, ``point_derivatives`` and
``stress_derivatives``. Likewise the kernel of second derivatives of lengths through a body.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Value, Values, Vector
from softrobot_dynamics.bodies.lvp import backbone
from softrobot_dynamics.bodies.lvp import dilation_rows as rows
from softrobot_dynamics.bodies.lvp.backbone_derivatives import (
    COORDINATES_ROW,
    DERIVATIVES_SCRATCH,
    ROWS_PER_COORDINATE,
)
from softrobot_dynamics.bodies.lvp.backbone_tables import lagrange, node_tables, NODES
from softrobot_dynamics.bodies.lvp.emit_dilation import emit_dilation, with_rows
from softrobot_dynamics.bodies.lvp.emit_points import shape_rows
from softrobot_dynamics.bodies.lvp.length_hessians import fibre_rows
from softrobot_dynamics.bodies.lvp.point_derivatives import COLUMN, COLUMNS
from softrobot_dynamics.bodies.lvp.stress_derivatives import WORK_ROWS
from softrobot_dynamics.kernels.weak_form_derivatives import stress_rows
from softrobot_dynamics.tracing.emit import BLOCK, TracedTables
from softrobot_dynamics.tracing.graph import Symbol
from softrobot_dynamics.tracing.programs import HEADER
from softrobot_dynamics.tracing.stress import moduli_function

POINT_ROWS = 4  # besides those of the dilation and of coordinates: dm, dV, x1, x2


class TracedDerivatives(NamedTuple):
    """The source of a kernel of derivatives, and its tables of the dilation and the material."""

    source: str
    dilation: TracedTables
    moduli: TracedTables


def emit_body_derivatives(
    moved: Iterable[int], energy: Callable[[Sequence[Values]], Value]
) -> TracedDerivatives:
    """
    Kernels ``derivatives(P, q, qd, qdd, motion, D, S)`` and ``hessians`` of a body on a backbone.

    ``moved``: the strains that coordinates move; ``energy``: of a material, a function of three
    rows of F. P is that of :func:`derivatives_numbers`, or of ``hessian_numbers``.
    """
    code, dilation = emit_dilation(moved)
    moduli, tables = moduli_function(energy)
    hessians = hessian_source(len(code.tables.rows))
    source = (
        dilation
        + hessians
        + _DERIVATIVES.format(
            block=BLOCK,
            scalars=len(tables.scalars),
            rows=len(code.tables.rows) + POINT_ROWS,
            nodes=NODES,
            strains=rows.STRAIN_ROWS,
            dilation=rows.DILATION_ROWS,
            own=COORDINATES_ROW,
            each=ROWS_PER_COORDINATE,
            columns=backbone.COLUMNS,
            points=COLUMNS,
            column=COLUMN,
            works=WORK_ROWS,
        )
    )
    return TracedDerivatives(HEADER + _IMPORTS + moduli + source, code.tables, tables)


def derivatives_numbers(
    traced: TracedDerivatives,
    frames: Vector,
    cloud: tuple[Matrix, Vector],
    size: tuple[float, float, float],
    polynomials: Sequence[Values],
    constants: Mapping[Symbol, float],
) -> Vector:
    """
    Return the numbers that the kernel of :func:`emit_body_derivatives` reads, flat.

    ``size``: length [m], density [kg/m^3] and viscosity [Pa s]; the rest as for
    :func:`softrobot_dynamics.bodies.lvp.emit_points.point_numbers`.
    """
    (points, masses), (length, density, viscosity) = cloud, size
    padding = -len(masses) % BLOCK
    points = np.concatenate([points, np.repeat(points[-1:], padding, axis=0)])
    masses = np.concatenate([masses, np.zeros(padding)])
    sigma = points[:, 2] / length
    table = traced.dilation.table(points[:, :2], masses, {})
    others = masses / density, points[:, 0], points[:, 1]
    nodes = lagrange(node_tables(length)[0], sigma).T
    blocks = with_rows(table, [*others, *shape_rows(polynomials, sigma, length), *nodes])
    head = [len(masses) // BLOCK, len(polynomials), len(frames), viscosity]
    return np.concatenate([head, frames, traced.moduli.numbers(constants), blocks])


def derivatives_workspace_size(n: int) -> int:
    """Return the scratch of the kernel [numbers]."""
    frames = COORDINATES_ROW + ROWS_PER_COORDINATE * n
    points = rows.STRAIN_ROWS + rows.DILATION_ROWS + frames + COLUMNS + COLUMN * n
    stress = stress_rows.py_func(n) + 18 * n + WORK_ROWS
    nodes = (backbone.COLUMNS + 6 * n + frames + 6) * NODES
    last = DERIVATIVES_SCRATCH + backbone.SCRATCH
    return (points + stress) * BLOCK + nodes + last


_IMPORTS = """\
from softrobot_dynamics.bodies.lvp.backbone_derivatives import (
    add_second_derivatives, move_nodes, tip_twists)
from softrobot_dynamics.bodies.lvp.backbone_tables import STRAINS_AT
from softrobot_dynamics.bodies.lvp.dilation_rows import lay_strains
from softrobot_dynamics.bodies.lvp.point_derivatives import (
    add_point_derivatives, ARM, FORCE, frames_in_motion)
from softrobot_dynamics.bodies.lvp.stress_derivatives import (
    add_bent_stress, fill_columns, fill_gradients)
from softrobot_dynamics.kernels.layout import own_derivatives_offset, spin_offset
from softrobot_dynamics.kernels.weak_form_derivatives import (
    add_stress_derivatives, add_viscous_stress, CHANGES, MODULI, stress_rows, STRESS)
"""

_DERIVATIVES = """

@kernel
def derivatives(P, q, qd, qdd, motion, D, S):
    blocks, n, count, viscosity = int(P[0]), int(P[1]), int(P[2]), P[3]
    A, states = P[4:4 + count], (q, qd, qdd)
    strains = A[STRAINS_AT:STRAINS_AT + n]
    T = P[4 + count + {scalars}:]
    P = P[4 + count:4 + count + {scalars}]
    Z, S = S[:{strains} * {block}], S[{strains} * {block}:]
    U, S = S[:{dilation} * {block}], S[{dilation} * {block}:]
    frames = ({own} + {each} * n)
    G, S = S[:frames * {block}], S[frames * {block}:]
    X, S = S[:({points} + {column} * n) * {block}], S[({points} + {column} * n) * {block}:]
    E, S = S[:stress_rows(n) * {block}], S[stress_rows(n) * {block}:]
    moved, S = S[:9 * n * {block}], S[9 * n * {block}:]
    moving, S = S[:9 * n * {block}], S[9 * n * {block}:]
    works, S = S[:{works} * {block}], S[{works} * {block}:]
    F, S = S[:({columns} + 6 * n) * {nodes}], S[({columns} + 6 * n) * {nodes}:]
    H, S = S[:frames * {nodes}], S[frames * {nodes}:]
    loads, S = S[:6 * {nodes}], S[6 * {nodes}:]
    last = spin_offset(n) + 9
    if not move_nodes(n, A, states, motion, F, H, S):
        D[:last] = np.nan
        return
    D[:last] = 0.0
    own = D[own_derivatives_offset(n):]
    U[:] = 0.0
    G[:] = 0.0
    loads[:] = 0.0
    shape, size = n * {block}, ({rows} + 2 * n + {nodes}) * {block}
    for block in range(blocks):
        C = T[block * size:(block + 1) * size]
        weight, volume = C[:{block}], C[({rows} - 3) * {block}:({rows} - 2) * {block}]
        places, shapes = C[({rows} - 2) * {block}:{rows} * {block}], C[{rows} * {block}:]
        derivatives, L = shapes[shape:2 * shape], shapes[2 * shape:]
        shapes = shapes[:shape]
        lay_strains(n, strains, shapes, derivatives, states, Z)
        dilation(C, Z, U)
        frames_in_motion(n, strains, H, L, G)
        tables = (weight, places, L)
        add_point_derivatives(n, strains, shapes, tables, motion, (U, G, X), loads, D)
        fill_gradients(places, Z, U, E)
        fill_columns(n, strains, shapes, derivatives, places, (Z, U), moved, moving)
        moduli(P, volume, E[:9 * {block}], E[STRESS * {block}:])
        for k in range(n):
            change = E[(CHANGES + 9 * k) * {block}:(CHANGES + 9 * k + 9) * {block}]
            rate = moved[9 * k * {block}:9 * (k + 1) * {block}]
            apply_moduli(E[MODULI * {block}:], rate, change)
        add_stress_derivatives(n, viscosity, volume, moved, moving, E, D)
        if viscosity > 0.0:
            add_viscous_stress(E)
        stress, force = E[STRESS * {block}:MODULI * {block}], X[FORCE * {block}:]
        rows = (Z, U, stress, X[ARM * {block}:], force)
        add_bent_stress(n, strains, shapes, derivatives, places, rows, works, own)
    tip_twists(n, motion, H, S, D)
    add_second_derivatives(n, A, loads, F, D, S)
"""


# rows of a block besides those of dilation and coordinates: weight, x1, x2, both derivatives
HESSIAN_POINT_ROWS = 5


def hessian_source(traced_rows: int) -> str:
    """
    Source of ``hessians(P, q, out, S)``: the Hessian (n n,) of the length of a material curve.

    It calls ``dilation(C, z, U)``, that reads ``traced_rows``, of the same module; P is that of
    :func:`hessian_numbers`.
    """
    return _HESSIANS_IMPORTS + _HESSIANS.format(
        block=BLOCK,
        rows=traced_rows + HESSIAN_POINT_ROWS,
        strains=rows.STRAIN_ROWS,
        dilation=rows.DILATION_ROWS,
    )


def hessian_numbers(
    tables: TracedTables,
    curve: tuple[Matrix, Matrix, Vector],
    length: float,
    strains: Sequence[int],
    polynomials: Sequence[Values],
) -> Vector:
    """
    Return the numbers that the kernel of :func:`hessian_source` reads, flat.

    ``curve``: points (K, 3) [m], derivatives (K, 2) and weights (K,) [m]; the rest as before.
    """
    points, derivatives, weights = curve
    padding = -len(weights) % BLOCK
    points, derivatives = (
        np.concatenate([x, np.repeat(x[-1:], padding, axis=0)]) for x in (points, derivatives)
    )
    table = tables.table(points[:, :2], np.concatenate([weights, np.zeros(padding)]), {})
    more = [
        *points[:, :2].T,
        *derivatives.T,
        *shape_rows(polynomials, points[:, 2] / length, length),
    ]
    blocks = with_rows(table, more)
    return np.concatenate([[len(points) // BLOCK, len(strains)], strains, blocks])


def hessian_scratch(n: int) -> int:
    """Return the scratch of the kernel [numbers]."""
    return (rows.STRAIN_ROWS + rows.DILATION_ROWS + fibre_rows.py_func(n)) * BLOCK


_HESSIANS_IMPORTS = """\
from softrobot_dynamics.bodies.lvp.length_hessians import add_length_hessians
from softrobot_dynamics.bodies.lvp.dilation_rows import lay_strains
"""

_HESSIANS = """

@kernel
def hessians(P, q, out, S):
    blocks, n = int(P[0]), int(P[1])
    strains, T = P[2:2 + n], P[2 + n:]
    Z, S = S[:{strains} * {block}], S[{strains} * {block}:]
    U, S = S[:{dilation} * {block}], S[{dilation} * {block}:]
    U[:] = 0.0
    out[:n * n] = 0.0
    shape, size = n * {block}, ({rows} + 2 * n) * {block}
    for block in range(blocks):
        C = T[block * size:(block + 1) * size]
        weight, along = C[:{block}], C[({rows} - 2) * {block}:{rows} * {block}]
        places, shapes = C[({rows} - 4) * {block}:({rows} - 2) * {block}], C[{rows} * {block}:]
        derivatives, shapes = shapes[shape:2 * shape], shapes[:shape]
        lay_strains(n, strains, shapes, derivatives, (q, q, q), Z)
        dilation(C, Z, U)
        tables = (weight, places, along)
        add_length_hessians(n, strains, shapes, derivatives, tables, (Z, U), S, out)
"""
