# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A tendon through one or several bodies, its path, and the drive that pulls it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any

from softrobot_dynamics.actuators.contract import (
    Cable,
    FramePoint,
    Line,
    LineSegment,
    Quantity,
    register,
    RobotParts,
    Segment,
    Stretch,
)
from softrobot_dynamics.actuators.routing import along, Passage, Routed
from softrobot_dynamics.annotations import Complaints, Matrix
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.errors import MISSING
from softrobot_dynamics.joints.contract import Joint
from softrobot_dynamics.schema.fields import choice, flag, interval, items, nested, number


def chain(path: Sequence[Any], parts: RobotParts) -> list[Stretch]:
    """Return the curves of Passages, with the straight lines between them."""
    found = list(_along(path[0], parts))
    for last, this in pairwise(path):
        found += [_between(last, this, parts), *_along(this, parts)]
    return found


def _along(passage: Passage, parts: RobotParts) -> Iterator[Stretch]:
    """Yield the curve through a soft body, or the lines between points of a rigid one."""
    body = passage.body
    if passage.points is None:
        yield passage.through(parts.body(body))
        return
    for start, end in pairwise(passage.points):
        yield Line(FramePoint(body, False, start), FramePoint(body, False, end), None)


def _between(last: Passage, this: Passage, parts: RobotParts) -> Line:
    """Return the straight line from one passage's exit to the next one's entry."""
    start, end = FramePoint(last.body, *last.end(-1)), FramePoint(this.body, *this.end(0))
    rigid = parts.rigidly_joined(last.body, this.body)
    return Line(start, end, None if rigid else LineSegment(*start, *end))


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
        """Return the name and unit of the command u."""
        if self.radius is None:
            return Quantity('cable displacement', 'm')
        return Quantity('motor angle', 'rad')

    def cable(self, path: tuple[Passage, ...], parts: RobotParts, direction: float) -> Cable:
        """Return the cable along a path that this draws in (direction 1), or pays out (-1)."""
        pull = direction * (1.0 if self.radius is None else self.radius)
        stiffness = 1.0 / self.compliance
        tension = self.pretension - stiffness * pull * self.offset
        return Cable(along(path, parts), pull, stiffness, tension)


TENSION, POSITION = 'tension', 'position'
_DRIVE = 'a drive, {compliance: ..., radius: ..., pretension: ...}, beside command: position'


@register('tendon')
@dataclass(frozen=True)
class Tendon(Routed):
    """
    A tendon pulled with the tension u [N] at the base end; y is its elongation [m].

    With `slack` the simulated tendon cannot push: its tension is zero where less is commanded.
    With `friction`, the coefficient mu, it rubs on what it turns about: where it slides towards
    the base it loses tension along its way, to T exp(-mu phi) after turning by phi [rad], where
    it slides towards the tip it gains as much (Euler and Eytelwein's capstan).

    With `command: position` it is told not a tension but a position of its `drive`
    (:class:`.Drive`), in the unit of which are then the limits; it never pushes. The same motor
    may pay out a second tendon, along `opposite`, as it draws in this one: y is then half the
    difference of their elongations, u the tension of this one less that of the other.
    """

    limits: tuple[float, float] = interval('N, or rad or m of a position', default=(-inf, inf))
    rate_limit: float = number(
        'N/s, or rad/s or m/s of a position', above=0, infinite=True, default=inf
    )

    slack: bool = flag(default=False)
    friction: float = number('-', at_least=0.0, default=0.0)
    command: str = choice((TENSION, POSITION), default=TENSION)
    drive: Drive | None = nested(Drive, default=None)
    opposite: tuple[Passage, ...] | None = items(nested(Passage), default=None)

    sign = -1
    safe = 'pretension'

    def paths(self) -> Mapping[str, Sequence[Passage]]:
        """Return all paths, by the names of their fields."""
        own = super().paths()
        return {**own, 'opposite': self.opposite} if self.opposite else own

    def validate(self) -> Complaints:
        """Yield wrong paths, and fields that the kind of command cannot have."""
        yield from super().validate()
        if self.positioned and self.drive is None:
            yield 'drive', MISSING, _DRIVE
        if not self.positioned and self.drive is not None:
            yield 'drive', self.drive, 'none, as tensions are commanded; or command: position'
        if self.opposite is not None:
            if not self.positioned:
                yield 'opposite', [p.body for p in self.opposite], f'none; or {_DRIVE}'
            if self.friction:
                yield 'friction', self.friction, '0 of two tendons on one motor'
            if self.drive is not None and self.drive.tension[0] > 0.0:
                yield 'drive.tension', self.drive.tension, '[0, high] of two tendons on one motor'

    @property
    def goes_slack(self) -> bool:
        """Tell whether its force on the robot is never below zero."""
        return self.slack and not self.positioned

    @property
    def positioned(self) -> bool:
        """Tell whether its command is a position."""
        return self.command == POSITION

    @property
    def safe_command(self) -> Any:
        """Return pretension, or hold of a position."""
        return 'hold' if self.positioned else self.safe

    def segments(self, parts: RobotParts) -> Sequence[Segment]:
        """Return the curve through each body, and the lines whose length can change."""
        if not self.opposite:
            return self.along_path(parts, 1.0)
        return [*self.along_path(parts, 0.5), *along(self.opposite, parts, -0.5)]

    def cables(self, parts: RobotParts) -> Sequence[Cable]:
        """Return the tendon on the drive, and the one that is paid out."""
        if self.drive is None:
            return ()
        ways = (1.0, -1.0)
        return [self.drive.cable(tuple(p), parts, d) for p, d in zip(self.paths().values(), ways)]

    def curve(self, bodies: Mapping[str, Body], count: int) -> Sequence[tuple[str, Matrix]]:
        """Return the curve out along the path and, if there is one, back along the opposite."""
        back = [(p.body, p.curve(bodies[p.body], count)[::-1]) for p in self.opposite or ()]
        return [*super().curve(bodies, count), *reversed(back)]

    def route(self, parts: RobotParts) -> Sequence[Stretch]:
        """Return the curve through each body, and all straight lines."""
        return chain(self.path, parts)

    def quantities(self, joints: Mapping[str, Joint]) -> tuple[Quantity, Quantity]:
        """Return tension and elongation."""
        return Quantity('tension', 'N'), Quantity('elongation', 'm')

    def commanded(self, joints: Mapping[str, Joint]) -> Quantity:
        """Return the quantity of the command: tension, or that of the drive."""
        if self.drive is None:
            return self.quantities(joints)[0]
        return self.drive.commanded()

    def effort_limits(self, joints: Mapping[str, Joint]) -> tuple[float, float]:
        """Return the limits of the tension, or of the difference of two."""
        if self.drive is None:
            return self.limits
        low, high = self.drive.tension
        return (-high if self.opposite else low), high
