# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A tendon through one or several bodies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from softrobot_dynamics.actuators.contract import Parts, Quantity, register, Segment
from softrobot_dynamics.actuators.routing import Routed
from softrobot_dynamics.joints.contract import Joint
from softrobot_dynamics.schema.fields import interval, number


@register('tendon')
@dataclass(frozen=True)
class Tendon(Routed):
    """A tendon pulled with the tension u [N] at the base end; y is its elongation [m]."""

    limits: tuple[float, float] = interval('N', default=(-inf, inf))
    rate_limit: float = number('N/s', above=0, infinite=True, default=inf)

    sign = -1
    safe = 'pretension'

    def segments(self, parts: Parts) -> Sequence[Segment]:
        """Return the curve through each body, and the lines whose length can change."""
        return self.along_path(parts, 1.0)

    def quantities(self, joints: Mapping[str, Joint]) -> tuple[Quantity, Quantity]:
        """Return tension and elongation."""
        return Quantity('tension', 'N'), Quantity('elongation', 'm')
