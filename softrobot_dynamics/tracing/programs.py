# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The kernels a traced body needs: its terms over a cloud of points, and lengths along fibres.

Each function takes formulas that have been traced (graph nodes) and returns a
:class:`TracedKernel`: source text plus the tables it reads. Nothing here knows a robot.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from softrobot_dynamics.annotations import Value, Values
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.tracing import graph, traversal
from softrobot_dynamics.tracing.differentiate import kinematic_derivatives, tangent
from softrobot_dynamics.tracing.emit import BLOCK, Emitter, indented, TracedTables
from softrobot_dynamics.tracing.graph import constant, Node, Symbol

HEADER = '''\
"""Emitted by softrobot_dynamics; do not edit: it is written anew whenever a source changes."""

import math

import numpy as np

from softrobot_dynamics.kernels.functions import (
    cubic, stumpff, stumpff_family, vector_cos, vector_sin)
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.reductions import damped_spring, reduce_block, sum_rows
'''


class TracedKernel(NamedTuple):
    """A kernel's source, the tables that go with it and the scratch it needs [numbers]."""

    source: str
    tables: TracedTables
    scratch: int


def body_terms(
    position: Sequence[Node],
    tip: tuple[Sequence[Node], Sequence[Node]],
    n: int,
    forces: Sequence[Node] = (),
) -> TracedKernel:
    """
    Kernel ``terms(P, q, qd, w, W, S)`` of a body given by its kinematics.

    ``position``: three nodes p = f(x, q) [m]; ``tip``: (nine nodes of the tip's rotation,
    row-major, three nodes of its origin [m]); ``n`` coordinates; ``forces``: none, or the 2 n
    nodes of :func:`stress_forces`, to be added to those of constant matrices. The kernel fills
    the body's slab W (see :mod:`softrobot_dynamics.kernels.layout`) given the angular velocity w
    of the joint frame in itself [rad/s]; S is scratch. P holds the number of blocks, the K and D
    matrices (n, n), the offline numbers, the tables.
    """
    jacobian, bias = kinematic_derivatives(position, n)
    cloud = [*position, *(node for column in jacobian for node in column), *bias]
    frame = frame_nodes(*tip, n)
    code = Emitter([*cloud, *frame, *forces])
    rows = labelled(
        [f'S[{i * BLOCK} + k] = {code.name(node)}' for i, node in enumerate(cloud)],
        {0: 'p', **{3 + 3 * j: f'J, coordinate {j}' for j in range(n)}, 3 + 3 * n: 'bias'},
    )
    used = (len(cloud) + 4) * BLOCK
    rows += [
        f'S[{used + i * BLOCK} + k] = C[k] * ({code.name(node)})' for i, node in enumerate(forces)
    ]
    slab = layout.slab(n)
    slots = frame_slots(code, frame, n)
    source = _BODY.format(
        n=n,
        matrices=2 * n * n + 1,
        scratch=used + len(forces) * BLOCK,
        stress=_ADD_STRESS.format(used=used, count=2 * n, elastic=slab.elastic, last=slab.size)
        if forces
        else '',
        first=slab.inertia,
        last=slab.size,
        **loop(code, rows, slots),
    )
    return TracedKernel(HEADER + source, code.tables, used + len(forces) * BLOCK)


def stress_forces(
    position: Sequence[Node],
    energy: Callable[[Sequence[Values]], Value],
    viscosity: Value | None,
    density: Value,
    n: int,
) -> list[Node]:
    """
    Elastic, then viscous generalized force per kg of a material point: 2 n nodes.

    Those of :func:`strain_forces` for F = dp/dx.
    """
    by_x = [tangent(position, {('x', j): 1.0}) for j in range(3)]
    F = [by_x[j][i] for i in range(3) for j in range(3)]
    return strain_forces(F, energy, viscosity, density, n)


def strain_forces(
    F: Sequence[Node],
    energy: Callable[[Sequence[Values]], Value],
    viscosity: Value | None,
    density: Value,
    n: int,
) -> list[Node]:
    """
    Elastic, then viscous generalized force per kg where the deformation gradient is F: 2 n nodes.

    P : dF/dq_j with P = dW/dF, and with the viscous stress v F dC/dt, C = F^T F, whose work is
    v/2 tr(dC/dt dC/dq_j). ``F`` are nine nodes, row-major; ``energy`` is W, a function of three
    rows of three; ``viscosity`` v [Pa s] or None.
    """
    slots = graph.symbols('F', 9)
    density_of = energy([slots[:3], slots[3:6], slots[6:]])
    stress = [tangent([density_of], {('F', i): 1.0})[0] / density for i in range(9)]
    stress = traversal.substitute(stress, {('F', i): node for i, node in enumerate(F)})
    moved = [tangent(F, {('q', j): 1.0}) for j in range(n)]
    elastic = [dot(stress, each) for each in moved]
    if viscosity is None:
        return elastic + [constant(0.0)] * n
    viscous = _viscous_stress(F, n, graph.as_node(viscosity) / density)
    return elastic + [dot(viscous, each) for each in moved]


def _viscous_stress(F: Sequence[Node], n: int, viscosity: Node) -> list[Node]:
    """Nine nodes of v F dC/dt."""
    rate = tangent(F, {('q', j): graph.symbol('qd', j) for j in range(n)})

    def product(a: Sequence[Node], b: Sequence[Node], i: int, j: int) -> Node:
        return dot(a[i::3], b[j::3])

    C = [product(F, rate, i, j) + product(rate, F, i, j) for i in range(3) for j in range(3)]
    return [viscosity * dot(F[3 * i : 3 * i + 3], C[j::3]) for i in range(3) for j in range(3)]


def fibre_length(speed: Node, n: int) -> TracedKernel:
    """
    Kernel ``length(P, q, qd, out, S)``: length of a curve through a body and its derivatives.

    ``speed`` is the node of ds/d(parameter) [m] along the curve. ``out`` receives the length [m],
    its gradient by q (n,) and its bias (d/dt gradient) qd. P as in :func:`body_terms`, without
    the matrices.
    """
    jacobian, bias = kinematic_derivatives([speed], n)
    outputs = [speed, *(column[0] for column in jacobian), bias[0]]
    code = Emitter(outputs)
    rows = labelled(
        [f'S[{i * BLOCK} + k] = C[k] * ({code.name(node)})' for i, node in enumerate(outputs)],
        {0: 'length', 1: 'gradient', 1 + n: 'bias'},
    )
    source = _FIBRE.format(outputs=len(outputs), **loop(code, rows))
    return TracedKernel(HEADER + source, code.tables, len(outputs) * BLOCK)


def point_values(position: Sequence[Node], n: int) -> TracedKernel:
    """
    Kernel ``values(P, q, V, S)``: where material points are, and how that varies.

    ``V`` receives 9 (n + 1) rows for each block of points: the position p [m], dp/dx1 and dp/dx2,
    and then the derivatives of these nine by each coordinate. P as in :func:`fibre_length`.
    """
    values = list(position)
    values += [node for i in range(2) for node in tangent(values[:3], {('x', i): 1.0})]
    derivatives = [tangent(values, {('q', j): 1.0}) for j in range(n)]
    outputs = values + [node for derivative in derivatives for node in derivative]
    code = Emitter(outputs)
    rows = labelled(
        [f'U[{i * BLOCK} + k] = {code.name(node)}' for i, node in enumerate(outputs)],
        {0: 'p and its derivatives', **{9 + 9 * j: f'by coordinate {j}' for j in range(n)}},
    )
    source = _VALUES.format(outputs=len(outputs), **loop(code, rows))
    return TracedKernel(HEADER + source, code.tables, 0)


def loop(code: Emitter, rows: list[str], slots: Iterable[str] = ()) -> dict[str, Any]:
    """Fields of a template: what an Emitter computes, ``rows`` per point, ``slots`` per call."""
    return {
        'block': BLOCK,
        'scalars': len(code.tables.scalars),
        'row_count': len(code.tables.rows) + 1,
        'call': indented([*code.call, *slots], 4),
        'point': indented(code.point + rows, 12),
    }


def frame_nodes(rotation: Sequence[Node], origin: Sequence[Node], n: int) -> list[Node]:
    """Nodes of a frame's slab: R, t, biases and Jacobians of a traced motion, in slab order."""
    along = {('q', j): graph.symbol('qd', j) for j in range(n)}
    columns = [rotation[i::3] for i in range(3)]
    spins = [_spin(columns, {('q', j): 1.0}) for j in range(n)]
    linear, linear_bias = kinematic_derivatives(origin, n)
    angular_bias = tangent(_spin(columns, along), along)
    nodes = [*rotation, *origin, *angular_bias, *linear_bias]
    nodes += [node for spin in spins for node in spin]
    return nodes + [node for column in linear for node in column]


def frame_slots(code: Emitter, nodes: Sequence[Node], n: int) -> list[str]:
    """Statements that fill the slab W with the nodes of :func:`frame_nodes`, part by part."""
    angular, linear = layout.JACOBIAN, layout.JACOBIAN + 3 * n
    parts = {
        layout.ROTATION: 'rotation',
        layout.ORIGIN: 'origin',
        layout.ANGULAR_BIAS: 'angular bias',
        layout.LINEAR_BIAS: 'linear bias',
        **{angular + 3 * j: f'angular Jacobian, coordinate {j}' for j in range(n)},
        **{linear + 3 * j: f'linear Jacobian, coordinate {j}' for j in range(n)},
    }
    return labelled([f'W[{i}] = {code.name(node)}' for i, node in enumerate(nodes)], parts)


def labelled(lines: Sequence[str], parts: Mapping[int, str]) -> list[str]:
    """Return lines with a comment before each that begins a part: {index: its name}."""
    return [
        text
        for i, line in enumerate(lines)
        for text in ((f'# {parts[i]}', line) if i in parts else (line,))
    ]


def _spin(columns: Sequence[Sequence[Node]], seeds: Mapping[Symbol, Node | float]) -> list[Node]:
    """Angular velocity in the moving frame, vee(R^T dR), of a rotation along a direction."""
    moving = [tangent(column, seeds) for column in columns]
    return [dot(columns[2], moving[1]), dot(columns[0], moving[2]), dot(columns[1], moving[0])]


def dot(a: Sequence[Node], b: Sequence[Node]) -> Node:
    """Sum of the products of two sequences."""
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:]):
        total = total + x * y
    return total


_BODY = """

@kernel
def terms(P, q, qd, w, W, S):
    blocks = int(P[0])
    K = P[1:{matrices}]
    T = P[{matrices} + {scalars}:]
    P = P[{matrices}:{matrices} + {scalars}]
{call}
    W[{first}:{last}] = 0.0
    damped_spring({n}, K, q, qd, W)
    S = S[:{scratch}]
    for block in range(blocks):
        C = T[block * {row_count} * {block}:(block + 1) * {row_count} * {block}]
        for k in range({block}):
{point}
        reduce_block({n}, C[:{block}], qd, w, S, W)
{stress}"""

_ADD_STRESS = """\
        sum_rows({count}, S[{used}:], W[{elastic}:{last}])
"""

_FIBRE = """

@kernel
def length(P, q, qd, out, S):
    blocks = int(P[0])
    T = P[1 + {scalars}:]
    P = P[1:1 + {scalars}]
{call}
    out[:{outputs}] = 0.0
    S = S[:{outputs} * {block}]
    for block in range(blocks):
        C = T[block * {row_count} * {block}:(block + 1) * {row_count} * {block}]
        for k in range({block}):
{point}
        sum_rows({outputs}, S, out)
"""

_VALUES = """

@kernel
def values(P, q, V, S):
    blocks = int(P[0])
    T = P[1 + {scalars}:]
    P = P[1:1 + {scalars}]
{call}
    for block in range(blocks):
        C = T[block * {row_count} * {block}:(block + 1) * {row_count} * {block}]
        U = V[block * {outputs} * {block}:(block + 1) * {outputs} * {block}]
        for k in range({block}):
{point}
"""
