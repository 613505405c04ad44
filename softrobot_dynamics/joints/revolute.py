# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A joint that turns about an axis."""

from dataclasses import dataclass
import math
from math import inf

from softrobot_dynamics.annotations import FrameFormula, Math, Values
from softrobot_dynamics.compiling.jit import Kernel, kernel
from softrobot_dynamics.joints.contract import AxisJoint, register
from softrobot_dynamics.joints.rotations import about_z
from softrobot_dynamics.schema.fields import interval, nested, number


@dataclass(frozen=True)
class RevoluteLimits:
    """Rating of the joint; none unless given."""

    position: tuple[float, float] = interval('rad', default=(-inf, inf))
    velocity: float = number('rad/s', above=0, infinite=True, default=inf)
    effort: float = number('N m', above=0, infinite=True, default=inf)
    restitution: float = number('-', at_least=0.0, at_most=1.0, default=0.0)  # of its stops


@register('revolute')
@dataclass(frozen=True)
class Revolute(AxisJoint):
    """
    One coordinate, the angle q [rad]; T = before @ Rz(q) @ after.

    Its passive effort is -stiffness (q - rest) - damping qd - armature qdd. On the simulated robot
    `coulomb_friction` acts against the motion, too.
    """

    stiffness: float = number('N m/rad', at_least=0, default=0.0)
    damping: float = number('N m s/rad', at_least=0, default=0.0)
    rest: float = number('rad', default=0.0)
    armature: float = number('kg m^2', at_least=0, default=0.0)
    coulomb_friction: float = number('N m', at_least=0, default=0.0)
    limits: RevoluteLimits = nested(RevoluteLimits, default=RevoluteLimits())

    screw = True
    turning = ('',)

    def motion(self, q: Values, math: Math) -> FrameFormula:
        """Rotation about z."""
        return about_z(q[0], math), [0.0, 0.0, 0.0]

    def kernel(self) -> Kernel:
        """Return the kernel and numbers of this joint's frame: springs, before, after."""
        return Kernel(__name__, 'revolute_terms', self.numbers())


@kernel
def revolute_terms(P, q, qd, W):
    """Frame of a rotation about z between two constant transforms; P: springs (3), both (24)."""
    c, s, rate = math.cos(q[0]), math.sin(q[0]), qd[0]
    b, a = 3, 15
    for i in range(3):
        x, y, z = P[b + 3 * i], P[b + 3 * i + 1], P[b + 3 * i + 2]
        u, v = x * c + y * s, y * c - x * s  # row i of Rb Rz
        for j in range(3):
            W[3 * i + j] = u * P[a + j] + v * P[a + 3 + j] + z * P[a + 6 + j]
        t0, t1 = P[a + 9], P[a + 10]
        W[9 + i] = P[b + 9 + i] + u * t0 + v * t1 + z * P[a + 11]
        W[12 + i] = 0.0
        W[15 + i] = -(u * t0 + v * t1) * rate * rate
        W[18 + i] = P[a + 6 + i]
        W[21 + i] = v * t0 - u * t1
