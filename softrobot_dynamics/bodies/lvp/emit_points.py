# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The kernel of a body whose sections deform in their plane and move with a backbone.

A material point is p = o(s) + R(s) (d1, d2, 0). The frames depend on s and q only, and are made
once per call (:mod:`softrobot_dynamics.bodies.lvp.backbone`); the formula d(x, strains) is traced.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval
from softrobot_dynamics.annotations import Matrix, Value, Values, Vector
from softrobot_dynamics.bodies.lvp import backbone
from softrobot_dynamics.bodies.lvp.backbone_tables import lagrange, node_tables, NODES
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.tracing import graph, traversal
from softrobot_dynamics.tracing.differentiate import kinematic_derivatives, tangent
from softrobot_dynamics.tracing.emit import BLOCK, Emitter, indented, TracedTables
from softrobot_dynamics.tracing.graph import Node, Symbol, symbol
from softrobot_dynamics.tracing.programs import HEADER, strain_forces, TracedKernel

SHAPES_COLUMN = 2  # after x1 x2; the shapes of all coordinates, then their derivatives


def point_sums(
    factor: Callable[..., Value],
    strains: Sequence[int],
    energy: Callable[[Sequence[Values]], Value],
    viscosity: Value | None,
    density: Value,
) -> TracedKernel:
    """
    Kernel ``terms(P, q, qd, w, W, S)`` of a body of sections on a backbone, summed over points.

    ``factor(x1, x2, z)`` returns the node d1 / x1 = d2 / x2 for the strains z (kappa_x, kappa_y,
    kappa_z, gamma_x, gamma_y, lambda, source); ``strains`` (n,) index the one that each coordinate
    moves; ``energy`` is psi of three rows of F, ``viscosity`` [Pa s], ``density`` [kg/m^3] as in
    :func:`softrobot_dynamics.tracing.programs.strain_forces`. P is that of
    :func:`point_numbers`.
    """
    n = len(strains)
    d, F = _traced(factor, strains)
    forces = strain_forces(F, energy, viscosity, density, n)
    columns, bias = kinematic_derivatives(d, n)
    rate = tangent(d, {('q', j): symbol('qd', j) for j in range(n)})
    motion = [*d, *rate, *bias, *(node for column in columns for node in column)]
    code = Emitter([*motion, *forces])
    at, rows = _offsets(n, len(motion)), len(code.tables.rows) + 1
    point = [f'S[{at["D"] + i * BLOCK} + k] = {code.name(e)}' for i, e in enumerate(motion)]
    point += [
        f'S[{at["E"] + i * BLOCK} + k] = C[k] * ({code.name(e)})' for i, e in enumerate(forces)
    ]
    slab = layout.slab(n)
    source = _TERMS.format(
        **at,
        block=BLOCK,
        scalars=len(code.tables.scalars),
        shapes=rows * BLOCK,
        stride=(rows + NODES) * BLOCK,
        forces=2 * n,
        first=slab.inertia,
        elastic=slab.elastic,
        last=slab.size,
        call=indented(code.call, 4),
        point=indented(code.point + point, 12),
    )
    return TracedKernel(HEADER + _IMPORTS + source, code.tables, at['end'])


def strains_of(strains: Sequence[int], q: Values, shapes: Values, rest: float = 1.0) -> list[Any]:
    """Strains (7,) of coordinates q with their shapes' values; lambda is ``rest`` at q = 0."""
    total = [0.0] * 5 + [rest, 0.0]
    for strain, coordinate, shape in zip(strains, q, shapes):
        total[strain] = total[strain] + shape * coordinate
    return total


def point_numbers(
    tables: TracedTables,
    frames: Vector,
    cloud: tuple[Matrix, Vector],
    length: float,
    polynomials: Sequence[Any],
    constants: dict[Symbol, float],
) -> Vector:
    """
    Return the numbers that the kernel of :func:`point_sums` reads, flat.

    ``frames``: the numbers of :mod:`softrobot_dynamics.bodies.lvp.backbone_tables`; ``cloud``:
    material points (K, 3) [m] and their masses (K,) [kg]; ``polynomials`` are the shapes of the
    coordinates, in powers of s / L, ``length`` is L [m].
    """
    points, masses = cloud
    sigma = points[:, 2] / length
    columns = np.column_stack([points[:, :2], *shape_rows(polynomials, sigma, length)])
    table = tables.table(columns, masses, constants)
    table = table.reshape(-1, len(tables.rows) + 1, BLOCK)
    nodes = lagrange(node_tables(length)[0], sigma)
    nodes = np.concatenate([nodes, np.repeat(nodes[-1:], -len(nodes) % BLOCK, axis=0)])
    nodes = nodes.reshape(-1, BLOCK, NODES).transpose(0, 2, 1)
    head = len(table), len(polynomials), len(frames)
    blocks = np.concatenate([table, nodes], axis=1).ravel()
    return np.concatenate([head, frames, tables.numbers(constants), blocks])


def shape_rows(polynomials: Sequence[Any], sigma: Vector, length: float) -> list[Vector]:
    """Values of shapes at s / L = sigma, then their derivatives by s [1/m]: 2 n rows."""
    shapes = [polyval(sigma, p) for p in polynomials]
    return [*shapes, *(polyval(sigma, polyder(p)) / length for p in polynomials)]


def gradient(d: Values, z: Values, by_x: Sequence[Values], by_s: Values) -> list[list[Node]]:
    """
    F = R^T dp/dx (three rows) of nodes d, strains z, d(d)/dx1 and d(d)/dx2, and d(d)/ds.

    The rotation makes no difference to a strain energy.
    """
    kx, ky, kz, gx, gy, stretch = z[:6]
    return [
        [by_x[0][0], by_x[1][0], gx - kz * d[1] + by_s[0]],
        [by_x[0][1], by_x[1][1], gy + kz * d[0] + by_s[1]],
        [graph.as_node(0.0), graph.as_node(0.0), stretch + kx * d[1] - ky * d[0]],
    ]


def deformation(d: Sequence[Node], z: Sequence[Node], derivatives: Sequence[Node]) -> list[Node]:
    """
    Nine nodes, row-major, of F as :func:`gradient` has it, of nodes d of ('x', 0) and ('x', 1).

    ``z`` and ``derivatives`` (7,): strains and their derivatives by s, symbols or constants.
    """
    by_x = [tangent(d, {('x', i): 1.0}) for i in range(2)]
    moving = [
        (symbol, derivative) for symbol, derivative in zip(z, derivatives) if symbol.op == 'symbol'
    ]
    by_s = tangent(d, {symbol.value: derivative for symbol, derivative in moving})
    return [entry for row in gradient(d, z, by_x, by_s) for entry in row]


def _traced(factor: Callable[..., Value], strains: Sequence[int]) -> tuple[Any, ...]:
    """Nodes of d and of the deformation gradient, functions of x and q."""
    n = len(strains)
    x, q = [symbol('x', i) for i in range(2)], [symbol('q', j) for j in range(n)]
    z, derivatives = ([symbol(kind, i) for i in range(backbone.STRAINS)] for kind in ('z', 'dz'))
    f = factor(*x, z)
    own = [c * f for c in x]
    F = deformation(own, z, derivatives)
    values = strains_of(strains, q, [symbol('x', SHAPES_COLUMN + j) for j in range(n)])
    rates = strains_of(
        strains, q, [symbol('x', SHAPES_COLUMN + n + j) for j in range(n)], rest=0.0
    )
    nodes = {('z', i): graph.as_node(v) for i, v in enumerate(values)}
    nodes |= {('dz', i): graph.as_node(v) for i, v in enumerate(rates)}
    found = traversal.substitute([*own, *F], nodes)
    return found[:2], found[2:]


def _offsets(n: int, motion: int) -> dict[str, int]:
    """Offsets in S of motion, frames of points, forces, frames at nodes, scratch; its length."""
    frames = backbone.COLUMNS + 6 * n
    sizes = {
        'D': (10 + 3 * n) * BLOCK,  # what reduce_block takes is before
        'G': motion * BLOCK,
        'E': frames * BLOCK,
        'F': 2 * n * BLOCK,
        'V': frames * NODES,
        'end': backbone.SCRATCH,
    }
    return dict(zip(sizes, np.cumsum(list(sizes.values())).tolist()))


_IMPORTS = """\
from softrobot_dynamics.bodies.lvp.backbone import backbone, tip_frame
from softrobot_dynamics.bodies.lvp.backbone_points import frames_at, place
from softrobot_dynamics.bodies.lvp.backbone_tables import STRAINS_AT
"""

_TERMS = """

@kernel
def terms(P, q, qd, w, W, S):
    blocks, n, count = int(P[0]), int(P[1]), int(P[2])  # n as a literal would be unrolled: slow
    A = P[3:3 + count]
    strains = A[STRAINS_AT:STRAINS_AT + n]
    T = P[3 + count + {scalars}:]
    P = P[3 + count:3 + count + {scalars}]
    S = S[:{end}]  # written under one name: of several, the compiler would not vectorise the loop
    D, G, E, F = S[{D}:{G}], S[{G}:{E}], S[{E}:{F}], S[{F}:{V}]
    if not backbone(n, A, q, qd, F, S[{V}:{end}]):
        W[:{last}] = np.nan
        return
    tip_frame(n, F, W)
{call}
    W[{first}:{last}] = 0.0
    for block in range(blocks):
        C = T[block * {stride}:(block + 1) * {stride}]
        for k in range({block}):
{point}
        frames_at(n, strains, {block}, F, C[{shapes}:], G)
        place(n, strains, G, D, S)
        reduce_block(n, C[:{block}], qd, w, S, W)
        sum_rows({forces}, E, W[{elastic}:{last}])
"""
