# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Dilation of sections: the factor by which their points move outwards, and kernels of it.

They give positions of points of a body of sections, and their derivatives.
"""

from collections.abc import Callable, Sequence
import functools
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Math, Value, Values
from softrobot_dynamics.bodies.lvp import backbone
from softrobot_dynamics.bodies.lvp.backbone_tables import NODES
from softrobot_dynamics.bodies.lvp.emit_derivatives import emit_body_derivatives, TracedDerivatives
from softrobot_dynamics.bodies.lvp.emit_points import SHAPES_COLUMN, strains_of
from softrobot_dynamics.materials.contract import Material
from softrobot_dynamics.tracing import graph, traversal
from softrobot_dynamics.tracing.differentiate import tangent
from softrobot_dynamics.tracing.emit import BLOCK, Emitter, indented
from softrobot_dynamics.tracing.graph import symbol, SYMBOLIC
from softrobot_dynamics.tracing.programs import HEADER, TracedKernel


def section_values(factor: Callable[..., Value], strains: Sequence[int]) -> TracedKernel:
    """
    Kernel ``values(P, q, V, S)`` of ``programs.point_values`` for a body on a backbone.

    Arguments as of :func:`softrobot_dynamics.bodies.lvp.emit_points.point_sums`; P is that of
    ``point_numbers`` there.
    """
    n = len(strains)
    motion = _in_section(factor, strains)
    code = Emitter(motion)
    frames, rows = backbone.COLUMNS + 6 * n, len(code.tables.rows) + 1
    sizes = len(motion) * BLOCK, frames * BLOCK, frames * NODES, n
    ends = np.cumsum([*sizes, backbone.SCRATCH]).tolist()
    point = [f'D[{i * BLOCK} + k] = {code.name(node)}' for i, node in enumerate(motion)]
    source = _VALUES.format(
        **dict(zip(('G', 'F', 'still', 'V', 'end'), ends)),
        block=BLOCK,
        scalars=len(code.tables.scalars),
        shapes=rows * BLOCK,
        stride=(rows + NODES) * BLOCK,
        rows=9 * (n + 1) * BLOCK,
        call=indented(code.call, 4),
        point=indented(code.point + point, 12),
    )
    return TracedKernel(HEADER + source, code.tables, ends[-1])


def _in_section(factor: Callable[..., Value], strains: Sequence[int]) -> Any:
    """Nodes of d, dd/dx1 and dd/dx2, two each, in the section, then derivatives by each q_j."""
    n, x = len(strains), [symbol('x', i) for i in range(2)]
    shapes, q = ([symbol(kind, i) for i in range(n)] for kind in 'sq')
    dilated = factor(*x, strains_of(strains, q, shapes))
    d = [graph.as_node(c * dilated) for c in x]
    values = d + [node for i in range(2) for node in tangent(d, {('x', i): 1.0})]
    nodes = values + [node for j in range(n) for node in tangent(values, {('q', j): 1.0})]
    return traversal.substitute(
        nodes, {('s', j): symbol('x', SHAPES_COLUMN + j) for j in range(n)}
    )


_VALUES = """\
from softrobot_dynamics.bodies.lvp.backbone import backbone
from softrobot_dynamics.bodies.lvp.backbone_points import frames_at, place_values
from softrobot_dynamics.bodies.lvp.backbone_tables import STRAINS_AT


@kernel
def values(P, q, V, S):
    blocks, n, count = int(P[0]), int(P[1]), int(P[2])
    A = P[3:3 + count]
    strains = A[STRAINS_AT:STRAINS_AT + n]
    T = P[3 + count + {scalars}:]
    P = P[3 + count:3 + count + {scalars}]
    S = S[:{end}]
    D, G, F, still = S[:{G}], S[{G}:{F}], S[{F}:{still}], S[{still}:{V}]
    still[:] = 0.0
    if not backbone(n, A, q, still, F, S[{V}:]):
        V[:blocks * {rows}] = np.nan
        return
{call}
    for block in range(blocks):
        C = T[block * {stride}:(block + 1) * {stride}]
        for k in range({block}):
{point}
        frames_at(n, strains, {block}, F, C[{shapes}:], G)
        place_values(n, strains, G, D, V[block * {rows}:(block + 1) * {rows}])
"""


def dilation(x1: Value, x2: Value, z: Values, math: Math, source: bool) -> Value:
    """Factor by which the point (x1, x2) [m] of a section with strains z moves outwards."""
    square = math.sqrt(z[5])
    wider = math.sqrt(1.0 + z[6] / (x1 * x1 + x2 * x2)) if source else 1.0
    # r = c wider / (w sqrt(lambda)) turns a r^3 + r^2 = c^2 / lambda into w^3 - w = b
    b = (z[0] * x2 - z[1] * x1) * (2.0 / 3.0) * wider / (z[5] * square)
    return wider / (math.cubic(b) * square)


@functools.cache
def trace_values(strains: tuple[int, ...], source: bool) -> TracedKernel:
    """Return the kernel of material points, see :func:`section_values`."""
    return section_values(lambda x1, x2, z: dilation(x1, x2, z, SYMBOLIC, source), strains)


@functools.cache
def trace_derivatives(moved: tuple[int, ...], material: Material) -> TracedDerivatives:
    """Return the kernels of derivatives, see ``emit_derivatives.emit_body_derivatives``."""
    return emit_body_derivatives(moved, lambda F: material.energy(F, SYMBOLIC))


@functools.cache
def trace_terms(
    sums: Callable[..., TracedKernel],
    strains: tuple[int, ...],
    material: Material,
    density: Value,
    source: bool,
) -> TracedKernel:
    """Return the kernel of terms that ``sums`` makes: over sections, or over points."""
    return sums(
        lambda x1, x2, z: dilation(x1, x2, z, SYMBOLIC, source),
        strains,
        lambda F: material.energy(F, SYMBOLIC),
        material.viscosity(),
        density,
    )
