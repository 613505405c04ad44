# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Base class of references: parameters go in, the motion of the controlled outputs y comes out.

A kind is one file. The nodes declare its parameters as ``reference.*``, have it planned when one
of them is set, and hold what it asks for against the robot's limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast, ClassVar, NamedTuple, TYPE_CHECKING, TypeVar

import numpy as np
from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.errors import ArgumentError, DescriptionError, Problem
from softrobot_dynamics.references.inverse_statics import PathPostures
from softrobot_dynamics.references.piecewise import Indices, Reference, select
from softrobot_dynamics.schema.parameters import Parameter, parameters_of
from softrobot_dynamics.schema.parsing import Problems
from softrobot_dynamics.schema.registry import Registry, required

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

REFERENCES = Registry(
    'reference', 'softrobot_dynamics.references', 'softrobot_dynamics.references'
)
GROUP = 'reference'  # begins the names of all parameters
_SIZE_SAMPLES = 256  # of a path, to find its size

T = TypeVar('T', bound='Trajectory')


class OutputMotion(NamedTuple):
    """Outputs as functions of time, and the postures that give them, where known."""

    reference: Reference
    postures: PathPostures | None = None  # at the first of the reference's breaks

    def of(self, outputs: Indices) -> OutputMotion:
        """Return the same of some of the outputs, by index."""
        return self._replace(reference=select(self.reference, outputs))


class Targets(NamedTuple):
    """Points that the tips of P bodies shall follow."""

    bodies: tuple[str, ...]  # names (P,)
    points: Callable[[Any], Array]  # (times (T,) [s]) -> (T, P, 3) [m], base frame
    duration: float  # of the path, or of one turn [s]

    def sizes(self) -> Vector:
        """Return twice the greatest distance from the middle of each path (P,) [m]."""
        points = self.points(np.linspace(0.0, self.duration, _SIZE_SAMPLES, endpoint=False))
        distances = np.linalg.norm(points - points.mean(axis=0), axis=2)
        return cast(Vector, 2.0 * distances.max(axis=0))


def register(name: str) -> Callable[[type[T]], type[T]]:
    """Return a class decorator that enters a kind as `name`, if its parameters are sound."""

    def enter(cls: type[T]) -> type[T]:
        cls.type_name = name
        cls.parameters()
        return REFERENCES.register(name)(cls)

    return enter


@dataclass(frozen=True)
class Trajectory:
    """
    Base of all references: subclass it as a frozen dataclass and ``@register`` a name.

    Its fields are set from outside as ``reference.<kind>.<field>``, unless they have a group of
    their own; each has a default. ``parameter`` gives them words, units and bounds.
    """

    type_name: ClassVar[str]
    takes_long: ClassVar[bool] = True
    """True: plan beside the running loop, in another process; False for some milliseconds."""

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return the kind's :class:`~softrobot_dynamics.schema.parameters.Parameter` s."""
        found = parameters_of(cls, f'{GROUP}.{cls.type_name}', every=True)
        for each in found:
            if each.each or not each.path.startswith(f'{GROUP}.'):
                words = f'of no {each.each}' if each.each else f'in a group of {GROUP}'
                raise ArgumentError('parameter', each.path, f'{words}, as it is a reference')
        return found

    def given(self) -> dict[str, Any]:
        """Return the values of all parameters, by their names from outside."""
        return {p.path: getattr(self, p.name) for p in self.parameters()}

    def validate(self) -> Iterable[tuple[str, object, str]]:
        """Yield contradictory fields, as (name of the field, value, expected)."""
        return ()

    @required
    def plan(self, model: CompiledModel, controlled: Indices, q: Vector) -> OutputMotion | None:
        """
        Return the motion of the ``controlled`` outputs (c indices), or raise our errors.

        None stands for the outputs as they are when it begins. ``q`` (n,) is where the robot
        is, as far as that is known. Without postures, those that have these outputs at rest are
        looked for, to see whether the robot can do it.
        """
        raise NotImplementedError

    def targets(self) -> Targets | None:
        """Return the :class:`Targets` of tips, for the demo; None for other outputs."""
        return None


def trajectory(values: Mapping[str, Any]) -> Trajectory:
    """
    Return the reference that the parameters ``reference.*`` among `values` describe.

    ``reference.type`` names the kind; what is not there is as declared, other kinds' parameters do
    not matter. Raises UnknownNameError, and DescriptionError with all that is wrong.
    """
    kind: Any = REFERENCES.get(values[f'{GROUP}.type'])
    parameters, problems = kind.parameters(), Problems()
    given = {p.name: p.read(values.get(p.path, p.default), 1, problems) for p in parameters}
    if not problems:
        made: Trajectory = kind(**given)
        paths = {p.name: p.path for p in parameters}
        problems.extend(
            Problem(paths.get(name, name), value, words) for name, value, words in made.validate()
        )
    if problems:
        raise DescriptionError(tuple(problems), 'parameters')
    return made
