# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A driver that reports angles within a turn, over real DDS."""

import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.dynamics.periodic_coordinates import FULL_TURN  # noqa: E402
from softrobot_dynamics.nodes.messaging.message_values import stamped  # noqa: E402
from support.linear_plant import COORDINATES  # noqa: E402
from support.observer import CONTROLLER  # noqa: E402

pytestmark = pytest.mark.realtime

PERIOD = 0.005  # [s] by the driver's clock
FASTEST, END = 4.0, 3.8  # [rad/s], [rad]: beyond half a turn, and within reach of the law


class Driver:
    """
    A joint that turns smoothly from 0 to END; it reports its angle in [-pi, pi).

    ``names`` (2,) of the joints in its messages, ``extra`` ones beside them, without values;
    ``rates``: whether it reports velocities.
    """

    def __init__(self, node, names=COORDINATES, extra=(), rates=True):
        self._publisher = node.create_publisher(JointState, 'joint_states', 10)
        self._names, self._extra, self._rates = [*extra, *names], [np.nan] * len(extra), rates
        self.angle, self._speed, self._sent, self._begin = 0.0, 0.0, 0, time.time_ns()

    def send(self, moving):
        """Send the state of the next period."""
        left = END - self.angle
        wanted = min(FASTEST, np.sqrt(20.0 * max(left, 0.0))) if moving else 0.0
        before, self._speed = self._speed, min(wanted, self._speed + 0.1)
        self.angle += 0.5 * PERIOD * (before + self._speed)
        self._sent += 1
        message = JointState(
            name=self._names,
            position=[*self._extra, (self.angle + np.pi) % FULL_TURN - np.pi, 0.0],
            velocity=[*self._extra, self._speed, 0.0] if self._rates else [],
        )
        message.header.stamp = stamped(self._begin + round(self._sent * PERIOD * 1e9))
        self._publisher.publish(message)


def follow(observer, driver):
    """Let the joint turn to its end; assert that the controller has seen nothing odd in that."""

    def output():
        driver.send(bool(observer.commands))
        state = observer.heard.get('state')
        return state is not None and len(state.position) == 2 and state.position[0]

    observer.until(lambda: output() > END - 0.02, 'the output where the joint is', every=PERIOD)
    assert driver.angle > np.pi
    observer.until(
        lambda: output() and observer.value(CONTROLLER, 'ticks') > 50, 'a report', every=PERIOD
    )
    assert observer.value(CONTROLLER, 'refused: contradiction') == 0


def test_a_driver_that_reports_angles_within_a_turn_is_followed(observer, start):
    """With a driver that wraps angles no state is refused, and the output is continuous."""
    start('controller', autostart='true', robot='round')
    follow(observer, Driver(observer.node))


@pytest.mark.parametrize('rates', [True, False], ids=['velocities', 'no velocities'])
def test_wrapped_angles_with_other_names_beside_a_gripper_are_followed(
    rates, observer, start, tmp_path
):
    """
    A driver with wrapped angles, a prefix, a mapped name and a gripper's joint is followed.

    So it is without velocities. The log names the gripper's joint once, with the prefix.
    """
    names = {'joint_prefix': 'ur_', 'joint_names__y': 'flange', 'joint_names__left': 'motor'}
    start('controller', autostart='true', robot='round', **names)
    follow(observer, Driver(observer.node, ['ur_x', 'flange'], ['ur_finger'], rates))
    assert observer.commands[-1].name == ['motor', 'ur_right']
    log = (tmp_path / 'controller.log').read_text(encoding='utf-8')
    assert log.count('ur_finger') == 1
