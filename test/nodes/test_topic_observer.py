# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A view reads the states of a running loop over real DDS."""

import pytest

pytest.importorskip('rclpy')

import numpy as np  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.configuration.command_parts import command_rows  # noqa: E402
from softrobot_dynamics.configuration.state_topics import state_rows  # noqa: E402
from softrobot_dynamics.nodes.topic_observer import TopicObserver, TopicWatch  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from support.linear_plant import Model  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402


@pytest.fixture
def spectator():
    """Return a TopicObserver of a robot in a namespace."""
    found = TopicObserver(Model(), 'lab')
    yield found
    found.close()


def test_the_newest_state_and_command_are_seen(observer, spectator):
    """The newest state and command are read by name; invalid and foreign ones are ignored."""
    seen, publishers = [], {}
    for topic in ('joint_states', 'joint_commands'):
        publishers[topic] = observer.node.create_publisher(JointState, f'lab/{topic}', 10)

    def until(condition, *messages):
        """Say messages (topic, fields) again and again until what is seen is as it should be."""

        def met():
            for topic, fields in messages:
                publishers[topic].publish(JointState(**fields))
            if (found := spectator.poll()) is not None:
                seen.append(found)
            return seen and condition(*seen[-1])

        observer.until(met, 'what was said')

    def state(names, *q):
        return 'joint_states', {'name': list(names), 'position': q, 'velocity': (0.0, 0.0)}

    command = 'joint_commands', {'name': ['right', 'left'], 'effort': (4.0, 3.0)}
    until(lambda q, u, _: q.tolist() == [1.0, 2.0] and u is None, state('yx', 2.0, 1.0))
    wrong = state('ab', 5.0, 5.0), state('xy', np.nan, 5.0)
    seen.clear()
    until(lambda q, u, _: q[0] == 6.0, *wrong, state('xy', 6.0, 5.0))
    assert {tuple(q) for q, *_ in seen} <= {(1.0, 2.0), (6.0, 5.0)}
    until(
        lambda q, u, _: u is not None and u.tolist() == [3.0, 4.0], command, state('xy', 7.0, 5.0)
    )


def test_commands_in_parts_are_seen_once_all_have_come(observer):
    """A node sees commands of several types and units as one, and none before every part."""
    left = {'actuators': ['left'], 'type': 'multi_array', 'unit': 'mN', 'prefix': 'l_'}
    right = {'actuators': ['right'], 'type': 'joint_trajectory', 'field': 'position'}
    given = {f'commands.{x}.{y}': z for x, p in (('a', left), ('b', right)) for y, z in p.items()}
    values = {'command_topics': ('a', 'b')}
    values |= {row.name: given.get(row.name, row.default) for row in command_rows(values)}
    watch = TopicWatch(observer.node, Model(), values)
    node, seen = observer.node, []
    state, one, other = (
        node.create_publisher(kind, topic, 1)
        for kind, topic in (
            (JointState, 'joint_states'),
            (Float64MultiArray, 'a/commands'),
            (JointTrajectory, 'b/joint_trajectory'),
        )
    )
    point = JointTrajectoryPoint(positions=[4.0])

    def met(condition, *told):
        for publisher, message in told:
            publisher.publish(message)
        state.publish(JointState(name=['x', 'y'], position=[0.0, 0.0], velocity=[0.0, 0.0]))
        if (found := watch.snapshot()) is not None:
            seen.append(found.u)
        return bool(seen) and condition(seen[-1])

    numbers = one, Float64MultiArray(data=[3e3])
    observer.until(lambda: met(lambda u: len(seen) > 5, numbers), 'states')
    assert seen[-1] is None
    whole = numbers, (other, JointTrajectory(joint_names=['right'], points=[point]))
    observer.until(lambda: met(lambda u: u is not None and u.tolist() == [3.0, 4.0], *whole), 'u')
    watch.close()


def test_states_in_parts_are_seen_as_one(observer):
    """A node sees parts of the states, without velocities, as one posture; q0 until all came."""
    given = {'states.a.names': ('x',), 'states.b.prefix': 'cam_'}
    values = {'state_topics': ('a', 'b'), 'command_type': 'joint_state'}
    values |= {row.name: given.get(row.name, row.default) for row in state_rows(values)}
    watch, node, seen = TopicWatch(observer.node, Model(), values), observer.node, []
    one, other = (node.create_publisher(JointState, f'{x}/joint_states', 1) for x in 'ab')

    def met(q, *told):
        for publisher, name, position in told:
            publisher.publish(JointState(name=[name], position=[position]))
        if (found := watch.snapshot()) is not None:
            seen.append(found.q.tolist())
        return bool(seen) and seen[-1] == q

    observer.until(lambda: met([1.0, 0.0], (one, 'x', 1.0)), 'one part')
    observer.until(lambda: met([1.0, 2.0], (other, 'cam_y', 2.0)), 'both parts')
    watch.close()
