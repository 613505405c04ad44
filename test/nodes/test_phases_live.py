# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Phases of laws over real DDS: started, tuned, stopped and restarted."""

import pytest

pytest.importorskip('rclpy')

import numpy as np  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from softrobot_dynamics.configuration import build  # noqa: E402
from softrobot_dynamics.configuration.parameter_files import controller_values  # noqa: E402
from softrobot_dynamics.errors import ArgumentError  # noqa: E402
from softrobot_dynamics.evaluation.replay import replay  # noqa: E402
from softrobot_dynamics.recordings.reading import read_recording  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from support.node_processes import NODES, RATE, starting  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402
import yaml  # noqa: E402

pytestmark = pytest.mark.realtime

PARAMETERS = {
    'phases': ['one', 'both'],
    'one__duration': 10.0,  # what is to be seen in it, and held, has to be in time
    'one__parts': ['lower'],
    'both__parts': ['lower', 'upper'],
    'lower__controlled': ['t1', 't2', 't3'],
    'lower__reference__type': 'setpoint',
    'lower__reference__setpoint': [-1e-3, -1e-3, -1e-3],
    'upper__controller': 'pd_plus',
    'upper__controlled': ['t4', 't5', 't6'],
    'upper__pd_plus__p': 4.0,
    'upper__pd_plus__d': 4.0,
    'reference__ramp_time': 0.3,
}


@pytest.fixture
def all_compiled(tmp_path):
    """Let this process compile what both nodes then find compiled."""
    values = {name.replace('__', '.'): value for name, value in PARAMETERS.items()}
    file = tmp_path / 'parameters.yaml'
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': values}}), encoding='utf-8')
    build.controlled(controller_values(sd.load_robot('pcc_arm'), [file])[0])


@pytest.mark.usefixtures('all_compiled')
def test_phases_follow_each_other_and_stop_on_a_hold(observer, tmp_path):
    """
    Phases follow each other in diagnostics and log, and stop by order.

    Every command can be computed again from the recording, bit for bit.
    """
    with starting(tmp_path, NODES, (), robot='pcc_arm', rate=RATE) as start:
        start('simulation', wait_for_commands='true', real_time_factor=5.0)
        record = tmp_path / 'run.mcap'
        start('controller', autostart='true', record=str(record), **PARAMETERS)
        observer.until_running()
        observer.until(lambda: observer.phase == 'both', 'the second phase')
        observer.set_pace(1.0)  # now orders have to come in time
        observer.until(lambda: len(led(observer)) == 6, 'six that are led')
        assert observer.set(upper__pd_plus__p=9.0, upper__pd_plus__d=6.0).successful
        refused = observer.set(upper__pd_plus__p=-9.0)
        assert not refused.successful and 'upper.pd_plus.p' in refused.reason
        assert observer.set(lower__reference__setpoint=[-2e-3, -2e-3, -2e-3]).successful
        observer.until(lambda: y_d(observer, 't1') == pytest.approx(-2e-3), 'the new set-point')
        assert observer.phase == 'both'
        hold = Trigger.Request()
        assert observer.call(Trigger, 'controller/hold', hold).success and len(led(observer)) == 6
        restart = observer.ask(Trigger, 'controller/restart', Trigger.Request())
        observer.until(lambda: led(observer) == ['t1', 't2', 't3'], 'the first phase again')
        assert observer.call(Trigger, 'controller/hold', hold).success
        assert observer.answer(restart).success
        publisher = observer.node.create_publisher(JointTrajectory, 'controller/trajectory', 10)
        observer.until(publisher.get_subscription_count, 'a reader')
        publisher.publish(to_rest(6))
        log = tmp_path / 'controller.log'
        words = '~/trajectory refused: not now: at present t4, t5, t6 have no reference'
        observer.until(lambda: words in log.read_text(encoding='utf-8'), 'the refusal')
        observer.set_pace(5.0)
        observer.until_later(2.0)  # the duration of what is refused
        assert observer.phase == 'one' and led(observer) == ['t1', 't2', 't3']
    found = log.read_text(encoding='utf-8')
    assert found.count(': phase one') == 2 and found.count(': phase both') == 1
    recording = read_recording(record)
    found = replay(recording)
    assert found.difference is None and found.messages_since is None
    assert found.compared + found.safe == len(recording) > 1000
    row, u = 700, recording['u']
    u.flags.writeable = True
    u[row, 4] = np.nextafter(u[row, 4], np.inf)
    changed = replay(recording).difference
    assert (changed.tick, changed.actuator) == (row, 't5') and changed.recorded == u[row, 4]
    with pytest.raises(ArgumentError, match='has changed since'):
        replay(recording, 'ur10e')


def led(observer):
    """Return the names of the outputs that follow anything."""
    heard = observer.heard.get('reference')
    return list(heard.joint_names) if heard else []


def y_d(observer, name):
    """Return where an output should be."""
    heard = observer.heard['reference']
    return heard.points[0].positions[led(observer).index(name)]


def to_rest(count):
    """Return a trajectory of some outputs."""
    point = JointTrajectoryPoint(positions=[-1e-3] * count)
    return JointTrajectory(joint_names=[f't{i + 1}' for i in range(count)], points=[point])
