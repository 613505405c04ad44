# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Cosine basis of strains along a rod."""

from dataclasses import dataclass

from softrobot_dynamics.bodies.cosserat.bases.contract import OrderedBasis, register


@register('cosine')
@dataclass(frozen=True)
class Cosine(OrderedBasis):
    """phi_k = cos(k pi sigma)."""

    def at(self, sigma, math):
        """Return the values of all functions at sigma = s/L."""
        return [1.0, *(math.cos(k * math.pi * sigma) for k in range(1, self.order + 1))]
