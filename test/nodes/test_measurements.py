# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Sensor values are written to and read from messages, and wrong ones refused."""

from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Point, Pose, PoseArray, PoseStamped, Quaternion, Vector3  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402
from sensor_msgs.msg import Imu, JointState, Range  # noqa: E402
from softrobot_dynamics.errors import ArgumentError, DescriptionError, MessageError  # noqa: E402
from softrobot_dynamics.estimation.effort_measurements import Effort  # noqa: E402
from softrobot_dynamics.estimation.sensors.contract import Sensor, SENSORS  # noqa: E402
from softrobot_dynamics.estimation.sensors.message_layouts import LAYOUTS  # noqa: E402
from softrobot_dynamics.estimation.settings import load_estimator  # noqa: E402
from softrobot_dynamics.loops.message_fields import cause_of, CAUSES, read_measurement, stamp_of  # noqa: E402
from softrobot_dynamics.loops.sensor_adapters import adapter_of  # noqa: E402
from softrobot_dynamics.nodes.messaging import message_sizes  # noqa: E402
from softrobot_dynamics.nodes.messaging.measurements import (  # noqa: E402
    entries_of,
    MeasurementWriter,
    message_type_of,
)
from support.sensor_examples import bound, example  # noqa: E402

pytestmark = pytest.mark.quick

CAMERA, MARKERS, WINCHES, IMU, GYRO = load_estimator({
    'sensors': [
        {'name': 'camera', 'type': 'pose', 'body': 'tip'},
        {'name': 'dots', 'type': 'markers', 'points': [{'body': 'tip'}] * 2},
        {'name': 'winches', 'type': 'joint', 'names': ['t1', 't2', 't3'], 'noise': 1e-3},
        {'name': 'imu', 'type': 'imu', 'body': 'tip', 'orientation_noise': 0.1},
        {'name': 'gyro', 'type': 'imu', 'body': 'tip', 'acceleration_noise': None},
    ]
}).sensors  # fmt: skip
NAN = float('nan')


def pose(w=1.0, x=0.0, **place):
    """Return a pose at a place."""
    return Pose(position=Point(**place), orientation=Quaternion(w=w, x=x))


def unmeasured():
    """Return what an IMU says that measures nothing."""
    message = Imu()
    for name in ('orientation', 'angular_velocity', 'linear_acceleration'):
        getattr(message, f'{name}_covariance')[0] = -1.0
    return message


@pytest.mark.parametrize('seed', range(3))
def test_values_come_back(seed):
    """Values that are written to a message are read back, rotations as scipy has them."""
    rng, T = np.random.default_rng(seed), np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3)
    places = rng.normal(size=(2, 3))
    places[0] = NAN
    lengths = np.array([0.1, NAN, -0.2])
    turned = np.vstack([T[:3, :3], rng.normal(size=(2, 3))])
    turning = np.full((5, 3), NAN)
    turning[3] = turned[3]
    given = [(CAMERA, T), (MARKERS, places), (WINCHES, lengths), (IMU, turned), (GYRO, turning)]
    for sensor, value in given:
        message = MeasurementWriter(sensor).write(value, 12_345_678_901)
        assert stamp_of(message) == 12_345_678_901
        found = read_measurement(sensor, message)
        np.testing.assert_allclose(found, value, atol=1e-12)


@pytest.mark.parametrize('kind', SENSORS.names())
def test_every_kind_reads_what_it_writes(kind):
    """A value comes back from the message that its kind declares, to single precision."""
    sensor = example(kind)
    seen = bound(sensor)
    seen.observe(np.full(9, 0.05), np.full(9, 0.1), np.zeros(len(seen.observed.predicted)))
    value = sensor.value(seen.observed.predicted)
    message = MeasurementWriter(sensor).write(value, 1)
    assert isinstance(message, message_type_of(sensor))
    np.testing.assert_allclose(read_measurement(sensor, message), value, rtol=1e-6, atol=1e-7)
    size = len(bytes(serialize_message(message)))
    assert size < message_sizes.most_bytes(type(message), sensor.message_entries())


@pytest.mark.parametrize('kind', LAYOUTS)
def test_messages_of_drivers_are_written_and_read(kind):
    """Poses and markers come back from the messages of each type of driver that is installed."""
    pytest.importorskip(f'{kind.partition("/")[0]}.msg')
    layout, T = LAYOUTS[kind], np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.random(random_state=1).as_matrix(), [0.1, -0.2, 0.4]
    chosen = {'indices': 2} if layout.items and not layout.name else {}
    chosen = {'names': 'arm/3'} if layout.name else chosen
    source = {'type': kind, 'origin': {'xyz': [1.0, 2.0, 3.0], 'rpy': [0.1, 0.2, 0.3]}, **chosen}
    own = {'type': 'pose', 'body': 'tip'}
    value = T
    if not layout.orientation:
        own, value = {'type': 'markers', 'points': [{'body': 'tip'}]}, T[None, :3, 3]
    given = {'sensors': [{'name': 'body', **own, 'message': source}]}
    (sensor,) = load_estimator(given).sensors
    message = MeasurementWriter(sensor).write(value, 12_345_678_901)
    assert isinstance(message, message_type_of(sensor))
    assert len(bytes(serialize_message(message))) < message_sizes.most_bytes(
        type(message), entries_of(sensor)
    )
    found = adapter_of(sensor).read(message, 0, None)
    assert found.stamp == 12_345_678_901
    np.testing.assert_allclose(found.value, value, atol=1e-6)


def test_a_message_type_that_is_not_installed_is_refused():
    """A driver's package that is missing is named with how to install it."""
    fields = {'position': 'place'}
    own = {'type': 'markers', 'points': [{'body': 'tip'}], 'name': 'dots'}
    source = {'type': 'lab_msgs/Dot', 'fields': fields}
    (sensor,) = load_estimator({'sensors': [{**own, 'message': source}]}).sensors
    with pytest.raises(DescriptionError, match='dots: .*lab_msgs/Dot.*lab-msgs'):
        message_type_of(sensor)


def test_joints_come_by_name():
    """Joints are read by name in any order, and others are ignored."""
    message = JointState(name=['t3', 'other', 't1'], position=[3.0, 9.0, 1.0])
    np.testing.assert_array_equal(read_measurement(WINCHES, message), [1.0, NAN, 3.0])


@pytest.mark.parametrize(('sensor', 'message', 'cause'), [
    (CAMERA, PoseStamped(pose=pose(w=NAN)), 'not a number'),
    (CAMERA, PoseStamped(pose=pose(x=0.1)), 'not a number'),
    (CAMERA, PoseStamped(pose=pose(z=float('inf'))), 'not a number'),
    (MARKERS, PoseArray(poses=[pose()]), 'wrong size'),
    (MARKERS, PoseArray(poses=[pose(x=0.0), pose(y=float('inf'))]), 'not a number'),
    (IMU, Imu(orientation=Quaternion(w=0.0)), 'not a number'),
    (IMU, Imu(angular_velocity=Vector3(x=NAN)), 'not a number'),
    (IMU, unmeasured(), 'not a number'),
    (WINCHES, JointState(name=['a'], position=[1.0]), 'wrong name'),
    (WINCHES, JointState(name=['t1'], position=[]), 'wrong size'),
    (WINCHES, JointState(name=['t1'], position=[-float('inf')]), 'not a number'),
])  # fmt: skip
def test_an_invalid_measurement_is_refused(sensor, message, cause):
    """An invalid measurement is a MessageError of a known cause."""
    with pytest.raises(MessageError) as caught:
        read_measurement(sensor, message)
    assert cause_of(caught.value) == cause and cause in CAUSES


def test_an_orientation_that_is_not_declared_is_not_read():
    """Many drivers leave it at zero, which is none."""
    found = read_measurement(GYRO, Imu(orientation=Quaternion(w=0.0)))
    assert np.isnan(found[:3]).all() and np.isfinite(found[3:]).all()


@dataclass(frozen=True, kw_only=True)
class Smell(Sensor):
    """A sensor of a user's own, as far as its messages go."""

    type_name = message_type = ''

    def read(self, value):
        return np.array([float(value)])

    def from_message(self, message):
        return message.range

    def to_message(self, value):
        return {'range': float(value[0]), 'smell': 'good'}


@pytest.mark.parametrize(('declared', 'words'), [
    ('', "nose: message_type of smell: '', expected a message type, as 'sensor_msgs/Range'"),
    ('Range', 'expected a message type, as'),
    ('perfume_msgs/Smell', 'expected .* message package .*perfume-msgs.*No module named'),
    ('sensor_msgs/Smell', 'expected a message of the package sensor_msgs'),
    ('geometry_msgs/Pose', 'expected a message with a header'),
])  # fmt: skip
def test_a_message_type_that_cannot_be_used_is_refused(declared, words, monkeypatch):
    """A message type that is missing, unknown or without header is refused with what would do."""
    monkeypatch.setattr(Smell, 'type_name', 'smell')
    monkeypatch.setattr(Smell, 'message_type', declared)
    with pytest.raises(DescriptionError, match=words):
        message_type_of(Smell(name='nose'))


def test_a_field_that_a_message_does_not_have_is_named(monkeypatch):
    """A field that the message type lacks is an ArgumentError with sensor and type."""
    monkeypatch.setattr(Smell, 'message_type', 'sensor_msgs/msg/Range')
    with pytest.raises(ArgumentError, match='to_message of nose.*fields of sensor_msgs/msg/Range'):
        MeasurementWriter(Smell(name='nose')).write(np.ones(1), 0)


@pytest.mark.parametrize(('raised', 'reason'), [
    (MessageError('wrong size: 3'), 'wrong size: 3'),
    (MessageError('no echo'), 'unreadable: no echo'),
    (IndexError('3'), 'unreadable: IndexError: 3'),
    (ArgumentError('nose', 1, '2'), 'not a number: argument nose: 1, expected 2'),
])  # fmt: skip
def test_whatever_a_sensor_raises_refuses_the_message(raised, reason, monkeypatch):
    """Any exception of a sensor's code is a MessageError of a known cause: no loop ends by it."""

    def fail(self, message):
        raise raised

    monkeypatch.setattr(Smell, 'from_message', fail)
    with pytest.raises(MessageError) as caught:
        read_measurement(Smell(name='nose'), Range())
    assert caught.value.reason == reason and cause_of(caught.value) in CAUSES


def test_efforts_are_those_of_a_joint_state():
    """Efforts are read by name from a JointState, whose sizes are checked."""
    cells = Effort(name='cells', names=('t1', 't2'))
    message = JointState(name=['t2', 'other'], position=[7.0, 7.0], effort=[2.5, 9.0])
    np.testing.assert_allclose(read_measurement(cells, message), [NAN, 2.5])
    assert list(MeasurementWriter(cells).write(np.array([1.0, 2.0]), 0).effort) == [1.0, 2.0]
    for wrong in (JointState(name=['t1'], position=[1.0]), JointState(name=['x'], effort=[1.0])):
        with pytest.raises(MessageError, match='wrong'):
            read_measurement(cells, wrong)
    with pytest.raises(MessageError, match='not a number'):
        read_measurement(cells, JointState(name=['t1'], effort=[float('inf')]))
