# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Compile a strain energy psi(F) to functions over blocks of deformation gradients."""

from collections.abc import Callable, Sequence
import textwrap
from typing import TypeAlias

from softrobot_dynamics.annotations import Value, Values
from softrobot_dynamics.tracing import graph
from softrobot_dynamics.tracing.differentiate import tangent
from softrobot_dynamics.tracing.emit import BLOCK, Emitter, TracedTables
from softrobot_dynamics.tracing.graph import is_constant, Node

EnergyDensity: TypeAlias = Callable[[Sequence[Values]], Value]
"""Strain energy [J/m^3] of F = dp/dx, three rows of three."""


def stress_function(energy: EnergyDensity) -> tuple[str, TracedTables]:
    """
    Return the source of ``stress(P, weight, F, out)`` and its Tables, for an energy psi(F).

    ``energy`` takes three rows of three nodes. ``F`` and ``out`` are nine rows of a block, F and
    weight dW/dF, row-major; ``P`` holds the offline numbers of the Tables.
    """
    return _weighted('stress', _stress(energy))


def moduli_function(energy: EnergyDensity) -> tuple[str, TracedTables]:
    """
    Return the source of ``moduli(P, weight, F, out)`` and its Tables, for an energy psi(F).

    As :func:`stress_function`, but ``out`` are the nine of weight dW/dF and then the 45 rows of
    weight d2W/dF_a dF_b for a <= b, a by a. Beside it ``apply_moduli(M, G, out)``, which
    multiplies these moduli M by nine rows G.
    """
    stress = _stress(energy)
    derivatives = [tangent(stress[: b + 1], {('q', b): 1.0}) for b in range(9)]
    rows = [(a, b) for a in range(9) for b in range(a, 9)]
    moduli = [derivatives[b][a] for a, b in rows]
    source, tables = _weighted('moduli', stress + moduli)
    return source + _product(rows, moduli), tables


def _product(rows: Sequence[tuple[int, int]], moduli: Sequence[Node]) -> str:
    """Return the source of ``apply_moduli``, without products of moduli that are zero."""
    terms: list[list[str]] = [[] for _ in range(9)]
    for i, ((a, b), node) in enumerate(zip(rows, moduli)):
        if not is_constant(node, 0.0):
            terms[a].append(f'M[{i * BLOCK} + k] * G[{b * BLOCK} + k]')
            if a != b:
                terms[b].append(f'M[{i * BLOCK} + k] * G[{a * BLOCK} + k]')
    lines = [
        f'out[{a * BLOCK} + k] = ' + (' + '.join(each) or '0.0') for a, each in enumerate(terms)
    ]
    return _PRODUCT.format(block=BLOCK, point=textwrap.indent('\n'.join(lines), ' ' * 8))


def _stress(energy: EnergyDensity) -> list[Node]:
    """Nodes (9) of dW/dF, the entries of F playing the part of coordinates."""
    F = graph.symbols('q', 9)
    density = graph.as_node(energy([F[:3], F[3:6], F[6:]]))
    return [tangent([density], {('q', i): 1.0})[0] for i in range(9)]


def _weighted(name: str, results: Sequence[Node]) -> tuple[str, TracedTables]:
    """Return the source of a function of F that fills rows with results times a weight."""
    code = Emitter(results)
    scalars = len(code.tables.scalars)
    rows = [f'out[{i * BLOCK} + k] = weight[k] * ({code.name(s)})' for i, s in enumerate(results)]
    source = _FUNCTION.format(
        name=name,
        block=BLOCK,
        numbers=textwrap.indent('\n'.join(code.call[:scalars]), ' ' * 4),
        F=', '.join(f'F[{i * BLOCK} + k]' for i in range(9)),
        point=textwrap.indent('\n'.join(code.call[scalars:] + rows), ' ' * 8),
    )
    return source, code.tables


_FUNCTION = """

@kernel
def {name}(P, weight, F, out):
{numbers}
    for k in range({block}):
        q = ({F})
{point}
"""

_PRODUCT = """

@kernel
def apply_moduli(M, G, out):
    for k in range({block}):
{point}
"""
