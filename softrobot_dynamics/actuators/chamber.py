# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A pressure chamber beside the axis of a body."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from softrobot_dynamics.actuators.contract import Quantity, register, RobotParts, Segment
from softrobot_dynamics.actuators.routing import Routed
from softrobot_dynamics.actuators.supply import Supply
from softrobot_dynamics.joints.contract import Joint
from softrobot_dynamics.schema.fields import interval, nested, number


@register('chamber')
@dataclass(frozen=True)
class Chamber(Routed):
    """
    The pressure u [Pa] in a chamber along a path; y is the growth of its volume [m^3].

    `area` [m^2] is that of its section, which a reinforcement keeps: the volume grows with the
    length of the centre line, y = area (l(q) - l(0)). By virtual work nu = u dy/dq, the ends of
    the chamber included. With a `supply` it fills only as fast as that allows.
    """

    area: float = number('m^2', above=0.0)
    limits: tuple[float, float] = interval('Pa', default=(0.0, inf))
    rate_limit: float = number('Pa/s', above=0, infinite=True, default=inf)
    supply: Supply | None = nested(Supply, default=None)

    sign = 1
    safe = 'zero'

    def segments(self, parts: RobotParts) -> Sequence[Segment]:
        """Return the area times the curve through each body, and lines that can change."""
        return self.along_path(parts, self.area)

    def quantities(self, joints: Mapping[str, Joint]) -> tuple[Quantity, Quantity]:
        """Return pressure and volume."""
        return Quantity('pressure', 'Pa'), Quantity('volume', 'm^3')
