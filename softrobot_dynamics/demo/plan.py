# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Plan a demo: robot, parameters and reference, all checked before anything moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
import functools
import json
from pathlib import Path
from typing import Any, NamedTuple, TYPE_CHECKING

from softrobot_dynamics.configuration import build, declared_parameters
from softrobot_dynamics.configuration.command_parts import command_rows, command_values
from softrobot_dynamics.configuration.command_parts import GROUP as COMMANDS
from softrobot_dynamics.configuration.parameter_files import (
    chosen,
    controller_file,
    controller_files,
    unused,
)
from softrobot_dynamics.configuration.parts import given_by
from softrobot_dynamics.configuration.state_topics import GROUP as STATES
from softrobot_dynamics.configuration.state_topics import state_rows, state_values
from softrobot_dynamics.configuration.wire_names import NAMES_GROUP as JOINT_NAMES
from softrobot_dynamics.configuration.wire_names import wire_name_values
from softrobot_dynamics.demo.precompilation import simulation_elsewhere
from softrobot_dynamics.demo.rates import CANDIDATE_RATES
from softrobot_dynamics.description.add_surroundings import surround
from softrobot_dynamics.description.plant_changes import plant_of, SURROUNDINGS
from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.estimation.estimator import Estimator
from softrobot_dynamics.estimation.shape_fit import ShapeFit
from softrobot_dynamics.loops.simulated_sensors import estimator_file
from softrobot_dynamics.nodes.ros_parameters import NodeParameters
from softrobot_dynamics.references.tip_commands import TipPathReference

if TYPE_CHECKING:
    from softrobot_dynamics.configuration.parameter_descriptions import ParameterSpec
    from softrobot_dynamics.controllers.contract import Controller
    from softrobot_dynamics.description.robot import RobotDescription
    from softrobot_dynamics.model.model import CompiledModel
    from softrobot_dynamics.references.piecewise import Reference
    from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator

NAMESPACE = 'softrobot_demo'  # of both nodes: nothing of theirs meets a robot's own topics
OWN_FILE = 'parameters.yaml'  # in the demo's folder: what the command line said
DEFAULT_ROBOT = 'pcc_arm'  # where nobody says which


class DemoPlan(NamedTuple):
    """A demo, ready to start."""

    robot: str  # shipped name, or path of a robot file
    description: RobotDescription
    files: tuple[Any, ...]  # of parameters, for both nodes; the last is the demo's own
    controller: dict[str, Any]  # the controller's parameters by name
    simulation: dict[str, Any]  # the simulation's
    remarks: tuple[str, ...]  # in words, parameters in the files that are not used
    estimator: str | None = None  # path of an estimator file, if states are estimated
    any_rate: bool = False  # whether nobody has said at which rate the loop is to run
    shared: bool = False  # whether the nodes share a processor


class CompiledNodes(NamedTuple):
    """Robot and law of both nodes, compiled."""

    model: CompiledModel  # of the law
    law: Controller
    simulator: ActuatedSimulator
    estimator: Estimator | None


def robot_of(robot: str | None, controller: str | None) -> tuple[str, str]:
    """Return the robot of a demo, by flag or parameter file, and a remark on it, '' for none."""
    files = () if controller is None else (controller_file(controller),)
    choice = chosen('robot', robot, f'--robot {robot}', files)
    return choice.value or DEFAULT_ROBOT, choice.remark


def draw_up(
    node: Callable[..., Any],
    robot: str,
    controller: str | None,
    rate: float | None,
    folder: Path,
    estimated: str | None = None,
    surroundings: str | None = None,
) -> DemoPlan:
    """
    Return the :class:`DemoPlan` of `robot` at `rate` [Hz], with records written into `folder`.

    `rate` None: that of the parameter file, or the highest there is (`any_rate`). `estimated`:
    name or path of an estimator whose states the controller uses, '' for the one shipped for the
    robot, None for the states of the robot itself. `surroundings`: path of what the simulated
    robot may touch, None for what the parameter file says. `node` is a function (name, arguments)
    that returns a rclpy node, which reads the files the way the real one will. Raises
    SoftRobotError for a wrong robot file or parameter.
    """
    description = load_robot(robot)
    robot = robot if robot in shipped('robots') else str(Path(robot).expanduser().resolve())
    given = controller_files(robot, description, controller)
    choice = chosen('rate', rate, f'--rate {rate}', given)
    files = (*given, folder / OWN_FILE)
    estimator = None if estimated is None else _estimator_file(estimated, robot)
    own = _own(robot, float(choice.value or CANDIDATE_RATES[0]), folder, estimator, surroundings)
    _write(files[-1], own)
    declare = functools.partial(declared_parameters.declare_chosen, description)
    values, unknown = _read(
        node, 'controller', files, declared_parameters.controller_rows(), declare
    )
    read = {x: y for x, y in given_by(values).items() if y != values[x]}
    replaced, shared = _replaced(own), _shared(values, estimator is not None)
    own['controller'] |= read
    for each in own.values():
        each |= shared
    _write(files[-1], own)  # paths of files, as they are from here: the nodes run elsewhere
    rows = _simulation_rows(description, values, shared)
    simulation, also_unknown = _read(node, 'simulation', files, rows)
    _require_same_coordinates(description, simulation)
    return DemoPlan(
        robot=robot,
        description=description,
        files=files,
        controller={**values, **read, **shared},
        simulation=simulation,
        remarks=(
            *(f'unknown parameter {words} is ignored' for words in (*unknown, *also_unknown)),
            *filter(None, [choice.remark]),
            *unused(given, replaced),
        ),
        estimator=estimator,
        any_rate=choice.value is None,
    )


def _replaced(own: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the parameters by node that replace those of the user's files, and are remarked."""
    names = {'controller': ('command_type', 'reliability', 'record')}
    return {
        node: {x: each[x] for x in names.get(node, each) if x != 'autostart'}
        for node, each in own.items()
    }


def _simulation_rows(
    robot: RobotDescription, values: Mapping[str, Any], shared: Mapping[str, Any]
) -> tuple[ParameterSpec, ...]:
    """Return the parameters of the simulation node, for those of the controller."""
    return (
        *declared_parameters.SIMULATION,
        *declared_parameters.sensor_rows(robot),
        *state_rows({**values, **shared}),
        *command_rows(values),
    )


def _estimator_file(given: str, robot: str) -> str:
    """Return the path of an estimator file, of those shipped or another; ArgumentError."""
    path = Path(estimator_file(given or robot)).expanduser()
    if not path.is_file():
        names = ', '.join(shipped('estimators'))
        raise ArgumentError('--estimated', given, f'an estimator file, or one of {names}')
    return str(path.resolve())


def _shared(values: Mapping[str, Any], estimated: bool) -> dict[str, Any]:
    """
    Return the parameters of topics and names that all nodes of a demo need as the controller has.

    Topics are within the namespace of the demo, so that nothing reaches a robot. ArgumentError for
    parts of states that are ``estimated``.
    """
    states = state_values(values)
    if estimated and states:
        parts = list(values['state_topics'])
        raise ArgumentError('state_topics', parts, 'none with --estimated: estimates are whole')
    found = states | command_values(values) | wire_name_values(values)
    own = tuple(f'{group}.' for group in (STATES, COMMANDS))
    return {
        name: _topic_within(value) if name.startswith(own) and name.endswith('.topic') else value
        for name, value in found.items()
    }


def _topic_within(topic: str) -> str:
    """Return a topic of the controller as all nodes of a namespace can name it."""
    return f'controller/{topic[2:]}' if topic.startswith('~/') else topic.lstrip('/')


def _require_same_coordinates(robot: RobotDescription, simulation: Mapping[str, Any]) -> None:
    """Raise our errors for a wrong plant, and for one whose record the demo could not draw."""
    plant, around = simulation['plant'], simulation['surroundings']
    drawn = surround(robot, around) if around else robot
    texts = [*plant, f'{SURROUNDINGS}={around}'] if around else plant
    if plant_of(robot, texts).coordinate_names != drawn.coordinate_names:
        expected = 'a robot of the same coordinates: a demo draws its record by the robot file'
        raise ArgumentError('plant', list(plant), expected)


def parameter_arguments(files: Iterable[Any]) -> list[str]:
    """Return the command-line arguments that give a node its namespace and parameter files."""
    arguments = ['--ros-args', '-r', f'__ns:=/{NAMESPACE}']
    for file in files:
        arguments += ['--params-file', str(file)]
    return arguments


def compile_everything(plan: DemoPlan) -> CompiledNodes:
    """Compile the kernels of both nodes, which find them in the cache; return model and law."""
    with simulation_elsewhere(plan.robot):
        plant = build.controlled(plan.controller)
    simulator, estimator = build.simulated(plan.simulation).simulator, None
    if plan.estimator:
        estimator = Estimator(plant.model, plan.estimator)
        ShapeFit(plant.model, plan.estimator)
    return CompiledNodes(plant.model, plant.controller, simulator, estimator)


def reference_of(plan: DemoPlan, model: CompiledModel) -> Reference | None:
    """
    Return the Reference of a plan's outputs, None: the state itself, whatever it will be.

    InfeasibleReferenceError for one that no admissible actuation can hold.
    """
    reference = build.plan_of(model, plan.controller, model.q0).reference
    return reference.outputs if isinstance(reference, TipPathReference) else reference


def _own(
    robot: str, rate: float, folder: Path, estimator: str | None, surroundings: str | None
) -> dict[str, Any]:
    """Return the demo's own parameters by node."""
    common = {
        'robot': robot,
        'rate': rate,
        'command_type': 'joint_state',
        'reliability': 'reliable',
    }
    nodes: dict[str, Any] = {
        name: {**common, 'record': str(folder / f'{name}.mcap')}
        for name in ('controller', 'simulation')
    }
    nodes['controller']['autostart'] = False
    if surroundings is not None:
        nodes['simulation']['surroundings'] = str(Path(surroundings).expanduser().resolve())
    if estimator:
        nodes['simulation']['estimator'] = estimator
        nodes['estimator'] = {**common, 'estimator': estimator, 'autostart': True}
    return nodes


def _write(path: Path, own: Mapping[str, Any]) -> None:
    """Write a file of parameters by node; JSON is YAML in which texts stay texts."""
    nodes = {name: {'ros__parameters': values} for name, values in own.items()}
    path.write_text(json.dumps({'/**': nodes}, indent=2) + '\n', encoding='utf-8')


def _read(
    make_node: Callable[..., Any],
    name: str,
    files: Sequence[Path],
    rows: Sequence[ParameterSpec],
    more: Callable[..., object] = lambda values, declare: None,
) -> tuple[dict[str, Any], Any]:
    """
    Return ({name: value}, unknown names in words) of the parameters a node would be given.

    `more(values, declare)` declares the rows that depend on values.
    """
    try:
        node = make_node(name, parameter_arguments(files))
    except RuntimeError as error:  # what rclpy makes of a file that it cannot read
        reason = str(error).partition('Error: ')[2].partition(', at /')[0].strip()
        words = f'a file of ROS parameters ({reason or error})'
        raise ArgumentError('--controller', str(files[0]), words) from error
    try:
        parameters = NodeParameters(node, rows)
        more(parameters.values, parameters.declare)
        parameters.require_known(JOINT_NAMES)
        return parameters.values, parameters.unknown()
    finally:
        node.destroy_node()
