# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A joint whose coordinate follows that of another, its leader."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import FrameFormula, Math, Matrix, Values
from softrobot_dynamics.compiling.jit import Kernel
from softrobot_dynamics.joints.contract import float_fields, Joint
from softrobot_dynamics.joints.tracing import derivatives_kernel, motion_kernel
from softrobot_dynamics.tracing.graph import symbol, SYMBOLIC


@dataclass(frozen=True, kw_only=True)
class Follower(Joint):
    """
    The `joint` at multiplier q + offset, as a function of its leader's coordinate q.

    It has no coordinate of its own. Its spring, damper, armature and dry friction act at the
    joint: a force there is a generalized force of multiplier times as much along q. ``leader`` is
    the name of the joint that has q, at the end of a chain of joints that follow each other.
    """

    joint: Joint
    leader: str
    multiplier: float  # d(coordinate of the joint) / dq
    offset: float  # [rad or m]

    @property
    def screw(self) -> bool:  # type: ignore[override]
        """Tell whether it moves along one twist, as the joint does."""
        return self.joint.screw

    @property
    def armature(self) -> float:
        """Inertia along q of the rotor and gears that turn with the joint."""
        return float(self.multiplier**2 * self.joint.armature)

    @property
    def coulomb_friction(self) -> float:
        """Dry friction along q."""
        return float(abs(self.multiplier) * self.joint.coulomb_friction)

    @property
    def described(self) -> Joint:
        """The joint itself."""
        return self.joint

    @property
    def before(self) -> Matrix:
        """Transformation before the joint, (4, 4)."""
        return self.joint.before

    @property
    def after(self) -> Matrix:
        """Transformation behind the joint, (4, 4)."""
        return self.joint.after

    def coordinates(self) -> tuple[str, ...]:
        """Return no names: the leader has the coordinate."""
        return ()

    def freedoms(self) -> tuple[str, ...]:
        """Return the one coordinate of the joint."""
        return self.joint.coordinates()

    def unit(self, coordinate: str) -> str:
        """Return the unit of the coordinate of the joint."""
        return self.joint.unit(coordinate)

    def springs(self) -> Matrix:
        """Stiffness, damping and rest along q, (3, 1)."""
        (stiffness,), (damping,), (rest,) = self.joint.springs()
        k = self.multiplier
        return np.array([[k * k * stiffness], [k * k * damping], [(rest - self.offset) / k]])

    def position_limits(self) -> list[tuple[float, float]]:
        """Return none; see :meth:`leader_range`."""
        return []

    def velocity_limits(self) -> list[float]:
        """Return none; see :meth:`leader_speed`."""
        return []

    def effort_limits(self) -> list[float]:
        """Return the effort limits of the joint, for an actuator at it."""
        return self.joint.effort_limits()

    def restitutions(self) -> list[float]:
        """Return none: the restitution of the leader counts."""
        return []

    def leader_range(self) -> tuple[float, float]:
        """Return (low, high) of q for which the joint is within its limits."""
        ends = [(end - self.offset) / self.multiplier for end in self.joint.position_limits()[0]]
        return min(ends), max(ends)

    def leader_speed(self) -> float:
        """Return the greatest rate of q at which the joint is within its limit."""
        return self.joint.velocity_limits()[0] / abs(self.multiplier)

    def motion(self, q: Values, math: Math) -> FrameFormula:
        """Motion of the joint at multiplier q + offset."""
        return self.joint.motion([self.multiplier * q[0] + self.offset], math)

    def kernel(self) -> Kernel:
        """Return the kernel and numbers of the frame, traced from the joint's motion."""
        return motion_kernel(*self._traced())

    def derivatives_kernel(self) -> Kernel | None:
        """Return kernel and numbers of the derivatives; a screw has none."""
        return None if self.screw else derivatives_kernel(*self._traced())

    def _traced(self) -> tuple[Any, ...]:
        """Return the result of :meth:`Joint._traced`, with the numbers of the joint as symbols."""
        numbers = {
            **float_fields(self.joint),
            ' multiplier': self.multiplier,
            ' offset': self.offset,
        }
        symbols: dict[str, Any] = {name: symbol('p', i) for i, name in enumerate(numbers)}
        constants = {symbols[name].value: value for name, value in numbers.items()}
        at = symbols.pop(' multiplier') * symbol('q', 0) + symbols.pop(' offset')
        traced = replace(self.joint, **symbols)
        formulas = *traced.motion([at], SYMBOLIC), traced.margin([at], SYMBOLIC)
        return f'{self.joint.type_name}_follower', formulas, constants, self.numbers(), 1
