# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Wrong states are logged and cause no command: the controller over real DDS."""

import math
import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from rclpy.qos import ReliabilityPolicy  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.loops.message_fields import SECOND  # noqa: E402
from softrobot_dynamics.nodes.messaging.message_values import stamped  # noqa: E402
from support.linear_plant import COORDINATES  # noqa: E402
from support.node_processes import RATE, SAFE  # noqa: E402
from support.observer import CONTROLLER, PATIENCE  # noqa: E402


class Robot:
    """A robot at rest, whose states the observer publishes: at about 20 Hz, while it waits."""

    def __init__(self, observer, log):
        self._observer, self._log = observer, log

    def until(self, condition, what, names=COORDINATES, velocity=(0.0, 0.0)):
        """Publish states until the condition holds."""

        def say():
            state = JointState(name=list(names), position=[0.1, 0.1], velocity=list(velocity))
            state.header.stamp = stamped(time.time_ns() - 3600 * SECOND)
            self._observer.say('joint_states', state)
            return condition()

        self._observer.until(say, what, every=0.05)

    def until_logged(self, words, **changes):
        """Publish states until all words are in one line of warning."""

        def logged():
            lines = self._log.read_text(encoding='utf-8').splitlines()
            return any('[WARN]' in line and all(w in line for w in words) for line in lines)

        self.until(logged, words, **changes)


def test_wrong_states_are_reported_and_not_followed(observer, start, tmp_path):
    """Misspelt, wrongly stamped, absurd and missing states are reported and not followed."""
    start('controller', autostart='true', watchdog_periods=100)
    robot = Robot(observer, tmp_path / 'controller.log')
    robot.until_logged(["'yy' is unknown (did you mean y?)", 'y missing'], names=('x', 'yy'))
    robot.until_logged(['waiting for states: no valid state on /joint_states'], names=('x', 'yy'))
    robot.until_logged(['running (before: waiting for the first state)'])
    robot.until_logged(['states are 3600 s behind the clock'])
    robot.until_logged(['states come at', f'but `rate` is {RATE:g} Hz'])
    robot.until(lambda: f'is {RATE:g} Hz' in observer.words().get(CONTROLLER, ''), 'the rate')
    observer.commands.clear()
    robot.until_logged(['contradiction', '1e+149'], velocity=(0.0, 1e149))
    assert {tuple(command.effort) for command in observer.commands} <= {(0.0, 0.0), tuple(SAFE)}
    robot.until_logged(['no valid state (before: running)'], velocity=(50.0, 0.0))
    robot.until_logged(['running (before: no valid state)'])
    assert np.isfinite([command.effort for command in observer.commands]).all()
    assert not math.isnan(observer.value(CONTROLLER, 'refused: contradiction'))


@pytest.mark.parametrize('allowed', [False, True])
def test_what_would_leave_its_posture_is_not_activated(observer, start, tmp_path, allowed):
    """An unstable order is refused while outputs are held, or reported where allowed."""
    given = {'allow_unstable': 'true'} if allowed else {}
    start('controller', autostart='true', robot='restless', **given)
    words, log = 'rates of 2.5+1.5i 1/s', tmp_path / 'controller.log'
    observer.until(lambda: words in log.read_text(encoding='utf-8'), words)
    if allowed:
        Robot(observer, log).until(lambda: observer.commands, 'commands')
    else:
        assert 'expected none above 0' in log.read_text(encoding='utf-8')
        assert observer.commands == []


def test_qos_overrides_are_honoured_or_left_out_in_words(observer, start, tmp_path):
    """QoS overrides apply to publishers and subscriptions; fixed policies are reported."""
    log = tmp_path / 'controller.log'
    overrides = {
        'publisher.reliability': 'reliable',
        'publisher.depth': 7,
        'publisher.lifespan': 5,
    }
    given = {f'qos_overrides./joint_commands.{key}': value for key, value in overrides.items()}
    start(
        'controller',
        autostart='true',
        reliability='best_effort',
        **given,
        **{'qos_overrides./joint_states.subscription.reliability': 'reliable'},
    )
    get = observer.node.get_publishers_info_by_topic, observer.node.get_subscriptions_info_by_topic

    def found(k, topic):
        return [
            each.qos_profile.reliability
            for each in get[k](topic)
            if each.node_name == 'controller'
        ]

    observer.until(lambda: found(0, '/joint_commands'), 'the controller')
    assert found(0, '/joint_commands') == [ReliabilityPolicy.RELIABLE]
    observer.until(lambda: found(1, '/joint_states'), 'its subscription')
    assert found(1, '/joint_states') == [ReliabilityPolicy.RELIABLE]
    observer.until(lambda: CONTROLLER in observer.words(), 'its diagnostics')
    words = log.read_text(encoding='utf-8')
    assert 'unknown parameter qos_overrides./joint_commands.publisher.lifespan' in words
    assert 'publisher.depth' not in words
    assert start('controller', autostart='true', **{
        'qos_overrides./joint_states.subscription.reliability': 'perhaps'
    }).wait(PATIENCE) == 1  # fmt: skip
    assert 'joint_states: ' in log.read_text(encoding='utf-8') and 'Traceback' not in words
