# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Rotations as formulas: about one axis, and free ones by three coordinates.

Three coordinates cannot describe all rotations smoothly, so each choice fails somewhere: a
rotation vector at a full turn, roll, pitch and yaw at a pitch of a right angle.
"""

from dataclasses import dataclass
from math import hypot, pi
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Math, Value, Values, Vector
from softrobot_dynamics.joints.compound import CompoundJoint
from softrobot_dynamics.schema.fields import choice
from softrobot_dynamics.tracing.arithmetic import NUMERIC

SINGULARITY_MARGIN = 1e-3  # [rad] at which the mass matrix has lost half its digits


def about_z(angle: Value, math: Math) -> Values:
    """Nine entries, row-major, of a rotation about z by `angle` [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return [c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0]


class RotationVector:
    """
    R = exp(skew(r)): a turn about the axis r by the angle |r| [rad].

    By Stumpff functions of |r|^2, which are entire: r = 0 is no special case.
    """

    names = 'rx', 'ry', 'rz'
    domain = 'its rotation vector must be shorter than 2 pi [rad]'

    @staticmethod
    def matrix(r: Values, math: Math) -> Values:
        """Nine entries, row-major, of the rotation: 1 + c1 K + c2 K^2 with K = skew(r)."""
        x, y, z = r
        xx, yy, zz = x * x, y * y, z * z
        c1, c2 = (math.stumpff(k, xx + yy + zz) for k in (1, 2))
        return [
            1.0 - c2 * (yy + zz),
            c2 * x * y - c1 * z,
            c2 * x * z + c1 * y,
            c2 * x * y + c1 * z,
            1.0 - c2 * (xx + zz),
            c2 * y * z - c1 * x,
            c2 * x * z - c1 * y,
            c2 * y * z + c1 * x,
            1.0 - c2 * (xx + yy),
        ]

    @staticmethod
    def margin(r: Values, math: Math) -> Value:
        """Return the formula that is positive below a full turn."""
        return (2.0 * pi - SINGULARITY_MARGIN) ** 2 - (r[0] * r[0] + r[1] * r[1] + r[2] * r[2])

    @staticmethod
    def wrap(r: Vector, rate: Vector) -> tuple[Vector, Vector]:
        """Return the rotation vector of length <= pi of the same rotation as r, and its rate."""
        angle = hypot(*r)
        axis, share = r / angle, 1.0 - 2.0 * pi * round(angle / (2.0 * pi)) / angle
        return share * r, share * rate + (1.0 - share) * (axis @ rate) * axis


class RollPitchYaw:
    """R = Rz(yaw) Ry(pitch) Rx(roll), as everywhere in robot files [rad]."""

    names = 'roll', 'pitch', 'yaw'
    domain = 'its pitch must not be +-pi/2 [rad], where roll and yaw turn about one axis'

    @staticmethod
    def matrix(angles: Values, math: Math) -> Values:
        """Nine entries, row-major, of the rotation."""
        (sr, sp, sy), (cr, cp, cy) = map(math.sin, angles), map(math.cos, angles)
        return [
            cy * cp,
            cy * sp * sr - sy * cr,
            cy * sp * cr + sy * sr,
            sy * cp,
            sy * sp * sr + cy * cr,
            sy * sp * cr - cy * sr,
            -sp,
            cp * sr,
            cp * cr,
        ]

    @staticmethod
    def margin(angles: Values, math: Math) -> Value:
        """Return the formula that is positive away from a pitch of a right angle."""
        c = math.cos(angles[1])
        return c * c - SINGULARITY_MARGIN**2


PARAMETERS = {'rotation_vector': RotationVector, 'roll_pitch_yaw': RollPitchYaw}


@dataclass(frozen=True)
class TurningJoint(CompoundJoint):
    """A joint whose last three coordinates are those of any rotation, `parameters` says which."""

    parameters: str = choice(tuple(PARAMETERS), default='rotation_vector')

    @property
    def rotation(self) -> Any:
        """The class of :data:`PARAMETERS` that has the formula."""
        return PARAMETERS[self.parameters]

    @property
    def wrapped_coordinates(self) -> tuple[str, ...]:
        """See :class:`Joint`: a rotation vector, unless there are springs along it."""
        vector = self.parameters == 'rotation_vector' and not self.springs()[0, -3:].any()
        return self.rotation.names if vector else ()

    @property
    def turning(self) -> tuple[str, ...]:
        """See :class:`Joint`: each of roll, pitch and yaw."""
        return () if self.rotation is RotationVector else self.rotation.names

    @property
    def rotation_vector(self) -> tuple[str, ...]:
        """See :class:`Joint`."""
        return self.rotation.names if self.rotation is RotationVector else ()

    def margin(self, q: Values, math: Math) -> Value:
        """See :class:`Joint`."""
        return self.rotation.margin(q[-3:], math)

    def explain(self, q: Vector) -> str | None:
        """See :class:`Joint`."""
        if self.margin(q, NUMERIC) > 0.0:
            return None
        return f'{self.type_name} joint out of range: {self.rotation.domain}'

    def wrap(self, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
        """Return the state with a rotation vector of length <= pi; a spring's is left alone."""
        if hypot(*q[-3:]) <= pi or not self.wrapped_coordinates:
            return q, qd
        r, rate = self.rotation.wrap(q[-3:], qd[-3:])
        return np.concatenate([q[:-3], r]), np.concatenate([qd[:-3], rate])
