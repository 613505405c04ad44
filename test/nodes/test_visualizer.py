# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The robot as markers and frames, over real DDS."""

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('visualization_msgs')

from geometry_msgs.msg import PoseArray  # noqa: E402
import numpy as np  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from softrobot_dynamics.nodes.visualizer import poses_of, transforms_of  # noqa: E402
from softrobot_dynamics.viewing.colours import Palette  # noqa: E402
from softrobot_dynamics.viewing.discs import Discs  # noqa: E402
from softrobot_dynamics.viewing.shapes import RobotShape  # noqa: E402
from softrobot_dynamics.viewing.urdf import robot_description  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def corners(marker):
    """Return the points (K, 3) of a Marker."""
    return np.array([[p.x, p.y, p.z] for p in marker.points])


def test_markers_and_frames_are_those_of_the_state(arm, observer, start_arm, tmp_path):
    """Markers and frames show the newest state in the world frame with its stamp."""
    heard, described = {}, []
    observer.node.create_subscription(String, 'robot_description', described.append, LATCHED)
    for kind, topic in ((MarkerArray, 'markers'), (PoseArray, 'frames')):
        observer.node.create_subscription(
            kind, f'visualizer/{topic}', lambda m, topic=topic: heard.update({topic: m}), 1
        )
    states, commands = (
        observer.node.create_publisher(JointState, topic, 1)
        for topic in ('joint_states', 'joint_commands')
    )
    q, u = np.linspace(-0.4, 0.5, arm.n) * np.tile([1.0, 1.0, 0.02], 3), np.linspace(0.0, 40.0, 9)
    state = JointState(name=arm.coordinate_names, position=q, velocity=np.zeros(arm.n))
    state.header.stamp.sec = 1234
    wrong = JointState(name=['somebody'], position=[1.0], velocity=[0.0])
    command = JointState(name=arm.actuator_names, effort=u)
    start_arm('visualizer', frame_id='map', rate=30.0)
    bent = [1e3, *[0.0] * (arm.n - 1)]
    absurd = JointState(name=arm.coordinate_names, position=bent, velocity=np.zeros(arm.n))
    log = tmp_path / 'visualizer.log'
    observer.until(
        lambda: states.publish(absurd) or 'a posture that the bodies can' in log.read_text(),
        'a refusal',
        every=0.1,
    )

    def shown():
        for publisher, message in ((states, wrong), (commands, command), (states, state)):
            publisher.publish(message)
        tendons = [m for m in heard['markers'].markers if m.ns == 'actuators'] if heard else []
        return len(heard) == 2 and tendons[-1].color.g < 0.2 and heard

    observer.until(shown, 'markers', every=0.1)
    shape = RobotShape(arm)
    look, palette = shape.at(q), Palette(shape)
    markers = heard['markers'].markers
    assert {(m.header.frame_id, m.header.stamp.sec) for m in markers} == {('map', 1234)}
    groups = {ns: [m for m in markers if m.ns == ns] for ns in ('bodies', 'actuators', 'paths')}
    assert [len(group) for group in groups.values()] == [3, 9, 1]
    for m, points, triangles in zip(groups['bodies'], look.surfaces, shape.triangles, strict=True):
        assert m.type == Marker.TRIANGLE_LIST and m.pose.orientation.w == 1.0
        assert corners(m) == pytest.approx(points[triangles].reshape(-1, 3), abs=1e-12)
        assert 0.0 < m.color.a < 1.0  # tendons run within
    for m, curve, colour in zip(
        groups['actuators'], look.curves, palette.curves(u) / 255.0, strict=True
    ):
        assert m.type == Marker.LINE_STRIP and m.scale.x > 0.0
        assert corners(m) == pytest.approx(curve, abs=1e-12)
        assert [m.color.r, m.color.g, m.color.b, m.color.a] == pytest.approx([*colour, 1.0])
    assert corners(groups['paths'][0])[-1] == pytest.approx(look.frames[-1, :3, 3])
    discs = Discs(arm, 5)
    frames = np.concatenate([look.frames, discs.at(q)])
    for pose, frame in zip(heard['frames'].poses, frames, strict=True):
        p = pose.position
        assert [p.x, p.y, p.z] == pytest.approx(frame[:3, 3])
    observer.until(lambda: described, 'the URDF')
    assert described[0].data == robot_description(shape, discs.discs, 'map')
    base = arm.description.base.matrix()
    assert look.frames == pytest.approx(base @ sd.forward_kinematics(arm, q=q))


@pytest.mark.parametrize('distribution', ['JAZZY', 'KILTED'])
def test_frames_on_tf_are_the_bytes_that_others_read(arm, distribution):
    """
    A generic reader with the definition of tf2_msgs finds stamp, names and poses.

    tf2_msgs is in no registry: the bytes are read as the transforms that are its content.
    """
    stores = pytest.importorskip('rosbags.typesys')
    store = stores.get_typestore(getattr(stores.Stores, f'ROS2_{distribution}'))
    frames = RobotShape(arm).at(np.linspace(-0.4, 0.5, arm.n) * 0.1).frames
    poses = PoseArray(poses=poses_of(frames))
    poses.header.frame_id, poses.header.stamp.sec = 'map', 1234
    names = [f'left/{name}' for name in arm.body_names]
    assert len(names) == len(frames) == 3
    given = transforms_of(poses, names)
    kind = 'geometry_msgs/msg/TransformStamped'
    read = [store.deserialize_cdr(serialize_message(each), kind) for each in given]
    tf = store.types['tf2_msgs/msg/TFMessage']
    data = store.serialize_cdr(tf(transforms=read), 'tf2_msgs/msg/TFMessage')
    heard = store.deserialize_cdr(data, 'tf2_msgs/msg/TFMessage').transforms
    assert [t.child_frame_id for t in heard] == names
    for t, frame in zip(heard, frames, strict=True):
        assert (t.header.frame_id, t.header.stamp.sec) == ('map', 1234)
        p, r = t.transform.translation, t.transform.rotation
        assert [p.x, p.y, p.z] == pytest.approx(frame[:3, 3])
        turn = Rotation.from_quat([r.x, r.y, r.z, r.w]).as_matrix()
        assert turn == pytest.approx(frame[:3, :3], abs=1e-12)
