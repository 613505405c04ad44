# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Steps: a rod of several pieces of constant strain."""

from dataclasses import dataclass
from typing import Any

from softrobot_dynamics.annotations import Complaints, Math, Value, Values
from softrobot_dynamics.bodies.cosserat.bases.contract import Basis, register
from softrobot_dynamics.errors import MISSING
from softrobot_dynamics.schema.fields import integer, items, number


@register('piecewise_constant')
@dataclass(frozen=True)
class PiecewiseConstant(Basis):
    """
    phi_k is 1 on piece k and 0 elsewhere.

    There are ``order`` + 1 pieces of equal length, or those between the ``ends``.
    """

    order: Any = integer(at_least=0, default=None)
    # inner ends, in s / L
    ends: tuple[float, ...] | None = items(number('-', above=0.0, below=1.0), default=None)

    def count(self) -> int:
        """Return the number of pieces."""
        return len(self.breaks()) + 1

    def at(self, sigma: Value, math: Math) -> Values:
        """See :class:`.contract.Basis`; a break belongs to the left."""
        begun = [1.0, *(math.step(sigma - end) for end in self.breaks()), 0.0]
        return [here - after for here, after in zip(begun, begun[1:])]

    def breaks(self) -> tuple[float, ...]:
        """Return the inner ends of the pieces."""
        if self.ends is not None:
            return self.ends
        return tuple(k / (self.order + 1) for k in range(1, self.order + 1))

    def validate(self) -> Complaints:
        """Yield wrong fields: one of order and ends, and ends that increase."""
        if self.order is None and self.ends is None:
            yield 'order', MISSING, 'order, a whole number >= 0, or ends, in s / L'
        elif self.order is not None and self.ends is not None:
            yield 'ends', self.ends, 'no ends beside order'
        elif sorted(set(self.breaks())) != list(self.breaks()):
            yield 'ends', self.ends, 'numbers that increase'
