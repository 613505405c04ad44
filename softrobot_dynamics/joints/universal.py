# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A joint that turns about two axes at right angles, a Cardan joint."""

from dataclasses import dataclass

from softrobot_dynamics.annotations import FrameFormula, Math, Values
from softrobot_dynamics.joints.compound import CompoundJoint
from softrobot_dynamics.joints.contract import register


@register('universal')
@dataclass(frozen=True)
class Universal(CompoundJoint):
    """Two angles (rx, ry) [rad]: about x of the origin frame, then about the turned y."""

    turning = 'rx', 'ry'

    def coordinates(self) -> tuple[str, ...]:
        """Return the names of the two angles."""
        return 'rx', 'ry'

    def motion(self, q: Values, math: Math) -> FrameFormula:
        """Rotation Rx(rx) Ry(ry)."""
        (sx, sy), (cx, cy) = map(math.sin, q), map(math.cos, q)
        rotation = [cy, 0.0, sy, sx * sy, cx, -sx * cy, -cx * sy, sx, cx * cy]
        return rotation, [0.0, 0.0, 0.0]
