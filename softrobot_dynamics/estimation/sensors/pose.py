# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Pose of a frame on the robot, as a camera or a tracker sees it."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.estimation.sensors.contract import (
    allocate,
    BoundRobot,
    deviation,
    Observation,
    register,
    Sensor,
)
from softrobot_dynamics.estimation.sensors.frames import bind_frames, require_frames, SensorFrame
from softrobot_dynamics.estimation.sensors.message_sources import POSE
from softrobot_dynamics.estimation.sensors.messages import (
    finite_numbers,
    Message,
    MessageFields,
    point,
    quaternion,
)
from softrobot_dynamics.estimation.sensors.rotation_residuals import (
    is_rotation,
    rotation,
    turn_from,
)
from softrobot_dynamics.schema.fields import nested, text, vector
from softrobot_dynamics.schema.poses import flat, Pose, transform
from softrobot_dynamics.schema.quaternions import read_orientation


@register('pose')
@dataclass(frozen=True, kw_only=True)
class PoseSensor(Sensor):
    """
    The pose (4, 4) of a frame on a body, in the base frame.

    z is its rotation, row by row, and its origin [m]; the residual (6,) a rotation vector [rad]
    from what is expected, then a way [m], both in the axes of the base.
    """

    message_type: ClassVar[str] = 'geometry_msgs/PoseStamped'
    content: ClassVar[str] = POSE

    body: str = text()
    point: tuple[float, float, float] | None = vector('m', 3, default=None)
    mount: Pose = nested(Pose, default=Pose())
    position_noise: tuple[float, ...] = deviation('m', 3, 1e-3)
    orientation_noise: tuple[float, ...] = deviation('rad', 3, math.radians(1.0))

    def read(self, value: ArrayLike) -> Vector:
        """Return z of a transform (4, 4)."""
        T = checked(self.name, value, (4, 4))
        *rows, last = T.tolist()
        if last != [0.0, 0.0, 0.0, 1.0] or not is_rotation([row[:3] for row in rows]):
            raise ArgumentError(self.name, value, 'a transform: a rotation and an origin [m]')
        return flat(T)

    def value(self, z: Vector) -> Matrix:
        """Return the transform (4, 4)."""
        return transform(z[:9].reshape(3, 3), z[9:])

    def from_message(self, message: Message) -> Matrix:
        """Return the transform (4, 4) of a geometry_msgs/PoseStamped."""
        p = message.pose.position
        place = finite_numbers((p.x, p.y, p.z))
        return transform(read_orientation(message.pose.orientation), place)

    def to_message(self, value: Matrix) -> MessageFields:
        """Return the fields of a geometry_msgs/PoseStamped."""
        place = {'position': point(value[:3, 3]), 'orientation': quaternion(value[:3, :3])}
        return {'pose': place}

    def add_noise(self, z: Vector, error: Vector) -> Vector:
        """Return z turned and moved."""
        turn = rotation(error[:3]) @ z[:9].reshape(3, 3)
        return np.concatenate([turn.ravel(), z[9:] + error[3:]])

    def bind(self, bound_robot: BoundRobot) -> Observation:
        """Return the :class:`Observation` on a robot."""
        model, given = bound_robot.model, [SensorFrame(self.body, self.point, self.mount)]
        bound, observed = (bind_frames(model, model.evaluator(), given), allocate(6, model.n, 12))
        observe = cached(
            observe_pose,
            place=bound.place_frames,
            frame=bound.frames[0],
            J=bound.jacobians[0],
            o=observed,
        )
        observe(model.q0, np.zeros(model.n), flat(np.eye(4)))
        require_frames(bound, given)
        noise = np.array([*self.orientation_noise, *self.position_noise])
        return Observation(observe, observed, noise, np.array([0, 6]))


@kernel
def observe_pose(place, frame, J, o, q, qd, z):
    """Fill the observation of a frame (12,) with the Jacobian J (6 n,)."""
    run(place, q, qd)
    n = len(q)
    for i in range(12):
        o.predicted[i] = frame[i]
    for i in range(6):
        for j in range(n):
            o.H[i, j] = J[i * n + j]
    o.residual[0], o.residual[1], o.residual[2] = turn_from(frame, z)
    for i in range(3):
        o.residual[3 + i] = z[9 + i] - frame[9 + i]
