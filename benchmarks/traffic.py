# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Publish what no sensible sender would, as one process: for benchmarks/stop_under_traffic.py.

    python benchmarks/traffic.py 'names 10000'
"""

import itertools
import os
import sys
import time

from geometry_msgs.msg import PointStamped, PoseStamped
import rclpy
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from softrobot_dynamics.nodes.messaging.transport import choose_transport
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

STATES, COURSES = 'joint_states', 'controller/trajectory'
VARIANTS = 4  # of each message, so that nothing can be remembered of the one before
QUALITY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
RELIABLE = QoSProfile(depth=1)


def names(count):
    """Return what makes states with so many unknown names, most of them like one of the arm."""

    def make(k):
        given = [f'segment{1 + i % 3}.kappa_{k}_{i}' for i in range(count)]
        return JointState(name=given, position=[0.0] * count, velocity=[0.0] * count)

    return make


def refused(k):
    """Return a state of the right size that is refused: its velocities are no numbers."""
    return JointState(
        name=[f'{k}{i}' for i in range(9)], position=[0.0] * 9, velocity=[float('nan')] * 9
    )


def points(count):
    """Return what makes trajectories of so many points."""

    def make(k):
        point = JointTrajectoryPoint(positions=[0.1 * k] * 9, velocities=[0.0] * 9)
        return JointTrajectory(joint_names=[f't{i + 1}' for i in range(9)], points=[point] * count)

    return make


def course_names(count):
    """Return what makes trajectories of so many unknown joints."""
    return lambda k: JointTrajectory(joint_names=[f't{i}.{k}' for i in range(count)])


def framed(kind, size):
    """Return what makes points or poses of a body whose name has so many characters."""

    def make(k):
        message = kind()
        message.header.frame_id = f'segment{k}' + 'x' * size
        return message

    return make


#: {situation: [(topic, type, messages a second or 0 for all that go, what makes the k-th one)]}
TRAFFIC = {
    'names 10000': [(STATES, JointState, 5.0, names(10_000))],
    'names 30000': [(STATES, JointState, 5.0, names(30_000))],
    'names 100000': [(STATES, JointState, 3.0, names(100_000))],
    'trajectories': [
        (COURSES, JointTrajectory, 3.0, points(30_000)),
        (COURSES, JointTrajectory, 3.0, course_names(100_000)),
    ],
    'targets': [
        ('controller/target', PointStamped, 5.0, framed(PointStamped, 1_000_000)),
        ('controller/target_pose', PoseStamped, 5.0, framed(PoseStamped, 1_000_000)),
    ],
    'refused states at 10 kHz': [(STATES, JointState, 10_000.0, refused)],
    'flood of states': [(STATES, JointState, 0.0, refused)],
    'flood of names': [(STATES, JointState, 0.0, names(1_000))],
    'flood of trajectories': [(COURSES, JointTrajectory, 0.0, points(10))],
    'flood of targets': [
        ('controller/target', PointStamped, 0.0, framed(PointStamped, 0)),
    ],
}  # fmt: skip


def send(situation):
    """Send what a situation asks for, until the parent ends."""
    node, parent = rclpy.create_node('traffic'), os.getppid()
    ways = []
    for topic, kind, rate, make in TRAFFIC[situation]:
        data = [bytes(serialize_message(make(k))) for k in range(VARIANTS)]
        quality = RELIABLE if topic == COURSES else QUALITY
        publish = node.create_publisher(kind, topic, quality).publish
        ways.append((publish, itertools.cycle(data), 1.0 / rate if rate else 0.0))
    due = [time.monotonic()] * len(ways)
    print('ready', flush=True)
    while os.getppid() == parent:
        for i, (publish, data, period) in enumerate(ways):
            if period > 0.0 and time.monotonic() < due[i]:
                continue
            due[i] = max(due[i], time.monotonic() - 0.1) + period
            publish(next(data))
        if all(due_ > time.monotonic() + 2e-4 for due_ in due):
            time.sleep(1e-4)


def main():
    """Send what the command line says."""
    choose_transport()
    rclpy.init()
    send(sys.argv[1])


if __name__ == '__main__':
    main()
