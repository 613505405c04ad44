# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The kernel of a body of equal sections on a backbone, whose sums are taken section by section.

The sums over a section depend on its station only through its strains. They are traced and
emitted; a compiled kernel combines them with the frames of the stations
(:mod:`softrobot_dynamics.bodies.lvp.backbone_sections`). The number of coordinates is a number
that the kernel reads: bodies whose coordinates move the same strains share their code.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Value, Values, Vector
from softrobot_dynamics.bodies.lvp import backbone
from softrobot_dynamics.bodies.lvp import section_rows as rows
from softrobot_dynamics.bodies.lvp.backbone_tables import lagrange, node_tables, NODES
from softrobot_dynamics.bodies.lvp.emit_points import deformation, shape_rows, strains_of
from softrobot_dynamics.tracing.differentiate import tangent
from softrobot_dynamics.tracing.emit import Emitter, indented, TracedTables
from softrobot_dynamics.tracing.graph import as_node, is_constant, Node, Symbol, symbol
from softrobot_dynamics.tracing.programs import HEADER, strain_forces, TracedKernel

LANES, STRAINS = rows.LANES, backbone.STRAINS
# index of the first derivative among the "coordinates" of a section
FIRST_DERIVATIVE = 2 * STRAINS
POINT_VECTOR = 8  # points of a section come in whole vectors


def section_sums(
    factor: Callable[..., Value],
    strains: Sequence[int],
    energy: Callable[[Sequence[Values]], Value],
    viscosity: Value | None,
    density: Value,
) -> TracedKernel:
    """
    Kernel ``terms(P, q, qd, w, W, S)`` of a body of equal sections on a backbone.

    Arguments as those of :func:`softrobot_dynamics.bodies.lvp.emit_points.point_sums`; P is that
    of :func:`section_numbers`.
    """
    moments = _moments(factor, set(strains), energy, viscosity, density)
    code = Emitter(moments.values(), row=lambda r: f'C{r}[k]')
    count = len(code.tables.rows) + 1
    slices = [f'C{r} = C[{r} * points:{r + 1} * points]' for r in range(1, count)]
    added = [f'a{i} += {code.name(node)}' for i, node in moments.items()]
    source = _TERMS.format(
        call=indented(slices + code.call, 4),
        zero=' = '.join(f'a{i}' for i in moments),
        point=indented(code.point + added, 8),
        results=indented([f'out[{i}] = weight * a{i}' for i in moments], 4),
        scalars=len(code.tables.scalars),
        rows=count,
        lanes=LANES,
        nodes=NODES,
        columns=backbone.COLUMNS,
        strains=STRAINS,
        rates=STRAINS * LANES,
        derivatives=FIRST_DERIVATIVE * LANES,
        moments=2 * FIRST_DERIVATIVE * LANES,
        rest=(2 * FIRST_DERIVATIVE + rows.MOMENTS) * LANES,
    )
    return TracedKernel(HEADER + _IMPORTS + source, code.tables, _scratch(len(strains)))


def section_numbers(
    tables: TracedTables,
    frames: Vector,
    rule: tuple[Any, ...],
    length: float,
    polynomials: Sequence[Any],
    constants: dict[Symbol, float],
) -> Vector:
    """
    Return the numbers that the kernel of :func:`section_sums` reads, flat.

    ``rule``: stations s (S,) [m], their weights (S,) [m], points (K, 2) [m] of a section and
    their masses per length (K,) [kg/m]; the rest as for
    :func:`softrobot_dynamics.bodies.lvp.emit_points.point_numbers`.
    """
    stations, weights, points, masses = rule
    padding = -len(masses) % POINT_VECTOR
    points = np.pad(points, ((0, padding), (0, 0)), 'edge')  # stays in the formula's range
    masses = np.pad(masses, (0, padding))
    section = np.column_stack([points, masses])
    section = tables.table(section, masses, constants, block=len(masses))
    head = len(stations), len(masses), len(polynomials), len(frames)
    groups = _groups(stations / length, weights, length, polynomials)
    return np.concatenate([head, frames, tables.numbers(constants), section, groups])


def _scratch(n: int) -> int:
    lanes = 2 * FIRST_DERIVATIVE + rows.MOMENTS + rows.scratch_rows.py_func(n)
    frames = 2 * (backbone.COLUMNS + 6 * n)  # at the stations, and at as many nodes
    return (lanes + frames) * LANES + backbone.SCRATCH


def _groups(sigma: Vector, weights: Vector, length: float, polynomials: Sequence[Any]) -> Any:
    """Rows for each 16 stations: shapes, derivatives, interpolation of frames, and weights."""
    padding = -len(sigma) % LANES
    sigma, weights = np.pad(sigma, (0, padding), 'edge'), np.pad(weights, (0, padding))
    nodes = lagrange(node_tables(length)[0], sigma)
    table = np.array([*shape_rows(polynomials, sigma, length), *nodes.T, weights])
    return table.reshape(len(table), -1, LANES).transpose(1, 0, 2).ravel()


def _moments(
    factor: Callable[..., Value],
    moved: Collection[int],
    energy: Callable[[Sequence[Values]], Value],
    viscosity: Value | None,
    density: Value,
) -> dict[int, Node]:
    """Integrands of the moments of a section, {row: node}, without those that are zero."""
    x1, x2, mass = (symbol('x', i) for i in range(3))
    q = [symbol('q', i) for i in range(FIRST_DERIVATIVE + STRAINS)]
    z = [q[i] if i in moved else as_node(rest) for i, rest in enumerate(strains_of((), (), ()))]
    derivatives = [q[FIRST_DERIVATIVE + i] if i in moved else as_node(0.0) for i in range(STRAINS)]
    f = as_node(factor(x1, x2, z))
    F = deformation([x1 * f, x2 * f], z, derivatives)
    forces = strain_forces(F, energy, viscosity, density, len(q))
    nodes = _inertial_moments(x1, x2, mass, f, moved)
    nodes |= _force_moments(mass, forces[: len(q)], rows.ELASTIC)
    nodes |= _force_moments(mass, forces[len(q) :], rows.VISCOUS)
    return {row: node for row, node in nodes.items() if not is_constant(node, 0.0)}


def _inertial_moments(
    x1: Node, x2: Node, mass: Node, f: Node, moved: Collection[int]
) -> dict[int, Node]:
    """Moments of d = f (x1, x2): constants of a point, times factors of the strains."""
    first, second = [mass * x1, mass * x2], [mass * x1 * x1, mass * x1 * x2, mass * x2 * x2]
    square = mass * (x1 * x1 + x2 * x2)
    along = {('q', i): symbol('qd', i) for i in moved}
    (bias,) = tangent(tangent([f], along), along)
    dilated = [tangent([f], {('q', i): 1.0})[0] for i in rows.DILATING_STRAINS]
    nodes = {rows.MASS: mass}
    nodes |= {rows.FIRST + i: x * f for i, x in enumerate(first)}
    nodes |= {rows.SECOND + i: x * (f * f) for i, x in enumerate(second)}
    nodes |= {rows.BETA + i: x * bias for i, x in enumerate(first)}
    for k, by_z in enumerate(dilated):
        row, pair = (
            rows.DILATION + rows.ROWS_PER_DILATING * k,
            rows.PAIRS + rows.DILATING_COUNT * k,
        )
        nodes |= {row + i: x * by_z for i, x in enumerate(first)}
        nodes |= {row + 2 + i: x * (f * by_z) for i, x in enumerate(second)}
        nodes[row + 5] = square * (by_z * bias)
        nodes |= {pair + i: square * (by_z * dilated[i]) for i in range(k, rows.DILATING_COUNT)}
    return nodes


def _force_moments(mass: Node, forces: Sequence[Node], row: int) -> dict[int, Node]:
    """Return forces on the strains from ``row`` on, then on derivatives of the dilating ones."""
    on_derivatives = [forces[FIRST_DERIVATIVE + i] for i in rows.DILATING_STRAINS]
    return {row + i: mass * force for i, force in enumerate([*forces[:STRAINS], *on_derivatives])}


_IMPORTS = """\
from softrobot_dynamics.bodies.lvp.backbone import backbone, strain_rows, tip_frame
from softrobot_dynamics.bodies.lvp.backbone_points import frames_at
from softrobot_dynamics.bodies.lvp.backbone_sections import add_sections
from softrobot_dynamics.bodies.lvp.backbone_tables import STRAINS_AT
from softrobot_dynamics.bodies.lvp.section_rows import scratch_rows
from softrobot_dynamics.compiling.jit import summing
from softrobot_dynamics.kernels.layout import body_size, inertia_offset
"""

_TERMS = """

@summing
def section(P, C, points, weight, q, qd, out):
{call}
    {zero} = 0.0
    for k in range(points):
{point}
{results}


@kernel
def terms(P, q, qd, w, W, S):
    stations, points, n, count = int(P[0]), int(P[1]), int(P[2]), int(P[3])
    A = P[4:4 + count]
    strains = A[STRAINS_AT:STRAINS_AT + n]
    P = P[4 + count:]
    C, T = P[{scalars}:{scalars} + {rows} * points], P[{scalars} + {rows} * points:]
    frame, own = ({columns} + 6 * n) * {lanes}, scratch_rows(n) * {lanes}
    Z, M, V = S[:{moments}], S[{moments}:{rest}], S[{rest}:{rest} + own]
    S = S[{rest} + own:]
    G, F = S[:frame], S[frame:2 * frame]
    if not backbone(n, A, q, qd, F, S[2 * frame:]):
        W[:body_size(n)] = np.nan
        return
    tip_frame(n, F, W)
    W[inertia_offset(n):body_size(n)] = 0.0
    shape = n * {lanes}
    for first in range(0, stations, {lanes}):
        shapes, derivatives, nodes = T[:shape], T[shape:2 * shape], T[2 * shape:]
        weights = nodes[{nodes} * {lanes}:]
        strain_rows(n, strains, shapes, 1.0, q, qd, Z[:{derivatives}])
        strain_rows(n, strains, derivatives, 0.0, q, qd, Z[{derivatives}:])
        M[:] = 0.0
        for s in range(min({lanes}, stations - first)):
            z = Z[s::{lanes}]
            section(P, C, points, weights[s], z, z[{strains}:], M[s::{lanes}])
        frames_at(n, strains, {lanes}, F, nodes, G)
        add_sections(n, strains, shapes, derivatives, G, M, Z[{rates}:{derivatives}], qd, w, V, W)
        T = weights[{lanes}:]
"""
