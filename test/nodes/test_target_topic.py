# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Points and poses for a tip on topics of the controller, over real DDS."""

import signal
import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import (  # noqa: E402
    Point,
    PointStamped,
    Pose,
    PoseStamped,
    Quaternion,
    Twist,
    TwistStamped,
    Vector3,
)
from rclpy.qos import QoSProfile  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from std_msgs.msg import Header  # noqa: E402
from support.node_processes import compile_for_nodes, NODES, RATE, starting  # noqa: E402
from support.observer import CONTROLLER, PATIENCE  # noqa: E402

pytestmark = pytest.mark.realtime

CENTER, RADIUS, TURN, EVERY = np.array([0.0, 0.0, 0.57]), 0.08, 8.0, 0.01  # [m], [s]


@pytest.fixture
def say(observer):
    """Return a function that publishes a point."""
    publisher = observer.node.create_publisher(
        PointStamped, 'controller/target', QoSProfile(depth=1)
    )

    def say(point, body=''):
        observer.until(publisher.get_subscription_count, 'a subscriber')
        x, y, z = map(float, point)
        publisher.publish(PointStamped(header=Header(frame_id=body), point=Point(x=x, y=y, z=z)))

    return say


def tip_of(arm, observer):
    """Return where the tip is (3,), by the last state heard."""
    return frame_of(arm, observer)[:3, 3]


def frame_of(arm, observer):
    """Return the frame of the tip (4, 4), by the last state heard."""
    state = observer.states[-1]
    order = [state.name.index(name) for name in arm.coordinate_names]
    return sd.forward_kinematics(arm, q=np.array(state.position)[order])[-1]


def test_a_tip_follows_points_by_message(arm, observer, start_arm, say, tmp_path):
    """A tip follows a circle at 100 Hz, then stops near a point out of reach, without jumps."""
    record, log = tmp_path / 'controller.mcap', tmp_path / 'controller.log'
    start_arm('simulation')
    controller = start_arm(
        'controller', autostart='true', record=record, reference__ramp_time='0.5'
    )
    observer.until_running()
    say((np.nan, 0.0, 0.5))
    observer.until(lambda: 'not a number' in log.read_text(), 'the refusal')
    first = CENTER + [RADIUS, 0.0, 0.0]
    say(first)
    there = lambda point: np.linalg.norm(tip_of(arm, observer) - point) < 2e-3  # noqa: E731
    observer.until(lambda: there(first), 'the first point')
    began, worst = time.monotonic(), 0.0
    while (t := time.monotonic() - began) < TURN:
        angle = 2.0 * np.pi * t / TURN
        say(CENTER + RADIUS * np.array([np.cos(angle), np.sin(angle), 0.0]))
        end = time.monotonic() + EVERY
        observer.until(lambda end=end: time.monotonic() > end, 'time')
        worst = max(worst, abs(np.linalg.norm((tip_of(arm, observer) - CENTER)[:2]) - RADIUS))
    assert worst < 0.15 * RADIUS  # it cuts the corner a little, as it is some 60 ms behind
    say(first)
    observer.until(lambda: there(first), 'the end of the circle')
    say(CENTER + [0.3, 0.0, 0.0])
    observer.until(lambda: 'out of reach of segment3' in log.read_text(), 'the warning')
    observer.until(lambda: tip_of(arm, observer)[0] > RADIUS + 0.01, 'going near')
    say(first, body='nobody')
    time.sleep(1.1)  # warnings come once in a second
    say(first, body='nobody')
    observer.until(lambda: "'nobody' is no body" in log.read_text(), 'the refusal')
    controller.send_signal(signal.SIGTERM)
    assert controller.wait(PATIENCE) == 0
    check_smooth(sd.read_recording(record))


def pose_message(T, length=1.0):
    """Return a PoseStamped for the last body from a transform (4, 4)."""
    x, y, z, w = map(float, length * Rotation.from_matrix(T[:3, :3]).as_quat())
    px, py, pz = map(float, T[:3, 3])
    turn = Quaternion(x=x, y=y, z=z, w=w)
    return PoseStamped(pose=Pose(position=Point(x=px, y=py, z=pz), orientation=turn))


def test_a_tip_takes_poses_by_message(arm, observer, start_arm, tmp_path):
    """A tip moves to a pose by message; invalid and unreachable ones are refused."""
    record, log = tmp_path / 'controller.mcap', tmp_path / 'controller.log'
    start_arm('simulation')
    controller = start_arm(
        'controller', autostart='true', record=record, reference__ramp_time='0.5'
    )
    observer.until_running()
    publisher = observer.node.create_publisher(
        PoseStamped, 'controller/target_pose', QoSProfile(depth=1)
    )
    observer.until(publisher.get_subscription_count, 'a subscriber')
    u = 20.0 * np.array([0.5, 0.1, 0.2, 0.4, 0.2, 0.1, 0.1, 0.3, 0.2])
    wanted = sd.forward_kinematics(arm, q=sd.equilibrium(arm, u=u).q)[-1]
    publisher.publish(pose_message(wanted, length=0.5))
    observer.until(lambda: 'a quaternion of length 0.5' in log.read_text(), 'the refusal')
    publisher.publish(pose_message(wanted))

    def there():
        T = frame_of(arm, observer)
        turn = Rotation.from_matrix(T[:3, :3].T @ wanted[:3, :3]).magnitude()
        return np.linalg.norm(T[:3, 3] - wanted[:3, 3]) < 1e-3 and turn < 0.01

    observer.until(there, 'the pose')
    time.sleep(1.1)  # warnings come once in a second
    publisher.publish(pose_message(wanted @ np.diag([1.0, -1.0, -1.0, 1.0])))
    observer.until(lambda: 'deg from it' in log.read_text(), 'the warning')
    observer.until(lambda: not there(), 'going near')
    controller.send_signal(signal.SIGTERM)
    assert controller.wait(PATIENCE) == 0
    check_smooth(sd.read_recording(record))


def check_smooth(data):
    """Check that neither what is wanted nor its rate jumped while there were points."""
    keep = np.isfinite(data['y_d']).all(axis=1) & np.isfinite(data['t'])
    t, y, rate, bend = (data[name][keep] for name in ('t', 'y_d', 'y_d_rate', 'y_d_acceleration'))
    steps = np.diff(t)[:, None]
    mean, derivative = 0.5 * (rate[1:] + rate[:-1]), 0.5 * (bend[1:] + bend[:-1])
    fast, hard = np.abs(rate).max(), np.abs(bend).max()
    assert fast > 0.005
    np.testing.assert_allclose(np.diff(y, axis=0), steps * mean, atol=1e-3 * fast)
    np.testing.assert_allclose(np.diff(rate, axis=0), steps * derivative, atol=0.05 * hard / RATE)


def test_the_law_task_is_led_by_points_and_twists(arm, observer, start_arm, say, tmp_path):
    """Under `task` a tip goes to a point at once, moves by twists, and stops without them."""
    log = tmp_path / 'controller.log'
    start_arm('simulation')
    controller = start_arm(
        'controller', autostart='true', controller='task', reference__ramp_time='0.5'
    )
    observer.until_running()
    point = np.array([0.05, -0.02, 0.585])
    say(point, body='segment1')
    observer.until(lambda: 'leads the tip of segment3' in log.read_text(), 'the refusal')
    say(point)
    near = lambda: np.linalg.norm(tip_of(arm, observer) - point) < 1e-3  # noqa: E731
    observer.until(near, 'the point')
    twist = TwistStamped(twist=Twist(linear=Vector3(x=-0.05)))
    publisher = observer.node.create_publisher(
        TwistStamped, 'controller/target_twist', QoSProfile(depth=1)
    )
    observer.until(publisher.get_subscription_count, 'a subscriber')
    began = time.monotonic()
    while time.monotonic() - began < 0.6:
        publisher.publish(twist)
        end = time.monotonic() + 0.02
        observer.until(lambda end=end: time.monotonic() > end, 'time')
    end = time.monotonic() + 1.0
    observer.until(lambda: time.monotonic() > end, 'time')
    stopped = tip_of(arm, observer)
    assert -0.06 < stopped[0] - point[0] < -0.02
    end = time.monotonic() + 0.3
    observer.until(lambda: time.monotonic() > end, 'time')
    assert np.linalg.norm(tip_of(arm, observer) - stopped) < 1e-3
    controller.send_signal(signal.SIGTERM)
    assert controller.wait(PATIENCE) == 0


def test_a_target_far_out_of_reach_leaves_the_robot_calm(observer, say, tmp_path):
    """Under `task` an arm on a turntable stays slow, and diagnostics warn of the tip."""
    arm = compile_for_nodes('pneumatic_arm', controller='task')
    with starting(tmp_path, NODES, (), robot='pneumatic_arm', rate=RATE) as start:
        start('simulation')
        start('controller', autostart='true', controller='task', reference__ramp_time='0.5')
        observer.until_running()
        observer.until(lambda: observer.states, 'states')
        say(tip_of(arm, observer) + 0.5 * arm.scales.length)
        warned = lambda: 'tip cannot follow' in observer.words()[CONTROLLER]  # noqa: E731
        observer.until(warned, 'the warning')
        assert observer.status[CONTROLLER].level == DiagnosticStatus.WARN
        end = time.monotonic() + 4.0
        observer.until(lambda: time.monotonic() > end, 'time')
        assert observer.value(CONTROLLER, 'weight of later tasks') > 0.0
    speeds = [np.abs(state.velocity).max() for state in observer.states]
    assert max(speeds) < 10.0 and max(speeds[-50:]) < 0.5  # 214 and 111 before
