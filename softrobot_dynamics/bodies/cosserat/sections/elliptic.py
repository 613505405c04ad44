# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Solid elliptic section."""

from dataclasses import dataclass
from math import pi

from softrobot_dynamics.annotations import Value
from softrobot_dynamics.bodies.cosserat.sections.contract import (
    between,
    Properties,
    register,
    Section,
)
from softrobot_dynamics.schema.fields import profile


@register('elliptic')
@dataclass(frozen=True)
class Elliptic(Section):
    """An ellipse with half axes along x and y."""

    half_axis_x: tuple[float, float] = profile('m')
    half_axis_y: tuple[float, float] = profile('m')

    def at(self, sigma: Value) -> Properties:
        """Torsion constant pi a^3 b^3 / (a^2 + b^2): warping makes it less than Ix + Iy."""
        a, b = between(self.half_axis_x, sigma), between(self.half_axis_y, sigma)
        torsion = pi * a**3 * b**3 / (a**2 + b**2)
        return Properties(pi * a * b, pi / 4.0 * a * b**3, pi / 4.0 * a**3 * b, torsion)
