# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Powers."""

from dataclasses import dataclass

from softrobot_dynamics.annotations import Math, Value, Values
from softrobot_dynamics.bodies.cosserat.bases.contract import OrderedBasis, register


@register('monomial')
@dataclass(frozen=True)
class Monomial(OrderedBasis):
    """phi_k = sigma^k. Ill-conditioned beyond order 5 or so: prefer `legendre`."""

    def at(self, sigma: Value, math: Math) -> Values:
        """See :class:`~softrobot_dynamics.bodies.cosserat.bases.contract.Basis`."""
        values = [1.0]
        for _ in range(self.order):
            values.append(values[-1] * sigma)
        return values
