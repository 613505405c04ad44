# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A tendon through one or several bodies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from softrobot_dynamics.actuators.contract import Parts, Quantity, register, Segment
from softrobot_dynamics.actuators.routing import Routed
from softrobot_dynamics.joints.contract import Joint
from softrobot_dynamics.schema.fields import flag, interval, number


@register('tendon')
@dataclass(frozen=True)
class Tendon(Routed):
    """
    A tendon pulled with the tension u [N] at the base end; y is its elongation [m].

    With `slack` the simulated tendon cannot push: its tension is zero where less is commanded.
    """

    limits: tuple[float, float] = interval('N', default=(-inf, inf))
    rate_limit: float = number('N/s', above=0, infinite=True, default=inf)

    slack: bool = flag(default=False)

    sign = -1
    safe = 'pretension'

    @property
    def goes_slack(self) -> bool:
        """Tell whether its force on the robot is never below zero."""
        return self.slack

    def segments(self, parts: Parts) -> Sequence[Segment]:
        """Return the curve through each body, and the lines whose length can change."""
        return self.along_path(parts, 1.0)

    def quantities(self, joints: Mapping[str, Joint]) -> tuple[Quantity, Quantity]:
        """Return tension and elongation."""
        return Quantity('tension', 'N'), Quantity('elongation', 'm')
