# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The parts of a robot description, bodies with their joints and actuators, and how they are read.

From Python, a body or a joint may also be given as the object that its mapping would make.

A part that is wrong in itself is None until all problems are known, so that one wrong number
does not hide the others, nor show up as a dozen.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, Field
from typing import Any

from softrobot_dynamics.actuators.contract import Actuator, ACTUATORS
from softrobot_dynamics.bodies.contract import BODIES, Body
from softrobot_dynamics.collision.contract import CollisionShape
from softrobot_dynamics.description.collisions import read_shapes
from softrobot_dynamics.errors import closest, MISSING, Problem
from softrobot_dynamics.joints.contract import Joint, JOINTS
from softrobot_dynamics.schema.fields import member, name, NAME_PATTERN
from softrobot_dynamics.schema.parsing import (
    entry,
    join,
    parse,
    Parser,
    Problems,
    reader,
    validated,
)

_INVALID: Any = None  # in place of what is wrong, until all problems are known
MAX_BODIES = 1000  # of a robot; the mass matrix of a serial one has 8 MB then
BASE = 'base'  # the frame that the first joint stands on; no body may bear its name


@dataclass(frozen=True)
class Module:
    """One body and the joint that carries it."""

    name: str  # of the body
    parent: int  # index of the parent's module; -1 is the base
    joint_name: str
    joint: Joint
    body: Body
    shapes: tuple[CollisionShape, ...] = ()  # that it collides with
    is_object: bool = False  # of the surroundings, not of the robot

    def coordinate_names(self) -> tuple[str, ...]:
        """Return the names of this module's coordinates on the wire, the joint's first."""
        joint = self.joint.coordinates() if self.joint else ()
        body = self.body.coordinates() if self.body else ()
        return (
            *(f'{self.joint_name}/{c}' if c else self.joint_name for c in joint),
            *(f'{self.name}/{c}' for c in body),
        )


@dataclass(frozen=True)
class NamedActuator:
    """One actuator and its name in the description."""

    name: str
    actuator: Actuator


@dataclass(frozen=True, kw_only=True)
class _Heading:
    """The fields of an entry of `bodies` beside its joint and its body."""

    parent: str = name(default=None)
    name: str = name()


def _or_made(field: Field[Any], cls: type) -> Parser:
    """Return the reader of a mapping, in whose place an object made in Python may stand."""
    read = reader(field)

    def either(value: object, path: str, problems: Problems) -> Any:
        """Return an object as it is, or what a mapping describes."""
        if isinstance(value, cls):
            return validated(value, {}, path, problems)
        if isinstance(value, dict):
            return read(value, path, problems)
        words = f'{field.metadata["expected"]}, or (in Python) a {cls.__name__} object'
        problems.append(Problem(path, value, words))

    return either


_name = reader(name())
_joint = _or_made(member(JOINTS, ignore=('name',)), Joint)
_body = _or_made(member(BODIES), Body)
_actuator = reader(member(ACTUATORS, ignore=('name',)))


def read_modules(value: object, problems: Problems) -> tuple[Module, ...]:
    """Return a Module for each entry of the list `bodies`, and note their names in `problems`."""
    if not isinstance(value, (list, tuple)) or not value:
        problems.append(Problem('bodies', value, 'a list, not empty, of bodies'))
        return ()
    if len(value) > MAX_BODIES:
        problems.append(Problem('bodies', f'{len(value)} bodies', f'at most {MAX_BODIES}'))
        return ()
    modules: list[Module] = []
    for i, row in enumerate(value):
        modules.append(_read_module(row, f'bodies[{i}]', modules, problems))
    _refuse_shared_names(modules, problems)
    if all(m.joint and m.body for m in modules) and not _coordinates(modules):
        words = 'at least one joint or body that moves'
        problems.append(Problem('bodies', [m.name for m in modules], words))
    if _named(modules):
        problems.names = {
            'body': [m.name for m in modules],
            'joint': [m.joint_name for m in modules],
        }
    return tuple(modules)


def read_actuators(
    value: object, modules: Sequence[Module], problems: Problems
) -> tuple[NamedActuator, ...]:
    """Return a NamedActuator for each right entry of the list `actuators`."""
    if value is not None and not isinstance(value, (list, tuple)):
        problems.append(Problem('actuators', value, 'a list of actuators'))
        return ()
    actuators = tuple(
        _read_actuator(row, f'actuators[{i}]', modules, problems)
        for i, row in enumerate(value or ())
    )
    _refuse_shared_commands(actuators, problems)
    return actuators


def _read_module(row: object, path: str, above: Sequence[Module], problems: Problems) -> Module:
    """Return the module of an entry of `bodies`, given those before it."""
    if not isinstance(row, dict):
        problems.append(Problem(path, row, 'a mapping of name, joint, body and perhaps parent'))
        return Module(_INVALID, _INVALID, _INVALID, _INVALID, _INVALID)
    parse(_Heading, row, path, problems, ignore=('joint', 'body', 'collision'))
    joint = row.get('joint', MISSING)
    body_name = joint_name = _text(row.get('name'))
    if isinstance(joint, dict) and 'name' in joint:
        _name(joint['name'], f'{path}.joint.name', problems)
        joint_name = _text(joint['name'])
    joint = _joint(joint, f'{path}.joint', problems)
    body = _body(row.get('body', MISSING), f'{path}.body', problems)
    return Module(
        body_name,
        _parent(row, path, above, problems),
        joint_name,
        joint if joint_name else _INVALID,
        body if body_name else _INVALID,
        read_shapes(row.get('collision'), f'{path}.collision', body, problems),
    )


def _parent(row: Mapping[Any, Any], path: str, above: Sequence[Module], problems: Problems) -> Any:
    """Return the index of the parent, an entry above this one, by default the last; -1 is base."""
    wanted = row.get('parent')
    if wanted is None:
        return len(above) - 1
    names = [BASE, *(m.name for m in above if m.name)]
    if wanted in names:
        return [m.name for m in above].index(wanted) if wanted != BASE else -1
    if _named(above) and _text(wanted) and NAME_PATTERN.fullmatch(wanted):  # else reported already
        words = f'base or a body above this one: {", ".join(names)}{closest(wanted, names)}'
        problems.append(Problem(f'{path}.parent', wanted, words))
    return None


def _read_actuator(
    row: object, path: str, modules: Sequence[Module], problems: Problems
) -> NamedActuator:
    """Return the actuator of an entry of `actuators`."""
    actuator = _actuator(row, path, problems)
    if actuator and problems.names:
        bodies = {m.name: m.body for m in modules}
        joints = {m.joint_name: m.joint for m in modules}
        problems.extend(
            Problem(join(path, sub), entry(row, sub, value), expected)
            for sub, value, expected in actuator.validate_against(bodies, joints)
        )
    name = _INVALID
    if isinstance(row, dict):
        name = _name(row.get('name', MISSING), f'{path}.name', problems)
    return NamedActuator(name, actuator)


def _named(modules: Sequence[Module]) -> bool:
    """Tell whether all names can be read, so that references to them can be checked."""
    return all(m.name and m.joint_name for m in modules)


def _text(value: object) -> Any:
    """Return `value` if it is a text, which others may refer to even if it is no good name."""
    return value if isinstance(value, str) else None


def _coordinates(modules: Sequence[Module]) -> list[str]:
    return [c for module in modules for c in module.coordinate_names()]


def _refuse_shared_names(modules: Sequence[Module], problems: Problems) -> None:
    """Report names of bodies and joints that are not unique."""
    bodies, joints = (Counter(getattr(m, key) for m in modules) for key in ('name', 'joint_name'))
    rows = [(f'bodies[{i}]', m) for i, m in enumerate(modules)]
    problems.extend(
        Problem(f'{path}.name', BASE, f'a name other than {BASE}, where the robot stands')
        for path, m in rows
        if m.name == BASE
    )
    _refuse_shared('body', ((f'{path}.name', m.name) for path, m in rows), problems)
    _refuse_shared(
        'joint',
        (
            (f'{path}.joint.name', m.joint_name)
            for path, m in rows
            if m.joint_name != m.name or bodies[m.name] == 1
        ),
        problems,
    )
    _refuse_shared(
        'coordinate',
        (
            (path, c)
            for path, m in rows
            for c in m.coordinate_names()
            if bodies[m.name] == joints[m.joint_name] == 1
        ),
        problems,
    )


def _refuse_shared_commands(actuators: Sequence[NamedActuator], problems: Problems) -> None:
    """Report actuators whose commands would have the same name."""
    names = Counter(a.name for a in actuators)
    rows = [(f'actuators[{i}]', a) for i, a in enumerate(actuators)]
    _refuse_shared('actuator', ((f'{path}.name', a.name) for path, a in rows), problems)
    _refuse_shared(
        'command',
        (
            (path, a.actuator.wire_name(a.name))
            for path, a in rows
            if a.actuator and a.name and names[a.name] == 1
        ),
        problems,
    )


def _refuse_shared(kind: str, rows: Iterable[tuple[str, str | None]], problems: Problems) -> None:
    """Report each of the (path, name) in `rows` whose name one above it has."""
    first: dict[str | None, str] = {}
    for path, key in rows:
        if key is not None and key in first:
            problems.append(Problem(path, key, f'a {kind} name of its own: {first[key]} has it'))
        first.setdefault(key, path)
