# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Huge messages and floods on every topic of the nodes are refused, over real DDS."""

import re
import threading

import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import PointStamped, PoseStamped, WrenchStamped  # noqa: E402
from rclpy.qos import QoSProfile  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Header  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402
from support.node_processes import closed_loop  # noqa: E402
from support.observer import CONTROLLER, Observer, SIMULATION  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

LONG = 'x' * 100_000
NAMES = [f'x{k}' for k in range(10_000)]
HUGE = {  # {topic: (message, the node that reads it)}
    'joint_states': (JointState(name=NAMES), 'controller'),
    'controller/trajectory': (
        JointTrajectory(joint_names=['left'], points=[JointTrajectoryPoint()] * 6_000),
        'controller',
    ),
    'controller/target': (PointStamped(header=Header(frame_id=LONG)), 'controller'),
    'controller/target_pose': (PoseStamped(header=Header(frame_id=LONG)), 'controller'),
    'joint_commands': (JointState(name=NAMES), 'simulation'),
    'simulation/wrench': (WrenchStamped(header=Header(frame_id=LONG)), 'simulation'),
    'simulation/set_state': (JointState(name=NAMES), 'simulation'),
}
WORDY = {  # what is read, and refused for what it says
    'joint_states': JointState(name=[LONG[:9_000], LONG[:8_000]]),
    'controller/trajectory': JointTrajectory(joint_names=[LONG, LONG[:-1]]),
    'controller/target': PointStamped(header=Header(frame_id=LONG[:1_900])),
    'joint_commands': JointState(name=[LONG[:9_000], LONG[:8_000]]),
    'simulation/wrench': WrenchStamped(header=Header(frame_id=LONG[:1_900])),
    'simulation/set_state': JointState(name=NAMES[:2_000]),
}
STAMP = re.compile(r'^\[[A-Z]+\] \[[\d.]+\] \[\w+\]: ')
LONGEST = 300  # characters of a line


@pytest.fixture
def say(observer):
    """Return a function that says something on a topic that somebody listens to."""
    publishers = {}

    def say(topic, message):
        if topic not in publishers:
            create = observer.node.create_publisher
            publishers[topic] = create(type(message), topic, QoSProfile(depth=1))
            observer.until(publishers[topic].get_subscription_count, topic)
        publishers[topic].publish(message)

    for topic in ('/joint_states', '/joint_commands'):
        observer.ignore(topic)  # it would take its time for what is huge
    return say


def test_huge_messages_are_refused_unread_and_reported_in_few_words(
    observer, start, say, tmp_path
):
    """Huge messages on any topic are refused unread, and the loop stays closed."""
    closed_loop(observer, start, watchdog_periods=200)
    logs = {name: tmp_path / f'{name}.log' for name in ('controller', 'simulation')}

    def lines(name):
        return logs[name].read_text(encoding='utf-8').splitlines()

    for topic, (message, name) in HUGE.items():
        count = len(lines(name))

        def said(name=name, count=count):
            say(topic, message)  # noqa: B023  called at once
            return any('wrong size' in line for line in lines(name)[count:])

        observer.until(said, topic, every=0.2)
    for topic, message in WORDY.items():
        count = {name: len(lines(name)) for name in logs}

        def refused(count=count):
            say(topic, message)  # noqa: B023
            return any(
                'refused' in line or 'wrong' in line
                for name in logs
                for line in lines(name)[count[name] :]
            )

        observer.until(refused, topic, every=0.2)
    for name in logs:
        assert max(len(STAMP.sub('', line)) for line in lines(name)) <= LONGEST
    for status in observer.status.values():
        assert len(status.message) <= 2 * LONGEST
        assert max(len(each.value) for each in status.values) <= LONGEST
    observer.until_running()


@pytest.mark.parametrize('topic', ['joint_states', 'controller/trajectory', 'controller/target'])
def test_a_flood_from_one_publisher_keeps_no_stop_away(observer, start, say, topic):
    """A flood of messages from another process delays no emergency stop."""
    closed_loop(observer, start, watchdog_periods=200)
    message, over = type(HUGE[topic][0])(), threading.Event()
    flooding = Observer()  # a participant of its own
    publisher = flooding.node.create_publisher(type(message), topic, QoSProfile(depth=1))
    flooding.until(publisher.get_subscription_count, topic)

    def flood():
        while not over.is_set():
            publisher.publish(message)

    thread = threading.Thread(target=flood, daemon=True)
    thread.start()
    try:
        for on in (True, False, True):
            request = SetBool.Request(data=on)
            assert observer.call(SetBool, 'controller/emergency_stop', request).success
        observer.commands.clear()
        observer.until(lambda: observer.mode(CONTROLLER) == 'emergency stop', 'the stop')
    finally:
        over.set()
        thread.join()
        flooding.close()
    assert SIMULATION in observer.words()
