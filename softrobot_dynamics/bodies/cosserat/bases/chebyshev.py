# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Chebyshev polynomials."""

from dataclasses import dataclass

from softrobot_dynamics.annotations import Math, Value, Values
from softrobot_dynamics.bodies.cosserat.bases.contract import OrderedBasis, register


@register('chebyshev')
@dataclass(frozen=True)
class Chebyshev(OrderedBasis):
    """phi_k = T_k(2 sigma - 1), of the first kind: cos(k arccos x), within [-1, 1]."""

    def at(self, sigma: Value, math: Math) -> Values:
        """By the recurrence T_(k+1) = 2 x T_k - T_(k-1)."""
        x = 2.0 * sigma - 1.0
        values = [1.0, x]
        for k in range(1, self.order):
            values.append(2.0 * x * values[k] - values[k - 1])
        return values[: self.order + 1]
