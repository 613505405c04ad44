# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Every file that the documentation shows is accepted by the package or its program."""

import functools
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.configuration.command_parts import command_parts
from softrobot_dynamics.configuration.declared_parameters import sensor_rows, SIMULATION
from softrobot_dynamics.configuration.parameter_descriptions import ParameterTable
from softrobot_dynamics.configuration.parameter_files import controller_values
from softrobot_dynamics.configuration.state_topics import state_parts
from softrobot_dynamics.estimation.settings import load_estimator
from softrobot_dynamics.identification.mapping import read_mapping
from support.pages import files_of, of_kind, ROOT
import yaml

ROBOTS = {
    'your_arm.md': 'my_arm.yaml',
    'drives.md': ('your_arm.md', 'my_arm.yaml'),
    'hardware.md': ('your_arm.md', 'my_arm.yaml'),
    'laws.md': 'pcc_arm',
    'nodes.md': 'pcc_arm',
}
"""The robot that the parameters on a page are for: shipped, or a file of this or another page."""
ELSEWHERE = {
    'bodies.md',
    'extending.md',
    'extending_bodies.md',
    'extending_laws.md',
    'extending_loop.md',
    'urdf_with_finger.md',
}
"""Pages whose files are read by a test of their own."""
OF_ACTUATORS = 'actuator_names', 'commands', 'outputs'
HARDWARE = ROOT / 'examples' / 'hardware'
"""Files that the page on drives links to."""
SEGMENT = {'type': 'pcc', 'length': 0.1, 'radius': 0.02, 'density': 1e3, 'young_modulus': 1e5}


@functools.cache
def robot_of(page):
    """Return the RobotDescription that a page is about."""
    given = ROBOTS[page]
    if isinstance(given, tuple):
        return robot_of(given[0])
    files = files_of(page)
    return sd.load_robot(yaml.safe_load(files[given]) if given in files else given)


@pytest.mark.parametrize(
    'block', [block for block in of_kind('yaml') if block.page not in ELSEWHERE], ids=str
)
def test_every_yaml_block_is_accepted(block, tmp_path):
    """
    Every YAML block of the pages is accepted as a robot, parameters, sensors or columns.

    A reference in parameters is one that the robot of the page can hold.
    """
    file = tmp_path / 'block.yaml'
    file.write_text(block.text, encoding='utf-8')
    content = yaml.safe_load(block.text)
    if block.note.startswith('from: '):
        _require_excerpt(content, yaml.safe_load((ROOT / block.note[6:]).read_text('utf-8')))
    elif isinstance(content, list):
        assert sd.load_robot(_around(content)).actuator_names
    elif 'bodies' in content:
        assert sd.load_robot(content).n
    elif 'markers' in content:
        assert read_mapping(file).markers
    elif 'sensors' in content:
        assert load_estimator(file).sensors
    elif '/**' in content:
        _require_parameters(content['/**'], robot_of(block.page), file)
    else:
        assert 'controller_manager' in content, 'what is this?'


def _around(actuators):
    """Return a robot with what these actuators act on."""
    rigid = {'type': 'rigid', 'mass': 0.1, 'inertia': dict.fromkeys(('ixx', 'iyy', 'izz'), 1e-4)}
    bodies = [('segment1', SEGMENT), ('arm', SEGMENT), ('tip', rigid)]
    rows = [{'name': n, 'joint': {'type': 'fixed'}, 'body': body} for n, body in bodies]
    return {'name': 'around', 'bodies': rows, 'actuators': actuators}


def _require_excerpt(shown, whole):
    """Assert that what is shown stands in a file; lists and texts may be cut short by `…`."""
    whole = whole['/**']['controller']['ros__parameters']
    assert set(shown) <= set(whole)
    for name, value in shown.items():
        if '…' not in str(value):
            assert value == whole[name], name


def _require_parameters(nodes, robot, file):
    """Assert that the nodes know all that is set, and would take it."""
    if set(nodes) == {'ros__parameters'}:  # for every node: parts of the commands
        assert controller_values(robot, [file])[1] == ()
        return
    assert set(nodes) <= {'controller', 'simulation'}
    if 'controller' in nodes:
        assert controller_values(robot, [file])[1] == ()
        if 'reference' in nodes['controller']['ros__parameters']:
            sd.load_controller(file, sd.compile_model(robot)).plan()
    if 'simulation' in nodes:
        given = dict(_flat(nodes['simulation']['ros__parameters']))
        rows = ParameterTable([*SIMULATION, *sensor_rows(robot)])
        assert set(given) <= set(rows.rows)
        rows.read({name: given.get(name, row.default) for name, row in rows.rows.items()})


def _flat(block, group=''):
    for key, value in block.items():
        if isinstance(value, dict):
            yield from _flat(value, f'{group}{key}.')
        else:
            yield f'{group}{key}', value


def test_drives_are_those_of_the_robot():
    """The drives of ros2_control have the names and order of the arm's actuators."""
    files, names = files_of('drives.md'), list(robot_of('drives.md').actuator_names)
    control = yaml.safe_load(files['arm_control.yaml'])
    kinds = control['controller_manager']['ros__parameters']
    assert control['tensions']['ros__parameters'] == {'joints': names, 'interface_name': 'effort'}
    assert {name for name in kinds if name != 'update_rate'} == set(control) - {
        'controller_manager'
    }
    for name in ('topics.xml', 'dynamixel.xml'):
        joints = ElementTree.parse(HARDWARE / name).getroot().findall('joint')
        assert [joint.get('name') for joint in joints] == names[: len(joints)]
        assert all(each.find('command_interface').get('name') == 'effort' for each in joints)


def test_drives_behind_topics_have_a_state_of_what_is_commanded():
    """Each commanded interface of the topic-based plugin is a state interface, as 1.1 needs it."""
    system = ElementTree.parse(HARDWARE / 'topics.xml').getroot()
    for joint in system.findall('joint'):
        commands, states = (
            {each.get('name') for each in joint.findall(f'{kind}_interface')}
            for kind in ('command', 'state')
        )
        assert commands == {'effort'} and commands <= states


def test_drivers_of_the_page_take_all_commands_of_the_hybrid_arm(tmp_path):
    """The three drivers take every actuator once; the winches in the order of the robot file."""
    file, robot = tmp_path / 'three_drivers.yaml', sd.load_robot('hybrid_arm')
    file.write_text(files_of('drives.md')[file.name], encoding='utf-8')
    values = controller_values(robot, [file])[0]
    model = SimpleNamespace(description=robot, **{x: getattr(robot, x) for x in OF_ACTUATORS})
    arm, winches, valve = command_parts(model, values)
    assert arm.names[0] == 'ur_shoulder_pan_joint' and len(arm.names) == 6
    assert (winches.names, winches.topic) == (('t1', 't2', 't3'), 'winches/commands')
    assert (valve.names, valve.topic, valve.sizes) == (('p',), '/lab/regulator', (1e3,))


def test_drivers_of_the_page_have_all_coordinates_of_the_hybrid_arm(tmp_path):
    """The two drivers of states have every coordinate of the hybrid arm once."""
    file, robot = tmp_path / 'two_drivers.yaml', sd.load_robot('hybrid_arm')
    file.write_text(files_of('hardware.md')[file.name], encoding='utf-8')
    arm, soft = state_parts(controller_values(robot, [file])[0], robot.coordinate_names)
    assert (arm.names[0], arm.topic, len(arm.names)) == (
        'ur_shoulder_pan_joint', '/ur/joint_states', 6,
    )  # fmt: skip
    assert (len(soft.names), soft.rate, soft.velocities) == (5, 125.0, False)


@pytest.fixture
def shown():
    """Return a function that runs a driver that the page links to, and returns its names."""

    def run(name):
        space = {'__name__': name}
        exec(compile((HARDWARE / name).read_text('utf-8'), name, 'exec'), space)
        return space

    return run


def test_tensions_become_currents(shown):
    """Currents are torques over the constant, finite and within the limit."""
    registers = shown('spool_drive.py')['registers']
    found = registers([17.8, 0.0, -5.0])
    assert found.tolist() == [round(17.8 * 0.01 / 1.78 / 2.69e-3), 0.0, 0.0]
    assert np.abs(registers([1e9, 1e9, 1e9]) * 2.69e-3).max() <= 1.0 + 2.69e-3
    assert registers([10.0] * 3)[1] < 0.0
    with pytest.raises(ValueError, match='not numbers'):
        registers([1.0, np.nan, 1.0])


class Line:
    """Stands in for a serial line."""

    def __init__(self):
        self.sent = []

    def write(self, data):
        """Note what is sent."""
        self.sent.append(data.decode())


def test_pressures_go_by_name_and_stop_with_the_commands(shown):
    """Pressures are set by name in volts, and valves shut once when commands stop."""
    now, line = [0.0], Line()
    valves = shown('regulators.py')['Regulators'](line, clock=lambda: now[0])
    valves.watch()
    valves.command(['c3', 'motor', 'c1', 'c2'], [2.5e5, 1.0, 9e5, -1.0])
    assert sorted(line.sent) == ['0 10.000\n', '1 0.000\n', '2 5.000\n']
    now[0] = 0.04
    valves.watch()
    assert len(line.sent) == 3
    now[0] = 0.06
    valves.watch()
    valves.watch()
    assert line.sent[3:] == ['0 0.000\n', '1 0.000\n', '2 0.000\n']
    with pytest.raises(ValueError, match='c3'):
        valves.command(['c1', 'c2'], [0.0, 0.0])
    with pytest.raises(ValueError, match='no number'):
        valves.command(['c1', 'c2', 'c3'], [0.0, np.nan, 0.0])
