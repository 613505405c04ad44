# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Hollow round section."""

from dataclasses import dataclass
from math import pi

from softrobot_dynamics.annotations import Complaints, Matrix, Value
from softrobot_dynamics.bodies.cosserat.sections.contract import (
    between,
    Properties,
    register,
    RodMaterial,
    Section,
)
from softrobot_dynamics.bodies.skins import circle
from softrobot_dynamics.schema.fields import profile


@register('annular')
@dataclass(frozen=True)
class Annular(Section):
    """A ring: a tube's section."""

    outer_radius: tuple[float, float] = profile('m')
    inner_radius: tuple[float, float] = profile('m')

    def at(self, sigma: Value) -> Properties:
        """See :class:`Section`."""
        outer, inner = between(self.outer_radius, sigma), between(self.inner_radius, sigma)
        quarter = pi / 4.0 * (outer**4 - inner**4)
        return Properties(pi * (outer**2 - inner**2), quarter, quarter, 2.0 * quarter)

    def outline(self, sigma: float, material: RodMaterial) -> Matrix:
        """Return the outer circle."""
        return circle(between(self.outer_radius, sigma))

    def validate(self) -> Complaints:
        """Yield an inner radius that is not below the outer one."""
        if not all(a < b for a, b in zip(self.inner_radius, self.outer_radius)):
            yield 'inner_radius', self.inner_radius, 'less than outer_radius, base and tip [m]'
