# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Vary the numbers of a robot, as for a plant that differs from its model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
import re
from typing import Any, cast, NamedTuple, SupportsFloat, TypeGuard

import numpy as np
from softrobot_dynamics.collision.contract import CollisionShape
from softrobot_dynamics.description.mimics import apply_mimics
from softrobot_dynamics.description.modules import Module
from softrobot_dynamics.description.naming import FieldName, FieldPath
from softrobot_dynamics.description.robot import RobotDescription
from softrobot_dynamics.description.surroundings import inertia_entries
from softrobot_dynamics.errors import ArgumentError, DescriptionError, UnknownNameError
from softrobot_dynamics.schema.fields import vector
from softrobot_dynamics.schema.parsing import Parser, Problems, validated

_FACTOR, _INCREMENT = re.compile(r'[×x*]\s*(.+)'), re.compile(r'\+=\s*(.+)')


class _Change(NamedTuple):
    """A number that takes the place of a field's, multiplies it or is added to it."""

    number: float
    operation: str  # '', '×' or '+='

    def of(self, value: float) -> float:
        """Return the changed number."""
        if self.operation == '+=':
            return self.number + value
        return self.number * value if self.operation else self.number


@dataclass(frozen=True)
class _Place:
    """The initial place of an object."""

    xyz: tuple[float, ...] = vector('m', 3)


class _Unchanged:
    """Stands for a change that changes nothing, and keeps the numbers it was for."""

    def __init__(self) -> None:
        self.numbers: list[float] = []

    def of(self, value: float) -> float:
        """Return a number as it is."""
        self.numbers.append(float(value))
        return value


def vary(description: RobotDescription, changes: Mapping[str, float | str]) -> RobotDescription:
    """
    Return a RobotDescription with changed numbers, whose bounds are checked again.

    ``changes`` maps fields to numbers that take their place, in the field's unit, or to texts such
    as '×1.2' (also 'x1.2' or '*1.2') that multiply them, or '+=0.1' that are added; of several
    numbers in one field each. A field is given by its name, and counts wherever it stands:
    'young_modulus'. Names before it, with dots, say where: 'segment1.young_modulus' of a body, a
    joint or an actuator, 'material.damping', 't4/t5.offset' of two actuators. Numbers of a
    tendon's `path` are meant by names that say so, the body it runs through being one of them:
    'path.radius', 't1.path.segment2.phase'; of an `offset` [x, y] these are 'path.x', 'path.y'. A
    whole number after a field is a place in its list, from 0: 'segment1.radius.1'. Shapes are
    meant by names that say so: 'collision.friction' of all bodies, 'segment1.collision.radius',
    'ball.shape.radius' of an object, whose place is 'ball.xyz' [m], and 'table.friction' of the
    environment. An object with the inertia of a solid keeps that of a solid. Raises
    UnknownNameError for a field that no part has, DescriptionError for numbers that cannot be,
    ArgumentError.
    """
    if not isinstance(changes, Mapping):
        raise ArgumentError('changes', changes, 'a mapping of fields to numbers')
    return _varied(description, {str(p): _change(str(p), value) for p, value in changes.items()})


def numbers_at(description: RobotDescription, path: str) -> tuple[float, ...]:
    """Return all numbers that :func:`vary` would change at a path; UnknownNameError."""
    reading = _Unchanged()
    _varied(description, {path: reading})
    return tuple(reading.numbers)


def _change(path: str, value: object) -> _Change:
    """Return the :class:`_Change` of a number or a text; ArgumentError."""
    text = value.strip() if isinstance(value, str) else ''
    factor, shift = _FACTOR.fullmatch(text), _INCREMENT.fullmatch(text)
    how = '×' if factor else '+=' if shift else ''
    said = factor or shift
    try:
        return _Change(float(said[1] if said else cast(SupportsFloat, value)), how)
    except (TypeError, ValueError):
        expected = "a number, a factor such as '×1.2', or a shift such as '+=0.1'"
        raise ArgumentError(path, value, expected) from None


def _varied(
    description: RobotDescription, changes: Mapping[str, _Change | _Unchanged]
) -> RobotDescription:
    """Return the description after changes, one after the other where they mean one number."""
    if not changes:
        return description
    work = _Work(changes)
    modules = tuple(
        replace(
            module,
            joint=work.on(module.joint.described, FieldPath((module.joint_name,))),
            body=work.on(module.body, FieldPath((module.name,))),
            shapes=work.shapes(module),
        )
        for module in description.modules
    )
    environment = tuple(
        replace(each, shape=work.on(each.shape, FieldPath((each.name,), (each.name,))))
        for each in description.environment
    )
    start = _moved(description, work)
    actuators = tuple(
        replace(entry, actuator=work.on(entry.actuator, FieldPath((entry.name,))))
        for entry in description.actuators
    )
    for path in changes:
        if path not in work.done:
            raise UnknownNameError('field with numbers', path, tuple(sorted(work.known)))
    modules = apply_mimics(modules, work.problems)
    if work.problems:
        raise DescriptionError(tuple(work.problems), 'varied robot')
    pairs = zip(description.modules, modules)
    modules = tuple(_solid(before, after) if after.is_object else after for before, after in pairs)
    return replace(
        description, modules=modules, actuators=actuators, environment=environment, start=start
    )


def _moved(description: RobotDescription, work: _Work) -> tuple[tuple[str, float, float], ...]:
    """Return the initial state with objects at other places."""
    start = {name: (q, qd) for name, q, qd in description.start}
    for module in description.modules:
        if module.is_object:
            names = module.coordinate_names()[:3]
            places = _Place(tuple(start.get(name, (0.0, 0.0))[0] for name in names))
            found = work.on(places, FieldPath((module.name,), (module.name,)))
            for name, x in zip(names, found.xyz):
                if (x, 0.0) != start.get(name, (0.0, 0.0)):
                    start[name] = x, start.get(name, (0.0, 0.0))[1]
    return tuple((name, q, qd) for name, (q, qd) in start.items())


def _solid(before: Module, after: Module) -> Module:
    """Return an object after changes, with the inertia of a solid if it had that."""
    if len(before.shapes) != 1:
        return after
    old: Any = before.body  # both are rigid
    new: Any = after.body
    own = before.shapes[0].solid_inertia(old.mass)
    tensor = after.shapes[0].solid_inertia(new.mass)
    given = old.inertia  # which a change may have replaced: then it stays
    if own is None or tensor is None or given is None or new.inertia != given:
        return after
    if before == after or not np.allclose(own, given.matrix(), rtol=1e-9):
        return after
    return replace(after, body=replace(new, inertia=replace(given, **inertia_entries(tensor))))


class _Work:
    """Changes on part after part."""

    def __init__(self, changes: Mapping[str, _Change | _Unchanged]) -> None:
        self._changes = [(path, FieldName(path), change) for path, change in changes.items()]
        self.problems, self.done = Problems(), set[str]()
        self.known: set[str] = set()  # names of fields that hold numbers

    def shapes(self, module: Module) -> tuple[CollisionShape, ...]:
        """Return the shapes of a body, or of an object, with their fields changed."""
        said = 'shape' if module.is_object else 'collision'
        trail = FieldPath((module.name, said), (said,))
        return tuple(self.on(shape, trail) for shape in module.shapes)

    def on(self, part: object, trail: FieldPath) -> Any:
        """Return a part, a dataclass at the end of a trail of names, with its fields changed."""
        if not is_dataclass(part) or isinstance(part, type):
            return part
        others = {}
        for name, value, read in _readable(part):
            other = self._field(name, value, read, trail)
            if other is not value:
                others[name] = other
        if not others or self.problems:
            return part
        made: Any = replace(part, **others)
        return validated(made, {}, str(trail), self.problems) or part

    def _field(self, name: str, value: object, read: Parser, trail: FieldPath) -> Any:
        """Return a field's value, changed where paths lead there."""
        here = trail.to(name)
        if is_dataclass(value):
            return self.on(value, here)
        if _parts(value):
            parts = tuple(self.on(each, trail.within(name, each.body)) for each in value)
            return value if all(a is b for a, b in zip(parts, value)) else parts
        if not _numeric(value):
            return value
        self.known.add('.'.join([*trail.lists, name]))
        other = value
        for path, field, change in self._changes:
            if field.means(here) and field.fits(other):
                self.done.add(path)
                other = field.changed(other, change.of)
        return value if other is value else read(other, str(here), self.problems)


def _readable(part: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, value, parser) of the fields that a robot file may give."""
    for field in fields(part):
        if 'parser' in field.metadata:
            yield field.name, getattr(part, field.name), field.metadata['parser']


def _parts(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Tell whether a field holds parts by bodies, as a path does."""
    return isinstance(value, tuple) and bool(value) and hasattr(value[0], 'body')


def _numeric(value: object) -> bool:
    """Tell whether a field holds a number that can be varied, or several."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(_numeric, value))
    return isinstance(value, float)
