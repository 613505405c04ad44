# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The pressure in the cavity of a body."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from softrobot_dynamics.actuators.contract import (
    Actuator,
    FibreSegment,
    Quantity,
    register,
    RobotParts,
)
from softrobot_dynamics.actuators.supply import Supply
from softrobot_dynamics.annotations import Complaints
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.joints.contract import Joint
from softrobot_dynamics.schema.fields import interval, nested, number, reference


@register('pressure')
@dataclass(frozen=True)
class Pressure(Actuator):
    """
    The pressure u [Pa] in the cavity of `body`; y is the growth of its volume [m^3].

    By virtual work nu = u dy/dq, the ends of the cavity included. With a `supply` it fills only as
    fast as that allows.
    """

    body: str = reference('body')
    limits: tuple[float, float] = interval('Pa', default=(0.0, inf))
    rate_limit: float = number('Pa/s', above=0, infinite=True, default=inf)
    supply: Supply | None = nested(Supply, default=None)

    sign = 1
    safe = 'zero'

    def validate_against(
        self, bodies: Mapping[str, Body | None], joints: Mapping[str, Joint | None]
    ) -> Complaints:
        """Yield a body without a cavity whose volume changes."""
        body = bodies[self.body]
        if body is not None and not body.has_cavity:
            hollow = ', '.join(key for key, each in bodies.items() if each and each.has_cavity)
            yield 'body', self.body, f'a body with a cavity: {hollow or "there is none"}'

    def within(self, body: str) -> Actuator | None:
        """Return itself in its own body."""
        return self if self.body == body else None

    def segments(self, parts: RobotParts) -> list[FibreSegment]:
        """Return the volume of the cavity."""
        return [FibreSegment(self.body, parts.body(self.body).cavity_kernel())]

    def quantities(self, joints: Mapping[str, Joint]) -> tuple[Quantity, Quantity]:
        """Return pressure and volume."""
        return Quantity('pressure', 'Pa'), Quantity('volume', 'm^3')
