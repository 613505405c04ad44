# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A ball joint."""

from dataclasses import dataclass

from softrobot_dynamics.annotations import FrameFormula, Math, Values
from softrobot_dynamics.joints.contract import register
from softrobot_dynamics.joints.rotations import TurningJoint


@register('spherical')
@dataclass(frozen=True)
class Spherical(TurningJoint):
    """
    Three coordinates [rad] of a rotation about a fixed point.

    By default a rotation vector (rx, ry, rz) in the origin frame, good for |q| < 2 pi, where it is
    singular: see :meth:`wrap`. Otherwise (roll, pitch, yaw), singular where cos(pitch) = 0.
    """

    def coordinates(self) -> tuple[str, ...]:
        """Return the names of the three coordinates."""
        return self.rotation.names

    def motion(self, q: Values, math: Math) -> FrameFormula:
        """Rotation by q."""
        return self.rotation.matrix(q, math), [0.0, 0.0, 0.0]
