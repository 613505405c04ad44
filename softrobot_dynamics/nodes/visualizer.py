# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A node that shows the robot of a running loop: markers and frames for RViz, Foxglove etc."""

from __future__ import annotations

from collections.abc import Sequence
import os
import sys

from geometry_msgs.msg import (
    Point,
    Pose,
    PoseArray,
    Quaternion,
    Transform,
    TransformStamped,
    Vector3,
)
import numpy as np
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from softrobot_dynamics.annotations import Array
from softrobot_dynamics.configuration.command_parts import command_rows
from softrobot_dynamics.configuration.node_parameters import OF_VISUALIZER
from softrobot_dynamics.configuration.state_topics import state_rows
from softrobot_dynamics.configuration.wire_names import NAMES_GROUP, wire_name_rows
from softrobot_dynamics.description.add_surroundings import surround
from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.model.model import compile_model
from softrobot_dynamics.nodes import process
from softrobot_dynamics.nodes.contact_publisher import CONTACT_COLUMNS
from softrobot_dynamics.nodes.markers import Scene
from softrobot_dynamics.nodes.messaging.qos import NEWEST_QOS
from softrobot_dynamics.nodes.process import Stop
from softrobot_dynamics.nodes.ros_parameters import NodeParameters
from softrobot_dynamics.nodes.topic_observer import TopicWatch
from softrobot_dynamics.schema.quaternions import quaternions_of
from softrobot_dynamics.viewing.discs import Discs
from softrobot_dynamics.viewing.urdf import robot_description
from std_msgs.msg import Float64MultiArray, Header, String
from visualization_msgs.msg import MarkerArray

try:
    from tf2_msgs.msg import TFMessage
except ImportError:  # no wheel has them: then there are `~/frames` alone
    TFMessage = None

_NICENESS = 10  # the loop comes first
CONTACT_POINTS_TOPIC = 'simulation/contact_points'  # of the simulation node in the same namespace


class VisualizerNode(Node):
    """
    Shows the robot of a running loop, `rate` times a second at most.

    - subscribes to `joint_states` and `joint_commands` (sensor_msgs/JointState): the newest ones;
      to states or commands in parts, as the controller's parameters say
    - publishes `~/markers` (visualization_msgs/MarkerArray): the skins of the bodies, tendons and
      chambers by colour, the paths of the tips; `~/frames` (geometry_msgs/PoseArray): the tips of
      the bodies, in their order, and then the discs along soft ones; the same by name on `/tf`
      (tf2_msgs/TFMessage), where tf2_msgs is; `robot_description` (std_msgs/String, latched): the
      URDF of the links that these frames carry, also a parameter of that name; with an
      environment or objects `~/contacts` (visualization_msgs/MarkerArray): an arrow for each
      row of the simulation's `contact_points`, to which it subscribes, as to its `objects` and,
      where obstacles move, `time`
    - parameters: `node_parameters.OF_VISUALIZER`

    All is in the frame `frame_id`, the world of the robot file's `base`.
    """

    parts = ()

    def __init__(self, stop: Stop | None = None) -> None:
        super().__init__('visualizer')
        self._stop = stop
        self.options = NodeParameters(self, OF_VISUALIZER)
        self._watch: TopicWatch | None = None  # once it has begun

    def begin(self) -> bool:
        """Load, compile and start."""
        os.nice(_NICENESS)
        values = self.options.values
        with process.interrupting(self._stop):
            robot = around = load_robot(values['robot'])
            if values['surroundings']:
                around = surround(robot, values['surroundings'])
            model = compile_model(around)
            self._scene = Scene(model, values['frame_id'])
            self._discs = Discs(model, values['discs'])
        self._frame = values['frame_id']
        prefix = f'{self.get_namespace()}/'.lstrip('/')
        names = [*model.body_names, *(disc.name for disc in self._discs.discs)]
        self._names = [prefix + name for name in names]
        self._markers = self.create_publisher(MarkerArray, '~/markers', 1)
        self._frames = self.create_publisher(PoseArray, '~/frames', 1)
        self._transforms = TFMessage and self.create_publisher(TFMessage, '/tf', 10)
        self._describe(
            robot_description(self._scene.shape, self._discs.discs, self._frame, prefix)
        )
        rows = [*wire_name_rows(robot), *state_rows(values), *command_rows(values)]
        values = self.options.declare(rows)
        self.options.require_known(NAMES_GROUP)
        objects, moving = around.coordinate_names[robot.n :], bool(self._scene.shape.moving)
        self._watch = TopicWatch(self, model, values, objects, moving)
        if model.contact_plan is not None:
            self._forces = self.create_publisher(MarkerArray, '~/contacts', 1)
            self.create_subscription(
                Float64MultiArray, CONTACT_POINTS_TOPIC, self._show_contacts, NEWEST_QOS
            )
        self.create_timer(1.0 / values['rate'], self._update)
        self.options.warn_of_unknown()
        return True

    def finish(self) -> None:
        """Destroy the subscriptions."""
        if self._watch:
            self._watch.close()

    def _describe(self, text: str) -> None:
        """Publish the robot's URDF, also for who comes later, and make it a parameter."""
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = self.create_publisher(String, 'robot_description', latched)
        self._description.publish(String(data=text))
        what = ParameterDescriptor(description='URDF of the links that are shown', read_only=True)
        self.declare_parameter('robot_description', text, what, ignore_override=True)

    def _show_contacts(self, message: Float64MultiArray) -> None:
        """Show the forces of contact that the simulation says."""
        numbers = np.array(message.data)
        if numbers.size % CONTACT_COLUMNS or not np.isfinite(numbers).all():
            words = (
                f'{CONTACT_POINTS_TOPIC}: {numbers.size} numbers,'
                f' expected finite ones in rows of {CONTACT_COLUMNS}'
            )
            self.get_logger().warning(words, throttle_duration_sec=5.0)
            return
        rows = numbers.reshape(-1, CONTACT_COLUMNS)
        stamp = self.get_clock().now().to_msg()
        self._forces.publish(self._scene.forces(rows[:, :3], rows[:, 3:], stamp))

    def _update(self) -> None:
        """Show the newest state, if there is one."""
        try:
            seen = self._watch.snapshot() if self._watch else None
            if seen is None:
                return
            look, markers = self._scene.at(seen.q, seen.u, seen.stamp, seen.time)
        except SoftRobotError as error:  # of another robot, or where no body can be
            words = f'nothing shown: {error.in_one_line()}'
            self.get_logger().warning(words, throttle_duration_sec=5.0)
            return
        self._markers.publish(markers)
        frames = np.concatenate([look.frames, self._discs.at(seen.q)])
        header = Header(frame_id=self._frame, stamp=seen.stamp)
        poses = PoseArray(header=header, poses=poses_of(frames))
        self._frames.publish(poses)
        if self._transforms:
            self._transforms.publish(TFMessage(transforms=transforms_of(poses, self._names)))


def poses_of(frames: Array) -> list[Pose]:
    """Return a Pose for each of frames (N, 4, 4)."""
    places, turns = frames[:, :3, 3].tolist(), quaternions_of(frames[:, :3, :3]).tolist()
    return [
        Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=a, y=b, z=c, w=w))
        for (x, y, z), (a, b, c, w) in zip(places, turns)
    ]


def transforms_of(poses: PoseArray, names: Sequence[str]) -> list[TransformStamped]:
    """Return the poses as transforms to frames of these names, for `/tf`."""
    found = []
    for name, pose in zip(names, poses.poses):
        p = pose.position
        moved = Transform(translation=Vector3(x=p.x, y=p.y, z=p.z), rotation=pose.orientation)
        found.append(TransformStamped(header=poses.header, child_frame_id=name, transform=moved))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the visualizer until Ctrl-C or SIGTERM."""
    return process.run(VisualizerNode, argv, priority=0)


if __name__ == '__main__':
    sys.exit(main())
