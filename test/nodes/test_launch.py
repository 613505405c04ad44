# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The launch files declare their arguments and pass on what is given; runs where ROS 2 is."""

from pathlib import Path

import pytest
from softrobot_dynamics.loops import realtime
import yaml

launch = pytest.importorskip('launch')
pytest.importorskip('launch_ros')

ROOT = Path(__file__).parents[2]
COMMON = {'namespace', 'params_file', 'log_level', 'robot', 'rate', 'record'}
CONTROLLER = COMMON | {'controller', 'autostart', 'use_sim_time'}
PLACES = {'simulation_processor', 'controller_processor'}
SENSING = {'estimator', 'estimator_processor'}
ARGUMENTS = {
    'simulation': COMMON | {'simulation_processor', 'estimator', 'wait_for_commands'},
    'estimator': COMMON | SENSING | {'autostart'},
    'controller': CONTROLLER | {'controller_processor'},
    'closed_loop': CONTROLLER | PLACES | SENSING | {'visualize', 'use_rviz', 'wait_for_commands'},
    'visualizer': COMMON | {'use_rviz'},
}

# Stands in for a node: writes its arguments down, one per line.
SPY = '#!/bin/sh\nprintf "%s\\n" "$@" > "$SPIED/$(basename "$0")"\n'


@pytest.fixture
def spied(tmp_path, monkeypatch):
    """Return the folder where the stand-ins for the nodes of an installed package write."""
    share = tmp_path / 'share'
    index = share / 'ament_index/resource_index/packages'
    programs = tmp_path / 'lib/softrobot_dynamics'
    for folder in (index, programs, share / 'softrobot_dynamics', tmp_path / 'spied'):
        folder.mkdir(parents=True)
    (index / 'softrobot_dynamics').touch()
    (share / 'softrobot_dynamics/config').symlink_to(ROOT / 'config')
    for name in ('controller', 'simulation', 'estimator', 'visualizer'):
        (programs / name).write_text(SPY)
        (programs / name).chmod(0o755)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    monkeypatch.setenv('SPIED', str(tmp_path / 'spied'))
    monkeypatch.setenv('ROS_LOG_DIR', str(tmp_path / 'log'))
    return tmp_path / 'spied'


def _source(name):
    path = str(ROOT / 'launch' / f'{name}.launch.py')
    return launch.launch_description_sources.PythonLaunchDescriptionSource(path)


def _run(name, **given):
    """Launch until the stand-ins have ended; return the exit status."""
    service = launch.LaunchService(noninteractive=True)
    included = launch.actions.IncludeLaunchDescription(
        _source(name), launch_arguments=given.items()
    )
    service.include_launch_description(launch.LaunchDescription([included]))
    return service.run()


def _read(file):
    """Return the arguments a stand-in was given, and the parameters in all its files."""
    arguments = file.read_text().splitlines()
    parameters = {}
    files = [arguments[i + 1] for i, a in enumerate(arguments) if a == '--params-file']
    for content in (yaml.safe_load(Path(f).read_text()) for f in files):
        for section in content.values():
            section = section.get(file.name, section)
            parameters.update(section.get('ros__parameters', {}))
    return arguments, parameters


@pytest.mark.parametrize('name', ARGUMENTS)
def test_the_arguments_are_declared(name):
    """Every launch file declares its arguments with a default and a description."""
    source = _source(name)
    description = source.get_launch_description(launch.LaunchContext())
    declared = {argument.name: argument for argument in description.get_launch_arguments()}
    assert ARGUMENTS[name] <= set(declared)
    assert all(a.default_value is not None and a.description for a in declared.values())


def test_a_robot_brings_its_gains(spied):
    """Without a params_file the shipped one of the robot is used, in any namespace."""
    assert _run('controller', robot='ur10e', namespace='left') == 0
    arguments, parameters = _read(spied / 'controller')
    assert parameters['robot'] == 'ur10e'
    assert parameters['gains']['p'] > 0
    assert '__ns:=/left' in arguments and '__node:=controller' in arguments


def test_given_arguments_win_over_the_file(spied, tmp_path):
    """A given argument overrides params_file, and one that is not given does not."""
    file = tmp_path / 'mine.yaml'
    file.write_text('/**: {controller: {ros__parameters: {rate: 200.0, record: kept.mcap}}}')
    assert _run('controller', params_file=str(file), rate='500', log_level='debug') == 0
    arguments, parameters = _read(spied / 'controller')
    assert parameters['rate'] == 500.0 and isinstance(parameters['rate'], float)
    assert parameters['record'] == 'kept.mcap'
    assert parameters['autostart'] is True and parameters['use_sim_time'] is False
    assert arguments[arguments.index('--log-level') + 1] == 'debug'


def test_robot_and_rate_of_the_controller_in_the_file_are_those_of_all(spied, tmp_path):
    """A params_file for a controller sets robot and rate of all nodes, unless it has their own."""
    file = tmp_path / 'mine.yaml'
    own = '/**: {controller: {ros__parameters: {robot: ur10e, rate: 200.0}}'
    file.write_text(own + '}')
    assert _run('closed_loop', params_file=str(file)) == 0
    for node in ('controller', 'simulation'):
        parameters = _read(spied / node)[1]
        assert parameters['robot'] == 'ur10e' and parameters['rate'] == 200.0
    file.write_text(own + ', simulation: {ros__parameters: {rate: 400.0, robot: toy}}}')
    assert _run('closed_loop', params_file=str(file)) == 0
    parameters = _read(spied / 'simulation')[1]
    assert parameters['robot'] == 'toy' and parameters['rate'] == 400.0
    assert _run('closed_loop', params_file=str(file), robot='tree', rate='100') == 0
    for node in ('controller', 'simulation'):
        parameters = _read(spied / node)[1]
        assert parameters['robot'] == 'tree' and parameters['rate'] == 100.0


def test_a_robot_description_of_ones_own(spied, tmp_path):
    """A path as robot is passed on, with no gains of a shipped robot."""
    assert _run('simulation', robot=str(tmp_path / 'arm.yaml')) == 0
    parameters = _read(spied / 'simulation')[1]
    assert parameters['robot'] == str(tmp_path / 'arm.yaml')
    assert 'gains' not in parameters


def test_a_missing_params_file_stops_the_launch(spied):
    """A params_file that does not exist is an error, not a warning."""
    assert _run('controller', params_file='/nowhere/mine.yaml') != 0
    assert not list(spied.iterdir())


def test_processors_of_the_nodes(spied):
    """In the closed loop each node gets a processor; a single node gets the given one."""
    assert _run('controller', controller_processor='3') == 0
    arguments = (spied / 'controller').read_text().splitlines()
    assert arguments[:3] == ['--processor', '3', '--ros-args']
    assert _run('simulation') == 0
    assert '--processor' not in (spied / 'simulation').read_text()
    assert _run('closed_loop', controller_processor='1') == 0
    for node, place in (('simulation', 'own'), ('controller', '1')):
        assert (spied / node).read_text().splitlines()[:2] == ['--processor', place]
    assert _run('closed_loop', controller_processor='', simulation_processor='') == 0
    assert '--processor' not in (spied / 'controller').read_text()


@pytest.mark.skipif(len(realtime.processors()) < 2, reason='one processor only')
def test_simulation_and_controller_share_a_processor(spied):
    """Simulation and controller get one processor, with an estimator one each."""
    assert _run('closed_loop') == 0
    places = [(spied / node).read_text().splitlines()[:3] for node in ('simulation', 'controller')]
    assert places[0] == places[1] and places[0][1].isdecimal() and places[0][2] == '--shared'
    assert _run('closed_loop', estimator='pcc_arm') == 0
    for node in ('simulation', 'controller', 'estimator'):
        assert (spied / node).read_text().splitlines()[:2] == ['--processor', 'own']


def test_the_closed_loop_passes_arguments_to_both(spied):
    """Both nodes get robot, rate and namespace, and write a record each."""
    given = {'robot': 'double_pendulum', 'rate': '250.0', 'namespace': 'a/b', 'record': 'here'}
    assert _run('closed_loop', **given) == 0
    for node in ('controller', 'simulation'):
        arguments, parameters = _read(spied / node)
        assert parameters['robot'] == 'double_pendulum' and parameters['rate'] == 250.0
        assert '__ns:=/a/b' in arguments
        assert parameters['record'] == f'here/{node}.mcap'
    assert not (spied / 'visualizer').exists()


def test_the_visualizer_starts_on_request(spied):
    """On request a visualizer starts with the same robot and namespace, and no record."""
    given = {'robot': 'ur10e', 'namespace': 'left', 'record': 'here', 'visualize': 'true'}
    assert _run('closed_loop', **given) == 0
    arguments, parameters = _read(spied / 'visualizer')
    assert parameters == {'robot': 'ur10e'} and '__ns:=/left' in arguments


def test_rviz_starts_with_the_displays(spied):
    """RViz starts in the robot's namespace, or the launch says that it is missing."""
    assert _run('closed_loop', use_rviz='true') != 0 and not (spied / 'rviz2').exists()
    root = spied.parent
    (root / 'share/ament_index/resource_index/packages/rviz2').touch()
    (root / 'share/rviz2').mkdir()
    (root / 'lib/rviz2').mkdir()
    (root / 'lib/rviz2/rviz2').write_text(SPY)
    (root / 'lib/rviz2/rviz2').chmod(0o755)
    assert _run('closed_loop', use_rviz='true', namespace='left') == 0
    arguments = (spied / 'rviz2').read_text().splitlines()
    displays = yaml.safe_load(Path(arguments[arguments.index('-d') + 1]).read_text())
    assert '__ns:=/left' in arguments and (spied / 'visualizer').exists()
    topics = {
        d['Topic']['Value'] for d in displays['Visualization Manager']['Displays'] if 'Topic' in d
    }
    assert topics == {'visualizer/markers', 'visualizer/frames'}  # relative: of its namespace


@pytest.mark.parametrize(('name', 'value'), [('rate', 'fast'), ('autostart', 'maybe')])
def test_a_value_of_the_wrong_kind_is_named(spied, name, value, caplog):
    """An argument of the wrong kind stops the launch and is named."""
    assert _run('controller', **{name: value}) != 0
    assert f'{name}:={value}' in caplog.text and not list(spied.iterdir())


def test_a_named_estimator_starts_between_the_nodes(spied):
    """A named estimator starts, and it and the simulation get the sensors."""
    assert _run('closed_loop', robot='pcc_arm') == 0
    assert not (spied / 'estimator').exists()
    assert _run('closed_loop', robot='pcc_arm', estimator='pcc_arm', rate='500') == 0
    for node in ('simulation', 'estimator'):
        parameters = _read(spied / node)[1]
        assert parameters['estimator'] == 'pcc_arm' and parameters['rate'] == 500.0
    assert _read(spied / 'estimator')[1]['autostart'] is True
    assert 'estimator' not in _read(spied / 'controller')[1]


def test_the_robot_waits_for_the_controller(spied):
    """In the closed loop the robot waits unless told otherwise or estimated, alone it does not."""
    given = (
        ('closed_loop', {}, True),
        ('closed_loop', {'wait_for_commands': 'false'}, False),
        ('closed_loop', {'robot': 'pcc_arm', 'estimator': 'pcc_arm'}, False),
        ('simulation', {}, None),
    )
    for name, arguments, waits in given:
        assert _run(name, **arguments) == 0
        assert _read(spied / 'simulation')[1].get('wait_for_commands') is waits
