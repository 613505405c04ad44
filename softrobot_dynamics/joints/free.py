# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A joint with six coordinates: a floating base."""

from dataclasses import dataclass

from softrobot_dynamics.annotations import FrameFormula, Math, Values
from softrobot_dynamics.joints.contract import register
from softrobot_dynamics.joints.rotations import TurningJoint


@register('free')
@dataclass(frozen=True)
class Free(TurningJoint):
    """
    Six coordinates: the displacement (x, y, z) [m] in the origin frame, then a rotation [rad].

    The rotation is a rotation vector (rx, ry, rz) by default or (roll, pitch, yaw), as in
    :class:`softrobot_dynamics.joints.spherical.Spherical`; T = T(x, y, z) R.
    """

    lengths = 'x', 'y', 'z'

    def coordinates(self) -> tuple[str, ...]:
        """Return the names of the six coordinates."""
        return *self.lengths, *self.rotation.names

    def motion(self, q: Values, math: Math) -> FrameFormula:
        """Displacement, then rotation."""
        return self.rotation.matrix(q[3:], math), q[:3]
