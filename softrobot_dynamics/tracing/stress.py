# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""From a strain energy psi(F) to a compiled stress over blocks of deformation gradients."""

from collections.abc import Callable, Sequence
import textwrap

from softrobot_dynamics.annotations import Value, Values
from softrobot_dynamics.tracing import graph
from softrobot_dynamics.tracing.differentiate import tangent
from softrobot_dynamics.tracing.emit import BLOCK, Emitter, Tables


def stress_function(energy: Callable[[Sequence[Values]], Value]) -> tuple[str, Tables]:
    """
    Return the source of ``stress(P, weight, F, out)`` and its Tables, for an energy psi(F).

    ``energy`` takes three rows of three nodes. ``F`` and ``out`` are nine rows of a block, F and
    weight dW/dF, row-major; ``P`` holds the offline numbers of the Tables.
    """
    F = [graph.symbol('q', i) for i in range(9)]  # its entries play the part of coordinates
    density = graph.as_node(energy([F[:3], F[3:6], F[6:]]))
    stress = [tangent([density], {('q', i): 1.0})[0] for i in range(9)]
    code = Emitter(stress)
    scalars = len(code.tables.scalars)
    results = [
        f'out[{i * BLOCK} + k] = weight[k] * ({code.name(s)})' for i, s in enumerate(stress)
    ]
    source = _STRESS.format(
        block=BLOCK,
        numbers=textwrap.indent('\n'.join(code.call[:scalars]), ' ' * 4),
        F=', '.join(f'F[{i * BLOCK} + k]' for i in range(9)),
        point=textwrap.indent('\n'.join(code.call[scalars:] + results), ' ' * 8),
    )
    return source, code.tables


_STRESS = """

@kernel
def stress(P, weight, F, out):
{numbers}
    for k in range({block}):
        q = ({F})
{point}
"""
