# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Where a frame on the robot is, and how it is turned: as a camera or a tracker sees it."""

from __future__ import annotations

from dataclasses import dataclass
import math

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
    deviation,
    Observation,
    Place,
    register,
    Sensor,
)
from softrobot_dynamics.estimation.sensors.spots import bind_spots, require_frames, Spot
from softrobot_dynamics.schema.fields import nested, text, vector
from softrobot_dynamics.schema.poses import flat, Pose, transform

_ORTHOGONAL = 1e-6  # by how much rows may miss being unit vectors at right angles


@register('pose')
@dataclass(frozen=True, kw_only=True)
class PoseSensor(Sensor):
    """
    The pose (4, 4) of a frame on a body, in the base frame.

    z is its rotation, row by row, and its origin [m]; the residual (6,) a rotation vector [rad]
    from what is expected, then a way [m], both in the axes of the base.
    """

    body: str = text()
    point: tuple[float, float, float] | None = vector('m', 3, default=None)
    mount: Pose = nested(Pose, default=Pose())
    position_noise: tuple[float, ...] = deviation('m', 3, 1e-3)
    orientation_noise: tuple[float, ...] = deviation('rad', 3, math.radians(1.0))

    def read(self, value: ArrayLike) -> Vector:
        """Return z of a transform (4, 4)."""
        T = checked(self.name, value, (4, 4))
        if not _is_transform(*T.tolist()):
            raise ArgumentError(self.name, value, 'a transform: a rotation and an origin [m]')
        return flat(T)

    def value(self, z: Vector) -> Matrix:
        """Return the transform (4, 4)."""
        return transform(z[:9].reshape(3, 3), z[9:])

    def blur(self, z: Vector, error: Vector) -> Vector:
        """Return z turned and moved."""
        turn = _rotation(error[:3]) @ z[:9].reshape(3, 3)
        return np.concatenate([turn.ravel(), z[9:] + error[3:]])

    def bind(self, place: Place) -> Observation:
        """Return the :class:`Observation` on a robot."""
        model, given = place.model, [Spot(self.body, self.point, self.mount)]
        spots, observed = (bind_spots(model, model.evaluator(), given), allocate(6, model.n, 12))
        observe = cached(
            observe_pose,
            place=spots.place,
            frame=spots.frames[0],
            J=spots.jacobians[0],
            o=observed,
        )
        observe(model.q0, np.zeros(model.n), flat(np.eye(4)))
        require_frames(spots, given)
        noise = np.array([*self.orientation_noise, *self.position_noise])
        return Observation(observe, observed, noise, np.array([0, 6]))


@kernel
def observe_pose(place, frame, J, o, q, qd, z):
    """Fill what is observed of a frame (12,) with the Jacobian J (6 n,)."""
    run(place, q, qd)
    n = len(q)
    for i in range(12):
        o.predicted[i] = frame[i]
    for i in range(6):
        for j in range(n):
            o.H[i, j] = J[i * n + j]
    # the turn E = R_z R^T
    e00 = z[0] * frame[0] + z[1] * frame[1] + z[2] * frame[2]
    e01 = z[0] * frame[3] + z[1] * frame[4] + z[2] * frame[5]
    e02 = z[0] * frame[6] + z[1] * frame[7] + z[2] * frame[8]
    e10 = z[3] * frame[0] + z[4] * frame[1] + z[5] * frame[2]
    e11 = z[3] * frame[3] + z[4] * frame[4] + z[5] * frame[5]
    e12 = z[3] * frame[6] + z[4] * frame[7] + z[5] * frame[8]
    e20 = z[6] * frame[0] + z[7] * frame[1] + z[8] * frame[2]
    e21 = z[6] * frame[3] + z[7] * frame[4] + z[8] * frame[5]
    e22 = z[6] * frame[6] + z[7] * frame[7] + z[8] * frame[8]
    x, y, w = 0.5 * (e21 - e12), 0.5 * (e02 - e20), 0.5 * (e10 - e01)
    sine = math.sqrt(x * x + y * y + w * w)
    angle = math.atan2(sine, 0.5 * (e00 + e11 + e22 - 1.0))
    stretch = angle / sine if sine > 1e-9 else 1.0
    o.residual[0], o.residual[1], o.residual[2] = stretch * x, stretch * y, stretch * w
    for i in range(3):
        o.residual[3 + i] = z[9 + i] - frame[9 + i]


def _is_transform(x: list[float], y: list[float], z: list[float], last: list[float]) -> bool:
    """Tell whether rows are those of a rotation and an origin; quicker than by small arrays."""
    a, b, c = x[:3], y[:3], z[:3]
    across = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    lengths = max(abs(sum(v * v for v in row) - 1.0) for row in (a, b))
    angle = abs(sum(v * w for v, w in zip(a, b)))
    off = max(abs(v - w) for v, w in zip(across, c))
    return max(lengths, angle, off) < _ORTHOGONAL and last == [0.0, 0.0, 0.0, 1.0]


def _rotation(vector: Vector) -> Matrix:
    """Return the rotation (3, 3) by a rotation vector (3,) [rad]."""
    angle = float(np.linalg.norm(vector))
    x, y, z = vector / (angle or 1.0)
    axis = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * axis + (1.0 - math.cos(angle)) * axis @ axis
