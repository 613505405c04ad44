# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Solid round section."""

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


@register('circular')
@dataclass(frozen=True)
class Circular(Section):
    """A disc."""

    radius: tuple[float, float] = profile('m', pointed=True)

    def at(self, sigma: Value) -> Properties:
        """See :class:`Section`."""
        r = between(self.radius, sigma)
        quarter = pi / 4.0 * r**4
        return Properties(pi * r**2, quarter, quarter, 2.0 * quarter)
