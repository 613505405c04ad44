# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Base class of joints: a formula motion(q), placed by T(q) = before @ motion(q) @ after.

T leads from the parent's tip frame to the joint's distal frame. Jacobian and bias follow from the
formula by tracing it once.
"""

from dataclasses import dataclass, fields, KW_ONLY, replace
from math import inf
from typing import Any, cast, ClassVar

import numpy as np
from softrobot_dynamics.annotations import (
    Complaints,
    FrameFormula,
    Math,
    Matrix,
    Value,
    Values,
    Vector,
)
from softrobot_dynamics.compiling.jit import Kernel
from softrobot_dynamics.joints.tracing import derivatives_kernel, motion_kernel
from softrobot_dynamics.schema.fields import direction, name, nested, number, vector
from softrobot_dynamics.schema.poses import dh_row, flat, Pose, z_onto
from softrobot_dynamics.schema.registry import Registry, required
from softrobot_dynamics.tracing.graph import symbol, SYMBOLIC


@dataclass(frozen=True)
class Mimic:
    """
    The coordinate of a joint is multiplier q + offset, where q is that of the joint it follows.

    Both are joints of one coordinate. The multiplier is in units of the follower per unit of the
    leader, the offset [rad or m] in those of the follower.
    """

    joint: str = name()
    multiplier: float = number('follower per leader', default=1.0)
    offset: float = number('rad or m', default=0.0)

    def validate(self) -> Complaints:
        """Yield a multiplier of zero: such a joint does not move."""
        if self.multiplier == 0.0:
            words = 'a number other than 0; a joint that does not move is of type fixed'
            yield 'multiplier', self.multiplier, words


JOINTS = Registry('joint', 'softrobot_dynamics.joints', 'softrobot_dynamics.joints')
register = JOINTS.register


@dataclass(frozen=True)
class Joint:
    """
    Base of all joints: subclass it as a frozen dataclass and ``@register`` a name.

    A subclass has :meth:`coordinates` and :meth:`motion`, in which each float field of ``self`` is
    a symbol, so that numbers change without compiling again. Springs, limits, ``armature`` and
    ``coulomb_friction`` are fields or these class attributes, one number for all coordinates.
    """

    origin: Pose | None = nested(Pose, default=None)  # default: identity
    _: KW_ONLY
    mimic: Mimic | None = nested(Mimic, default=None)  # of a joint that follows another

    type_name: ClassVar[str]  # that it is registered by
    stiffness = damping = rest = cast(Any, 0.0)
    armature = coulomb_friction = cast(Any, 0.0)
    limits = cast(Any, None)  # or an object with position (low, high), velocity and effort
    screw: ClassVar[bool] = False  # True: the joint's twist is constant in its base
    wrapped_coordinates: ClassVar[Any] = ()  # names of the coordinates that `wrap` may change
    turning: ClassVar[Any] = ()  # names of the angles that have the same pose after a whole turn
    rotation_vector: ClassVar[Any] = ()  # names of the three coordinates that are one, if any

    @required
    def coordinates(self) -> tuple[str, ...]:
        """Return the coordinates' names; ('',) for one, which bears the joint's own name."""
        raise NotImplementedError

    def freedoms(self) -> tuple[str, ...]:
        """Return the names of the coordinates of its motion, its own or one that it follows."""
        return self.coordinates()

    @required
    def motion(self, q: Values, math: Math) -> FrameFormula:
        """Frame moved by q: (nine entries of the rotation, row-major; three of the origin [m])."""
        raise NotImplementedError

    def unit(self, coordinate: str) -> str:
        """Return the unit of a coordinate: rad, or m where it is a length."""
        return 'rad'

    @property
    def described(self) -> 'Joint':
        """The joint as a robot file describes it: of one that follows another, that itself."""
        return self

    @property
    def before(self) -> Matrix:
        """The constant transform (4, 4) from the parent's tip frame to where the motion acts."""
        return (self.origin or Pose()).matrix()

    @property
    def after(self) -> Matrix:
        """The constant transform (4, 4) from the moved frame to the joint's distal frame."""
        return np.eye(4)

    def springs(self) -> Matrix:
        """Stiffness, damping and rest of each coordinate, (3, n)."""
        return np.tile([[self.stiffness], [self.damping], [self.rest]], len(self.coordinates()))

    def position_limits(self) -> list[tuple[float, float]]:
        """Return (low, high) of each coordinate, a list."""
        return [self.limits.position if self.limits else (-inf, inf)] * len(self.coordinates())

    def velocity_limits(self) -> list[float]:
        """Return the greatest rate of each coordinate, a list."""
        return [self.limits.velocity if self.limits else inf] * len(self.coordinates())

    def effort_limits(self) -> list[float]:
        """Return the largest generalized force along each coordinate, a list."""
        return [self.limits.effort if self.limits else inf] * len(self.coordinates())

    def restitutions(self) -> list[float]:
        """Return the restitution at the position limits of each coordinate, a list."""
        return [getattr(self.limits, 'restitution', 0.0)] * len(self.coordinates())

    def margin(self, q: Values, math: Math) -> Value | None:
        """Return a formula, positive where the coordinates are regular; None: everywhere."""
        return None

    def explain(self, q: Vector) -> str | None:
        """Return in words why the coordinates are singular at q (n,); None if they are not."""
        return None

    def wrap(self, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
        """Return (q, qd), (n,) each, of the same pose and velocities, away from where q fails."""
        return q, qd

    def kernel(self) -> Kernel:
        """Return the kernel and numbers of this joint's frame, traced from its motion."""
        return motion_kernel(*self._traced())

    def derivatives_kernel(self) -> Kernel | None:
        """Return the kernel of derivatives, as `kernel`; None for a screw or no coordinate."""
        none = self.screw or not self.coordinates()
        return None if none else derivatives_kernel(*self._traced())

    def _traced(self) -> tuple[Any, ...]:
        """Return the type's name, formulas, constants, numbers and coordinates."""
        floats = float_fields(self)
        symbols: dict[str, Any] = {name: symbol('p', i) for i, name in enumerate(floats)}
        traced = replace(self, **symbols)
        q = [symbol('q', j) for j in range(len(self.coordinates()))]
        formulas = *traced.motion(q, SYMBOLIC), traced.margin(q, SYMBOLIC)
        constants = {symbols[name].value: value for name, value in floats.items()}
        return self.type_name, formulas, constants, self.numbers(), len(q)

    def numbers(self) -> Vector:
        """Return the first numbers of a kernel, (3 n + 24,): springs, before, after."""
        return np.concatenate([self.springs().ravel(), flat(self.before), flat(self.after)])


@dataclass(frozen=True)
class AxisJoint(Joint):
    """
    A joint that moves about or along one axis.

    Placed either by `origin` and `axis`, T = origin Motion_axis(q), the axis in the origin frame,
    or by `dh`, T = Motion_z(q) Rz(theta0) Tz(d) Tx(a) Rx(alpha), a row of the standard
    Denavit-Hartenberg table. Both are given here by a motion about or along z.
    """

    axis: tuple[float, ...] | None = direction(default=None)  # unit vector [-], default: z
    dh: tuple[float, float, float, float] | None = vector(
        'rad or m',
        4,
        default=None,
        expected='a list of 4 numbers: alpha, a, d, theta0 [rad, m, m, rad]',
    )

    def coordinates(self) -> tuple[str, ...]:
        """Return the one coordinate's name, '': it bears the joint's own."""
        return ('',)

    def validate(self) -> Complaints:
        """Yield wrong placements: a joint is placed by `dh` or by `origin` and `axis`."""
        for key in ('origin', 'axis'):
            if self.dh is not None and getattr(self, key) is not None:
                yield key, getattr(self, key), f'no {key} beside dh: either dh or origin and axis'

    @property
    def described(self) -> 'Joint':
        """The joint as a robot file describes it: of one that follows another, that itself."""
        return self

    @property
    def before(self) -> Matrix:
        """Identity for `dh`, else origin @ R with R z = axis, (4, 4)."""
        return super().before @ self._align()

    @property
    def after(self) -> Matrix:
        """The transform of the DH row at q = 0 for `dh`, else R^T with R z = axis, (4, 4)."""
        return dh_row(*self.dh) if self.dh else self._align().T

    def _align(self) -> Matrix:
        return z_onto(self.axis or (0.0, 0.0, 1.0))


def float_fields(joint: Joint) -> dict[str, float]:
    """Return the fields of a joint that are numbers, by name."""
    values = {field.name: getattr(joint, field.name) for field in fields(joint)}
    return {name: value for name, value in values.items() if isinstance(value, float)}
