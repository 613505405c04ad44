# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Convert measurements to messages and back, by the kind of sensor, see `FORMS`.

What cannot be used raises MessageError, whose reason begins with one of `messages.CAUSES`.
"""

from __future__ import annotations

from collections.abc import Iterable
import math
from typing import Any

from geometry_msgs.msg import Point, Pose, PoseArray, PoseStamped, Quaternion, Vector3
import numpy as np
from sensor_msgs.msg import Imu as ImuMessage
from sensor_msgs.msg import JointState
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.errors import DescriptionError, MessageError, Problem
from softrobot_dynamics.estimation.efforts import Effort
from softrobot_dynamics.estimation.sensors.contract import Sensor
from softrobot_dynamics.estimation.sensors.imu import Imu
from softrobot_dynamics.estimation.sensors.joint import JointSensor
from softrobot_dynamics.estimation.sensors.markers import Markers
from softrobot_dynamics.estimation.sensors.pose import PoseSensor
from softrobot_dynamics.schema.poses import read_orientation, transform

TOPIC = 'sensors/{}'  # of a sensor by its name
_PARTS_OF_IMU: dict[str, Any] = {
    'orientation': slice(0, 3),
    'angular_velocity': 3,
    'linear_acceleration': 4,
}
_UNMEASURED = -1.0  # the first number of the covariance of what an IMU does not measure


class PoseForm:
    """A geometry_msgs/PoseStamped in the base frame as a transform (4, 4), and back."""

    sensor, message_type = PoseSensor, PoseStamped
    size = 0  # of what a message may have more or fewer of

    def __init__(self, sensor: Any) -> None:
        del sensor  # one pose is as another

    def read(self, message: Any) -> Matrix:
        """Return the transform (4, 4)."""
        p = message.pose.position
        place = _finite((p.x, p.y, p.z))
        return transform(read_orientation(message.pose.orientation), place)

    def write(self, value: Matrix) -> Any:
        """Return a message of a transform (4, 4), without its header."""
        pose = Pose(position=_point(value[:3, 3]), orientation=_quaternion(value[:3, :3]))
        return PoseStamped(pose=pose)


class MarkersForm:
    """A geometry_msgs/PoseArray as positions (K, 3), nan for a marker not seen, and back."""

    sensor, message_type = Markers, PoseArray

    def __init__(self, sensor: Markers) -> None:
        self.size = len(sensor.points)

    def read(self, message: Any) -> Matrix:
        """Return the positions (K, 3)."""
        if len(message.poses) != self.size:
            words = f'poses has {len(message.poses)} values, expected {self.size}'
            raise MessageError(f'wrong size: {words}')
        places = [(each.position.x, each.position.y, each.position.z) for each in message.poses]
        return np.array(places).reshape(-1, 3)

    def write(self, value: Matrix) -> Any:
        """Return a message of positions (K, 3), without its header."""
        return PoseArray(poses=[Pose(position=_point(p)) for p in value])


class _NamedForm:
    """A field of a sensor_msgs/JointState as numbers (K,), nan for one that is not there."""

    message_type, field = JointState, 'position'

    def __init__(self, sensor: JointSensor | Effort) -> None:
        self._names = list(sensor.names)
        self.size = len(self._names)

    def read(self, message: Any) -> Vector:
        """Return the numbers (K,), of which one at least has to be there."""
        given = getattr(message, self.field)
        if len(given) != len(message.name):
            words = f'{self.field} has {len(given)} values, expected {len(message.name)}'
            raise MessageError(f'wrong size: {words}')
        found = dict(zip(message.name, given))
        values = np.array([found.get(name, math.nan) for name in self._names])
        if not any(name in found for name in self._names):
            words = f'{list(message.name)[:3]}, expected some of {self._names}'
            raise MessageError(f'wrong name: {words}')
        return values

    def write(self, value: Vector) -> Any:
        """Return a message of numbers (K,), without its header."""
        return JointState(name=self._names, **{self.field: [float(x) for x in value]})


class JointForm(_NamedForm):
    """Positions of a sensor_msgs/JointState as coordinates (K,), and back."""

    sensor = JointSensor


class EffortForm(_NamedForm):
    """Efforts of a sensor_msgs/JointState as those of actuators (K,), and back."""

    sensor, field = Effort, 'effort'


class ImuForm:
    """
    A sensor_msgs/Imu as rows (5, 3), and back.

    A covariance that begins with -1 says that its quantity is not measured: nan.
    """

    sensor, message_type = Imu, ImuMessage
    size = 0

    def __init__(self, sensor: Imu) -> None:
        self._turned = sensor.orientation_noise is not None

    def read(self, message: Any) -> Matrix:
        """Return the rotation (3, 3), angular velocity and specific force."""
        rows = np.full((5, 3), math.nan)
        if self._turned and message.orientation_covariance[0] != _UNMEASURED:
            rows[:3] = read_orientation(message.orientation)
        for name, row in list(_PARTS_OF_IMU.items())[1:]:
            if getattr(message, f'{name}_covariance')[0] != _UNMEASURED:
                value = getattr(message, name)
                rows[row] = _finite((value.x, value.y, value.z))
        if np.isnan(rows).all():
            raise MessageError('not a number: by its covariances nothing was measured')
        return rows

    def write(self, value: Matrix) -> Any:
        """Return a message of rows (5, 3), without its header."""
        message = ImuMessage()
        message.angular_velocity, message.linear_acceleration = map(_vector, value[3:])
        if np.isfinite(value[:3]).all():
            message.orientation = _quaternion(value[:3])
        for name, rows in _PARTS_OF_IMU.items():
            if np.isnan(value[rows]).any():
                getattr(message, f'{name}_covariance')[0] = _UNMEASURED
        return message


FORMS: tuple[Any, ...] = PoseForm, MarkersForm, JointForm, ImuForm


def form_of(sensor: Sensor | Effort) -> Any:
    """Return what reads and writes the messages of a sensor; DescriptionError if nothing can."""
    for form in (*FORMS, EffortForm):
        if isinstance(sensor, form.sensor):
            return form(sensor)
    known = ', '.join(form.sensor.type_name for form in FORMS)
    problem = Problem(
        f'{sensor.name}.type', getattr(sensor, 'type_name', ''), f'one that has messages: {known}'
    )
    raise DescriptionError((problem,), 'sensors')


def _finite(values: Iterable[float]) -> list[float]:
    numbers = list(values)
    if not all(map(math.isfinite, numbers)):
        raise MessageError(f'not a number: {numbers}, expected finite ones')
    return numbers


def _point(p: Vector) -> Any:
    return Point(x=float(p[0]), y=float(p[1]), z=float(p[2]))


def _vector(p: Vector) -> Any:
    return Vector3(x=float(p[0]), y=float(p[1]), z=float(p[2]))


def _quaternion(R: Matrix) -> Any:
    from scipy.spatial.transform import Rotation  # late: scipy is slow to import

    x, y, z, w = Rotation.from_matrix(R).as_quat().tolist()
    return Quaternion(w=w, x=x, y=y, z=z)
