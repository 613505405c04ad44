# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""From parameter values to the robot, controller or simulator that a node runs; no ROS in here."""

from math import isnan
from typing import Any, Callable, NamedTuple

import numpy as np
from softrobot_dynamics.controllers.contract import CONTROLLERS, Settings
from softrobot_dynamics.controllers.safe import SafeCommand
from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.dynamics.statics import Statics
from softrobot_dynamics.errors import DescriptionError, Problem
from softrobot_dynamics.model.model import compile_model
from softrobot_dynamics.nodes.judging import bounds_of, StateJudge
from softrobot_dynamics.nodes.planning import plan_elsewhere
from softrobot_dynamics.references import feasibility
from softrobot_dynamics.references.contract import constant
from softrobot_dynamics.simulation.simulator import Simulator


class Controlled(NamedTuple):
    """What the controller node runs."""

    model: Any
    controller: Any
    safe: SafeCommand
    settings: Callable  # (values) -> Settings; DescriptionError if they break a limit
    reference: Callable  # (values, q, Job for what takes long) -> Planned; or SoftRobotError
    hold: Callable  # (q, qd) -> Reference that stays at the present outputs
    judge: Callable  # () -> StateJudge of the robot's states
    growth: Callable  # (q, u, Settings) -> rate [1/s] at which errors would grow; nan: not known


class Simulated(NamedTuple):
    """What the simulation node runs."""

    model: Any
    simulator: Simulator
    safe: SafeCommand


def controlled(values):
    """Return the :class:`Controlled` of parameter `values`, compiled and warmed: takes a while."""
    model = compile_model(load_robot(values['robot']))
    names = values['controlled'] or model.actuator_names
    law = CONTROLLERS.get(values['controller'])
    controller = law(
        model, period=1.0 / values['rate'], controlled=names, settings=settings_of(model, values)
    )
    controller.warm()
    chosen = controller.controlled
    _warm_references(model)
    bounds = bounds_of(model)
    StateJudge(bounds)  # compiles
    return Controlled(
        model,
        controller,
        SafeCommand.of_model(model),
        lambda values: settings_of(model, values),
        lambda values, q, job: _plan(model, chosen, _reference(values), q, job),
        lambda q, qd: constant(controller.outputs(q, qd)[0][chosen]),
        lambda: StateJudge(bounds),
        controller.growth,
    )


def _plan(model, controlled, settings, q, job):
    """Return a Planned reference; what takes long is done by `job`, in another process."""
    if settings['type'] in ('circle', 'path'):
        return plan_elsewhere(job, model.description, controlled, settings, q)
    return feasibility.plan(model, controlled, settings, q)


def _warm_references(model):
    """Compile what a reference needs, so that the process that plans finds it compiled."""
    statics = Statics(model)
    statics.residual(model.q0, np.zeros(model.m))
    statics.tips([0])


def simulated(values):
    """Return the :class:`Simulated` of parameter `values`, compiled and warmed."""
    model = compile_model(load_robot(values['robot']))
    simulator = Simulator(model, substep=values['substep'])
    simulator.step(np.clip(np.zeros(model.m), model.lower, model.upper), 1.0 / values['rate'])
    simulator.reset()
    return Simulated(model, simulator, SafeCommand.of_model(model))


def settings_of(model, values):
    """
    Return the Settings that the parameters `gains` and `limits` describe; DescriptionError if not.

    An actuator's own parameter counts where it is not nan, then the one for all, then the robot
    file; limits may only be narrower than the robot file's.
    """
    p, _ = _each(model, values, 'gains', 'p', np.zeros(model.m))
    d, _ = _each(model, values, 'gains', 'd', np.zeros(model.m))
    lower, lower_from = _each(model, values, 'limits', 'lower', model.lower)
    upper, upper_from = _each(model, values, 'limits', 'upper', model.upper)
    rate, rate_from = _each(model, values, 'limits', 'rate', model.rate_limit)
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
    return Settings(
        p=p,
        d=d,
        lower=lower,
        upper=upper,
        rate=rate,
        feed_forward=np.clip(np.zeros(model.m), lower, upper),
        delay=values.get('delay', 0.0),
    )


def _each(model, values, group, key, default):
    """Return (values (m,), the parameter each is from)."""
    numbers, sources = np.array(default, dtype=float), [''] * model.m
    for i, name in enumerate(model.actuator_names):
        for source in (f'{group}.{key}', f'{group}.{name}.{key}'):
            value = values.get(source, np.nan)
            if not isnan(value):
                numbers[i], sources[i] = value, source
    return numbers, sources


def _beyond(wrong, sources, values, relation, bounds, model):
    return [
        Problem(
            sources[i],
            values[i],
            f'a number {relation} {bounds[i]:g},'
            f' the limit of {model.actuator_names[i]} in the robot file',
        )
        for i in np.flatnonzero(wrong)
    ]


def _reference(values):
    """Return the parameters `reference.*` by their names without the prefix."""
    prefix = 'reference.'
    return {
        name[len(prefix) :]: value for name, value in values.items() if name.startswith(prefix)
    }
