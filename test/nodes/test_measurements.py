# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Sensor values are written to and read from messages, and wrong ones refused."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Point, Pose, PoseArray, PoseStamped, Quaternion, Vector3  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402
from sensor_msgs.msg import Imu, JointState  # noqa: E402
from softrobot_dynamics.errors import DescriptionError, MessageError  # noqa: E402
from softrobot_dynamics.estimation.efforts import Effort  # noqa: E402
from softrobot_dynamics.estimation.sensors.contract import Sensor  # noqa: E402
from softrobot_dynamics.estimation.settings import load_estimator  # noqa: E402
from softrobot_dynamics.loops.message_fields import (  # noqa: E402
    cause_of,
    CAUSES,
    checked_value,  # noqa: E402
)
from softrobot_dynamics.nodes.messaging.measurements import form_of  # noqa: E402

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
        form = form_of(sensor)
        found = checked_value(sensor, form.read(form.write(value)))
        np.testing.assert_allclose(found, value, atol=1e-12)


def test_joints_come_by_name():
    """Joints are read by name in any order, and others are ignored."""
    message = JointState(name=['t3', 'other', 't1'], position=[3.0, 9.0, 1.0])
    np.testing.assert_array_equal(form_of(WINCHES).read(message), [1.0, NAN, 3.0])


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
        checked_value(sensor, form_of(sensor).read(message))
    assert cause_of(caught.value) == cause and cause in CAUSES


def test_an_orientation_that_is_not_declared_is_not_read():
    """An undeclared orientation is not read, as many drivers leave it at zero."""
    found = form_of(GYRO).read(Imu(orientation=Quaternion(w=0.0)))
    assert np.isnan(found[:3]).all() and np.isfinite(found[3:]).all()


def test_a_kind_without_messages_is_refused():
    """A sensor kind without messages is refused with the kinds that have some."""

    class Smell(Sensor):
        type_name = 'smell'

    with pytest.raises(DescriptionError, match='nose.type: .smell., expected .*pose, markers'):
        form_of(Smell(name='nose'))


def test_efforts_are_those_of_a_joint_state():
    """Efforts are read by name from a JointState, whose sizes are checked."""
    cells = Effort(name='cells', names=('t1', 't2'))
    form = form_of(cells)
    message = JointState(name=['t2', 'other'], position=[7.0, 7.0], effort=[2.5, 9.0])
    np.testing.assert_allclose(checked_value(cells, form.read(message)), [NAN, 2.5])
    assert list(form.write(np.array([1.0, 2.0])).effort) == [1.0, 2.0]
    for wrong in (JointState(name=['t1'], position=[1.0]), JointState(name=['x'], effort=[1.0])):
        with pytest.raises(MessageError, match='wrong'):
            form.read(wrong)
    with pytest.raises(MessageError, match='not a number'):
        checked_value(cells, form.read(JointState(name=['t1'], effort=[float('inf')])))
