# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A joint that slides along an axis."""

from dataclasses import dataclass
from math import inf

from softrobot_dynamics.annotations import FrameFormula, Math, Values
from softrobot_dynamics.compiling.jit import Kernel, kernel
from softrobot_dynamics.joints.contract import AxisJoint, register
from softrobot_dynamics.schema.fields import interval, nested, number


@dataclass(frozen=True)
class PrismaticLimits:
    """Rating of the joint; none unless given."""

    position: tuple[float, float] = interval('m', default=(-inf, inf))
    velocity: float = number('m/s', above=0, infinite=True, default=inf)
    effort: float = number('N', above=0, infinite=True, default=inf)
    restitution: float = number('-', at_least=0.0, at_most=1.0, default=0.0)  # of its stops


@register('prismatic')
@dataclass(frozen=True)
class Prismatic(AxisJoint):
    """
    One coordinate, the displacement q [m]; T = before @ Tz(q) @ after.

    Its passive effort is -stiffness (q - rest) - damping qd - armature qdd. On the simulated robot
    `coulomb_friction` acts against the motion, too.
    """

    stiffness: float = number('N/m', at_least=0, default=0.0)
    damping: float = number('N s/m', at_least=0, default=0.0)
    rest: float = number('m', default=0.0)
    armature: float = number('kg', at_least=0, default=0.0)
    coulomb_friction: float = number('N', at_least=0, default=0.0)
    limits: PrismaticLimits = nested(PrismaticLimits, default=PrismaticLimits())

    screw = True

    def unit(self, coordinate: str) -> str:
        """Return m."""
        return 'm'

    def motion(self, q: Values, math: Math) -> FrameFormula:
        """Displacement along z."""
        return [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, q[0]]

    def kernel(self) -> Kernel:
        """Return the kernel and numbers of this joint's frame: springs, before, after."""
        return Kernel(__name__, 'prismatic_terms', self.numbers())


@kernel
def prismatic_terms(P, q, qd, W):
    """Frame of a shift along z between two constant transforms; P: springs (3), both (24)."""
    b, a = 3, 15
    for i in range(3):
        x, y, z = P[b + 3 * i], P[b + 3 * i + 1], P[b + 3 * i + 2]
        for j in range(3):
            W[3 * i + j] = x * P[a + j] + y * P[a + 3 + j] + z * P[a + 6 + j]
        W[9 + i] = P[b + 9 + i] + x * P[a + 9] + y * P[a + 10] + z * (P[a + 11] + q[0])
        W[12 + i] = W[15 + i] = W[18 + i] = 0.0
        W[21 + i] = z
