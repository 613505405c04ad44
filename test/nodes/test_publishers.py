# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Log lines of the controller on states that are missing."""

import pytest

rclpy = pytest.importorskip('rclpy')

from rclpy.qos import QoSProfile  # noqa: E402
from softrobot_dynamics.nodes.publishers import ControlPublisher  # noqa: E402


@pytest.fixture
def node():
    """Return a node of a context of its own."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('waiting', context=context)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.mark.parametrize(
    ('states', 'silent', 'topics'),
    [
        ({'': 'joint_states'}, (), ['/joint_states']),
        ({'arm': 'arm/joint_states', 'soft': 'soft/joint_states'}, ('soft',), ['/soft']),
        ({'arm': 'arm/joint_states', 'soft': 'soft/joint_states'}, (), ['/arm', '/soft']),
    ],
)
def test_missing_states_are_named_by_their_topics(node, states, silent, topics):
    """Where each part comes but no whole state is valid, all topics are named."""
    said = []
    publisher = ControlPublisher(node, [], [], [], QoSProfile(depth=1), lambda: None, states)
    publisher._logger = type('Logger', (), {'warning': said.append, 'info': said.append})
    publisher.waiting(10**9, 'stale', *silent)
    (words,) = said
    assert all(f'on {topic}' in words for topic in topics)
    assert words.count(' publishers there') == len(topics) and 'stale' in words
