# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Make the immutable settings of a law from parameter values; no ROS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.configuration.declared_parameters import limit_path
from softrobot_dynamics.errors import ArgumentError, DescriptionError, Problem
from softrobot_dynamics.simulation.bus import Bus, make_bus
from softrobot_dynamics.simulation.sensing import make_sensors, Sensors

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.contract import Controller
    from softrobot_dynamics.controllers.safe_command import SafeCommand
    from softrobot_dynamics.model.model import CompiledModel
    from softrobot_dynamics.schema.parameters import Parameter


def settings_of(
    law: Controller | type[Controller],
    model: CompiledModel,
    controlled: Sequence[str] | None,
    values: Mapping[str, Any],
) -> Any:
    """
    Return the Settings of a law that the parameters' `values` describe; DescriptionError if none.

    `controlled` are names of actuators. Of what there is one for each, an actuator's own parameter
    counts where it is not nan, then the one for all.
    """
    owners = law.owners(model, controlled)
    own = {p.name: _own(p, owners.get(p.each), values) for p in law.parameters()}
    return law.make_settings(model, controlled, **limits_of(model, values), **own)


def sensors_of(names: Sequence[str], values: Mapping[str, Any]) -> Sensors:
    """
    Return the Sensors of a simulated robot that the parameters' `values` describe.

    `names` are those of the coordinates; a coordinate's own parameter counts where it is not nan.
    DescriptionError.
    """
    owners = {'coordinate': names}
    own = {p.name: _own(p, owners.get(p.each), values) for p in Sensors.parameters()}
    return make_sensors(names, own)


def choose_safe(safe: SafeCommand, values: Mapping[str, Any]) -> None:
    """Choose the safe command that a node's parameters describe; ArgumentError."""
    safe.choose(values['safe_command'], values['safe_pretension'], values['safe_ramp'])


def bus_of(values: Mapping[str, Any]) -> Bus:
    """Return the Bus of a simulated robot that parameters' `values` describe; DescriptionError."""
    return make_bus({p.name: values[p.path] for p in Bus.parameters()})


def require_patience(values: Mapping[str, Any]) -> None:
    """
    Raise ArgumentError if the simulated robot's `values` let it time out between two states.

    With an estimator it is estimates that are answered, whatever the rate of its states.
    """
    measured = 0.0 if values['estimator'] else values['sensors.rate']
    patience = values['command_timeout_periods']
    apart = values['rate'] / measured if measured else 1.0
    if not patience > apart:
        expected = f'more than {apart:g}, the periods from one measured state to the next'
        raise ArgumentError('command_timeout_periods', patience, expected)


def limits_of(model: CompiledModel, values: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the limits `lower`, `upper`, `rate` (m,) that parameters describe; or DescriptionError.

    Where none is given, an actuator's own or one for all, they are the robot file's, which can
    only be made narrower.
    """
    lower, lower_from = _each(model, values, 'lower', model.lower)
    upper, upper_from = _each(model, values, 'upper', model.upper)
    rate, rate_from = _each(model, values, 'rate', model.rate_limit)
    problems = [
        *_beyond(lower < model.lower, lower_from, lower, '>=', model.lower, model),
        *_beyond(upper > model.upper, upper_from, upper, '<=', model.upper, model),
        *_beyond(rate > model.rate_limit, rate_from, rate, '<=', model.rate_limit, model),
    ]
    problems += [
        Problem(
            upper_from[i] or lower_from[i],
            upper[i] if upper_from[i] else lower[i],
            f'a lower limit, {lower[i]:g}, not above the upper one, {upper[i]:g}',
        )
        for i in np.flatnonzero(lower > upper)
    ]
    if problems:
        raise DescriptionError(tuple(dict.fromkeys(problems)), 'parameters')
    return {'lower': lower, 'upper': upper, 'rate': rate}


def _own(parameter: Parameter, owners: Sequence[str] | None, values: Mapping[str, Any]) -> Any:
    """Return the value of a law's parameter: an array of one for each of `owners`, if any."""
    value = values.get(parameter.path, parameter.default)
    if owners is None:
        return value
    given = [values.get(parameter.path_of(owner), np.nan) for owner in owners]
    return np.where(np.isnan(given), value, given)


def _each(
    model: CompiledModel, values: Mapping[str, Any], key: str, default: Vector
) -> tuple[Any, Any]:
    """Return (limits (m,), the parameter each is from, '' for the robot file)."""
    numbers, sources = np.array(default, dtype=float), [''] * model.m
    for i, name in enumerate(model.actuator_names):
        for source in (limit_path('', key), limit_path(name, key)):
            value = values.get(source, np.nan)
            if not isnan(value):
                numbers[i], sources[i] = value, source
    return numbers, sources


def _beyond(
    wrong: NDArray[np.bool_],
    sources: Sequence[str],
    values: Vector,
    relation: str,
    bounds: Vector,
    model: CompiledModel,
) -> Any:
    """Return a problem for each limit that is ``wrong`` (m,)."""
    return [
        Problem(
            sources[i],
            values[i],
            f'a number {relation} {bounds[i]:g},'
            f' the limit of {model.actuator_names[i]} in the robot file',
        )
        for i in np.flatnonzero(wrong).tolist()
    ]
