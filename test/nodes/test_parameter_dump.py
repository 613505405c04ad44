# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The output of `ros2 param dump` of a node can be loaded into another one, with all values."""

import contextlib

import numpy as np
import pytest
import yaml

pytest.importorskip('rclpy')

import rclpy  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from softrobot_dynamics.configuration import declared_parameters, node_parameters  # noqa: E402
from softrobot_dynamics.controllers.contract import CONTROLLERS  # noqa: E402
from softrobot_dynamics.description.shipped import shipped  # noqa: E402
from softrobot_dynamics.nodes.ros_parameters import NodeParameters  # noqa: E402

FILES = shipped('controllers')
OTHERS = {
    'simulation': declared_parameters.SIMULATION,
    'estimator': node_parameters.OF_ESTIMATOR,
    'visualizer': node_parameters.OF_VISUALIZER,
}


@contextlib.contextmanager
def a_node(name, *arguments):
    """Give a node with the arguments of a command line."""
    context = rclpy.context.Context()
    rclpy.init(context=context)
    node = rclpy.create_node(name, context=context, cli_args=['--ros-args', *arguments])
    try:
        yield node
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)


def declare_controller(node):
    """Declare all parameters of a controller node, and return them."""
    options = NodeParameters(node, declared_parameters.controller_rows())
    robot = sd.load_robot(options.values['robot'])
    declared_parameters.declare_chosen(robot, options.values, options.declare)
    return options


def dump(node, file):
    """Write the parameters of a node as `ros2 param dump` does."""
    tree = {}
    for name in sorted(node.list_parameters([], 0).names):
        *groups, last = name.split('.')
        place = tree
        for group in groups:
            place = place.setdefault(group, {})
        value = node.get_parameter(name).value
        assert last not in place
        place[last] = list(value) if np.iterable(value) and not isinstance(value, str) else value
    text = yaml.dump({f'/{node.get_name()}': {'ros__parameters': tree}}, default_flow_style=False)
    file.write_text(text, encoding='utf-8')


def require_same_after_a_dump(name, declare, file, arguments):
    """Declare, dump, load into another node, and compare; return the values."""
    with a_node(name, *arguments) as node:
        values = declare(node).values
        dump(node, file)
    with a_node(name, '--params-file', str(file)) as node:
        again = declare(node)
        assert again.values.keys() == values.keys()
        assert not again.unknown()
        for key, value in values.items():
            np.testing.assert_array_equal(again.values[key], value, err_msg=key)
    return values


@pytest.mark.parametrize('robot', FILES)
def test_shipped_controllers_have_the_same_parameters_after_a_dump(robot, tmp_path):
    """Every shipped file of a controller, phases among them, comes back with all its values."""
    arguments = ('--params-file', str(FILES[robot]), '-p', f'robot:={robot}')
    dumped = tmp_path / 'dumped.yaml'
    values = require_same_after_a_dump('controller', declare_controller, dumped, arguments)
    assert values['robot'] == robot


@pytest.mark.parametrize('kind', CONTROLLERS.names())
def test_every_law_has_the_same_parameters_after_a_dump(kind, tmp_path):
    """Every law has the same parameters after `ros2 param dump` and load, nan and [] included."""
    arguments = ('-p', 'robot:=double_pendulum', '-p', f'controller:={kind}')
    dumped = tmp_path / 'dumped.yaml'
    require_same_after_a_dump('controller', declare_controller, dumped, arguments)


@pytest.mark.parametrize('name', OTHERS)
def test_every_other_node_has_the_same_parameters_after_a_dump(name, tmp_path):
    """Simulation, estimator and visualizer have the same parameters after a dump and load."""
    rows, dumped = OTHERS[name], tmp_path / 'dumped.yaml'
    require_same_after_a_dump(name, lambda node: NodeParameters(node, rows), dumped, ())
