# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""References by messages while the loop runs: trajectories, points and poses for a tip."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from geometry_msgs.msg import PointStamped, PoseStamped, TwistStamped
import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from softrobot_dynamics.errors import MessageError, SoftRobotError
from softrobot_dynamics.loops.control_loop import ControlLoop
from softrobot_dynamics.loops.latched_orders import LatchedOrders
from softrobot_dynamics.loops.orders import OneTimeReference
from softrobot_dynamics.loops.tip_targets import TargetOrders
from softrobot_dynamics.loops.trajectories import TrajectoryReader
from softrobot_dynamics.nodes.loop_log import ThrottledLog
from softrobot_dynamics.nodes.messaging.qos import NEWEST_QOS
from softrobot_dynamics.nodes.messaging.trajectory_bytes import TrajectoryMessage
from softrobot_dynamics.nodes.ros_parameters import NodeParameters, refusal_of
from softrobot_dynamics.nodes.threaded_subscription import ThreadedSubscription
from trajectory_msgs.msg import JointTrajectory

if TYPE_CHECKING:
    from softrobot_dynamics.configuration.build import Controlled

_TRAJECTORY_QOS = QoSProfile(depth=1)  # reliable: a trajectory comes but once


class OnlineReferences:
    """
    Turns `~/trajectory`, `~/target`, `~/target_pose`, `~/target_twist` into references.

    A message that is refused is logged with the reason, and changes nothing.
    """

    def __init__(
        self, node: Node, plant: Controlled, orders: LatchedOrders, options: NodeParameters
    ) -> None:
        names = plant.model.actuator_names
        self._node, self._plant, self._orders, self._options = node, plant, orders, options
        self._controlled = [names[i] for i in plant.controller.controlled]
        self._courses, self._targets = TrajectoryReader(self._controlled), TargetOrders(plant)
        self._log = ThrottledLog(node)
        self._listeners = [
            ThreadedSubscription(node, kind, topic, quality, handle, partial(self._refuse, topic))
            for kind, topic, quality, handle in (
                (JointTrajectory, '~/trajectory', _TRAJECTORY_QOS, self._on_trajectory),
                (PointStamped, '~/target', NEWEST_QOS, partial(self._on_target, '~/target')),
                (
                    PoseStamped,
                    '~/target_pose',
                    NEWEST_QOS,
                    partial(self._on_target, '~/target_pose'),
                ),
                (TwistStamped, '~/target_twist', NEWEST_QOS, self._on_twist),
            )
        ]

    def close(self) -> None:
        """End the listeners, and the process for targets."""
        for each in self._listeners:
            each.close()  # its thread may want the lock of the parameters
        with self._options.lock:
            self._targets.close()

    def _on_trajectory(self, message: TrajectoryMessage) -> None:
        """Follow a trajectory from now on; SoftRobotError if not."""
        with self._options.lock, self._orders.planning():
            self._follow(message)

    def _follow(self, message: TrajectoryMessage) -> None:
        """Follow a trajectory from a message; SoftRobotError if not."""
        law = self._plant.controller
        if law.follows_tip and law.controlled_tip:
            words = f'not now: the law leads the tip of {law.controlled_tip}, by ~/target'
            raise MessageError(f'{words} and ~/target_twist')
        loop = self._require_led()
        course, (q, _) = self._courses.read(message), loop.place()
        place, end = self._plant.model.q0 if q is None else q, float(course.times[-1])
        remarks = self._plant.examine_last_point(course.y[-1], place, end)
        ahead = course.ahead(self._node.get_clock().now().nanoseconds)
        ramp = ahead if ahead > 0.0 else self._options.values['reference.ramp_time']
        self._orders.change(reference=OneTimeReference(course.reference(ahead)), ramp=ramp)
        for words in remarks:
            self._node.get_logger().warning(f'~/trajectory {words}')

    def _on_target(self, topic: str, message: PointStamped | PoseStamped) -> None:
        """Lead a tip to a point or a pose from now on; SoftRobotError if not."""
        remark = ''
        with self._options.lock, self._orders.planning():
            loop, values = self._require_led(), self._options.values
            if not self._plant.controller.follows:
                raise MessageError('not now: the law follows commands, not outputs')
            if self._plant.controller.controlled_tip:
                reference = self._targets.lead(message, values)
            else:
                reference, remark = self._targets.order(message, loop, values)
            self._orders.change(reference=reference)
        if remark:
            self._log.say((topic, 'remark'), f'{topic} {remark}')

    def _on_twist(self, message: TwistStamped) -> None:
        """Move a tip on by a twist from now on; SoftRobotError if not."""
        with self._options.lock, self._orders.planning():
            self._require_led()
            if not self._plant.controller.controlled_tip:
                raise MessageError('not now: the law leads no tip, as task and predictive can')
            order = self._targets.lead(message, self._options.values)
            self._orders.change(reference=order)

    def _refuse(self, topic: str, error: SoftRobotError) -> None:
        """Log why a message is not followed; without a loop there is no reference to keep."""
        words = refusal_of(error, '') if self._orders.refusal() else refusal_of(error)
        self._log.refuse(topic, error, words)

    def _require_led(self) -> ControlLoop:
        """Return the loop; MessageError where nothing is followed, or not by all outputs."""
        refusal, loop = self._orders.refusal(), self._orders.loop
        if refusal or loop is None:
            raise MessageError(refusal)
        command, law = loop.command, self._plant.controller
        if command is None or not law.follows or (law.follows_tip and law.controlled_tip):
            return loop
        left = [x for x, y in zip(self._controlled, command.desired[0]) if np.isnan(y)]
        if left:
            words = f'not now: at present {", ".join(left)} have no reference'
            raise MessageError(words)
        return loop
