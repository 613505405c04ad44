# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Material curves through one or several bodies: what tendons and chambers run along."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
from softrobot_dynamics.actuators.contract import (
    Actuator,
    FibreSegment,
    LineSegment,
    RobotParts,
    Segment,
)
from softrobot_dynamics.annotations import Complaints, Math, Matrix, Value
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.bodies.curves import Curve
from softrobot_dynamics.bodies.frames import horner
from softrobot_dynamics.errors import MISSING
from softrobot_dynamics.schema.fields import (
    custom,
    interval,
    items,
    nested,
    number,
    parse,
    reader,
    reference,
    vector,
)
from softrobot_dynamics.schema.parsing import Problems

_NUMPY = cast(Math, np)  # of plain numbers and arrays; only its cos and sin are called


@dataclass(frozen=True)
class Polynomial:
    """A routing whose place in the section is a polynomial of s/L, lowest power first."""

    x: tuple[float, ...] = items(number('m'), default=(0.0,))
    y: tuple[float, ...] = items(number('m'), default=(0.0,))

    def at(self, sigma: Value, math: Math = _NUMPY) -> tuple[Value, Value]:
        """Return (x, y) [m] in the section at `sigma` = s/L [-]."""
        return horner(self.x, sigma), horner(self.y, sigma)

    def derivative(self, sigma: Value, math: Math = _NUMPY) -> tuple[Value, Value]:
        """Return the derivative of (x, y) by s/L [m] at `sigma` = s/L [-]."""
        return horner(_derivative(self.x), sigma), horner(_derivative(self.y), sigma)


@dataclass(frozen=True)
class Helix:
    """A routing at a constant radius that turns about the axis, evenly in s/L."""

    radius: float = number('m', above=0)
    phase: float = number('rad', default=0.0)  # the angle from x towards y at s = 0
    turns: float = number('-', at_least=-500.0, at_most=500.0, default=0.0)  # from x towards y

    def at(self, sigma: Value, math: Math = _NUMPY) -> tuple[Value, Value]:
        """Return (x, y) [m] in the section at `sigma` = s/L [-]."""
        angle = self.phase + 2 * np.pi * self.turns * sigma
        return self.radius * math.cos(angle), self.radius * math.sin(angle)

    def derivative(self, sigma: Value, math: Math = _NUMPY) -> tuple[Value, Value]:
        """Return the derivative of (x, y) by s/L [m] at `sigma` = s/L [-]."""
        x, y = self.at(sigma, math)
        rate = 2 * np.pi * self.turns
        return -rate * y, rate * x


ROUTING = (
    '[x, y] [m], {x: [a0, a1, ...], y: [...]} [m] in powers of s/L,'
    ' or {radius, phase, turns} [m, rad, -]'
)
_POINT = reader(vector('m', 2, expected=ROUTING))


def _read_routing(value: object, path: str, problems: Problems) -> Polynomial | Helix | None:
    """Return the routing of an entry of a robot file; None, and append each problem."""
    if isinstance(value, dict) and value:
        kind = Helix if 'radius' in value else Polynomial
        routing: Polynomial | Helix | None = parse(kind, value, path, problems)
        return routing
    point = _POINT(value, path, problems)
    return point and Polynomial(point[:1], point[1:])


@dataclass(frozen=True)
class Passage:
    """One entry of a path: along a body's length at an offset, or over points of a rigid body."""

    body: str = reference('body')
    offset: Polynomial | Helix | None = custom(_read_routing, expected=ROUTING, default=None)
    span: tuple[float, float] = interval('-', default=(0.0, 1.0))  # from s/L to s/L
    # in the body's joint frame
    points: tuple[tuple[float, float, float], ...] | None = items(vector('m', 3), default=None)

    def validate(self) -> Complaints:
        """Yield wrong fields: one of offset and points; a span in [0, 1]; points that differ."""
        if self.offset is not None and self.points is not None:
            yield 'points', self.points, 'either offset or points, not both'
        if self.offset is None and self.points is None:
            yield 'offset', MISSING, f'{ROUTING}; on a rigid body points'
        if self.span[0] < 0 or self.span[1] > 1:
            yield 'span', self.span, '[s0/L, s1/L] within [0, 1] [-]'
        if self.points is not None and self.span != (0.0, 1.0):
            yield 'span', self.span, 'no span beside points'
        for i, (last, point) in enumerate(pairwise(self.points or ()), start=1):
            if point == last:
                yield f'points[{i}]', point, f'a point other than points[{i - 1}] [m]'

    def segment(self, body: Body, factor: float = 1.0) -> FibreSegment:
        """Return the length of this passage through `body` as a part of y."""
        curve = self.through(body)
        return FibreSegment(self.body, curve.kernel(0), factor, curve)

    def through(self, body: Body) -> Curve:
        """Return the curve along this passage through `body`, which has sections."""
        return Curve(self.body, body, self.offset, self.span)

    def curve(self, body: Body, count: int) -> Matrix:
        """Return material points (K, 3) [m] of `body`, `count` for each turn, to be drawn."""
        if self.points is not None:
            return np.array(self.points)
        turns = abs(getattr(self.offset, 'turns', 0.0)) * (self.span[1] - self.span[0])
        sigma = np.linspace(*self.span, count * max(1, int(np.ceil(turns))))
        return np.column_stack(np.broadcast_arrays(*self._at(sigma), sigma * body.length))

    def end(self, which: int) -> tuple[bool, tuple[float, float, float]]:
        """Return (whether it is in the tip frame, point (3,) [m]) of the entry, 0, or exit, -1."""
        if self.points is not None:
            return False, self.points[which]
        x, y = self._at(self.span[which])
        return which == -1, (float(x), float(y), 0.0)

    def _at(self, sigma: Value) -> tuple[Value, Value]:
        """Return (x, y) [m] in the section at `sigma` = s/L [-]; the axis without an offset."""
        return (0.0, 0.0) if self.offset is None else self.offset.at(sigma)


@dataclass(frozen=True)
class Routed(Actuator):
    """
    Base of actuators along a path, whose y is in proportion to its length.

    That length is the one of the passages along the bodies plus straight lines from one's exit to
    the next one's entry.
    """

    path: tuple[Passage, ...] = items(nested(Passage))

    def paths(self) -> Mapping[str, Sequence[Passage]]:
        """Return all paths, by the names of their fields."""
        return {'path': self.path}

    def validate(self) -> Complaints:
        """Yield spans that begin or end inside a body where a path comes from or goes on."""
        for name, path in self.paths().items():
            for i, passage in enumerate(path):
                place = f'{name}[{i}].span'
                if i > 0 and passage.span[0] > 0:
                    yield place, passage.span, 'a span from 0: only the first begins later'
                if i < len(path) - 1 and passage.span[1] < 1:
                    yield place, passage.span, 'a span up to 1: only the last ends earlier'

    def validate_against(self, bodies: Mapping[str, Any], joints: Mapping[str, Any]) -> Complaints:
        """Yield bodies out of order, and offsets and points on the wrong kind of body."""
        for name, path in self.paths().items():
            for i, passage in enumerate(path):
                if bodies[passage.body] is not None:
                    yield from _wrong_kind(f'{name}[{i}]', passage, bodies[passage.body])
            yield from _out_of_order(name, path, list(bodies))
            if len(path) == 1 and path[0].points is not None:
                yield (
                    name,
                    [path[0].body],
                    f'more than one rigid body: the length of this {self.type_name} never changes',
                )

    def curve(self, bodies: Mapping[str, Body], count: int) -> Sequence[tuple[str, Matrix]]:
        """See :class:`Actuator`."""
        return [(p.body, p.curve(bodies[p.body], count)) for p in self.path]

    def within(self, body: str) -> Actuator | None:
        """Return the passages through a body, if it has sections."""
        own: dict[str, Any] = {
            name: tuple(p for p in path if p.body == body and p.points is None)
            for name, path in self.paths().items()
        }
        return replace(self, **own) if own['path'] else None

    def along_path(self, parts: RobotParts, factor: float) -> list[Segment]:
        """Return the curve through each body and the lines that can change, times `factor`."""
        return along(self.path, parts, factor)


def along(path: Sequence[Passage], parts: RobotParts, factor: float = 1.0) -> list[Segment]:
    """Return the curve through each body and the lines that can change, times `factor`."""
    result: list[Segment] = []
    for passage in path:
        if passage.points is None:
            result.append(passage.segment(parts.body(passage.body), factor=factor))
    for last, this in pairwise(path):
        if last.body != this.body and not parts.rigidly_joined(last.body, this.body):
            ends = last.body, *last.end(-1), this.body, *this.end(0)
            result.append(LineSegment(*ends, factor))
    return result


def _out_of_order(name: str, path: Sequence[Passage], names: list[str]) -> Complaints:
    for i, (last, this) in enumerate(pairwise(path), start=1):
        if names.index(this.body) <= names.index(last.body):
            yield (
                f'{name}[{i}].body',
                this.body,
                f'a body after {last.body}: a path runs from base to tip',
            )


def _wrong_kind(path: str, passage: Passage, body: Body) -> Complaints:
    if body.section_path and passage.points is not None:
        yield f'{path}.points', passage.points, f'offset: {ROUTING} ({passage.body} has sections)'
    if not body.section_path and passage.offset is not None:
        yield (
            f'{path}.offset',
            passage.offset,
            f'points: [[x, y, z], ...] [m] ({passage.body} has no sections)',
        )


def _derivative(coefficients: Sequence[float]) -> tuple[float, ...]:
    return tuple(k * a for k, a in enumerate(coefficients))[1:] or (0.0,)
