# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Solid equilateral section."""

from dataclasses import dataclass

from softrobot_dynamics.bodies.cosserat.sections.contract import (
    between,
    Properties,
    register,
    Section,
)
from softrobot_dynamics.schema.fields import profile


@register('triangular')
@dataclass(frozen=True)
class Triangular(Section):
    """An equilateral triangle, all axes principal."""

    side: tuple = profile('m')

    def at(self, sigma):
        """Return area and moments at sigma = s/L."""
        a = between(self.side, sigma)
        moment = 3.0**0.5 * a**4 / 96.0
        return Properties(3.0**0.5 * a**2 / 4.0, moment, moment, 3.0**0.5 * a**4 / 80.0)
