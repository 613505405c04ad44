# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A screw: a joint that slides along its axis in proportion to its turn."""

from dataclasses import dataclass

from softrobot_dynamics.annotations import FrameFormula, Math, Values
from softrobot_dynamics.joints.contract import AxisJoint, register
from softrobot_dynamics.joints.revolute import RevoluteLimits
from softrobot_dynamics.joints.rotations import about_z
from softrobot_dynamics.schema.fields import nested, number


@register('helical')
@dataclass(frozen=True, kw_only=True)
class Helical(AxisJoint):
    """
    One coordinate, the angle q [rad]; T = before @ Rz(q) Tz(pitch q) @ after.

    Its passive effort is -stiffness (q - rest) - damping qd - armature qdd. On the simulated robot
    `coulomb_friction` acts against the motion, too.
    """

    pitch: float = number('m/rad')  # of one turn: 2 pi pitch [m]; right-handed if positive
    stiffness: float = number('N m/rad', at_least=0, default=0.0)
    damping: float = number('N m s/rad', at_least=0, default=0.0)
    rest: float = number('rad', default=0.0)
    armature: float = number('kg m^2', at_least=0, default=0.0)
    coulomb_friction: float = number('N m', at_least=0, default=0.0)
    limits: RevoluteLimits = nested(RevoluteLimits, default=RevoluteLimits())

    screw = True

    def motion(self, q: Values, math: Math) -> FrameFormula:
        """Rotation about z and displacement along z."""
        return about_z(q[0], math), [0.0, 0.0, self.pitch * q[0]]
