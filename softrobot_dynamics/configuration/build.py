# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Build the robot, controller or simulator that a node runs from parameter values; no ROS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
import functools
from typing import Any, Callable, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.configuration import phases
from softrobot_dynamics.configuration.declared_parameters import Declare, declare_chosen
from softrobot_dynamics.configuration.law_settings import sensors_of, settings_of
from softrobot_dynamics.configuration.parts import indices_of, parts_of, phases_of
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.safe_command import SafeCommand
from softrobot_dynamics.controllers.setpoints import DriveSetpoints
from softrobot_dynamics.description.add_surroundings import surround
from softrobot_dynamics.description.plant_changes import plant_of, SURROUNDINGS
from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.dynamics.static_residual import Statics
from softrobot_dynamics.errors import ArgumentError, DescriptionError, Problem
from softrobot_dynamics.loops.state_validation import (
    bounds_of,
    part_of,
    StateBounds,
    StateValidator,
)
from softrobot_dynamics.model.model import compile_model
from softrobot_dynamics.references import feasibility
from softrobot_dynamics.references.feasibility import Planned
from softrobot_dynamics.references.tip_commands import tip_path_reference, with_tip_path
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from softrobot_dynamics.simulation.reconstruction import Reconstruction, require_alike
from softrobot_dynamics.simulation.sensing import Sensing

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.contract import Controller
    from softrobot_dynamics.description.robot import RobotDescription
    from softrobot_dynamics.loops.planning import Job
    from softrobot_dynamics.model.model import CompiledModel


class Controlled(NamedTuple):
    """Robot, law and checks that the controller node runs."""

    model: CompiledModel
    controller: Any
    safe: SafeCommand
    # (values) -> the law's Settings; DescriptionError if they break a limit
    settings: Callable[..., Any]
    # (values, q, Job for what takes long) -> Planned; or SoftRobotError
    reference: Callable[..., Any]
    hold: Callable[..., Any]  # (q, qd) -> Reference that stays at the present outputs
    # (y, q, time [s]) -> remarks, a list, on a trajectory that ends there; or SoftRobotError
    examine_last_point: Callable[..., Any]
    validator: Callable[..., Any]  # (indices of coordinates, or ()) -> StateValidator of states
    # (q, u, Settings, share off the model) -> rate [1/s] at which errors would grow, or nan
    growth: Callable[..., Any]
    # (q) -> rates [1/s] of what grows while outputs are held
    unstable_zero_dynamics: Callable[..., Any]


class Simulated(NamedTuple):
    """Robot, simulator and sensors that the simulation node runs."""

    model: CompiledModel
    simulator: ActuatedSimulator
    safe: SafeCommand
    published: RobotDescription  # the robot whose coordinates are published
    trial: ActuatedSimulator  # another, in which states are tried before the robot is put there
    reconstruction: Reconstruction | None = (
        None  # of these coordinates, None: they are the model's
    )
    has_contact: bool = False  # whether there are objects, or something that may touch something

    def sensing(self, values: Mapping[str, Any]) -> Sensing:
        """Return the Sensing that parameter `values` describe; or SoftRobotError."""
        sensors = sensors_of(self.published.coordinate_names, values)
        return Sensing(sensors, self.published.n, 1.0 / values['rate'], self.reconstruction)


def controlled(values: Mapping[str, Any], declare: Declare | None = None) -> Controlled:
    """
    Return the :class:`Controlled` of parameter `values`, compiled and warmed: takes a while.

    `declare`, if there are more than these: a function that is given further rows of parameters,
    and returns the values of all.
    """
    robot = load_robot(values['robot'])
    if declare is not None:
        values = declare_chosen(robot, values, declare)
    model = compile_model(known_to_laws(robot, values))
    controller = law_of(model, values)
    controller.warm()
    _warm_references(model)
    bounds = bounds_of(model)
    StateValidator(bounds)  # compiles
    if model.servos.any:
        DriveSetpoints(model, controller)  # compiles
    return Controlled(
        model,
        controller,
        SafeCommand.of_model(model),
        functools.partial(settings_for, model),
        functools.partial(_plan, model),
        controller.stay,
        lambda y, q, time: _examine_end(controller, y, q, time),
        functools.partial(_validator, bounds),
        controller.growth,
        controller.unstable_zero_dynamics,
    )


def known_to_laws(robot: RobotDescription, values: Mapping[str, Any]) -> RobotDescription:
    """Return a robot with the environment that parameter `values` tell laws of."""
    around = values.get('surroundings', '')  # recordings of before have no such parameter
    return surround(robot, around, objects=False) if around else robot


def _validator(bounds: StateBounds, indices: Sequence[int] = ()) -> StateValidator:
    """Return a StateValidator of all coordinates, or of those with some indices."""
    return StateValidator(part_of(bounds, indices) if indices else bounds)


def _examine_end(law: Controller, y: Vector, q: Vector, time: float) -> list[str]:
    """Return remarks on a trajectory whose last point is y (c,) at a time [s], from q (n,) on."""
    model, own = law.model, law.controlled
    if law.follows:
        return feasibility.examine_standing(model, own, y, q, 'the last point', time)
    command = law.pushes(law.settings)
    return feasibility.examine_commands(model, own, np.full(1, time), y[None], command)


def law_of(model: CompiledModel, values: Mapping[str, Any]) -> Any:
    """Return the law, or laws, for a model that parameter `values` describe; or SoftRobotError."""
    parts, settings, period = parts_of(values), settings_for(model, values), 1.0 / values['rate']
    each = settings.laws if values.get('phases') else (settings,)
    laws = [
        part.law(model, period=period, controlled=part.actuators(model), settings=own)
        for part, own in zip(parts, each)
    ]
    if not values.get('phases'):
        return laws[0]
    return Composition(laws, settings, phases_of(values), [part.name for part in parts])


def plan_of(model: CompiledModel, values: Mapping[str, Any], q: Vector) -> Planned:
    """
    Return the reference that parameter `values` describe, planned from q (n,); SoftRobotError.

    The environment takes no part in it: laws keep away from it, or press on it, as they go.
    """
    parts, settings = parts_of(values), settings_for(model, values)
    if model.description.environment:
        model = compile_model(replace(model.description, environment=()))
    if values.get('phases'):
        return phases.plan(model, values, settings.laws, q)
    (part,) = parts
    own = indices_of(model, part)
    body = part.law.controlled_tip_of(settings, model)
    if body and part.law.follows_tip:
        return Planned(tip_path_reference(model, body, part.trajectory))
    if not part.law.follows:
        command = part.law.pushes(settings)
        return feasibility.plan_commands(model, own, part.trajectory, command, q)
    planned = feasibility.plan(model, own, part.trajectory, q)
    reference = with_tip_path(model, planned.reference, part.trajectory, body)
    return planned._replace(reference=reference)


def reference_of(law: Controller, values: Mapping[str, Any], q: Vector) -> Any:
    """
    Return the Reference, or Program of phases, that parameter `values` let a law follow.

    It is planned from q (n,); without any, it is to stay at the outputs there. SoftRobotError.
    """
    model = law.model
    found = plan_of(model, values, q)
    if found.reference is not None:
        return found.reference
    return law.stay(q, np.zeros(model.n))


def settings_for(model: CompiledModel, values: Mapping[str, Any]) -> Any:
    """Return the Settings of the law, or laws, of parameter `values`; or DescriptionError."""
    found = []
    for part in parts_of(values):
        with part.named():
            found.append(settings_of(part.law, model, part.actuators(model), part.values))
            tip = part.law.controlled_tip_of(found[-1], model) if part.law.follows_tip else ''
            if tip and values.get('phases'):
                words = 'empty where there are phases: outputs follow the reference there'
                path = f'{part.law.type_name}.tip'
                raise DescriptionError((Problem(path, tip, words),), 'parameters')
    if not values.get('phases'):
        return found[0]
    together = settings_of(Composition, model, model.actuator_names, values)
    return together.replace(laws=tuple(found))


def _plan(model: CompiledModel, values: Mapping[str, Any], q: Vector, job: Job) -> Planned:
    """Return a Planned reference; a long computation is done by `job`, in another process."""
    if values.get('phases') or parts_of(values)[0].trajectory.takes_long:
        planned: Planned = job.run(_plan_elsewhere, model.description, values, q)
        return planned
    return plan_of(model, values, q)


def _plan_elsewhere(
    description: RobotDescription, values: Mapping[str, Any], q: Vector
) -> Planned:
    """Plan as `plan_of` does, in a process of its own."""
    return plan_of(compile_model(description), values, q)


def _warm_references(model: CompiledModel) -> None:
    """Compile the kernels of a reference, which the planning process finds in the cache."""
    statics = Statics(model)
    statics.residual(model.q0, np.zeros(model.m))
    statics.tangent(model.q0, np.zeros(model.m))
    statics.tips([0])


def simulated(values: Mapping[str, Any]) -> Simulated:
    """Return the :class:`Simulated` of parameter `values`, compiled and warmed."""
    robot = load_robot(values['robot'])
    around = [f'{SURROUNDINGS}={values["surroundings"]}'] if values['surroundings'] else []
    plant, seen = plant_of(robot, [*around, *values['plant']]), None
    model = compile_model(plant)
    require_alike(robot, model)
    if model.coordinate_names != robot.coordinate_names:
        seen = Reconstruction(compile_model(robot), model)
    carrier = values['payload.body'] or None
    if carrier and carrier not in model.body_names:
        expected = f'a body, one of {", ".join(model.body_names)}'
        raise ArgumentError('payload.body', carrier, expected)
    steps = {'substep': values['substep'], 'integrator': values['integrator']}
    simulator = ActuatedSimulator(model, carrier=carrier, **steps)
    simulator.step(np.clip(np.zeros(model.m), model.lower, model.upper), 1.0 / values['rate'])
    simulator.reset()
    if carrier:
        simulator.carry(values['payload.mass'])
    if seen is not None:
        seen(simulator.q, simulator.qd)
    trial = ActuatedSimulator(model, **steps)
    has_contact = simulator.contact is not None or any(m.is_object for m in plant.modules)
    return Simulated(
        model, simulator, SafeCommand.of_model(model), robot, trial, seen, has_contact
    )
