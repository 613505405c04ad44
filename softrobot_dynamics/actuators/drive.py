# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Model the drive of a cable: a motor told a position, and the compliance behind it."""

from dataclasses import dataclass
from math import inf

from softrobot_dynamics.actuators.contract import Cable, Quantity, RobotParts
from softrobot_dynamics.actuators.routing import along, Passage
from softrobot_dynamics.annotations import Complaints
from softrobot_dynamics.schema.fields import interval, number


@dataclass(frozen=True)
class Drive:
    """
    A motor that holds a position u; the cable on it is a spring to the robot.

    u is an angle [rad] with the `radius` [m] of a spool, else how far the cable is drawn in [m];
    positive draws in, or, where the radius is negative, pays out. `compliance` [m/N] is that of
    the cable and all behind it, in series. At u = `offset` and q = 0 the tension is `pretension`.
    Laws ask for tensions within `tension` [N].
    """

    compliance: float = number('m/N', above=0.0)
    radius: float | None = number('m', default=None)
    pretension: float = number('N', at_least=0.0, default=0.0)
    offset: float = number('rad or m', default=0.0)
    tension: tuple[float, float] = interval('N', default=(0.0, inf))

    def validate(self) -> Complaints:
        """Yield a spool of no radius, and tensions that a cable cannot have."""
        if self.radius == 0.0:
            yield ('radius', self.radius, 'a number other than 0 [m]; below: wound the other way')
        if self.tension[0] < 0.0:
            yield 'tension', self.tension, '[low, high] with 0 <= low: a cable only pulls [N]'

    def commanded(self) -> Quantity:
        """Return what u is."""
        if self.radius is None:
            return Quantity('cable displacement', 'm')
        return Quantity('motor angle', 'rad')

    def cable(self, path: tuple[Passage, ...], parts: RobotParts, direction: float) -> Cable:
        """Return the cable along a path that this draws in (direction 1), or pays out (-1)."""
        pull = direction * (1.0 if self.radius is None else self.radius)
        stiffness = 1.0 / self.compliance
        tension = self.pretension - stiffness * pull * self.offset
        return Cable(along(path, parts), pull, stiffness, tension)
