# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Settings of a control law that may change while it runs: limits, and parameters of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
import math
from typing import Any, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.errors import ArgumentError, DescriptionError, Problem, UnknownNameError
from softrobot_dynamics.schema.parameters import frozen, Parameter, parameters_of

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
        """Yield what does not fit together, as (name of the field, value, expected)."""
        return ()

    def replace(self, **changes: Any) -> Any:
        """Return settings of which some fields are others; they are not checked again."""
        return replace(self, **changes)

    def tuned_alike(self, other: Any) -> bool:
        """Tell whether all of the law's own parameters are the same, limits aside."""
        own = {field.name for field in fields(self)} - LIMITS
        return all(_equal(getattr(self, name), getattr(other, name)) for name in own)


def _equal(one: Any, other: Any) -> bool:
    """Tell whether two values are the same, numbers that are not set included."""
    unset = [isinstance(x, float) and math.isnan(x) for x in (one, other)]
    return all(unset) or np.array_equal(one, other)


LIMITS = {field.name for field in fields(Settings)}


def controlled_names(model: CompiledModel, controlled: Any = None) -> tuple[str, ...]:
    """Return the names of the controlled actuators, checked; by default all. ArgumentError."""
    names = model.actuator_names if controlled is None else tuple(controlled)
    unknown = [name for name in names if name not in model.actuator_names]
    if unknown or not names or len(set(names)) != len(names):
        words = 'one or more different names of ' + ', '.join(model.actuator_names)
        raise ArgumentError('controlled', list(names), words)
    return names


def owners_of(model: CompiledModel, controlled: Any = None) -> dict[str, Any]:
    """Return the names of those that a parameter may be declared for each of, by the kind."""
    return {
        'actuator': model.actuator_names,
        'output': controlled_names(model, controlled),
        'coordinate': model.coordinate_names,
    }


def own_parameters(law: Any) -> tuple[Parameter, ...]:
    """Return the parameters that a law declares, a tuple of ``schema.parameters.Parameter``."""
    known = law.Settings.__dataclass_fields__
    taken = [name for name in LIMITS if 'words' in known[name].metadata]
    if taken:
        raise ArgumentError(f'{law.__name__}.Settings', taken, 'names beside those of the limits')
    return parameters_of(law.Settings, law.type_name)


def make_settings(law: Any, model: CompiledModel, controlled: Any, given: Any) -> Any:
    """Return the Settings of a law, see :meth:`Controller.make_settings`."""
    counts = {each: len(names) for each, names in owners_of(model, controlled).items()}
    parameters, limits = law.parameters(), _limits(model, given)
    problems: list[Problem] = []
    own = {
        p.name: p.read(given.pop(p.name, p.default), counts.get(p.each), problems)
        for p in parameters
    }
    if given:
        names = [*(p.name for p in parameters), *LIMITS]
        raise UnknownNameError(f'parameter of {law.type_name}', next(iter(given)), tuple(names))
    if not problems:
        settings = law.Settings(**limits, **own)
        paths = {p.name: p.path for p in parameters}
        problems = [Problem(paths.get(name, name), *rest) for name, *rest in settings.validate()]
    if problems:
        raise DescriptionError(tuple(problems), 'parameters')
    return settings


def _limits(model: CompiledModel, given: Any) -> Any:
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
