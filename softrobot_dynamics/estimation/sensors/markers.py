# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Positions of points on the robot: markers that cameras find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.estimation.sensors.contract import (
    allocate,
    BoundRobot,
    deviation,
    Observation,
    register,
    Sensor,
)
from softrobot_dynamics.estimation.sensors.frames import bind_frames, require_frames, SensorFrame
from softrobot_dynamics.estimation.sensors.message_sources import POINTS
from softrobot_dynamics.estimation.sensors.messages import (
    Message,
    MessageFields,
    point,
    read_array,
)
from softrobot_dynamics.schema.fields import items, nested


@register('markers')
@dataclass(frozen=True, kw_only=True)
class Markers(Sensor):
    """
    The positions (K, 3) [m] of points in the base frame; NaN for one that is not seen.

    A marker is right or wrong as a whole.
    """

    message_type: ClassVar[str] = 'geometry_msgs/PoseArray'
    content: ClassVar[str] = POINTS

    points: tuple[SensorFrame, ...] = items(nested(SensorFrame))
    noise: tuple[float, ...] = deviation('m', 3, 1e-3)

    @property
    def tracked(self) -> int:
        """The number of points."""
        return len(self.points)

    def read(self, value: ArrayLike) -> Vector:
        """Return z of positions (K, 3) [m]."""
        K, expected = len(self.points), f'({len(self.points)}, 3) [m], NaN for one not seen'
        positions = read_array(self.name, value, (K, 3), expected)
        positions[np.isnan(positions).any(axis=1)] = np.nan
        return positions.ravel()

    def value(self, z: Vector) -> Matrix:
        """Return the positions (K, 3) [m]."""
        return z.reshape(-1, 3).copy()

    def from_message(self, message: Message) -> Matrix:
        """Return the positions (K, 3) of a geometry_msgs/PoseArray."""
        count = len(message.poses)
        if count != len(self.points):
            words = f'poses has {count} values, expected {len(self.points)}'
            raise MessageError(f'wrong size: {words}')
        places = [(each.position.x, each.position.y, each.position.z) for each in message.poses]
        return np.array(places).reshape(-1, 3)

    def to_message(self, value: Matrix) -> MessageFields:
        """Return the fields of a geometry_msgs/PoseArray."""
        return {'poses': [{'position': point(each)} for each in value]}

    def message_entries(self) -> int:
        """Return the number of poses."""
        return len(self.points)

    def bind(self, bound_robot: BoundRobot) -> Observation:
        """Return the :class:`Observation` on a robot."""
        model, K = bound_robot.model, len(self.points)
        bound = bind_frames(model, model.evaluator(), self.points)
        observed = allocate(3 * K, model.n)
        observe = cached(
            observe_points,
            place=bound.place_frames,
            frames=bound.frames,
            jacobians=bound.jacobians,
            o=observed,
        )
        observe(model.q0, np.zeros(model.n), np.zeros(3 * K))
        require_frames(bound, self.points)
        return Observation(observe, observed, np.tile(self.noise, K), np.arange(0, 3 * K + 1, 3))


@kernel
def observe_points(place, frames, jacobians, o, q, qd, z):
    """Fill the observation of the origins of frames (K, 12)."""
    run(place, q, qd)
    n = len(q)
    for k in range(len(frames)):
        for i in range(3):
            row = 3 * k + i
            o.predicted[row] = frames[k, 9 + i]
            o.residual[row] = z[row] - frames[k, 9 + i]
            for j in range(n):
                o.H[row, j] = jacobians[k, (3 + i) * n + j]
