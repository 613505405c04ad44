# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Springs and limits of joints with several coordinates, for each coordinate by name."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, Field, fields
from math import inf
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from softrobot_dynamics.annotations import Complaints, Matrix
from softrobot_dynamics.errors import closest
from softrobot_dynamics.joints.contract import Joint
from softrobot_dynamics.schema.fields import interval, nested, number
from softrobot_dynamics.schema.parsing import custom, join, Problems, reader

T = TypeVar('T')


def by_coordinate(item: Field[Any]) -> Any:
    """
    Return the field of what the field `item` reads for each coordinate: by name, or one for all.

    Kept as a tuple of (coordinate, value), the coordinate '' for all; empty unless given.
    """
    one, expected = reader(item), item.metadata['expected']

    def read(value: object, path: str, problems: Problems) -> tuple[tuple[str, Any], ...]:
        given = value if isinstance(value, dict) else {'': value}
        return tuple((str(key), one(x, join(path, key), problems)) for key, x in given.items())

    return custom(
        read,
        expected=f'{expected}, or a mapping of coordinates to such',
        unit=item.metadata['unit'],
        default=(),
    )


_ByName: TypeAlias = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class CompoundLimits:
    """Rating of the joint; none unless given."""

    position: tuple[tuple[str, tuple[float, float]], ...] = by_coordinate(interval('rad or m'))
    velocity: _ByName = by_coordinate(number('rad/s or m/s', above=0, infinite=True))
    effort: _ByName = by_coordinate(number('N m or N', above=0, infinite=True))
    restitution: _ByName = by_coordinate(number('-', at_least=0.0, at_most=1.0))  # of its stops


@dataclass(frozen=True)
class CompoundJoint(Joint):
    """
    A joint of several coordinates, those in ``lengths`` in metres, all others in radians.

    The passive effort along each is -stiffness (q - rest) - damping qd; all zero unless given.
    """

    stiffness: _ByName = by_coordinate(number('N m/rad or N/m', at_least=0))
    damping: _ByName = by_coordinate(number('N m s/rad or N s/m', at_least=0))
    rest: _ByName = by_coordinate(number('rad or m'))
    limits: CompoundLimits = nested(CompoundLimits, default=CompoundLimits())

    lengths: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> Complaints:
        """Yield fields given for no coordinate, or for coordinates that differ in unit."""
        names = self.coordinates()
        mixed = 0 < len(self.lengths) < len(names)
        for path, given in self._given():
            for name, value in given:
                if name and name not in names:
                    hint = closest(name, names)
                    yield f'{path}.{name}', value, f'one of the coordinates {_list(names)}{hint}'
                elif mixed and not name and path != 'limits.restitution':
                    yield path, value, f'a mapping of {_list(names)}, which differ in unit'

    def unit(self, coordinate: str) -> str:
        """Return m for one of ``lengths``, else rad."""
        return 'm' if coordinate in self.lengths else 'rad'

    def springs(self) -> Matrix:
        """Stiffness, damping and rest of each coordinate, (3, n)."""
        return np.array([self._each(x, 0.0) for x in (self.stiffness, self.damping, self.rest)])

    def position_limits(self) -> list[tuple[float, float]]:
        """Return (low, high) of each coordinate, a list."""
        return self._each(self.limits.position, (-inf, inf))

    def velocity_limits(self) -> list[float]:
        """Return the greatest rate of each coordinate, a list."""
        return self._each(self.limits.velocity, inf)

    def effort_limits(self) -> list[float]:
        """Return the largest generalized force along each coordinate, a list."""
        return self._each(self.limits.effort, inf)

    def restitutions(self) -> list[float]:
        """Return the restitution at the position limits of each coordinate, a list."""
        return self._each(self.limits.restitution, 0.0)

    def _each(self, given: tuple[tuple[str, T], ...], otherwise: T) -> list[T]:
        known = dict(given)
        return [known.get(name, known.get('', otherwise)) for name in self.coordinates()]

    def _given(self) -> Iterator[tuple[str, Any]]:
        """Each field that holds values by coordinate: its path and its pairs."""
        for name in ('stiffness', 'damping', 'rest'):
            yield name, getattr(self, name)
        for field in fields(self.limits):
            yield f'limits.{field.name}', getattr(self.limits, field.name)


def _list(names: Iterable[str]) -> str:
    return ', '.join(names)
