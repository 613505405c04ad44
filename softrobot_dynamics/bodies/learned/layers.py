# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The kernels of a body whose position is a multilayer perceptron, p = x + s(x) (N(x, q) - N(x, 0)).

Only what differs between networks in kind is emitted: the activation with its derivatives and the
stress of a material, both traced. Layers are loops
(:mod:`softrobot_dynamics.bodies.learned.perceptron`) over weights that are plain numbers: a
network of any size and any n needs no compilation of its own.

A network is a row of numbers: layers, most units of one, units of each; weights of q in the first
layer (units, n); W and b of each further one. A table holds, per block of points, their weights,
then the rows that :func:`~softrobot_dynamics.bodies.learned.perceptron.positions` and
:func:`~softrobot_dynamics.bodies.learned.perceptron.first_layer` read.
"""

from collections.abc import Sequence
import textwrap
from typing import Any

from softrobot_dynamics.tracing.emit import BLOCK, Emitter, TracedTables
from softrobot_dynamics.tracing.graph import Node
from softrobot_dynamics.tracing.programs import HEADER, TracedKernel
from softrobot_dynamics.tracing.stress import EnergyDensity, stress_function


def layers_scratch(n: int, directions: int, units: int) -> int:
    """Scratch of both kernels for layers of at most ``units`` [numbers]."""
    rows = (n + 2) * (1 + directions)  # of a bundle of each unit
    return (3 * n + 10 + 28 + 3 * rows + 6 + n + 2 * units * rows) * BLOCK + 9 * n


def layers_terms(activation: Sequence[Node], energy: EnergyDensity | None = None) -> TracedKernel:
    """
    Kernel ``terms`` of a body as of ``programs.body_terms``.

    ``activation``: nodes of a function of the symbol ('q', 0) and of its first three derivatives;
    ``energy``: a strain energy psi of three rows of three nodes, or None. P: n, blocks, number of
    network numbers; these; the K and D matrices (n, n), density, viscosity, offline numbers of the
    energy; the table, of points the first three of which carry the tip frame. With an energy the
    directions in the table are the three axes, else there are none.
    """
    if energy is None:
        source, tables, stress = '', TracedTables((), ()), ''
    else:
        source, tables = stress_function(energy)
        stress = _ADD_STRESS.format(block=BLOCK, scalars=len(tables.scalars))
    terms = _TERMS.format(
        block=BLOCK, bundles=1 if energy is None else 4, scalars=len(tables.scalars), stress=stress
    )
    return TracedKernel(HEADER + propagation(activation) + source + terms, tables, 0)


def layers_length(activation: Sequence[Node]) -> TracedKernel:
    """
    Kernel ``length`` of a curve as of ``programs.fibre_length``, for an ``activation`` as above.

    P: n, blocks, number of network numbers; these; the table, with one direction: the curve's.
    """
    return _without_tables(activation, _LENGTH)


def layers_values(activation: Sequence[Node]) -> TracedKernel:
    """
    Kernel ``values`` of points as of ``programs.point_values``, for an ``activation`` as above.

    P as for :func:`layers_length`, with two directions: x1 and x2.
    """
    return _without_tables(activation, _VALUES)


def _without_tables(activation: Sequence[Node], template: str) -> TracedKernel:
    source = HEADER + propagation(activation) + template.format(block=BLOCK)
    return TracedKernel(source, TracedTables((), ()), 0)


def propagation(activation: Sequence[Node], activate: str = 'activate') -> Any:
    """
    Source of ``propagate(n, rows, N, q, qd, table, S)``: a block of points through all layers.

    ``activate``: function of ``perceptron`` or ``perceptron_derivatives`` for bundles of these
    rows.
    """
    code = Emitter(activation)
    lines = code.call + [
        f'D[{i * BLOCK} + k] = {code.name(node)}' for i, node in enumerate(activation)
    ]
    text = '\n'.join(lines)
    for name in ('sin', 'cos', 'tanh'):  # a call of the library would keep the loop from SIMD
        text = text.replace(f'math.{name}(', f'vector_{name}(')
    return _PROPAGATE.format(
        block=BLOCK, derivatives=textwrap.indent(text, ' ' * 8), activate=activate
    )


_PROPAGATE = """\
from softrobot_dynamics.kernels.layout import bias_offset, body_size, inertia_offset
from softrobot_dynamics.kernels.weak_form import add_forces, viscous_stress
from softrobot_dynamics.bodies.learned.perceptron import (
    activate, first_layer, gradient_rate, linear_layer, positions, derivatives_by_place, stretch,
    tip_frame)
from softrobot_dynamics.kernels.functions import vector_tanh


@kernel
def activate_unit(n, directions, qd, D, row):
    for k in range({block}):
        q = (row[k],)
{derivatives}
    {activate}(n, directions, qd, D, row)


@kernel
def propagate(n, rows, N, q, qd, table, S):
    # returns where in S the three units of results begin
    layers, most, units = int(N[0]), int(N[1]), int(N[2])
    base, each, directions = rows
    width = (base + directions * each) * {block}
    here = (6 + n) * {block}
    D, there = S[:here], here + most * width
    first = 2 + layers
    first_layer(n, rows, units, N[first:first + units * n], q, table, S[here:there])
    first += units * n
    for layer in range(1, layers):
        outputs = int(N[2 + layer])
        A, Z = S[here:here + most * width], S[there:there + most * width]
        for unit in range(units):
            activate_unit(n, directions, qd, D, A[unit * width:(unit + 1) * width])
        weights = N[first:first + outputs * units]
        first += outputs * units
        linear_layer(units, outputs, width, weights, N[first:first + outputs], A, Z)
        first += outputs
        here, there, units = there, here, outputs
    return here
"""

_TERMS = """

@kernel
def terms(P, q, qd, w, W, S):
    n, blocks, count = int(P[0]), int(P[1]), int(P[2])
    N, P = P[3:3 + count], P[3 + count:]
    damped_spring(n, P[:2 * n * n], q, qd, W)
    density, viscosity = P[2 * n * n], P[2 * n * n + 1]
    numbers, T = P[2 * n * n + 2:2 * n * n + 2 + {scalars}], P[2 * n * n + 2 + {scalars}:]
    W[inertia_offset(n):bias_offset(n) + n] = 0.0
    elastic = W[bias_offset(n) + n:bias_offset(n) + 2 * n]
    damping = W[bias_offset(n) + 2 * n:body_size(n)]
    rows = (n + 2, n + 2, {bundles} - 1)
    width = {bundles} * (n + 2) * {block}
    size = (1 + {bundles} * (4 + int(N[2]))) * {block}
    room, S = S[:9 * n], S[9 * n:]
    own, X = S[:(3 * n + 10) * {block}], S[(3 * n + 10) * {block}:]
    Y, V = X[:28 * {block}], X[28 * {block}:]
    X, V = V[:({bundles} - 1) * 3 * (n + 2) * {block}], V[({bundles} - 1) * 3 * (n + 2) * {block}:]
    for block in range(blocks):
        C = T[block * size:(block + 1) * size]
        mass, C = C[:{block}], C[{block}:]
        start = propagate(n, rows, N, q, qd, C[{bundles} * 4 * {block}:], V)
        out = V[start:start + 3 * width]
        positions(n + 2, C, width, out, own)
        if block == 0:
            tip_frame(n, qd, own, room, W)
        reduce_block(n, mass, qd, w, own, W)
{stress}"""

_ADD_STRESS = """\
        derivatives_by_place(rows, C, width, out, X)
        gradient_rate(n, qd, X, mass, density, Y)
        volume = Y[27 * {block}:]
        stress(numbers, volume, Y[:9 * {block}], Y[18 * {block}:27 * {block}])
        viscous_stress(viscosity, volume, Y)
        add_forces(n, X[9 * {block}:9 * (n + 1) * {block}], Y, elastic, damping)
"""

_LENGTH = """

@kernel
def length(P, q, qd, out, S):
    n, blocks, count = int(P[0]), int(P[1]), int(P[2])
    N, T = P[3:3 + count], P[3 + count:]
    rows = (n + 2, n + 2, 1)
    width = 2 * (n + 2) * {block}
    size = (1 + 2 * (4 + int(N[2]))) * {block}
    X, V = S[:3 * (n + 2) * {block}], S[3 * (n + 2) * {block}:]
    out[:n + 2] = 0.0
    for block in range(blocks):
        C = T[block * size:(block + 1) * size]
        weight, C = C[:{block}], C[{block}:]
        start = propagate(n, rows, N, q, qd, C[8 * {block}:], V)
        moved = V[start:start + 3 * width]
        derivatives_by_place(rows, C, width, moved, X)
        stretch(n, weight, qd, X, out)
"""

_VALUES = """

@kernel
def values(P, q, V, S):
    n, blocks, count = int(P[0]), int(P[1]), int(P[2])
    N, T = P[3:3 + count], P[3 + count:]
    rows = (n + 2, n + 2, 2)
    width, many = 3 * (n + 2) * {block}, 9 * (n + 1) * {block}
    size = (1 + 3 * (4 + int(N[2]))) * {block}
    still, S = S[:n], S[n:]
    D, X, S = S[:width], S[width:3 * width], S[3 * width:]
    still[:] = 0.0
    for block in range(blocks):
        C = T[block * size + {block}:(block + 1) * size]
        U = V[block * many:(block + 1) * many]
        start = propagate(n, rows, N, q, still, C[12 * {block}:], S)
        out = S[start:start + 3 * width]
        positions(n + 2, C, width, out, D)
        derivatives_by_place(rows, C, width, out, X)
        for r in range(3 * (n + 1)):
            c, i = r // 3, r % 3
            for k in range({block}):
                U[(9 * c + i) * {block} + k] = D[r * {block} + k]
                U[(9 * c + 3 + i) * {block} + k] = X[2 * r * {block} + k]
                U[(9 * c + 6 + i) * {block} + k] = X[(2 * r + 1) * {block} + k]
"""
