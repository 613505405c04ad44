# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Trace the formulas of a body once, with symbols for its float fields."""

from collections.abc import Hashable, Sequence
import dataclasses
import functools
from typing import Any, cast, Protocol, TypeVar

from softrobot_dynamics.annotations import FrameFormula, Math, Value, Values
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.materials.contract import Material
from softrobot_dynamics.tracing import derivative_kernels, graph, programs
from softrobot_dynamics.tracing.graph import Node, Symbol, SYMBOLIC, symbols
from softrobot_dynamics.tracing.programs import TracedKernel

T = TypeVar('T')


class BodyFormulas(Hashable, Protocol):
    """The formulas of a body that are traced, as :class:`.Body` describes them."""

    type_name: str

    @property
    def density(self) -> Value:
        """Mass per volume [kg/m^3]; asked for only with a strain energy."""

    def coordinates(self) -> tuple[str, ...]:
        """Names of the generalized coordinates."""

    def position(self, x: Values, q: Values, math: Math) -> Values:
        """Position (3) [m] of a material point x (3) [m]."""

    def tip_frame(self, q: Values, math: Math) -> FrameFormula:
        """Tip frame."""

    def energy(self, F: Sequence[Values], math: Math) -> Value | None:
        """Strain energy [J/m^3] of F = dp/dx; None for none."""

    def viscosity(self) -> Value | None:
        """Viscosity [Pa s]; None for none."""

    def fibre_speed(self, x: Values, derivative: Values, q: Values, math: Math) -> Value:
        """Length of a material curve per unit of x3."""


def require_traceable(symbolic: BodyFormulas, body: type[BodyFormulas]) -> None:
    """
    Trace all formulas of a body that has symbols for its numbers.

    Raises ArgumentError, which names the formula of the class ``body`` that cannot be traced. An
    error in a later step is then not one of the formulas.
    """
    for name, formula in _FORMULAS.items():
        try:
            formula(symbolic)
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            place = f'{name} of {body.type_name}'
            raise ArgumentError(place, body, f'{_EXPECTED_FORMULA} ({error})') from error


@functools.cache
def terms(symbolic: BodyFormulas) -> TracedKernel:
    """Trace the formulas that ``programs.body_terms`` needs."""
    position, n = _traced_position(symbolic), len(symbolic.coordinates())
    return programs.body_terms(position, _traced_tip(symbolic), n, _stress(symbolic, position, n))


@functools.cache
def body_derivatives(symbolic: BodyFormulas) -> TracedKernel | None:
    """Trace the formulas that ``derivative_kernels.body_derivatives`` needs; None if too long."""
    position, n = _traced_position(symbolic), len(symbolic.coordinates())
    return derivative_kernels.body_derivatives(
        position, _traced_tip(symbolic), n, _stress(symbolic, position, n)
    )


@functools.cache
def fibre_length(symbolic: BodyFormulas) -> TracedKernel:
    """Trace the formulas that ``programs.fibre_length`` needs."""
    n, x = len(symbolic.coordinates()), symbols('x', 5)
    speed = symbolic.fibre_speed(x[:3], x[3:], symbols('q', n), SYMBOLIC)
    return programs.fibre_length(graph.as_node(speed), n)


@functools.cache
def point_values(symbolic: BodyFormulas) -> TracedKernel:
    """Trace the formulas that ``programs.point_values`` needs."""
    return programs.point_values(_traced_position(symbolic), len(symbolic.coordinates()))


def replaced_fields(part: T, constants: dict[Symbol, float]) -> T:
    """
    Return a dataclass object with symbols for its float fields, also within materials.

    Enters {symbol: value} of them into ``constants``. Those of materials come first, so that
    formulas of the material alone are the same in bodies of other fields.
    """
    whole = cast(Any, part)  # no type says that it is a dataclass
    values = {f.name: getattr(part, f.name) for f in dataclasses.fields(whole)}
    names = sorted(values, key=lambda name: not isinstance(values[name], Material))
    replaced: T = dataclasses.replace(
        whole, **{name: _replaced(values[name], constants) for name in names}
    )
    return replaced


def _stress(symbolic: BodyFormulas, position: Sequence[Node], n: int) -> Sequence[Node]:
    """Nodes of the forces that the strain energy makes, none without one."""
    if _traced_energy(symbolic) is None:
        return ()

    def energy(F: Sequence[Values]) -> Value:
        return symbolic.energy(F, SYMBOLIC)

    return programs.stress_forces(position, energy, symbolic.viscosity(), symbolic.density, n)


@functools.cache
def _traced_position(symbolic: BodyFormulas) -> list[Node]:
    """Nodes (3) of the formula of p."""
    q = symbols('q', len(symbolic.coordinates()))
    return _nodes(symbolic.position(symbols('x', 3), q, SYMBOLIC), 3)


@functools.cache
def _traced_tip(symbolic: BodyFormulas) -> tuple[list[Node], list[Node]]:
    """Nodes (9 and 3) of the tip frame."""
    q = symbols('q', len(symbolic.coordinates()))
    rotation, origin = symbolic.tip_frame(q, SYMBOLIC)
    return _nodes(rotation, 9), _nodes(origin, 3)


@functools.cache
def _traced_energy(symbolic: BodyFormulas) -> Node | None:
    """Node of the strain energy; None if there is none."""
    energy = symbolic.energy([symbols('F', 9)[3 * i :][:3] for i in range(3)], SYMBOLIC)
    return energy if energy is None else graph.as_node(energy)


_FORMULAS = {'position': _traced_position, 'tip_frame': _traced_tip, 'energy': _traced_energy}
_EXPECTED_FORMULA = 'a formula of + - * / ** and functions of math, without branches'


def _nodes(values: Values, count: int) -> list[Node]:
    nodes = [graph.as_node(value) for value in values]
    if len(nodes) != count:
        raise ValueError(f'it has {len(nodes)} values, not {count}')
    return nodes


def _replaced(value: object, constants: dict[Symbol, float]) -> Any:
    if isinstance(value, float):
        return _constant(value, constants)
    if isinstance(value, tuple) and all(isinstance(v, float) for v in value):
        return tuple(_constant(v, constants) for v in value)
    return replaced_fields(value, constants) if isinstance(value, Material) else value


def _constant(value: float, constants: dict[Symbol, float]) -> Any:
    key = ('p', len(constants))
    constants[key] = value
    return graph.symbol(*key)
