# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Joints whose drives take positions, over real DDS."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from lifecycle_msgs.msg import Transition  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.evaluation.replay import replay  # noqa: E402
from softrobot_dynamics.loops.message_fields import SECOND, stamp_of  # noqa: E402
from softrobot_dynamics.recordings.reading import read_recording  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402
from support.joint_drives import link, ROBOTS, with_joint_drives  # noqa: E402
from support.node_processes import compile_for_nodes, NODES, RATE, starting  # noqa: E402
from support.observer import CONTROLLER  # noqa: E402
import yaml  # noqa: E402

pytestmark = pytest.mark.realtime

AIM, ELSEWHERE, SPEED = 0.6, -0.5, 3.0  # [rad], [rad/s]
SETTINGS = {
    'reference__type': 'setpoint',
    'reference__setpoint': [AIM],
    'reference__ramp_time': 0.3,
    'after_loss': 'hold',
    'safe_command': 'brake',
}


@pytest.fixture
def file(tmp_path):
    """Return the file of a link with a drive that takes positions; all is compiled for it."""
    path = tmp_path / 'link.yaml'
    path.write_text(yaml.safe_dump(link()), encoding='utf-8')
    compile_for_nodes(str(path))
    return path


def told(observer):
    """Return the position in the last command."""
    return observer.commands[-1].position[0]


def test_a_position_drive_follows_stops_and_is_found_where_it_is(observer, file, tmp_path):
    """
    A joint with a position drive reaches its aim and stays there in an emergency stop.

    Moved while the controller is inactive, it is told its own position first, and led from there.
    After a loss of states on its way the joint is held where it is.
    """

    def joint():
        return observer.states[-1].position[0] if observer.states else np.nan

    def at(place):
        return lambda: abs(joint() - place) < 0.01

    with starting(tmp_path, NODES, (), robot=str(file), rate=RATE) as start:
        start('simulation')
        start('controller', autostart='true', **SETTINGS)
        observer.until_running()
        observer.until(at(AIM), 'the aim')
        last = observer.commands[-1]
        assert len(last.position) == 1 and not last.effort and abs(told(observer) - AIM) < 0.02
        observer.until(lambda: 'state' in observer.heard, 'a report')
        weight = 2.0 * 9.81 * 0.3 * np.cos(AIM)
        observer.until(
            lambda: abs(observer.heard['state'].effort[0] + weight) < 0.1, 'its weight, reported'
        )
        stop = SetBool.Request(data=True)
        assert observer.call(SetBool, 'controller/emergency_stop', stop).success
        observer.until(lambda: observer.words()[CONTROLLER].startswith('emergency'), 'a stop')
        assert abs(told(observer) - AIM) < 0.02 and at(AIM)()
        stop.data = False
        assert observer.call(SetBool, 'controller/emergency_stop', stop).success
        observer.until_running()

        assert observer.change(Transition.TRANSITION_DEACTIVATE)
        observer.until(at(AIM), 'the joint where it was')
        place = observer.node.create_publisher(JointState, 'simulation/set_state', 10)
        observer.until(place.get_subscription_count, 'the simulation')
        place.publish(JointState(name=['hip'], position=[ELSEWHERE], velocity=[0.0]))
        observer.until(at(ELSEWHERE), 'another place')
        observer.commands.clear()
        assert observer.change(Transition.TRANSITION_ACTIVATE)
        observer.until(at(AIM), 'the aim again')
        sent = np.array([each.position[0] for each in observer.commands])
        assert abs(sent[0] - ELSEWHERE) < 1e-3
        passed = np.diff([stamp_of(each) for each in observer.commands]) / SECOND
        assert (np.abs(np.diff(sent)) < 2.0 * SPEED * passed.clip(1.0 / RATE)).all()

        assert observer.set(reference__ramp_time=4.0, reference__setpoint=[-AIM]).successful
        observer.until(lambda: joint() < AIM - 0.2, 'the joint on its way')
        assert observer.call(SetBool, 'simulation/pause', SetBool.Request(data=True)).success
        observer.until(lambda: observer.words()[CONTROLLER].startswith('no valid'), 'a loss')
        before = joint()
        assert observer.call(SetBool, 'simulation/pause', SetBool.Request(data=False)).success
        observer.until_running()
        observer.until_later(1.5)
        assert abs(joint() - before) < 0.1
        assert observer.set(reference__setpoint=[before], reference__ramp_time=0.3).successful


@pytest.mark.parametrize('command', ['force', 'position'])
def test_simulation_2_of_the_paper_runs_with_position_drives(command, observer, tmp_path):
    """
    The rigid arm, soft arm and gripper go through all three phases.

    The rigid arm is as near to its reference with drives that take positions as with torques, and
    every force of the laws can be computed again from the recording, bit for bit.
    """
    path, record = tmp_path / 'robot.yaml', tmp_path / 'run.mcap'
    path.write_text(yaml.safe_dump(with_joint_drives('hybrid_arm', command)), encoding='utf-8')
    file = ROBOTS.parent / 'controllers' / 'hybrid_arm.yaml'
    given = yaml.safe_load(file.read_text(encoding='utf-8'))['/**']['controller']
    own = flat(given['ros__parameters']) | {'delay': 0.0}
    compile_for_nodes(str(path), **{name.replace('__', '.'): x for name, x in own.items()})
    common = {'robot': str(path), 'rate': 250.0}
    with starting(tmp_path, NODES, (), **common) as start:
        pace = {'real_time_factor': 0.0, 'command_timing': 'lockstep'}
        start('simulation', wait_for_commands='true', **pace)
        start('controller', autostart='true', record=str(record), watchdog_periods=4000, **own)
        observer.until(lambda: observer.phase == 'grip', 'the last phase')
        observer.until_later(4.0)
        fields = {x for x in ('position', 'effort') if getattr(observer.commands[-1], x)}
        assert fields == ({'effort'} if command == 'force' else {'position', 'effort'})
        assert observer.change(Transition.TRANSITION_DEACTIVATE)
    run = read_recording(record)
    error = np.abs(run['q'][:, :6] - run['y_d'][:, :6])
    print(f'{command}: {1e3 * np.nanmax(error):.3f} mrad, {1e3 * error[-10].max():.4f} at the end')
    assert np.nanmax(error) < 5e-3 and error[-10].max() < 1e-4
    assert run['q'][-10, 6:8] == pytest.approx([-np.pi / 2, np.pi / 4], abs=2e-2)
    found = replay(run)
    assert found.difference is None and found.compared > 1000


def flat(values, prefix=''):
    """Return nested parameters by names with double underscores for dots."""
    found = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found |= flat(value, f'{prefix}{name}__')
        else:
            found[prefix + name] = value
    return found
