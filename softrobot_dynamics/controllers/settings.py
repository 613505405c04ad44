# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Settings of a control law that may change while it runs: limits, and parameters of its own."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
import math
from typing import Any, cast, Protocol, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.errors import ArgumentError, DescriptionError, Problem, UnknownNameError
from softrobot_dynamics.schema.parameters import frozen, Parameter, parameters_of
from softrobot_dynamics.schema.parsing import Problems

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


@dataclass(frozen=True)
class Settings:
    """
    All that may change while a controller runs; never edited, only replaced as a whole.

    Every law has these limits. Its own parameters are fields of a frozen dataclass that inherits
    from this one, declared by ``parameter``; :meth:`Controller.make_settings` makes an instance.
    Arrays cannot be written to.
    """

    lower: Vector  # (m,) limits of u, actuator units
    upper: Vector  # (m,)
    rate: Vector  # (m,) limit of |du/dt| [unit/s]
    feed_forward: Vector  # (m,) u of the actuators that are not controlled

    def validate(self) -> Iterable[tuple[str, object, str]]:
        """Yield contradictory fields, as (name of the field, value, expected)."""
        return ()

    def examine(self, model: CompiledModel) -> Iterable[tuple[str, object, str]]:
        """Yield what does not fit to a model, likewise."""
        return ()

    def replace(self, **changes: Any) -> Any:
        """Return settings of which some fields are others; they are not checked again."""
        return replace(self, **changes)

    def tuned_alike(self, other: Settings) -> bool:
        """Tell whether all of the law's own parameters are the same, limits aside."""
        own = {field.name for field in fields(self)} - LIMIT_FIELDS
        return all(equal_values(getattr(self, name), getattr(other, name)) for name in own)


def equal_values(one: object, other: object) -> bool:
    """Tell whether two values are the same, numbers that are not set included."""
    one, other = cast(ArrayLike, one), cast(ArrayLike, other)
    unset = [isinstance(x, float) and math.isnan(x) for x in (one, other)]
    return all(unset) or np.array_equal(one, other)


class RobotNames(Protocol):
    """Names of the coordinates and actuators of a robot: its description, or its model."""

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The coordinates' names, (n,)."""

    @property
    def actuator_names(self) -> tuple[str, ...]:
        """The actuators' names, (m,)."""


LIMIT_FIELDS = {field.name for field in fields(Settings)}


def controlled_names(
    robot: RobotNames, controlled: Iterable[str] | None = None
) -> tuple[str, ...]:
    """Return the names of the controlled actuators, checked; by default all. ArgumentError."""
    names = robot.actuator_names if controlled is None else tuple(controlled)
    unknown = [name for name in names if name not in robot.actuator_names]
    if unknown or not names or len(set(names)) != len(names):
        words = 'one or more different names of ' + ', '.join(robot.actuator_names)
        raise ArgumentError('controlled', list(names), words)
    return names


def owners_of(
    robot: RobotNames, controlled: Iterable[str] | None = None
) -> dict[str, tuple[str, ...]]:
    """Return the names of those that a parameter may be declared for each of, by the kind."""
    return {
        'actuator': robot.actuator_names,
        'output': controlled_names(robot, controlled),
        'coordinate': robot.coordinate_names,
    }


def own_parameters(
    settings: type[Settings], type_name: str, class_name: str
) -> tuple[Parameter, ...]:
    """Return the parameters that the law of these names declares by its settings' class."""
    known = settings.__dataclass_fields__
    taken = [name for name in LIMIT_FIELDS if 'words' in known[name].metadata]
    if taken:
        raise ArgumentError(f'{class_name}.Settings', taken, 'names beside those of the limits')
    return parameters_of(settings, type_name)


def make_settings(
    settings: type[Settings],
    parameters: tuple[Parameter, ...],
    law: str,
    model: CompiledModel,
    controlled: Iterable[str] | None,
    given: dict[str, Any],
) -> Any:
    """Return an instance of a law's ``settings``, see :meth:`Controller.make_settings`."""
    counts = {each: len(names) for each, names in owners_of(model, controlled).items()}
    limits = _limits(model, given)
    problems = Problems()
    own = {
        p.name: p.read(given.pop(p.name, p.default), counts.get(p.each, 1), problems)
        for p in parameters
    }
    if given:
        names = [*(p.name for p in parameters), *LIMIT_FIELDS]
        raise UnknownNameError(f'parameter of {law}', next(iter(given)), tuple(names))
    if problems:
        raise DescriptionError(tuple(problems), 'parameters')
    made, paths = settings(**limits, **own), {p.name: p.path for p in parameters}
    for questions in (made.validate, lambda: made.examine(model)):
        problems += [
            Problem(paths.get(name, name), value, expected)
            for name, value, expected in questions()
        ]
        if problems:
            raise DescriptionError(tuple(problems), 'parameters')
    return made


def kernel_settings(name: str, settings: type[Settings], *prepared: str) -> type[Any]:
    """
    Return the NamedTuple class of the settings that the kernel of a law reads.

    It has a field for each of the settings but texts, which kernels cannot read, and for what the
    law ``prepared`` beside them. Generated code imports the class from the module of
    the settings, so it has to be there under this ``name``.
    """
    own = [each.name for each in fields(settings) if each.metadata.get('kind') != 'string']
    names = dict.fromkeys([*own, *prepared])
    return namedtuple(name, list(names), module=settings.__module__)


def as_number(value: object) -> object:
    """Return a value of settings as kernels read it: a number, or an array (.,) of a list."""
    return np.array(value, dtype=float) if isinstance(value, tuple) else value


def _limits(model: CompiledModel, given: dict[str, Any]) -> dict[str, Vector]:
    """Take the limits out of ``given``; return all of them, else the description's."""
    limits = {
        name: frozen(np.broadcast_to(np.asarray(given.pop(name, own), dtype=float), (model.m,)))
        for name, own in (
            ('lower', model.lower),
            ('upper', model.upper),
            ('rate', model.rate_limit),
        )
    }
    rest = np.clip(np.zeros(model.m), limits['lower'], limits['upper'])
    return {**limits, 'feed_forward': frozen(given.pop('feed_forward', rest))}
