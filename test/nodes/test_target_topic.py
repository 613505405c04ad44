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
from softrobot_dynamics.loops.message_fields import SECOND, stamp_of  # noqa: E402
from std_msgs.msg import Header  # noqa: E402
from support.node_processes import compile_for_nodes, NODES, RATE, starting  # noqa: E402
from support.observer import CONTROLLER, PATIENCE  # noqa: E402

pytestmark = pytest.mark.realtime

CENTER, RADIUS, TURN, EVERY = np.array([0.0, 0.0, 0.57]), 0.08, 4.0, 0.01  # [m], [s]
SPEED, WAY = 0.05, 0.03  # [m/s], [m]
AGAIN, SOON = 10.0, 0.2  # [s]: whether a best-effort message is heard, nobody knows


@pytest.fixture
def say(observer):
    """Return a function that publishes a point, once or until a condition holds."""
    publish = publishing(observer, PointStamped, 'controller/target')

    def say(point, condition=lambda: True, what='', body='', **given):
        x, y, z = map(float, point)
        message = PointStamped(header=Header(frame_id=body), point=Point(x=x, y=y, z=z))
        publish(message, condition, what, **given)

    return say


def publishing(observer, kind, topic):
    """
    Return a function that publishes a message on a topic, once or until a condition holds.

    It is said again after ``every`` [s]: by AGAIN what it orders has been planned, and is not
    replaced.
    """
    publisher = observer.node.create_publisher(kind, topic, QoSProfile(depth=1))

    def publish(message, condition=lambda: True, what='', every=AGAIN):
        observer.until(publisher.get_subscription_count, 'a subscriber')
        due = time.monotonic()

        def heard():
            nonlocal due
            if time.monotonic() >= due:
                publisher.publish(message)
                due = time.monotonic() + every
            return condition()

        observer.until(heard, what)

    return publish


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
    said = lambda words: lambda: words in log.read_text()  # noqa: E731
    there = lambda: np.linalg.norm(tip_of(arm, observer) - first) < 2e-3  # noqa: E731
    say((np.nan, 0.0, 0.5), said('not a number'), 'the refusal', every=SOON)
    first = CENTER + [RADIUS, 0.0, 0.0]
    say(first, lambda: led(observer), 'a motion')
    observer.until(there, 'the first point')
    assert circle(arm, observer, say) < 0.15 * RADIUS  # it is some 60 ms behind: a little within
    say(first)
    observer.until(there, 'the end of the circle')
    away = CENTER + [0.3, 0.0, 0.0]
    say(away, said('out of reach of segment3'), 'the warning')
    observer.until(lambda: tip_of(arm, observer)[0] > RADIUS + 0.01, 'going near')
    say(first, said("'nobody' is no body"), 'the refusal', body='nobody', every=SOON)
    controller.send_signal(signal.SIGTERM)
    assert controller.wait(PATIENCE) == 0
    check_smooth(sd.read_recording(record))


def led(observer):
    """Tell whether the reference last reported moves."""
    return np.abs(observer.reference('velocities')).max() > 0.0


def circle(arm, observer, say):
    """
    Lead the tip along a circle; return by how much it leaves that at most [m].

    The point stands still as long as this process does.
    """
    t, worst = 0.0, 0.0
    while t < TURN:
        angle = 2.0 * np.pi * t / TURN
        say(CENTER + RADIUS * np.array([np.cos(angle), np.sin(angle), 0.0]))
        begin = time.monotonic()
        observer.until(lambda end=begin + EVERY: time.monotonic() > end, 'time')
        t += min(time.monotonic() - begin, 2.0 * EVERY)
        worst = max(worst, abs(np.linalg.norm((tip_of(arm, observer) - CENTER)[:2]) - RADIUS))
    return worst


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
    publish = publishing(observer, PoseStamped, 'controller/target_pose')
    said = lambda words: lambda: words in log.read_text()  # noqa: E731
    u = 20.0 * np.array([0.5, 0.1, 0.2, 0.4, 0.2, 0.1, 0.1, 0.3, 0.2])
    wanted = sd.forward_kinematics(arm, q=sd.equilibrium(arm, u=u).q)[-1]
    wrong = pose_message(wanted, length=0.5)
    publish(wrong, said('a quaternion of length 0.5'), 'the refusal', every=SOON)

    def there():
        T = frame_of(arm, observer)
        turn = Rotation.from_matrix(T[:3, :3].T @ wanted[:3, :3]).magnitude()
        return np.linalg.norm(T[:3, 3] - wanted[:3, 3]) < 1e-3 and turn < 0.01

    publish(pose_message(wanted), lambda: led(observer), 'a motion')
    observer.until(there, 'the pose')
    away = pose_message(wanted @ np.diag([1.0, -1.0, -1.0, 1.0]))
    publish(away, said('deg from it'), 'the warning')
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
    missed = (steps * RATE).clip(1.0)  # of means over several ticks, the error in both grows
    off = np.abs(np.diff(y, axis=0) - steps * mean) / missed**3
    assert off.max() < 1e-3 * fast
    off = np.abs(np.diff(rate, axis=0) - steps * derivative) / missed**2
    assert off.max() < 0.05 * hard / RATE


def test_the_law_task_is_led_by_points_and_twists(arm, observer, start_arm, say, tmp_path):
    """Under `task` a tip goes to a point at once, moves by twists, and stops without them."""
    log = tmp_path / 'controller.log'
    start_arm('simulation')
    controller = start_arm(
        'controller', autostart='true', controller='task', reference__ramp_time='0.5'
    )
    observer.until_running()
    point = np.array([0.05, -0.02, 0.585])
    refused = lambda: 'leads the tip of segment3' in log.read_text()  # noqa: E731
    say(point, refused, 'the refusal', body='segment1', every=SOON)
    off = lambda place: np.linalg.norm(tip_of(arm, observer) - place)  # noqa: E731
    home = tip_of(arm, observer)
    say(point, lambda: off(home) > 1e-3, 'a motion')
    observer.until(lambda: off(point) < 1e-3, 'the point')
    publish = publishing(observer, TwistStamped, 'controller/target_twist')
    twist = TwistStamped(twist=Twist(linear=Vector3(x=-SPEED)))
    way = lambda: point[0] - tip_of(arm, observer)[0]  # noqa: E731
    passed = []
    for end in (0.2 * WAY, WAY):  # it sets out when the first twist is heard
        publish(twist, lambda end=end: way() > end, 'a motion', every=0.02)
        passed.append((stamp_of(observer.states[-1]) / SECOND, way()))
    (begin, first), (end, last) = passed
    assert 0.5 * SPEED < (last - first) / (end - begin) < 1.5 * SPEED
    observer.until_later(1.0)
    stopped = tip_of(arm, observer)
    assert last - 1e-3 < point[0] - stopped[0] < 2.0 * WAY
    observer.until_later(0.3)
    assert off(stopped) < 1e-3
    controller.send_signal(signal.SIGTERM)
    assert controller.wait(PATIENCE) == 0


def test_a_target_far_out_of_reach_leaves_the_robot_calm(observer, say, tmp_path):
    """Under `task` an arm on a turntable stays slow, and diagnostics warn of the tip."""
    arm = compile_for_nodes('pneumatic_arm', controller='task')
    with starting(tmp_path, NODES, (), robot='pneumatic_arm', rate=RATE) as start:
        start('simulation', real_time_factor=2.0)
        start('controller', autostart='true', controller='task', reference__ramp_time='0.5')
        observer.until_running()
        observer.until(lambda: observer.states, 'states')
        warned = lambda: 'tip cannot follow' in observer.words()[CONTROLLER]  # noqa: E731
        say(tip_of(arm, observer) + 0.5 * arm.scales.length, warned, 'the warning')
        assert observer.status[CONTROLLER].level == DiagnosticStatus.WARN
        observer.until_later(4.0)
        assert observer.value(CONTROLLER, 'weight of later tasks') > 0.0
    speeds = [np.abs(state.velocity).max() for state in observer.states]
    assert max(speeds) < 10.0 and max(speeds[-50:]) < 0.5  # 214 and 111 before
