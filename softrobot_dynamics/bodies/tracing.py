# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A body's formulas, asked once and traced; its float fields are symbols in them."""

from collections.abc import Sequence
import dataclasses
import functools
from typing import Any

from softrobot_dynamics.annotations import Value, Values
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.materials.contract import Material
from softrobot_dynamics.tracing import derivative_kernels, graph, programs
from softrobot_dynamics.tracing.graph import Node, Symbol, SYMBOLIC
from softrobot_dynamics.tracing.programs import TracedKernel


def ask(symbolic: Any, body: Any) -> None:
    """
    Ask a body with symbols for its numbers for all its formulas, so that they are known.

    Raises ArgumentError, which names the formula of the class ``body`` that cannot be traced: an
    error that comes later is no fault of theirs.
    """
    for name, asked in _ASKED.items():
        try:
            asked(symbolic)
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            place = f'{name} of {body.type_name}'
            raise ArgumentError(place, body, f'{_FORMULA} ({error})') from error


@functools.cache
def terms(symbolic: Any) -> TracedKernel:
    """Trace what ``programs.body_terms`` needs."""
    position, n = _asked_position(symbolic), len(symbolic.coordinates())
    return programs.body_terms(position, _asked_tip(symbolic), n, _stress(symbolic, position, n))


@functools.cache
def body_derivatives(symbolic: Any) -> TracedKernel | None:
    """Trace what ``derivatives.body_derivatives`` needs; None if that is too long."""
    position, n = _asked_position(symbolic), len(symbolic.coordinates())
    return derivative_kernels.body_derivatives(
        position, _asked_tip(symbolic), n, _stress(symbolic, position, n)
    )


@functools.cache
def fibre_length(symbolic: Any) -> TracedKernel:
    """Trace what ``programs.fibre_length`` needs."""
    n, x = len(symbolic.coordinates()), _symbols('x', 5)
    speed = symbolic.fibre_speed(x[:3], x[3:], _symbols('q', n), SYMBOLIC)
    return programs.fibre_length(graph.as_node(speed), n)


@functools.cache
def point_values(symbolic: Any) -> TracedKernel:
    """Trace what ``programs.point_values`` needs."""
    return programs.point_values(_asked_position(symbolic), len(symbolic.coordinates()))


def replaced_fields(part: Any, constants: dict[Symbol, float]) -> Any:
    """
    Return a dataclass object with symbols for its float fields, also within materials.

    Enters {symbol: value} of them into ``constants``.
    """
    values = {f.name: getattr(part, f.name) for f in dataclasses.fields(part)}
    return dataclasses.replace(
        part, **{name: _replaced(value, constants) for name, value in values.items()}
    )


def _stress(symbolic: Any, position: Sequence[Node], n: int) -> Sequence[Node]:
    """Nodes of the forces that the strain energy makes, none without one."""
    if _asked_energy(symbolic) is None:
        return ()

    def energy(F: Sequence[Values]) -> Value:
        return symbolic.energy(F, SYMBOLIC)

    return programs.stress_forces(position, energy, symbolic.viscosity(), symbolic.density, n)


@functools.cache
def _asked_position(symbolic: Any) -> list[Node]:
    """Nodes (3) of the formula of p."""
    q = _symbols('q', len(symbolic.coordinates()))
    return _nodes(symbolic.position(_symbols('x', 3), q, SYMBOLIC), 3)


@functools.cache
def _asked_tip(symbolic: Any) -> tuple[list[Node], list[Node]]:
    """Nodes (9 and 3) of the tip frame."""
    q = _symbols('q', len(symbolic.coordinates()))
    rotation, origin = symbolic.tip_frame(q, SYMBOLIC)
    return _nodes(rotation, 9), _nodes(origin, 3)


@functools.cache
def _asked_energy(symbolic: Any) -> Node | None:
    """Node of the strain energy; None if there is none."""
    energy = symbolic.energy([_symbols('F', 9)[3 * i :][:3] for i in range(3)], SYMBOLIC)
    return energy if energy is None else graph.as_node(energy)


_ASKED = {'position': _asked_position, 'tip_frame': _asked_tip, 'energy': _asked_energy}
_FORMULA = 'a formula of + - * / ** and functions of math, without branches'


def _nodes(values: Values, count: int) -> list[Node]:
    nodes = [graph.as_node(value) for value in values]
    if len(nodes) != count:
        raise ValueError(f'it has {len(nodes)} values, not {count}')
    return nodes


def _symbols(kind: str, count: int) -> list[Node]:
    return [graph.symbol(kind, i) for i in range(count)]


def _replaced(value: Any, constants: dict[Symbol, float]) -> Any:
    if isinstance(value, float):
        return _constant(value, constants)
    if isinstance(value, tuple) and all(isinstance(v, float) for v in value):
        return tuple(_constant(v, constants) for v in value)
    return replaced_fields(value, constants) if isinstance(value, Material) else value


def _constant(value: Any, constants: dict[Symbol, float]) -> Any:
    key = ('p', len(constants))
    constants[key] = value
    return graph.symbol(*key)
