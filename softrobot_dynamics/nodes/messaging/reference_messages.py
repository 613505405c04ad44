# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Write the reference at a time into a message."""

from __future__ import annotations

from collections.abc import Sequence

from builtin_interfaces.msg import Time
import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.nodes.messaging.message_values import doubles
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


class ReferenceWriter:
    """Writes y_d, its rate and acceleration as a JointTrajectory of one point."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names, self._absent = list(names), 0
        self._point = JointTrajectoryPoint()
        self.message = JointTrajectory(joint_names=list(names), points=[self._point])

    def write(self, desired: Matrix, stamp: Time) -> JointTrajectory:
        """Return the message with the reference (3, c), nan for nothing, and a stamp message."""
        absent = np.isnan(desired[0])
        if absent.any() or self._absent:
            self._absent = int(absent.sum())
            self.message.joint_names = [x for x, y in zip(self._names, absent) if not y]
            desired = desired[:, ~absent]
        self.message.header.stamp = stamp
        self._point.positions = doubles(desired[0])
        self._point.velocities = doubles(desired[1])
        self._point.accelerations = doubles(desired[2])
        return self.message
