# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Settings of where a sensor's value stands in a driver's messages are read and checked."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import DescriptionError, UnknownNameError
from softrobot_dynamics.estimation.sensors.message_layouts import LAYOUTS, MessageLayout
from support.robots import compiled

pytestmark = pytest.mark.quick

POSE = {'type': 'pose', 'body': 'segment3'}
DOTS = {'type': 'markers', 'points': [{'body': 'segment3'}, {'body': 'segment2'}]}
ENCODERS = {'type': 'joint', 'names': ['t1'], 'noise': 1e-3}


def read(sensor, **message):
    """Return a sensor that is described with a message."""
    given = {'sensors': [{**sensor, 'name': 'tip', 'message': message}]}
    return sd.load_estimator(given).sensors[0]


def test_a_sensor_without_a_message_is_read_as_before():
    """Without `message` a sensor has its own topic and type."""
    (sensor,) = sd.load_estimator({'sensors': [{**POSE, 'name': 'tip'}]}).sensors
    assert sensor.message is None


@pytest.mark.parametrize(('given', 'topic'), [
    ({}, 'sensors/tip'),
    ({'topic': '/vrpn_mocap/tip/pose'}, '/vrpn_mocap/tip/pose'),
    ({'type': 'tf2_msgs/TFMessage', 'names': 'tip'}, '/tf'),
    ({'type': 'tf2_msgs/TFMessage', 'names': 'tip', 'topic': '/tf_mocap'}, '/tf_mocap'),
])  # fmt: skip
def test_the_topic_is_the_given_one_or_that_of_the_type(given, topic):
    """Without a topic it is `sensors/NAME`, for transforms `/tf`."""
    assert read(POSE, **given).message.topic_of('tip') == topic


def test_a_name_or_an_index_may_stand_alone():
    """A single name or index is the same as a list with it."""
    assert read(POSE, type='tf2_msgs/TFMessage', names='tip').message.names == ('tip',)
    assert read(POSE, type='geometry_msgs/PoseArray', indices=0).message.indices == (0,)


@pytest.mark.parametrize(('sensor', 'message', 'place'), [
    (POSE, {'type': 'geometry_msgs/PoseArray'}, 'names: .* a name or an index'),
    (POSE, {'type': 'sensor_msgs/PointCloud2', 'indices': 0}, 'type: .* with an orientation'),
    (POSE, {'type': 'lab_msgs/Body'}, 'type: .lab_msgs/Body., expected one of .*`fields`'),
    (POSE, {'indices': 1}, 'type: .*several in a message'),
    (POSE, {'type': 'geometry_msgs/PoseArray', 'names': 'tip'}, 'names: .*expected indices'),
    (POSE, {'type': 'tf2_msgs/TFMessage', 'names': 'a', 'indices': 0}, 'indices: 0, .*not both'),
    (POSE, {'type': 'geometry_msgs/PoseArray', 'indices': -1}, 'indices: -1, expected a number'),
    (POSE, {'type': 'geometry_msgs/PoseArray', 'indices': True}, 'indices: True, expected a num'),
    (POSE, {'type': 'tf2_msgs/TFMessage', 'names': ''}, "names: '', expected a name"),
    (POSE, {'assign_within': 0.01}, 'assign_within: 0.01, expected null'),
    (POSE, {'clock': 'mine'}, 'clock: .mine., expected one of shared, own, arrival'),
    (POSE, {'scale': 0.0}, 'scale: 0.0'),
    (POSE, {'frame': 'world'}, 'frame: .world., expected one of the fields .*frame_id'),
    (DOTS, {'indices': [0]}, 'indices: .*expected 2 different ones'),
    (DOTS, {'indices': [3, 3]}, 'indices: .*expected 2 different ones'),
    (DOTS, {'type': 'geometry_msgs/PointStamped'}, 'type: .*several in a message'),
    (DOTS, {'assign_within': 0.01, 'indices': [0, 1]}, 'assign_within: 0.01, expected null'),
    (ENCODERS, {'indices': 0}, 'indices: .*for pose and markers only'),
    (ENCODERS, {'type': 'sensor_msgs/Imu'}, 'type: .*expected sensor_msgs/JointState'),
])  # fmt: skip
def test_a_message_that_cannot_be_is_refused_by_its_field(sensor, message, place):
    """A wrong entry is a DescriptionError with its place in the file and what would be right."""
    with pytest.raises(DescriptionError, match=rf'sensors\[0\]\.message\.({place})'):
        read(sensor, **message)


def test_a_type_that_is_not_listed_is_described_by_its_fields():
    """Another type of message needs the names of its fields, and nothing else."""
    fields = {'items': 'bodies', 'name': 'id', 'position': 'pose.position',
              'orientation': 'pose.orientation'}  # fmt: skip
    source = read(POSE, type='lab_msgs/Bodies', fields=fields, names='7').message
    assert source.layout('geometry_msgs/PoseStamped') == MessageLayout(**fields)


def test_a_pose_sensor_takes_every_listed_type_with_an_orientation():
    """Each listed type suits a pose, by name or index, or markers that come in any order."""
    for kind, layout in LAYOUTS.items():
        chosen = {'names': 'a/1'} if layout.name else {'indices': 2} if layout.items else {}
        if layout.orientation:
            assert read(POSE, type=kind, **chosen).message.type == kind
        if layout.items:
            assert read(DOTS, type=kind, assign_within=0.02).message.type == kind


def test_the_predicted_value_is_what_is_measured_without_noise():
    """`Estimator.predicted` returns the value of a sensor at the newest state, or at a time."""
    model = compiled('pcc_arm')
    estimator = sd.Estimator(model, {'sensors': [{**POSE, 'name': 'tip'}]})
    q, u = np.full(model.n, 0.03), np.full(model.m, 2.0)
    estimator.begin(0.0, q=q, u=u)
    tip = sd.forward_kinematics(model, q=q)[-1]
    np.testing.assert_allclose(estimator.predicted('tip'), tip, atol=1e-12)
    later = sd.forward_kinematics(model, q=estimator.estimate(0.05).q)[-1]
    np.testing.assert_allclose(estimator.predicted('tip', 0.05), later, atol=1e-12)
    assert np.abs(later - tip).max() > 1e-5
    with pytest.raises(UnknownNameError, match='sensor'):
        estimator.predicted('top')
