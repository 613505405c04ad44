# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Build JointTrajectory messages."""

from builtin_interfaces.msg import Duration
from softrobot_dynamics.nodes.messaging.message_values import stamped
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


def trajectory(names, *points, stamp=0):
    """Return a JointTrajectory of points: time, positions, velocities, accelerations."""
    made = [
        JointTrajectoryPoint(
            time_from_start=Duration(sec=int(t // 1), nanosec=round(t % 1 * 1e9)),
            **dict(zip(('positions', 'velocities', 'accelerations'), map(list, rows))),
        )
        for t, *rows in points
    ]
    message = JointTrajectory(joint_names=list(names), points=made)
    message.header.stamp = stamped(stamp)
    return message
