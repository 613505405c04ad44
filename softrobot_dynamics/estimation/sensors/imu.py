# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Inertial measurement unit: angular velocity, specific force, and perhaps orientation.

With the twists S_k of the coordinates before the frame that it sits on, the frame's own V, and its
A, in which the ground accelerates against gravity, all about its origin and in its axes, it says
V_w and f = A_v + V_w x V_v. A frame is moved along by its coordinates, so that ::

    dV/dq_k = dS_k/dt,   dA/dq_k = d2S_k/dt2 + dS_k/dt x V,
    dV/dqd_k = S_k,      dA/dqd_k = 2 dS_k/dt + S_k x V,      dA/dqdd_k = S_k

with the rates of :mod:`softrobot_dynamics.recursion.twists`; and qdd, too, depends on the state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Complaints, Integers, Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.errors import ArgumentError, MessageError, UnknownNameError
from softrobot_dynamics.estimation.sensors.contract import (
    allocate,
    BoundRobot,
    deviation,
    Observation,
    register,
    Sensor,
)
from softrobot_dynamics.estimation.sensors.frames import mount_frame
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
from softrobot_dynamics.kernels.mass_solve import solve_row
from softrobot_dynamics.kernels.spatial import cross_motion, read_six, rotate_back
from softrobot_dynamics.recursion.derivative_backward import read_column
from softrobot_dynamics.recursion.module_derivatives import add_scaled
from softrobot_dynamics.recursion.passes import (
    BODY_COLUMN,
    BODY_COUNT,
    JOINT_COLUMN,
    JOINT_COUNT,
    PARENT,
    STATE,
    TIP_POSE,
)
from softrobot_dynamics.recursion.twists import last_tip, MOTION, RATE, SECOND, TWIST
from softrobot_dynamics.schema.fields import nested, text
from softrobot_dynamics.schema.poses import flat, Pose
from softrobot_dynamics.schema.quaternions import read_orientation

_MEASURED_VECTORS = 3  # orientation, angular velocity, acceleration: three numbers each
_VECTOR_ROWS = {'angular_velocity': 3, 'linear_acceleration': 4}  # fields of a message: rows
_UNMEASURED = -1.0  # the first number of the covariance of what an IMU does not measure


class _Mounted(NamedTuple):
    """Mounting of an IMU on a robot with n coordinates."""

    body: int  # on the tip of this one
    moving_coordinates: Integers  # coordinates that move it
    columns: Integers  # columns that move it, see softrobot_dynamics.recursion.passes
    mount: Vector  # (12,) its frame in that of the tip
    frame: Vector  # (12,) its frame, base frame
    acceleration_jacobian: Matrix  # (3, n) of f by qdd


@register('imu')
@dataclass(frozen=True, kw_only=True)
class Imu(Sensor):
    """
    Angular velocity [rad/s] and specific force [m/s^2] of a frame on the tip of a body.

    Both are in the frame's own axes; at rest the force is what holds it against gravity, upwards.
    A value is of two rows (2, 3), these, or of five (5, 3): before them the three of the rotation
    in the base, as filters within the unit find it; NaN for what was not measured. Each of the
    three is gated alone, and left out where its deviation is None. Errors that stay, as a gyro's
    bias, are not looked for: take them off, or allow for them.
    """

    message_type: ClassVar[str] = 'sensor_msgs/Imu'

    body: str = text()
    mount: Pose = nested(Pose, default=Pose())
    angular_velocity_noise: tuple[float, ...] | None = deviation('rad/s', 3, 0.02, optional=True)
    acceleration_noise: tuple[float, ...] | None = deviation('m/s^2', 3, 0.2, optional=True)
    orientation_noise: tuple[float, ...] | None = deviation('rad', 3, None, optional=True)

    def validate(self) -> Complaints:
        """Yield if nothing is measured."""
        if not any(self._deviations()):
            field, expected = 'acceleration_noise', 'a deviation, of one of the three at least'
            yield field, self.acceleration_noise, expected

    def read(self, value: ArrayLike) -> Vector:
        """Return z (15,) of rows (2, 3) or (5, 3)."""
        try:
            rows = np.array(value, dtype=float)
        except (TypeError, ValueError):
            rows = np.zeros(0)
        if rows.shape == (2, 3):
            rows = np.vstack([np.full((3, 3), np.nan), rows])
        if rows.shape != (5, 3) or np.isinf(rows).any():
            expected = '(2, 3) [rad/s; m/s^2], or (5, 3) with a rotation before; NaN: not measured'
            raise ArgumentError(self.name, value, expected)
        if not np.isnan(rows[:3]).any() and not is_rotation(rows[:3].tolist()):
            raise ArgumentError(self.name, value, 'a rotation in the first three rows')
        return rows.ravel()

    def value(self, z: Vector) -> Matrix:
        """Return the rows (5, 3), NaN where nothing is measured."""
        rows = z.reshape(5, 3).copy()
        for first, given in zip((0, 3, 4), self._deviations()):
            if given is None:
                rows[first : max(3, first + 1)] = np.nan
        return rows

    def from_message(self, message: Message) -> Matrix:
        """
        Return the rows (5, 3) of a sensor_msgs/Imu.

        A covariance that begins with -1 says that its quantity is not measured: NaN. An
        orientation is read only if the sensor has an ``orientation_noise``.
        """
        rows = np.full((5, 3), np.nan)
        if self.orientation_noise and message.orientation_covariance[0] != _UNMEASURED:
            rows[:3] = read_orientation(message.orientation)
        for field, row in _VECTOR_ROWS.items():
            if getattr(message, f'{field}_covariance')[0] != _UNMEASURED:
                found = getattr(message, field)
                rows[row] = finite_numbers((found.x, found.y, found.z))
        if np.isnan(rows).all():
            raise MessageError('not a number: by its covariances nothing was measured')
        return rows

    def to_message(self, value: Matrix) -> MessageFields:
        """Return the fields of a sensor_msgs/Imu."""
        measured = {'orientation': quaternion(value[:3])} if np.isfinite(value[:3]).all() else {}
        measured |= {
            f: point(value[row])
            for f, row in _VECTOR_ROWS.items()
            if np.isfinite(value[row]).all()
        }
        unmeasured = [_UNMEASURED, *8 * [0.0]]
        absent = {'orientation', *_VECTOR_ROWS} - set(measured)
        return {**measured, **{f'{field}_covariance': unmeasured for field in absent}}

    def add_noise(self, z: Vector, error: Vector) -> Vector:
        """Return z turned, and with the other errors added."""
        turned = rotation(error[:3]) @ z[:9].reshape(3, 3)
        return np.concatenate([turned.ravel(), z[9:] + error[3:]])

    def bind(self, bound_robot: BoundRobot) -> Observation:
        """Return the :class:`Observation` on a robot."""
        model, n = bound_robot.model, bound_robot.model.n
        if self.body not in model.body_names:
            raise UnknownNameError('body', self.body, model.body_names)
        body, differentiate = model.body_names.index(self.body), bound_robot.differentiate
        robot, observed = differentiate.robot, allocate(3 * _MEASURED_VECTORS, n, 15)
        columns = np.array(_supporting_columns(robot.modules, body), dtype=np.int64)
        moving = np.unique(robot.coordinates[columns]).astype(np.int64)
        mounted = _Mounted(
            body, moving, columns, flat(self.mount.matrix()), np.zeros(12), np.zeros((3, n))
        )
        watch = cached(
            observe_motion,
            robot=robot,
            t=differentiate.tangents,
            r=differentiate.response,
            m=mounted,
            o=observed,
        )
        unmeasured = np.repeat([given is None for given in self._deviations()], 3)
        rest = np.zeros(n)

        def observe(q: Vector, qd: Vector, z: Vector) -> None:
            """Fill the predicted measurement, and the residual of the values z."""
            if bound_robot.at_rest:
                differentiate.inverse(q, rest, rest)
            else:
                differentiate.forward(q, qd, bound_robot.u)
            watch(z, not bound_robot.at_rest)
            observed.residual[unmeasured] = np.nan
            observed.H[unmeasured] = 0.0

        noise = np.concatenate([given or np.ones(3) for given in self._deviations()])
        return Observation(observe, observed, noise, np.arange(0, 3 * _MEASURED_VECTORS + 1, 3))

    def _deviations(self) -> tuple[Any, ...]:
        """Return those of the three parts, in the order of residuals."""
        return self.orientation_noise, self.angular_velocity_noise, self.acceleration_noise


@kernel
def observe_motion(robot, t, r, m, o, z, moving):
    """
    Fill the observation of a frame, after the derivatives at a state.

    Unless it is ``moving`` it is at rest whatever the forces are.
    """
    n, own = len(t.force), np.uint32((2 * m.body + 1) * MOTION)
    mount_frame(robot.W, m.body * STATE + TIP_POSE, m.mount, m.frame)
    c, R = last_tip(robot), m.frame
    away = R[9] - robot.W[c], R[10] - robot.W[c + 1], R[11] - robot.W[c + 2]
    V = _twist_at(R, away, read_six(t.motions, own))
    A = _twist_at(R, away, read_six(t.motions, own + np.uint32(6)))
    for i in range(9):
        o.predicted[i] = R[i]
    for i in range(3):
        o.predicted[9 + i] = V[i]
    o.predicted[12] = A[3] + V[1] * V[5] - V[2] * V[4]
    o.predicted[13] = A[4] + V[2] * V[3] - V[0] * V[5]
    o.predicted[14] = A[5] + V[0] * V[4] - V[1] * V[3]
    o.residual[0], o.residual[1], o.residual[2] = turn_from(R, z)
    for i in range(6):
        o.residual[3 + i] = z[9 + i] - o.predicted[9 + i]
    X = t.columns
    o.H[6:] = 0.0  # what the forces do is added
    o.H[:6], m.acceleration_jacobian[:] = 0.0, 0.0
    for c in m.columns:
        k, S = robot.coordinates[c], read_column(X, TWIST, c)
        for i in range(3):
            o.H[i, k] += S[i]
        S = _twist_at(R, away, S)
        rate = _twist_at(R, away, read_column(X, RATE, c))
        second = _twist_at(R, away, read_column(X, SECOND, c))
        by_q = add_scaled(second, cross_motion(V, rate), -1.0)
        by_qd = add_scaled(add_scaled(rate, rate, 1.0), cross_motion(V, S), -1.0)
        f, g = _acceleration_change(by_q, rate, V), _acceleration_change(by_qd, S, V)
        for i in range(3):
            o.H[3 + i, k] += rate[i]
            o.H[3 + i, n + k] += S[i]
            o.H[6 + i, k] += f[i]
            o.H[6 + i, n + k] += g[i]
            m.acceleration_jacobian[i, k] += S[3 + i]
    if moving:
        for i in range(3):
            row, by_qdd = o.H[6 + i], m.acceleration_jacobian[i]
            for k in m.moving_coordinates:
                for j in range(2 * n):
                    row[j] += by_qdd[k] * r.change[k, j]
            for j in range(n):
                row[2 * n + j] = by_qdd[j]
            solve_row(r.L, r.scale, row[2 * n :])


@inlined
def _twist_at(R, away, S):
    """Twist of S, given in base axes, at the origin of a frame that is ``away``, in its axes."""
    x, y, z = away
    w0, w1, w2, v0, v1, v2 = S
    a, b, c = rotate_back(R, 0, w0, w1, w2)
    d, e, f = rotate_back(R, 0, v0 + w1 * z - w2 * y, v1 + w2 * x - w0 * z, v2 + w0 * y - w1 * x)
    return a, b, c, d, e, f


@inlined
def _acceleration_change(A, V, W):
    """Change (3,) of A_v + W_w x W_v by those of A and W, A and V."""
    return (
        A[3] + V[1] * W[5] - V[2] * W[4] + W[1] * V[5] - W[2] * V[4],
        A[4] + V[2] * W[3] - V[0] * W[5] + W[2] * V[3] - W[0] * V[5],
        A[5] + V[0] * W[4] - V[1] * W[3] + W[0] * V[4] - W[1] * V[3],
    )


def _supporting_columns(modules: Integers, body: int) -> Iterable[int]:
    """Yield the columns that move the tip of a body."""
    found: list[int] = []
    while body < len(modules):
        m = [int(value) for value in modules[body]]
        found += range(m[BODY_COLUMN], m[BODY_COLUMN] + m[BODY_COUNT])
        found += range(m[JOINT_COLUMN], m[JOINT_COLUMN] + m[JOINT_COUNT])
        body = m[PARENT]
    return sorted(found)
