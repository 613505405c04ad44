# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot view --follow` hears the topics and names of a controller's parameter file."""

import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.cli.view import _parameters  # noqa: E402
from softrobot_dynamics.errors import ArgumentError  # noqa: E402
from softrobot_dynamics.nodes.topic_observer import TopicObserver  # noqa: E402
from support.robots import compiled  # noqa: E402

FILE = """/**: {controller: {ros__parameters: {
  state_topics: [lab], states.lab: {topic: lab/joint_states, prefix: my_}}}}"""


def test_states_of_a_labs_topic_are_seen(observer, tmp_path):
    """With the file of a controller the view sees states on its topic, by its names."""
    model, file = compiled('double_pendulum'), tmp_path / 'lab.yaml'
    file.write_text(FILE, encoding='utf-8')
    view = TopicObserver(model, '', _parameters(str(file), model))
    publisher = observer.node.create_publisher(JointState, 'lab/joint_states', 10)
    names, seen = [f'my_{name}' for name in model.coordinate_names], []

    def met():
        publisher.publish(JointState(name=names, position=[0.1, 0.2], velocity=[0.0, 0.0]))
        seen.extend(filter(None, [view.poll()]))
        return seen

    observer.until(met, 'a state')
    view.close()
    assert seen[-1][0].tolist() == [0.1, 0.2]


def test_a_missing_file_is_refused():
    """A file that does not exist is named with the flag."""
    with pytest.raises(ArgumentError, match='--controller'):
        _parameters('nowhere.yaml', compiled('double_pendulum'))
