# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Sines and cosines."""

from dataclasses import dataclass
from math import pi

from softrobot_dynamics.annotations import Math, Value, Values
from softrobot_dynamics.bodies.cosserat.bases.contract import OrderedBasis, register


@register('fourier')
@dataclass(frozen=True)
class Fourier(OrderedBasis):
    """The functions 1, cos(2 pi sigma), sin(2 pi sigma), ... up to ``order`` waves."""

    def count(self) -> int:
        """Return 2 order + 1."""
        return 2 * self.order + 1

    def at(self, sigma: Value, math: Math) -> Values:
        """See :class:`~softrobot_dynamics.bodies.cosserat.bases.contract.Basis`."""
        values = [1.0]
        for k in range(1, self.order + 1):
            values += [math.cos(2.0 * pi * k * sigma), math.sin(2.0 * pi * k * sigma)]
        return values
