# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Objects and contact forces of the simulation node, over real DDS."""

import functools

import numpy as np
import pytest
import yaml

pytest.importorskip('rclpy')

from geometry_msgs.msg import WrenchStamped  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from support.node_processes import NODES, starting  # noqa: E402
from support.policies import check_policy, CONTACT, OPTIONAL  # noqa: E402
from support.touching import BALL, LIFTED, MASS, write_press  # noqa: E402

TOPICS = {
    'objects': JointState,
    'contacts/foot': WrenchStamped,
    'contacts/ball': WrenchStamped,
    'contact_points': Float64MultiArray,
}


@pytest.fixture
def press(observer, tmp_path):
    """Start the simulation of a press on a floor; return what its topics of contact say last."""
    robot, around = write_press(tmp_path)
    sd.Simulator(sd.compile_model(sd.surround(sd.load_robot(robot), around)))
    heard = {}
    for topic, kind in TOPICS.items():
        observer.node.create_subscription(
            kind, f'simulation/{topic}', lambda m, topic=topic: heard.update({topic: m}), 1
        )
    with starting(tmp_path, NODES, (), robot=robot, surroundings=around, rate=100.0) as start:
        start('simulation')
        observer.until(lambda: len(heard) == len(TOPICS), 'all topics of contact')
        yield heard


def test_the_policy_of_sros_2_lets_the_simulation_publish_contact(observer, press):
    """Objects, wrenches of each body, and points of contact are topics that the policy names."""
    check_policy(observer, 'simulation', OPTIONAL - CONTACT)


def force(message):
    """Return force and moment of a WrenchStamped."""
    f, m = message.wrench.force, message.wrench.torque
    return np.array([f.x, f.y, f.z]), np.array([m.x, m.y, m.z])


def test_bodies_and_objects_have_a_wrench_of_contact_in_the_frame_of_their_tip(observer, press):
    """A foot off its axis and a ball are carried by the floor, with the moment about the tip."""
    weights = {'foot': 9.81 * MASS - LIFTED, 'ball': 9.81 * BALL}

    def carried(body):
        weight = weights[body]
        return abs(force(press[f'contacts/{body}'])[0][2] - weight) < 1e-3 * weight

    def rows():
        points = press['contact_points']
        found = np.array(points.data).reshape([each.size for each in points.layout.dim])
        return found[np.argsort(found[:, 0])]

    def at_rest():
        """Tell whether all messages, which may be of two ticks, are of a robot at rest."""
        wanted = pytest.approx(list(weights.values()), rel=0.01)
        return all(map(carried, weights)) and rows()[:, 5] == wanted

    observer.until(at_rest, 'rest')
    foot, ball = press['contacts/foot'], press['contacts/ball']
    assert (foot.header.frame_id, ball.header.frame_id) == ('foot', 'ball')
    assert force(foot)[1] == pytest.approx([0.0, -0.05 * weights['foot'], 0.0], abs=1e-3)
    assert force(ball)[1] == pytest.approx(np.zeros(3), abs=1e-3)
    wanted = np.array([[0.05, 0, -0.05], [0.3, 0.1, -0.05]])
    assert rows()[:, :3] == pytest.approx(wanted, abs=2e-3)


def test_objects_are_published_by_coordinate_and_are_put_elsewhere_by_set_state(observer, press):
    """The ball's coordinates are on ~/objects by name; the same names put it elsewhere."""
    assert press['objects'].name == [f'ball/{c}' for c in ('x', 'y', 'z', 'rx', 'ry', 'rz')]
    assert list(press['objects'].position[:2]) == pytest.approx([0.3, 0.1], abs=1e-3)
    states = observer.node.create_publisher(JointState, 'simulation/set_state', 10)
    observer.until(states.get_subscription_count, 'the node')
    states.publish(JointState(name=['ball/x', 'ball/z'], position=[-0.4, 0.2]))
    observer.until(lambda: press['objects'].position[0] < -0.39, 'the ball elsewhere')
    assert press['objects'].position[1] == pytest.approx(0.1, abs=1e-3)


def test_the_visualizer_shows_objects_environment_and_forces(observer, tmp_path):
    """Markers have the ball where ~/objects says, the floor, and an arrow for each contact."""
    pytest.importorskip('visualization_msgs')
    from visualization_msgs.msg import Marker, MarkerArray

    robot, around = write_press(tmp_path)
    model = sd.compile_model(sd.surround(sd.load_robot(robot), around))
    heard, removed = {}, []

    def hear(topic, message):
        heard[topic] = message
        removed.extend(m.id for m in message.markers if m.action == Marker.DELETE)

    for topic in ('markers', 'contacts'):
        observer.node.create_subscription(
            MarkerArray, f'visualizer/{topic}', functools.partial(hear, topic), 100
        )
    tell = {
        topic: observer.node.create_publisher(kind, topic, 1)
        for topic, kind in (
            ('joint_states', JointState),
            ('simulation/objects', JointState),
            ('simulation/contact_points', Float64MultiArray),
        )
    }
    ball = [0.2, 0.3, 0.5, 0.0, 0.0, 0.0]
    said = {
        'joint_states': JointState(name=['slide'], position=[0.1], velocity=[0.0]),
        'simulation/objects': JointState(name=model.coordinate_names[1:], position=ball),
        'simulation/contact_points': Float64MultiArray(data=[0.1, 0.2, 0.3, 0.0, 0.0, 5.0]),
    }

    def middle(ns, number):
        points = [
            [p.x, p.y, p.z]
            for m in heard['markers'].markers
            if (m.ns, m.id) == (ns, number)
            for p in m.points
        ]
        return np.mean([np.min(points, axis=0), np.max(points, axis=0)], axis=0)

    def shown():
        for topic, message in said.items():
            tell[topic].publish(message)
        return len(heard) == 2 and abs(middle('bodies', 1)[0] - 0.2) < 1e-3

    with starting(tmp_path, NODES, (), robot=robot, surroundings=around, rate=30.0) as start:
        start('visualizer')
        observer.until(shown, 'the ball in its place', every=0.1)
        assert middle('bodies', 1) == pytest.approx(ball[:3], abs=2e-3)
        assert middle('environment', 0)[2] == pytest.approx(-0.05)
        (arrow,) = heard['contacts'].markers
        assert arrow.type == Marker.ARROW
        begin, end = ([p.x, p.y, p.z] for p in arrow.points)
        assert begin == pytest.approx([0.1, 0.2, 0.3])
        assert end[:2] == pytest.approx([0.1, 0.2]) and end[2] > 0.31
        good = said['simulation/contact_points']
        log = tmp_path / 'visualizer.log'
        for count, value in ((5, 0.1), (6, np.nan)):  # as of somebody else: refused, and no end
            said['simulation/contact_points'] = Float64MultiArray(data=[value] * count)

            def refused(count=count):
                shown()
                return f'{count} numbers' in log.read_text()

            observer.until(refused, 'a refusal', every=0.1)
            heard.pop('contacts', None)
            said['simulation/contact_points'] = good
            observer.until(shown, 'an arrow again', every=0.1)
        said['simulation/contact_points'] = Float64MultiArray()
        assert removed == []
        observer.until(lambda: shown() and removed, 'no arrow any more', every=0.1)
        assert removed == [arrow.id]


def test_the_visualizer_shows_a_moving_obstacle_where_the_simulation_has_it(observer, tmp_path):
    """The marker of a wall moves with the time that the simulation tells, and back by a reset."""
    pytest.importorskip('visualization_msgs')
    from std_msgs.msg import Float64
    from std_srvs.srv import Trigger
    from visualization_msgs.msg import MarkerArray

    speed = 0.05
    wall = {'name': 'wall', 'type': 'box', 'edges': [0.1, 0.1, 0.1]}
    wall |= {'pose': {'xyz': [0.0, 1.0, 0.0]}, 'motion': {'velocity': [0.0, speed, 0.0]}}
    robot, _ = write_press(tmp_path)
    around = tmp_path / 'moving.yaml'
    around.write_text(yaml.safe_dump({'environment': [wall]}), encoding='utf-8')
    sd.Simulator(sd.compile_model(sd.surround(sd.load_robot(robot), around)))
    walls, times = [], []

    def note(message):
        (marker,) = (m for m in message.markers if m.ns == 'environment')
        walls.append(np.mean([p.y for p in marker.points]) - 1.0)

    node = observer.node
    node.create_subscription(MarkerArray, 'visualizer/markers', note, 1)
    node.create_subscription(Float64, 'simulation/time', lambda m: times.append(m.data), 1)
    given = {'robot': robot, 'surroundings': str(around), 'rate': 100.0}
    with starting(tmp_path, NODES, (), **given) as start:
        start('visualizer', rate=30.0)
        start('simulation')

        def together():
            known = times and times[-1] > 1.0 and walls
            return known and abs(walls[-1] - speed * times[-1]) < speed * 0.2

        observer.until(together, 'motion')
        client = node.create_client(Trigger, 'simulation/reset')
        observer.until(client.service_is_ready, 'the service')
        client.call_async(Trigger.Request())
        observer.until(lambda: times[-1] < 0.8 and walls[-1] < speed * 0.8, 'the start again')
