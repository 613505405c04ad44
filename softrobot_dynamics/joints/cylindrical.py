# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A joint that turns about an axis and slides along it."""

from dataclasses import dataclass

from softrobot_dynamics.annotations import Complaints, FrameFormula, Math, Values
from softrobot_dynamics.joints.compound import CompoundJoint
from softrobot_dynamics.joints.contract import AxisJoint, register
from softrobot_dynamics.joints.rotations import about_z


@register('cylindrical')
@dataclass(frozen=True)
class Cylindrical(CompoundJoint, AxisJoint):
    """Two coordinates on one axis, `angle` [rad] about it and `slide` [m] along it."""

    lengths = ('slide',)
    turning = ('angle',)

    def coordinates(self) -> tuple[str, ...]:
        """Return the names of the two coordinates."""
        return 'angle', 'slide'

    def motion(self, q: Values, math: Math) -> FrameFormula:
        """Rotation about z and displacement along z."""
        return about_z(q[0], math), [0.0, 0.0, q[1]]

    def validate(self) -> Complaints:
        """Yield faults of the springs, the limits and the placement."""
        yield from CompoundJoint.validate(self)
        yield from AxisJoint.validate(self)
