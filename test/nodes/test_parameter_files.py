# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Files of ROS parameters read without ROS: as ROS reads them, or refused."""

import math

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import ArgumentError, DescriptionError
from softrobot_dynamics.nodes import declared_rows
from softrobot_dynamics.nodes.parameter_files import controller_files, controller_values

pytestmark = pytest.mark.quick

FILE = """
/elsewhere/simulation:
  ros__parameters: {rate: 1.0, gains: {p: 1.0}}
{name}:
  ros__parameters:
    rate: 500
    gains: {p: 1e2, t1.p: .nan, t2: {p: 80}}
    gians.d: 3.0
    use_sim_time: true
    reference: {type: setpoint, setpoint: [0.0, -1e-3, 0, 0, 0, 0, 0, 0, 0]}
"""


def written(folder, name='/**', text=FILE):
    """Return a parameter file."""
    file = folder / 'controller.yaml'
    file.write_text(text.replace('{name}', name), encoding='utf-8')
    return file


def alike(one, other):
    """Tell whether two mappings of parameters are the same, nan as nan."""
    return one.keys() == other.keys() and all(
        x == other[name] or (isinstance(x, float) and math.isnan(x) and math.isnan(other[name]))
        for name, x in one.items()
    )


@pytest.mark.parametrize('robot', sorted(shipped('controllers')))
def test_what_is_read_is_what_a_node_is_given(robot):
    """All parameters, by the file that is shipped, and by one in which all is otherwise."""
    rclpy = pytest.importorskip('rclpy')
    from softrobot_dynamics.nodes.parameters import Parameters

    description = sd.load_robot(robot)
    rclpy.init()
    try:
        files = controller_files(robot, description, None)
        arguments = ['--ros-args', '--params-file', str(*files)]
        node = rclpy.create_node('controller', cli_args=arguments)
        parameters = Parameters(node, declared_rows.controller_rows())
        declared_rows.declare_chosen(description, parameters.values, parameters.declare)
        values, unknown = controller_values(description, files)
        assert alike(values, parameters.values) and unknown == ()
        node.destroy_node()
    finally:
        rclpy.shutdown()


@pytest.mark.parametrize('name', ['/**', 'controller', '/arm/controller', '/*/controller'])
def test_a_file_for_a_controller_in_any_namespace(name, tmp_path):
    """Its block counts, other nodes' do not; what nobody knows is told."""
    values, unknown = controller_values(sd.load_robot('pcc_arm'), [written(tmp_path, name)])
    assert values['rate'] == 500.0 and values['gains.p'] == 100.0 and values['gains.t2.p'] == 80.0
    assert math.isnan(values['gains.t1.p']) and values['gains.d'] != 3.0
    assert values['reference.setpoint'] == (0.0, -1e-3, *[0.0] * 7)
    assert unknown == ('gians.d (did you mean gains.d?)',)


def test_without_a_file_all_is_as_declared():
    """Of a robot that none is shipped for."""
    values, unknown = controller_values(sd.load_robot('pcc_arm'), [])
    assert values['controller'] == 'pfbl' and values['rate'] == 1000.0 and unknown == ()


@pytest.mark.parametrize('text, words', [
    ('{name}: {ros__parameters: {rate: fast}}', 'rate'),
    ('{name}: {ros__parameters: {gains: {p: -1.0}}}', 'gains.p'),
    ('{name}: {ros__parameters: {rate: 1.0, rate: 2.0}}', 'each key once'),
    ('{name}: {ros__parameters: 1.0}', 'ros__parameters'),
    ('simulation: {ros__parameters: {rate: 1.0}}', 'ros__parameters'),
    ('rate: 1.0', 'ros__parameters'),
    ('{name}: [', 'YAML'),
], ids=str)  # fmt: skip
def test_what_is_no_such_file_is_refused(text, words, tmp_path):
    """With the place, the value and what would be right."""
    with pytest.raises(DescriptionError, match=words):
        controller_values(sd.load_robot('pcc_arm'), [written(tmp_path, text=text)])


def test_a_file_that_is_not_there():
    """Is refused by the option that named it."""
    with pytest.raises(ArgumentError, match='--controller.*nowhere.yaml'):
        controller_files('pcc_arm', sd.load_robot('pcc_arm'), 'nowhere.yaml')
