# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Files of ROS parameters read without ROS: as ROS reads them, or refused."""

import math

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.configuration import declared_parameters
from softrobot_dynamics.configuration.parameter_files import (
    chosen,
    controller_files,
    controller_values,
    robot_remark,
    simulation_values,
    unused,
)
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import ArgumentError, DescriptionError

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
def test_a_file_is_read_as_a_node_reads_it(robot):
    """A parameter file gives the values that a node would get from it."""
    rclpy = pytest.importorskip('rclpy')
    from softrobot_dynamics.nodes.ros_parameters import NodeParameters

    description = sd.load_robot(robot)
    rclpy.init()
    try:
        files = controller_files(robot, description, None)
        arguments = ['--ros-args', '--params-file', str(*files)]
        node = rclpy.create_node('controller', cli_args=arguments)
        parameters = NodeParameters(node, declared_parameters.controller_rows())
        declared_parameters.declare_chosen(description, parameters.values, parameters.declare)
        values, unknown = controller_values(description, files)
        assert alike(values, parameters.values) and unknown == ()
        node.destroy_node()
    finally:
        rclpy.shutdown()


@pytest.mark.parametrize('name', ['/**', 'controller', '/arm/controller', '/*/controller'])
def test_a_file_for_a_controller_in_any_namespace(name, tmp_path):
    """A controller's block counts in any namespace; unknown parameters are reported."""
    values, unknown = controller_values(sd.load_robot('pcc_arm'), [written(tmp_path, name)])
    assert values['rate'] == 500.0 and values['gains.p'] == 100.0 and values['gains.t2.p'] == 80.0
    assert math.isnan(values['gains.t1.p']) and values['gains.d'] != 3.0
    assert values['reference.setpoint'] == (0.0, -1e-3, *[0.0] * 7)
    assert unknown == ('gians.d (did you mean gains.d?)',)


def test_without_a_file_parameters_have_their_defaults():
    """A robot without a shipped parameter file gets the declared defaults."""
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
def test_an_invalid_parameter_file_is_refused(text, words, tmp_path):
    """An invalid file is refused with the place, the value and what would be right."""
    with pytest.raises(DescriptionError, match=words):
        controller_values(sd.load_robot('pcc_arm'), [written(tmp_path, text=text)])


def test_a_missing_file_is_refused():
    """A missing file is refused with the option that named it."""
    with pytest.raises(ArgumentError, match='--controller.*nowhere.yaml'):
        controller_files('pcc_arm', sd.load_robot('pcc_arm'), 'nowhere.yaml')


def test_a_flag_overrides_the_file(tmp_path):
    """A flag overrides the file, and a difference between both is reported."""
    file = written(tmp_path)
    assert chosen('rate', None, '', []) == (None, '')
    assert chosen('rate', None, '', [file]) == (500.0, '')
    assert chosen('rate', 500.0, '--rate 500', [file]) == (500.0, '')
    value, remark = chosen('rate', 250.0, '--rate 250', [file])
    assert value == 250.0 and 'rate: 500.0 in the parameter file' in remark
    assert '--rate 250 takes precedence' in remark
    with pytest.raises(DescriptionError, match='rate: .fast.'):
        text = '/**: {ros__parameters: {rate: fast}}'
        chosen('rate', 250.0, '', [written(tmp_path, text=text)])


def test_a_robot_is_the_same_by_name_and_by_path(tmp_path):
    """A robot's name and path count as the same; another robot in the file is reported."""
    text = '/**: {ros__parameters: {robot: ur10e}}'
    file = written(tmp_path, text=text)
    assert robot_remark(shipped('robots')['ur10e'], [file]) == ()
    assert robot_remark('ur10e', [file]) == () and robot_remark('toy', []) == ()
    assert 'robot: ur10e' in robot_remark('toy', [file])[0]


def test_overridden_values_are_reported_once(tmp_path):
    """An overridden value for all nodes is reported once, a node's own for that node."""
    text = """
/**: {ros__parameters: {record: a.mcap, rate: 100.0}}
simulation: {ros__parameters: {rate: 50.0}}
"""
    file = written(tmp_path, text=text)
    own = {
        'controller': {'record': 'b.mcap', 'rate': 100.0},
        'simulation': {'record': 'c.mcap', 'rate': 100.0},
    }
    record, rate = unused([file], own)
    assert record.startswith('record: a.mcap of the controller') and 'b.mcap' in record
    assert rate.startswith('rate: 50.0 of the simulation') and '100.0 takes precedence' in rate


def test_a_simulation_has_a_block_of_its_own(tmp_path):
    """The simulation's block returns the given values only, checked against its parameters."""
    text = """
simulation: {ros__parameters: {plant: ['density=×1.2'], bus.rate: 100, sensors: {noise: 1e-4}}}
controller: {ros__parameters: {rate: 500.0}}
"""
    description = sd.load_robot('pcc_arm')
    found = simulation_values(description, [written(tmp_path, text=text)])
    assert found == {'plant': ('density=×1.2',), 'bus.rate': 100.0, 'sensors.noise': 1e-4}
    wrong = written(tmp_path, text=text.replace('rate: 100', 'rate: -1'))
    with pytest.raises(DescriptionError, match='bus.rate: -1'):
        simulation_values(description, [wrong])
