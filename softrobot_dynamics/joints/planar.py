# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A joint that slides on a plane and turns in it."""

from dataclasses import dataclass

from softrobot_dynamics.annotations import FrameFormula, Math, Values
from softrobot_dynamics.joints.compound import CompoundJoint
from softrobot_dynamics.joints.contract import register
from softrobot_dynamics.joints.rotations import about_z


@register('planar')
@dataclass(frozen=True)
class Planar(CompoundJoint):
    """Displacement (x, y) [m] in the x-y plane of the origin frame, then `angle` [rad] about z."""

    lengths = 'x', 'y'
    turning = ('angle',)

    def coordinates(self) -> tuple[str, ...]:
        """Return the names of the three coordinates."""
        return 'x', 'y', 'angle'

    def motion(self, q: Values, math: Math) -> FrameFormula:
        """Displacement, then rotation."""
        return about_z(q[2], math), [q[0], q[1], 0.0]
