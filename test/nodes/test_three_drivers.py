# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Three drivers, each with states of a rate of its own and commands of its own, over real DDS."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from support.node_processes import RATE  # noqa: E402
from support.observer import CONTROLLER, SIMULATION  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402

pytestmark = pytest.mark.realtime

THREE = {
    'state_topics': '[one, two, three]', 'states__one__names': '["segment1/*"]',
    'states__two__names': '["segment2/*"]', 'states__two__prefix': 'left_',
    'command_topics': '[winches, cables, drives]',
    'commands__winches__actuators': '[t1, t2, t3]', 'commands__winches__type': 'multi_array',
    'commands__winches__unit': 'mN',
    'commands__cables__actuators': '[t4, t5, t6]', 'commands__cables__prefix': 'can_',
    'commands__drives__actuators': '[t7, t8, t9]',
    'commands__drives__type': 'joint_trajectory', 'commands__drives__unit': 'kN',
}  # fmt: skip
TOPICS = {
    'winches/commands': Float64MultiArray,
    'cables/joint_commands': JointState,
    'drives/joint_trajectory': JointTrajectory,
}
SIMULATED = {
    'rate': 2.0 * RATE, 'states__two__rate': RATE, 'states__three__rate': 0.5 * RATE,
    'states__three__velocities': 'false',
}  # fmt: skip


def test_three_drivers_of_states_and_commands_at_once_close_the_loop(observer, start_arm):
    """
    The arm follows a circle within 1 mm; states come in parts of 200, 100 and 50 Hz.

    Ticks come at 100 Hz, the slowest part has no velocities, and each driver gets its commands in
    a type, by names and in a unit of its own.
    """
    heard = {}
    for topic, kind in TOPICS.items():
        observer.listen(kind, topic, lambda message, topic=topic: heard.update({topic: message}))
    start_arm('simulation', **THREE | SIMULATED)
    start_arm(
        'controller', autostart='true', states__tick='two', rate=RATE, reference__type='circle',
        reference__circle__body='segment3', reference__ramp_time='0.5', **THREE,
    )  # fmt: skip
    observer.until_running()
    observer.until(lambda: observer.value(CONTROLLER, 'ticks') > 1.5 * RATE, 'the circle')
    errors = []

    def seen():
        errors.append(observer.output_error())
        return observer.value(CONTROLLER, 'ticks') > 2.5 * RATE

    observer.until(seen, 'one second more')
    assert np.nanmax(errors) < 1e-3
    assert observer.mode(SIMULATION) == 'driven by commands'
    winches, cables, drives = (heard[topic] for topic in TOPICS)
    assert len(winches.data) == 3 and 1e2 < max(winches.data) < 4e4  # mN
    assert cables.name == ['can_t4', 'can_t5', 'can_t6'] and 0.1 < max(cables.effort) < 40.0
    assert drives.joint_names == ['t7', 't8', 't9'] and max(drives.points[0].effort) < 0.04  # kN
