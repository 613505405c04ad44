# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Legendre polynomials."""

from dataclasses import dataclass

from softrobot_dynamics.annotations import Math, Value, Values
from softrobot_dynamics.bodies.cosserat.bases.contract import OrderedBasis, register


@register('legendre')
@dataclass(frozen=True)
class Legendre(OrderedBasis):
    """phi_k = P_k(2 sigma - 1): orthogonal on [0, 1], 1 at sigma = 1."""

    def at(self, sigma: Value, math: Math) -> Values:
        """By the recurrence (k + 1) P_(k+1) = (2 k + 1) x P_k - k P_(k-1)."""
        x = 2.0 * sigma - 1.0
        values = [1.0, x]
        for k in range(1, self.order):
            values.append(((2 * k + 1) * x * values[k] - k * values[k - 1]) / (k + 1))
        return values[: self.order + 1]
