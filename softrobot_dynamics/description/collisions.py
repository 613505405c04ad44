# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Collision shapes of bodies, obstacles and options of contact, as a robot file gives them."""

from collections.abc import Sequence
from dataclasses import dataclass

from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.collision.contract import CollisionShape, SHAPES
from softrobot_dynamics.description.obstacle_motion import ObstacleMotion
from softrobot_dynamics.errors import Problem
from softrobot_dynamics.schema.fields import member, number
from softrobot_dynamics.schema.parsing import join, Problems, reader

read_shape = reader(member(SHAPES))
"""Reads one shape."""

read_obstacle = reader(member(SHAPES, ignore=('name', 'motion')))
"""Reads the shape of an obstacle; keys ``name`` and ``motion`` are left to the caller."""


def read_shapes(
    value: object, path: str, body: Body | None, problems: Problems
) -> tuple[CollisionShape, ...]:
    """Return the shapes of a body that `collision` gives: a mapping, or a list of such."""
    rows = value if isinstance(value, (list, tuple)) else [] if value is None else [value]
    found: list[CollisionShape] = []
    for i, row in enumerate(rows):
        place = f'{path}[{i}]' if isinstance(value, (list, tuple)) else path
        shape = row if isinstance(row, CollisionShape) else read_shape(row, place, problems)
        if shape is None:
            continue
        if not shape.on_bodies:
            of: Sequence[type[CollisionShape]] = [SHAPES.get(k) for k in SHAPES.names()]
            kinds = [kind.type_name for kind in of if kind.on_bodies]
            words = f'a shape that a body can have: {", ".join(kinds)}'
            problems.append(Problem(join(place, 'type'), shape.type_name, words))
            continue
        if body is not None:
            wrong = [
                Problem(join(place, key), of, expected)
                for key, of, expected in shape.validate_on(body)
            ]
            problems.extend(wrong)
        found.append(shape)
    return tuple(found)


@dataclass(frozen=True)
class Obstacle:
    """A shape of the environment, in the base frame, its name, and the motion it is given."""

    name: str
    shape: CollisionShape
    motion: ObstacleMotion | None = None


@dataclass(frozen=True)
class ContactOptions:
    """Options of simulated contact: entries of ``contact`` at the top of a robot file."""

    slip: float | None = number('m/s', above=0.0, default=None)
    stiffness: float | None = number('N/m', above=0.0, default=None)
