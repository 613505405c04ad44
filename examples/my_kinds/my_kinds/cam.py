# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A joint that lifts as it turns."""

from dataclasses import dataclass

from softrobot_dynamics.joints.contract import AxisJoint, register
from softrobot_dynamics.schema.fields import number


@register('cam')
@dataclass(frozen=True, kw_only=True)
class Cam(AxisJoint):
    """One coordinate, the angle q [rad]; it lifts by lift (1 - cos q) along the axis."""

    lift: float = number('m')
    stiffness: float = number('N m/rad', at_least=0.0, default=0.0)
    damping: float = number('N m s/rad', at_least=0.0, default=0.0)

    def motion(self, q, math):
        """Return nine entries of the rotation, by rows, and three of the origin [m]."""
        c, s = math.cos(q[0]), math.sin(q[0])
        return [c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, self.lift * (1.0 - c)]
