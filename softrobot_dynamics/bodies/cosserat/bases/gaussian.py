# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Bell curves."""

from dataclasses import dataclass

from softrobot_dynamics.annotations import Math, Value, Values
from softrobot_dynamics.bodies.cosserat.bases.contract import OrderedBasis, register
from softrobot_dynamics.schema.fields import number


@register('gaussian')
@dataclass(frozen=True)
class Gaussian(OrderedBasis):
    """
    The constant 1, then ``order`` bells exp(-((sigma - c_k) / width)^2).

    Their centres c_k = (k - 1/2) / order divide [0, 1] evenly.
    """

    width: float = number('-', above=0.0, default=0.25)

    def at(self, sigma: Value, math: Math) -> Values:
        """See :class:`~softrobot_dynamics.bodies.cosserat.bases.contract.Basis`."""
        values = [1.0]
        for k in range(self.order):
            away = (sigma - (k + 0.5) / self.order) / self.width
            values.append(math.exp(-(away * away)))
        return values
