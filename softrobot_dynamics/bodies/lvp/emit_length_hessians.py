# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The kernel of second derivatives of lengths through a body of sections on a backbone."""

from collections.abc import Sequence

import numpy as np
from softrobot_dynamics.annotations import Matrix, Values, Vector
from softrobot_dynamics.bodies.lvp import growth_rows as rows
from softrobot_dynamics.bodies.lvp.emit_growth import with_rows
from softrobot_dynamics.bodies.lvp.emit_points import shape_rows
from softrobot_dynamics.bodies.lvp.length_hessians import fibre_rows
from softrobot_dynamics.tracing.emit import BLOCK, TracedTables

OTHERS = (
    5  # rows of a block besides those of growth and coordinates: weight, x1, x2, both derivatives
)


def hessian_source(traced_rows: int) -> str:
    """
    Source of ``hessians(P, q, out, S)``: the Hessian (n n,) of the length of a material curve.

    It calls ``growth(C, z, U)``, that reads ``traced_rows``, of the same module; P is that of
    :func:`hessian_numbers`.
    """
    return _HESSIANS_IMPORTS + _HESSIANS.format(
        block=BLOCK, rows=traced_rows + OTHERS, strains=rows.STRAIN_ROWS, growth=rows.GROWTH_ROWS
    )


def hessian_numbers(
    tables: TracedTables,
    curve: tuple[Matrix, Matrix, Vector],
    length: float,
    strains: Sequence[int],
    polynomials: Sequence[Values],
) -> Vector:
    """
    Return what the kernel of :func:`hessian_source` reads, flat.

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
    return (rows.STRAIN_ROWS + rows.GROWTH_ROWS + fibre_rows.py_func(n)) * BLOCK


_HESSIANS_IMPORTS = """\
from softrobot_dynamics.bodies.lvp.length_hessians import add_length_hessians
from softrobot_dynamics.bodies.lvp.growth_rows import lay_strains
"""

_HESSIANS = """

@kernel
def hessians(P, q, out, S):
    blocks, n = int(P[0]), int(P[1])
    strains, T = P[2:2 + n], P[2 + n:]
    Z, S = S[:{strains} * {block}], S[{strains} * {block}:]
    U, S = S[:{growth} * {block}], S[{growth} * {block}:]
    U[:] = 0.0
    out[:n * n] = 0.0
    shape, size = n * {block}, ({rows} + 2 * n) * {block}
    for block in range(blocks):
        C = T[block * size:(block + 1) * size]
        weight, along = C[:{block}], C[({rows} - 2) * {block}:{rows} * {block}]
        places, shapes = C[({rows} - 4) * {block}:({rows} - 2) * {block}], C[{rows} * {block}:]
        derivatives, shapes = shapes[shape:2 * shape], shapes[:shape]
        lay_strains(n, strains, shapes, derivatives, (q, q, q), Z)
        growth(C, Z, U)
        tables = (weight, places, along)
        add_length_hessians(n, strains, shapes, derivatives, tables, (Z, U), S, out)
"""
