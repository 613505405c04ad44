# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The kernel of derivatives of a body whose position is a multilayer perceptron, in closed form.

See :mod:`softrobot_dynamics.kernels.layout` for what derivatives are. The network is propagated as
in
:mod:`softrobot_dynamics.bodies.learned.layers`, with more derivatives; the sums over points are
those of all bodies, :mod:`softrobot_dynamics.kernels.derivative_sums` and
:mod:`softrobot_dynamics.kernels.weak_form_derivatives`.
"""

from collections.abc import Sequence

from softrobot_dynamics.bodies.learned.layers import propagation
from softrobot_dynamics.bodies.learned.perceptron_derivatives import (
    bundle_rows,
    tip_workspace_size,
)
from softrobot_dynamics.kernels.derivative_sums import derivative_rows
from softrobot_dynamics.kernels.weak_form_derivatives import stress_rows
from softrobot_dynamics.tracing.emit import BLOCK, TracedTables
from softrobot_dynamics.tracing.graph import Node
from softrobot_dynamics.tracing.programs import HEADER, TracedKernel
from softrobot_dynamics.tracing.stress import EnergyDensity, moduli_function


def derivatives_scratch(n: int, directions: int, units: int) -> int:
    """Scratch of the kernel for layers of at most ``units`` [numbers]."""
    base, each, _ = bundle_rows.py_func(n, directions)
    rows = derivative_rows(n) + 6 + 3 * base + 6 + n + 2 * units * (base + directions * each)
    if directions:
        rows += 9 * (each + n) + 1 + stress_rows.py_func(n)
    return 9 + int(tip_workspace_size.py_func(n)) + rows * BLOCK


def layers_derivatives(
    activation: Sequence[Node], energy: EnergyDensity | None = None
) -> TracedKernel:
    """
    Kernel ``derivatives`` of a body as of ``tracing.derivatives.body_derivatives``.

    Arguments and P as of :func:`~softrobot_dynamics.bodies.learned.layers.layers_terms`.
    """
    if energy is None:
        source, tables, room, stress = '', TracedTables((), ()), '', ''
    else:
        source, tables = moduli_function(energy)
        room, stress = _SPLIT_SCRATCH.format(block=BLOCK), _ADD_STRESS.format(block=BLOCK)
    derivatives = _DERIVATIVES.format(
        block=BLOCK,
        directions=0 if energy is None else 3,
        scalars=len(tables.scalars),
        room=room,
        stress=stress,
    )
    layers = propagation(activation, 'activate_derivatives')
    return TracedKernel(HEADER + layers + _IMPORTS + source + derivatives, tables, 0)


_IMPORTS = """\
from softrobot_dynamics.kernels.layout import own_derivatives_offset
from softrobot_dynamics.kernels.derivative_sums import initialise_derivatives, derivative_block
from softrobot_dynamics.kernels.weak_form_derivatives import (
    add_stress_derivatives, add_viscous_stress, CHANGES, MODULI, stress_rows, STRESS)
from softrobot_dynamics.bodies.learned.perceptron_derivatives import (
    activate_derivatives, add_bending, bundle_rows, move_gradient, move_points, tip_workspace_size,
    tip_derivatives)
"""

_DERIVATIVES = """

@kernel
def derivatives(P, q, qd, qdd, motion, D, S):
    n, blocks, count = int(P[0]), int(P[1]), int(P[2])
    N, P = P[3:3 + count], P[3 + count:]
    initialise_derivatives(n, P[:2 * n * n], D)
    density, viscosity = P[2 * n * n], P[2 * n * n + 1]
    numbers, T = P[2 * n * n + 2:2 * n * n + 2 + {scalars}], P[2 * n * n + 2 + {scalars}:]
    rows = bundle_rows(n, {directions})
    base, each, directions = rows
    width = (base + directions * each) * {block}
    size = (1 + (1 + directions) * (4 + int(N[2]))) * {block}
    zero, room, S = S[:9], S[9:9 + tip_workspace_size(n)], S[9 + tip_workspace_size(n):]
    used = (15 + 9 * n + 3 * (each - 1 - n)) * {block}
    own, X, S = S[:used], S[used:used + 3 * base * {block}], S[used + 3 * base * {block}:]
{room}    for block in range(blocks):
        C = T[block * size:(block + 1) * size]
        mass, C = C[:{block}], C[{block}:]
        start = propagate(n, rows, N, q, qd, C[(1 + directions) * 4 * {block}:], S)
        out = S[start:start + 3 * width]
        positions(base, C, width, out, X)
        move_points(n, qd, qdd, X, own)
        if block == 0:
            tip_derivatives(n, qd, own, room, D)
        derivative_block(n, mass, motion, zero, own, D)
{stress}"""

_SPLIT_SCRATCH = """\
    G, S = S[:9 * each * {block}], S[9 * each * {block}:]
    moved, S = S[:9 * n * {block}], S[9 * n * {block}:]
    volume, S = S[:{block}], S[{block}:]
    Y, S = S[:stress_rows(n) * {block}], S[stress_rows(n) * {block}:]
"""

_ADD_STRESS = """\
        derivatives_by_place(rows, C, width, out, G)
        move_gradient(n, qd, G, moved, Y)
        for k in range({block}):
            volume[k] = mass[k] / density
        moduli(numbers, volume, Y[:9 * {block}], Y[STRESS * {block}:])
        for k in range(n):
            change = Y[(CHANGES + 9 * k) * {block}:(CHANGES + 9 * k + 9) * {block}]
            rate = G[9 * (1 + k) * {block}:9 * (2 + k) * {block}]
            apply_moduli(Y[MODULI * {block}:], rate, change)
        first, bent = G[9 * {block}:9 * (1 + n) * {block}], G[9 * (1 + n) * {block}:]
        add_stress_derivatives(n, viscosity, volume, first, moved, Y, D)
        if viscosity > 0.0:
            add_viscous_stress(Y)
        turned = D[own_derivatives_offset(n):own_derivatives_offset(n) + n * n]
        add_bending(n, bent, Y[STRESS * {block}:MODULI * {block}], turned)
"""
