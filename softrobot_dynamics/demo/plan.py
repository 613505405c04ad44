# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What a demo runs: robot, parameters and reference, all checked before anything moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import functools
import json
from pathlib import Path
from typing import Any, NamedTuple, TYPE_CHECKING

from softrobot_dynamics.demo.warming import simulation_elsewhere
from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.description.variation import plant_of
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.estimation.estimator import Estimator
from softrobot_dynamics.estimation.shape import ShapeFit
from softrobot_dynamics.nodes import declared_rows, plants
from softrobot_dynamics.nodes.measured import estimator_file
from softrobot_dynamics.nodes.parameter_files import controller_files
from softrobot_dynamics.nodes.parameters import Parameters
from softrobot_dynamics.nodes.parts import given_by

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription
    from softrobot_dynamics.model.model import CompiledModel

NAMESPACE = 'softrobot_demo'  # of both nodes: nothing of theirs meets a robot's own topics
OWN_FILE = 'parameters.yaml'  # in the demo's folder: what the command line said


class Plan(NamedTuple):
    """A demo, ready to start."""

    robot: str  # shipped name, or path of a robot file
    description: Any  # RobotDescription
    files: tuple[Any, ...]  # of parameters, for both nodes; the last is the demo's own
    controller: dict[str, Any]  # the controller's parameters by name
    simulation: dict[str, Any]  # the simulation's
    unknown: tuple[str, ...]  # in words, parameters in the files that no table has
    estimator: str | None = None  # path of an estimator file, if states are estimated


def draw_up(
    node: Callable[..., Any],
    robot: str,
    controller_file: str | None,
    rate: float,
    folder: Path,
    estimated: str | None = None,
) -> Plan:
    """
    Return the Plan of `robot` at `rate` [Hz], with records to be written into `folder`.

    `estimated`: name or path of an estimator that the controller hears, '' for the one shipped
    for the robot, None if it hears the robot itself. `node` is a
    function (name, arguments) that returns a rclpy node, which reads the files the
    way the real one will. Raises SoftRobotError for a wrong robot file or parameter.
    """
    description = load_robot(robot)
    robot = robot if robot in shipped('robots') else str(Path(robot).expanduser().resolve())
    files = (*controller_files(robot, description, controller_file), folder / OWN_FILE)
    estimator = None if estimated is None else _estimator_file(estimated, robot)
    own_file = functools.partial(_write_own, files[-1], robot, float(rate), folder, estimator)
    own_file({})
    own = functools.partial(declared_rows.declare_chosen, description)
    controller, unknown = _read(node, 'controller', files, declared_rows.controller_rows(), own)
    read = {x: y for x, y in given_by(controller).items() if y != controller[x]}
    own_file(read)  # paths of files, as they are from here: the nodes run elsewhere
    controller = {**controller, **read}
    rows = *declared_rows.SIMULATION, *declared_rows.sensor_rows(description)
    simulation, also_unknown = _read(node, 'simulation', files, rows)
    _require_same_coordinates(description, simulation['plant'])
    return Plan(
        robot=robot,
        description=description,
        files=files,
        controller=controller,
        simulation=simulation,
        unknown=(*unknown, *also_unknown),
        estimator=estimator,
    )


def _estimator_file(given: str, robot: str) -> str:
    """Return the path of an estimator file, of those shipped or another; ArgumentError."""
    path = Path(estimator_file(given or robot)).expanduser()
    if not path.is_file():
        names = ', '.join(shipped('estimators'))
        raise ArgumentError('--estimated', given, f'an estimator file, or one of {names}')
    return str(path.resolve())


def _require_same_coordinates(robot: RobotDescription, plant: Sequence[str]) -> None:
    """Raise our errors for a wrong plant, and for one whose record the demo could not draw."""
    if plant_of(robot, plant).coordinate_names != robot.coordinate_names:
        expected = 'a robot of the same coordinates: a demo draws its record by the robot file'
        raise ArgumentError('plant', list(plant), expected)


def parameter_arguments(files: Iterable[Any]) -> list[str]:
    """Return the command-line arguments that give a node its namespace and parameter files."""
    arguments = ['--ros-args', '-r', f'__ns:=/{NAMESPACE}']
    for file in files:
        arguments += ['--params-file', str(file)]
    return arguments


def compile_everything(plan: Plan) -> tuple[CompiledModel, Callable[[], Any]]:
    """
    Compile what both nodes will need; return (model, a function that returns the reference).

    The nodes find it in the cache. Calling the function raises InfeasibleReferenceError for a
    reference that no admissible actuation can hold.
    """
    with simulation_elsewhere(plan.robot):
        plant, values = plants.controlled(plan.controller), plan.controller
    plants.simulated(plan.simulation)
    model = plant.model
    if plan.estimator:
        Estimator(model, plan.estimator)
        ShapeFit(model, plan.estimator)
    # None: the state itself, whatever it will be
    return model, lambda: plants.plan_of(model, values, model.q0).reference


def _write_own(
    path: Path, robot: str, rate: float, folder: Path, estimator: str | None, more: dict[str, Any]
) -> None:
    """Write the file of the demo's own parameters; JSON is YAML in which texts stay texts."""
    common = {
        'robot': robot,
        'rate': rate,
        'command_type': 'joint_state',
        'reliability': 'reliable',
    }
    nodes = {
        name: {'ros__parameters': {**common, 'record': str(folder / f'{name}.mcap')}}
        for name in ('controller', 'simulation')
    }
    nodes['controller']['ros__parameters'] |= {'autostart': False, **more}
    if estimator:
        nodes['simulation']['ros__parameters']['estimator'] = estimator
        own = {**common, 'estimator': estimator, 'autostart': True}
        nodes['estimator'] = {'ros__parameters': own}
    path.write_text(json.dumps({'/**': nodes}, indent=2) + '\n', encoding='utf-8')


def _read(
    make_node: Callable[..., Any],
    name: str,
    files: Any,
    rows: Any,
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
        parameters = Parameters(node, rows)
        more(parameters.values, parameters.declare)
        return parameters.values, parameters.unknown()
    finally:
        node.destroy_node()
