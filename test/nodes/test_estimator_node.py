# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A loop over DDS on estimated states holds, and is safe without sensors."""

import json
from pathlib import Path
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped, WrenchStamped  # noqa: E402
from rcl_interfaces.srv import SetParametersAtomically  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from softrobot_dynamics.description.shipped import shipped  # noqa: E402
from softrobot_dynamics.estimation.settings import load_estimator  # noqa: E402
from softrobot_dynamics.loops.message_fields import stamp_of  # noqa: E402
from softrobot_dynamics.nodes.messaging.message_values import stamped  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402
from support.held_rates import held_rate  # noqa: E402
from support.node_processes import compile_estimator  # noqa: E402
from support.observer import CONTROLLER  # noqa: E402
from support.policies import check_policy  # noqa: E402
import yaml  # noqa: E402

ESTIMATOR = '/estimator: estimator'
PRETENSION = 1.0


@pytest.fixture(scope='module')
def estimated(arm):
    """From here on all processes find compiled what estimates the arm."""
    compile_estimator(arm, shipped('estimators')['pcc_arm'])


@pytest.mark.realtime
def test_the_demo_follows_on_estimates(tmp_path, estimated):
    """Under estimates of a noisy camera the tip follows its circle to 2 mm."""
    command = [sys.executable, '-m', 'softrobot_dynamics.cli', 'demo', '--estimated', '--no-plot']
    given = ['--duration', '3', '--json', 'figures.json', '--controller', 'quick.yaml']
    rate = held_rate(3)
    (tmp_path / 'quick.yaml').write_text(json.dumps({'/**': {'controller': {'ros__parameters': {
        'gains.p': 100.0, 'gains.d': 20.0, 'reference.type': 'circle', 'reference.ramp_time': 1.0,
        'reference.circle.center': [0.0, 0.0, 0.57], 'reference.circle.radius': 0.1,
    }}}}))  # fmt: skip
    for each in (rate, 0.5 * rate, 0.25 * rate):  # others may take the processors meanwhile
        done = subprocess.run(
            [*command, *given, '--rate', f'{each:g}'],
            cwd=tmp_path, capture_output=True, text=True, timeout=900,
        )  # fmt: skip
        figures = json.loads((tmp_path / 'figures.json').read_text())
        if figures['held']:
            break
    assert done.returncode == 0 and figures['held'], done.stdout + done.stderr
    assert 1e-5 < figures['tip_rms_m'] < 2e-3  # no better than what is measured allows


@pytest.mark.realtime
def test_wrong_measurements_change_nothing_and_none_make_the_robot_safe(
    observer, start_arm, estimated
):
    """Refused and counted while the loop runs; once sensors are silent states stop, too."""
    simulation = start_arm('simulation', estimator='pcc_arm')
    estimator = start_arm(
        'estimator', estimator='pcc_arm', autostart='true', collision_force='0.7'
    )
    controller = start_arm('controller', autostart='true', reference__type='hold')
    observer.until(lambda: observer.mode(CONTROLLER) == 'running', 'a loop')
    observer.until(lambda: observer.mode(ESTIMATOR) == 'estimating', 'its status')
    wrong = PoseStamped()
    wrong.header.stamp = observer.node.get_clock().now().to_msg()
    wrong.pose.position.x = float('nan')

    publisher = observer.node.create_publisher(PoseStamped, 'sensors/camera', 1)

    def refused():
        publisher.publish(wrong)
        return observer.value(ESTIMATOR, 'refused: not a number') >= 1

    observer.until(refused, 'a refusal', every=0.05)
    outliers = observer.value(ESTIMATOR, 'outliers')

    def left_out():
        wrong.header.stamp = stamped(stamp_of(observer.states[-1]) + 1)
        wrong.pose.position.x, wrong.pose.orientation.w = 5.0, 1.0
        publisher.publish(wrong)
        return observer.value(ESTIMATOR, 'outliers') > outliers

    observer.until(left_out, 'an outlier', every=0.05)
    check_policy(observer, 'estimator')
    assert observer.mode(CONTROLLER) == 'running'
    assert observer.value(ESTIMATOR, 'restarts') == 0
    _collide(observer)
    observer.commands.clear()
    simulation.kill()
    safe = [PRETENSION] * 9
    observer.until(
        lambda: observer.commands and list(observer.commands[-1].effort) == safe, 'safety'
    )
    observer.until(lambda: observer.mode(ESTIMATOR) == 'waiting for sensors', 'the words')
    start_arm('simulation', estimator='pcc_arm')
    observer.until(lambda: observer.mode(CONTROLLER) == 'running', 'the loop again')
    assert estimator.poll() is None and controller.poll() is None


@pytest.mark.realtime
@pytest.mark.parametrize('pace', [0.2, 2.0])
def test_estimates_keep_to_simulated_time_at_another_pace(pace, observer, start_arm, estimated):
    """
    Beside a simulation at a pace, estimates are stamped by its time, near the true states.

    The pace cannot be changed while an estimator counts on it.
    """
    given = {'estimator': 'pcc_arm', 'real_time_factor': pace, 'rate': 100.0}
    start_arm('simulation', **given)
    start_arm('estimator', autostart='true', **given)
    true, apart, wrong = [], [], []
    observer.listen(JointState, 'simulation/joint_states', true.append)
    goal = {'reference__type': 'setpoint', 'reference__setpoint': str([0.002] * 9)}
    start_arm('controller', autostart='true', rate=100.0, watchdog_periods=200, **goal)
    observer.until(lambda: observer.mode(CONTROLLER) == 'running', 'a loop')
    observer.until(lambda: observer.mode(ESTIMATOR) == 'estimating', 'its status')
    observer.states.clear()

    def enough():
        if true and observer.states:
            apart.append(stamp_of(observer.states[-1]) - stamp_of(true[-1]))
            names = true[-1].name
            estimate = dict(zip(observer.states[-1].name, observer.states[-1].position))
            wrong.append(max(abs(estimate[n] - x) for n, x in zip(names, true[-1].position)))
        return len(observer.states) > 100

    observer.until(enough, 'estimates')
    assert abs(np.median(apart)) < 40_000_000  # with 1 as the pace at 0.2: 0.8 s
    assert np.median(wrong) < 0.02
    assert observer.value(ESTIMATOR, 'restarts') == 0
    change = SetParametersAtomically.Request(
        parameters=[Parameter('real_time_factor', value=0.5).to_parameter_msg()]
    )
    name = 'simulation/set_parameters_atomically'
    refused = observer.call(SetParametersAtomically, name, change).result
    assert not refused.successful and f'expected {pace:g}, which the estimator' in refused.reason


@pytest.mark.realtime
def test_gauges_that_are_silent_or_wrong_are_reported_and_states_go_on(
    observer, start_arm, tmp_path, estimated
):
    """Silent and wrong gauges are reported while commands replace them."""
    given = yaml.safe_load(Path(shipped('estimators')['pcc_arm']).read_text('utf-8'))
    cells = {'name': 'gauges', 'names': ['t1', 't2'], 'noise': 0.05, 'change': 50.0}
    (tmp_path / 'gauged.yaml').write_text(yaml.safe_dump({**given, 'efforts': [cells]}))
    start_arm('simulation', estimator='pcc_arm')
    start_arm('estimator', estimator=str(tmp_path / 'gauged.yaml'), autostart='true')
    observer.until(lambda: observer.mode(ESTIMATOR) == 'estimating', 'its status')

    def said(key):
        values = observer.status[ESTIMATOR].values
        return next(each.value for each in values if each.key == key)

    observer.until(lambda: said('silent efforts') == 'gauges', 'the silence')
    publisher = observer.node.create_publisher(JointState, 'sensors/gauges', 1)
    message = JointState(name=['t1', 't2'])

    def tell(effort, condition):
        """Say what gauges measure until a condition holds."""

        def told():
            message.header.stamp = stamped(stamp_of(observer.states[-1]) + 1)
            message.effort = [effort, effort]
            publisher.publish(message)
            return condition()

        observer.until(told, f'what is made of {effort} N', every=0.01)

    tell(PRETENSION, lambda: not said('silent efforts'))
    outliers = observer.value(ESTIMATOR, 'outliers')
    tell(500.0, lambda: said('efforts rejected') == 'gauges')
    assert observer.value(ESTIMATOR, 'outliers') > outliers and not said('silent efforts')
    tell(PRETENSION, lambda: not said('efforts rejected'))
    assert observer.mode(ESTIMATOR) == 'estimating'
    assert observer.value(ESTIMATOR, 'restarts') == 0


def _collide(observer):
    """Push the tip: the controller stops, until it is released."""
    assert observer.value(ESTIMATOR, 'collisions') == 0
    hand = observer.node.create_publisher(WrenchStamped, 'simulation/wrench', 10)
    observer.until(hand.get_subscription_count, 'the robot')
    push = WrenchStamped()
    push.header.frame_id = 'segment3 base'
    push.wrench.force.x = 1.5
    hand.publish(push)
    observer.until(lambda: observer.mode(CONTROLLER) == 'emergency stop', 'the stop')
    push.wrench.force.x = 0.0
    hand.publish(push)
    release = SetBool.Request(data=False)

    def released():
        assert observer.call(SetBool, 'controller/emergency_stop', release).success
        return observer.mode(CONTROLLER) == 'running'

    observer.until(released, 'the loop after the push', every=0.2)


@pytest.mark.parametrize(('given', 'words'), [
    ({'estimator': 'nowhere'}, 'expected a YAML file'),
    ({'robot': 'ur10e'}, "estimator: '', expected a file of sensors; there are some for pcc_arm,"),
    ({'push': 'hand'}, 'push: .hand., expected a body'),
])  # fmt: skip
def test_an_impossible_estimator_is_refused(given, words, monkeypatch):
    """An impossible estimator is refused with the reason before any subscription."""
    from softrobot_dynamics.configuration.node_parameters import OF_ESTIMATOR
    from softrobot_dynamics.errors import SoftRobotError
    from softrobot_dynamics.nodes.estimator import EstimatorNode

    values = {row.name: row.default for row in OF_ESTIMATOR} | given
    with pytest.raises(SoftRobotError, match=words):
        EstimatorNode._load(object.__new__(EstimatorNode), values)


def test_a_pace_of_time_is_refused_for_sensors_of_another_clock():
    """Sensors stamped by their arrival or their driver know of no simulated time."""
    from softrobot_dynamics.errors import ArgumentError
    from softrobot_dynamics.nodes.estimator import _require_pace

    camera = {'name': 'camera', 'type': 'pose', 'body': 'segment3'}
    message = {'type': 'geometry_msgs/PoseStamped', 'topic': 'tip', 'clock': 'arrival'}
    own = load_estimator({'sensors': [{**camera, 'message': message}]})
    _require_pace(1.0, own)
    _require_pace(0.5, load_estimator({'sensors': [camera]}))
    with pytest.raises(ArgumentError, match='real_time_factor: 0.5, expected 1, as the clock of'):
        _require_pace(0.5, own)


def test_the_shipped_estimators_suit_their_robots():
    """Each shipped estimator observes all of the robot in its name."""
    files = shipped('estimators')
    assert {'pcc_arm', 'pcc_arm_imu'} <= set(files)
    for name, file in files.items():
        robot = max((each for each in shipped('robots') if name.startswith(each)), key=len)
        own = sd.Estimator(sd.compile_model(sd.load_robot(robot)), file)
        assert not own.observability().unobservable
