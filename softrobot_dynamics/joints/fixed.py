# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A joint that does not move."""

from dataclasses import dataclass

from softrobot_dynamics.annotations import FrameFormula, Math, Values
from softrobot_dynamics.compiling.jit import Kernel, kernel
from softrobot_dynamics.joints.contract import Joint, register
from softrobot_dynamics.schema.poses import flat


@register('fixed')
@dataclass(frozen=True)
class Fixed(Joint):
    """A constant pose of the distal frame in the parent's tip frame."""

    def coordinates(self) -> tuple[str, ...]:
        """Return no names: there is nothing that moves."""
        return ()

    def motion(self, q: Values, math: Math) -> FrameFormula:
        """Return the identity."""
        return [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0]

    def kernel(self) -> Kernel:
        """Return the kernel and numbers of this joint's frame."""
        return Kernel(__name__, 'fixed_terms', flat(self.before @ self.after))


@kernel
def fixed_terms(P, q, qd, W):
    """Constant frame; P: the frame (12)."""
    for i in range(12):
        W[i] = P[i]
    for i in range(6):
        W[12 + i] = 0.0
