# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Publish what drivers of motion capture do of a robot whose true states are heard.

Written from what drivers publish, not from what the package reads: each form has a world of its
own, and a way of its own to say that a body is lost.
"""

from geometry_msgs.msg import Pose, PoseArray, PoseStamped, TransformStamped
import numpy as np
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import PointCloud2, PointField
import softrobot_dynamics as sd
from softrobot_dynamics.loops.message_fields import SECOND, stamp_of
from softrobot_dynamics.nodes.messaging.message_values import stamped
from visualization_msgs.msg import Marker, MarkerArray

try:
    from tf2_msgs.msg import TFMessage
except ImportError:  # no wheel has them
    TFMessage = None

BODIES = 'segment1', 'segment2', 'segment3'
WORLD = {'xyz': [0.3, -0.2, 0.1], 'rpy': [1.2, -0.4, 0.7]}  # of the drivers, in the base
MOUNT = {'xyz': [0.02, 0.0, 0.01], 'rpy': [0.0, 0.3, 0.0]}  # of a tracked body, on a tip
DOTS = [[0.03, 0.0, 0.0], [-0.02, 0.02, 0.0], [0.0, -0.03, 0.01]]  # markers on each tip [m]
AHEAD = 1_000 * SECOND  # of a clock that nobody synchronises [ns]
PLACE_NOISE, TURN_NOISE = 1e-3, 0.0175  # [m], [rad]
LOST, JUMP = range(20, 26), 40  # messages of every 50: without the second body; first one off
SHIFT = [0.3, 0.0, 0.0]  # [m], of a body that the driver has mistaken


def matrix(pose):
    """Return the transform (4, 4) of a mapping with xyz [m] and rpy [rad]."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler('xyz', pose['rpy']).as_matrix()
    T[:3, 3] = pose['xyz']
    return T


def pose_of(T, unit=1.0):
    """Return the Pose of a transform (4, 4), in a unit of length [m]."""
    pose = Pose()
    (pose.position.x, pose.position.y, pose.position.z) = (T[:3, 3] / unit).tolist()
    turn = Rotation.from_matrix(T[:3, :3]).as_quat().tolist()
    o = pose.orientation
    o.x, o.y, o.z, o.w = turn
    return pose


def transform_of(T, unit=1.0):
    """Return the TransformStamped of a transform (4, 4), in a unit of length [m]."""
    message, pose = TransformStamped(), pose_of(T, unit)
    t, p = message.transform.translation, pose.position
    t.x, t.y, t.z = p.x, p.y, p.z
    message.transform.rotation = pose.orientation
    return message


class MotionCapture:
    """
    A driver that publishes in one ``form`` what it sees of the arm; `see` takes a true state.

    It drops one message in twenty, loses a body now and then, and mistakes one for another.
    While it is ``off`` it says nothing.
    """

    def __init__(self, node, model, form, seed=0):
        self._node, self._model, self._form = node, model, getattr(self, form)
        self._random, self._publishers = np.random.default_rng(seed), {}
        self._inverse, self._mount = np.linalg.inv(matrix(WORLD)), matrix(MOUNT)
        self._last, self._count, self.off = {}, 0, False

    def see(self, state):
        """Publish what is seen of the robot in a JointState."""
        self._count += 1
        order = [state.name.index(name) for name in self._model.coordinate_names]
        if self.off or self._random.random() < 0.05:
            return
        tips = sd.forward_kinematics(self._model, q=np.array(state.position)[order])
        self._form(tips, stamp_of(state))

    def _publish(self, topic, message):
        if topic not in self._publishers:
            self._publishers[topic] = self._node.create_publisher(type(message), topic, 10)
        self._publishers[topic].publish(message)

    def _phase(self):
        return self._count % 50

    def _seen(self, tips):
        """Return tracked bodies (4, 4) in the base, None for one that is lost."""
        found = []
        for k, tip in enumerate(tips):
            T, noise = tip @ self._mount, self._random.standard_normal(6)
            T[:3, :3] = Rotation.from_rotvec(TURN_NOISE * noise[:3]).as_matrix() @ T[:3, :3]
            T[:3, 3] += PLACE_NOISE * noise[3:] + (
                SHIFT if k == 0 and self._phase() == JUMP else np.zeros(3)
            )
            found.append(None if k == 1 and self._phase() in LOST else T)
        return found

    def _world(self, tips):
        """Return tracked bodies (4, 4) in the world of the driver, None for one that is lost."""
        return [T if T is None else self._inverse @ T for T in self._seen(tips)]

    def _dots(self, tips):
        """Return markers (9, 3) in the world of the driver, nan for one that is hidden."""
        dots = np.array([tip @ [*dot, 1.0] for tip in tips for dot in DOTS])
        dots[:, :3] += PLACE_NOISE * self._random.standard_normal((len(dots), 3))
        if self._phase() == JUMP:
            dots[0, :3] += SHIFT
        dots[self._random.random(len(dots)) < 0.2] = np.nan
        if self._phase() in LOST:
            dots[:] = np.nan
        return (dots @ self._inverse.T)[:, :3]

    def own(self, tips, stamp):
        """Publish poses as the package's own sensors take them."""
        for body, T in zip(BODIES, self._seen(tips)):
            if T is not None:
                message = PoseStamped(pose=pose_of(T))
                message.header.stamp = stamped(stamp)
                self._publish(f'sensors/{body}', message)

    def pose_stamped(self, tips, stamp):
        """Publish a PoseStamped per body by a clock of its own; a lost one stays where it was."""
        for body, T in zip(BODIES, self._world(tips)):
            self._last[body] = self._last.get(body, PoseStamped()) if T is None else PoseStamped()
            message = self._last[body]
            message.pose = message.pose if T is None else pose_of(T)
            message.header.frame_id, message.header.stamp = 'world', stamped(stamp + AHEAD)
            self._publish(f'/vrpn_mocap/{body}/pose', message)

    def transform_stamped(self, tips, stamp):
        """Publish a TransformStamped per body in millimetres; a lost one is all zeros."""
        for body, T in zip(BODIES, self._world(tips)):
            message = TransformStamped() if T is None else transform_of(T, 1e-3)
            message.transform.rotation.w *= T is not None
            message.header.stamp, message.child_frame_id = stamped(stamp), body
            self._publish(f'/vicon/{body}/{body}', message)

    def pose_array(self, tips, stamp):
        """Publish one PoseArray with another body before ours; a lost one is nan."""
        message = PoseArray(poses=[Pose()])
        message.header.stamp, message.header.frame_id = stamped(stamp), 'mocap'
        lost = np.eye(4)
        lost[:3, 3] = np.nan
        message.poses += [pose_of(lost if T is None else T) for T in self._world(tips)]
        self._publish('/mocap/bodies', message)

    def tf(self, tips, stamp):
        """Publish transforms, beside those of other nodes; a lost body is left out."""
        for name in 'map', 'camera':
            other = transform_of(np.eye(4))
            other.child_frame_id, other.header.stamp = name, stamped(stamp)
            self._publish('/tf', TFMessage(transforms=[other]))
        message = TFMessage()
        for body, T in zip(BODIES, self._world(tips)):
            if T is not None:
                each = transform_of(T)
                each.header.frame_id, each.header.stamp = 'world', stamped(stamp)
                each.child_frame_id = f'mocap/{body}'
                message.transforms.append(each)
        self._publish('/tf', message)
        other = transform_of(np.eye(4))
        other.child_frame_id, other.header.stamp = 'lamp', stamped(stamp)
        self._publish('/tf', TFMessage(transforms=[other]))

    def marker_array(self, tips, stamp):
        """Publish a MarkerArray, with ns and id; a lost body is left out."""
        message = MarkerArray()
        for k, T in enumerate(self._world(tips)):
            if T is not None:
                each = Marker(ns='arm', id=k, pose=pose_of(T))
                each.header.stamp = stamped(stamp)
                message.markers.append(each)
        self._publish('/mocap/markers', message)

    def labelled(self, tips, stamp):
        """Publish markers in their order as a PoseArray; hidden ones are nan."""
        message = PoseArray()
        message.header.stamp = stamped(stamp)
        for dot in self._dots(tips).tolist():
            pose = Pose()
            pose.position.x, pose.position.y, pose.position.z = dot
            message.poses.append(pose)
        self._publish('/mocap/labelled', message)

    def unlabelled(self, tips, stamp):
        """Publish a cloud of those markers that are seen, in any order, and of reflections."""
        dots = self._dots(tips)
        ghosts = self._random.uniform(-1.0, 1.0, (2, 3))
        dots = np.concatenate([dots[np.isfinite(dots).all(axis=1)], ghosts])
        dots = self._random.permutation(dots).astype(np.float32)
        fields = [
            PointField(name=name, offset=4 * k, datatype=PointField.FLOAT32, count=1)
            for k, name in enumerate('xyz')
        ]
        message = PointCloud2(height=1, width=len(dots), point_step=12, fields=fields)
        message.header.stamp, message.row_step = stamped(stamp), 12 * len(dots)
        message.data = dots.tobytes()
        self._publish('/pointCloud', message)
