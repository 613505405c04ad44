# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Closures of a robot: two of its frames, or one and the base, coincide in some directions.

A closure makes a loop of what is a tree without it: a four-bar, a rod clamped at both ends, a
parallel robot.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from softrobot_dynamics.description.modules import BASE, Module
from softrobot_dynamics.errors import closest, MISSING, Problem
from softrobot_dynamics.schema.fields import choice, direction, items, name, nested, text, vector
from softrobot_dynamics.schema.parsing import custom, parse, Problems
from softrobot_dynamics.schema.poses import Pose

DIRECTIONS = 'rx', 'ry', 'rz', 'x', 'y', 'z'
"""In the order of twists; those of rotations [rad] and of displacements [m]."""
ROTATION_COUNT = 3  # rotations, the first of DIRECTIONS

TYPES = {
    'weld': DIRECTIONS,
    'pin': ('rx', 'ry', 'x', 'y', 'z'),
    'ball': ('x', 'y', 'z'),
    'slider': ('rx', 'ry', 'rz', 'x', 'y'),
}
"""Directions in which both frames coincide, the axis of a pin or a slider being z."""


@dataclass(frozen=True)
class ClosureFrame:
    """A frame of a closure: at a material point or the tip of a body, or in the base."""

    body: str = text()  # name, or base
    point: tuple[float, float, float] | None = vector('m', 3, default=None)  # None: the tip
    pose: Pose = nested(Pose, default=Pose())  # of the frame in that at the point


def _pair(value: object, path: str, problems: Problems) -> Any:
    """Return the two frames of a closure."""
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        problems.append(Problem(path, value, _EXPECTED_FRAMES))
        return None
    return tuple(
        each
        if isinstance(each, ClosureFrame)
        else parse(ClosureFrame, each, f'{path}[{i}]', problems)
        for i, each in enumerate(value)
    )


_EXPECTED_FRAMES = 'a list of two frames, each a mapping of body, point, pose'


@dataclass(frozen=True, kw_only=True)
class Closure:
    """
    Two frames that coincide in some directions: those of a type, or those that are listed.

    Directions are along and about the axes of the first frame.
    """

    name: str = name()
    frames: tuple[ClosureFrame, ClosureFrame] = custom(_pair, expected=_EXPECTED_FRAMES)
    type: str | None = choice(tuple(TYPES), default=None)
    axis: tuple[float, float, float] | None = direction(default=None)  # of pin and slider
    directions: tuple[str, ...] | None = items(choice(DIRECTIONS), default=None)

    def validate(self) -> Iterator[tuple[str, object, str]]:
        """Yield wrong or contradictory fields."""
        if (self.type is None) == (self.directions is None):
            words = f'either a type ({", ".join(TYPES)}) or directions'
            yield 'type', MISSING if self.type is None else self.type, words
        if self.directions and len(set(self.directions)) < len(self.directions):
            yield 'directions', list(self.directions), 'each direction once'
        if self.axis is not None and self.type not in ('pin', 'slider'):
            yield 'axis', list(self.axis), 'no axis: only a pin or a slider has one'
        for i, frame in enumerate(self.frames):
            if frame.body == BASE and frame.point is not None:
                words = 'no point: a frame in the base is given by its pose'
                yield f'frames[{i}].point', list(frame.point), words
        first, second = self.frames
        if first.body == second.body and (first.body == BASE or first.point == second.point):
            yield 'frames[1].body', second.body, 'another body or point than that of frames[0]'

    @property
    def closed(self) -> tuple[str, ...]:
        """The directions in which both frames coincide, rotations first."""
        wanted = TYPES[self.type] if self.type else self.directions or ()
        return tuple(each for each in DIRECTIONS if each in wanted)


def read_closures(
    value: object, modules: Sequence[Module], problems: Problems
) -> tuple[Closure, ...]:
    """Return a :class:`Closure` for each right entry of the list `closures`."""
    if value is not None and not isinstance(value, (list, tuple)):
        problems.append(Problem('closures', value, 'a list of closures'))
        return ()
    found: list[Closure] = []
    bodies = [BASE, *(module.name for module in modules if module.name)]
    for i, row in enumerate(value or ()):
        path = f'closures[{i}]'
        closure = row if isinstance(row, Closure) else parse(Closure, row, path, problems)
        if closure is None:
            continue
        for k, frame in enumerate(closure.frames):
            if frame.body not in bodies:
                words = f'base or a body: {", ".join(bodies)}{closest(frame.body, bodies)}'
                problems.append(Problem(f'{path}.frames[{k}].body', frame.body, words))
        if closure.name in [other.name for other in found]:
            problems.append(
                Problem(f'{path}.name', closure.name, 'a name that no other closure has')
            )
        found.append(closure)
    return tuple(found)
