# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A robot as its author describes it: YAML or dict -> frozen RobotDescription.

Everything is checked here, once and completely: whoever holds a RobotDescription made by
`load_robot` need not check it again. Nothing is computed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from softrobot_dynamics.description.closures import Closure, read_closures
from softrobot_dynamics.description.collisions import ContactOptions, Obstacle
from softrobot_dynamics.description.initial import outside_limits, read_initial
from softrobot_dynamics.description.mimics import apply_mimics
from softrobot_dynamics.description.modules import (
    BASE,
    Module,
    NamedActuator,
    read_actuators,
    read_modules,
)
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.description.surroundings import KEYS, read_surroundings, unknown_groups
from softrobot_dynamics.errors import (
    ArgumentError,
    DescriptionError,
    MISSING,
    Problem,
    UnknownNameError,
)
from softrobot_dynamics.schema.fields import name, NAME_PATTERN, nested, vector
from softrobot_dynamics.schema.parsing import parse, Problems
from softrobot_dynamics.schema.poses import Pose
from softrobot_dynamics.schema.yaml_files import read_yaml


@dataclass(frozen=True)
class RobotDescription:
    """A robot: a tree of modules from base to tips, and its actuators, each in file order."""

    name: str
    gravity: tuple[float, float, float]  # [m/s^2], in the base frame
    base: Pose  # of the base frame in the world, for tf and markers only
    modules: tuple[Module, ...]  # of Module
    actuators: tuple[NamedActuator, ...]  # of NamedActuator
    start: tuple[
        tuple[str, float, float], ...
    ] = ()  # of (coordinate name, value, rate); all others start at zero
    environment: tuple[Obstacle, ...] = ()  # shapes that stand still, in the base frame
    contact: ContactOptions = ContactOptions()
    closures: tuple[Closure, ...] = ()  # of loops

    @property
    def n(self) -> int:
        """The number of coordinates."""
        return len(self.coordinate_names)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The coordinates' names on the wire, module by module, (n,)."""
        return tuple(c for module in self.modules for c in module.coordinate_names())

    def coordinate_slices(self) -> Iterator[tuple[Module, slice, slice]]:
        """Yield each module with where its joint's and its body's coordinates are in q (n,)."""
        end = 0
        for module in self.modules:
            start, middle = end, end + len(module.joint.coordinates())
            end = middle + len(module.body.coordinates())
            yield module, slice(start, middle), slice(middle, end)

    def first_coordinates(self) -> dict[str, int]:
        """Return where in (n,) the coordinates of each module begin, by the joint's name."""
        return {m.joint_name: joint.start for m, joint, _ in self.coordinate_slices()}

    @property
    def body_names(self) -> tuple[str, ...]:
        """The bodies' names."""
        return tuple(module.name for module in self.modules)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints' names, one per body."""
        return tuple(module.joint_name for module in self.modules)

    @property
    def actuator_names(self) -> tuple[str, ...]:
        """The actuators' names on the wire, (m,); a joint actuator has its joint's."""
        return tuple(a.actuator.wire_name(a.name) for a in self.actuators)

    @property
    def wire_fields(self) -> tuple[str, ...]:
        """The fields of a JointState that the actuators' commands stand in, (m,)."""
        return tuple(entry.actuator.wire_field for entry in self.actuators)

    @property
    def commands(self) -> Any:
        """Quantities of the commands of the actuators, a Quantity (name, unit) each, (m,)."""
        joints = {module.joint_name: module.joint for module in self.modules}
        return tuple(entry.actuator.commanded(joints) for entry in self.actuators)

    @property
    def efforts(self) -> Any:
        """Quantities of the actuators' efforts u, a Quantity (name, unit) each, (m,)."""
        return tuple(u for u, _ in self._quantities())

    @property
    def outputs(self) -> Any:
        """Quantities of the actuators' coordinates y, a Quantity (name, unit) each, (m,)."""
        return tuple(y for _, y in self._quantities())

    def _quantities(self) -> Any:
        joints = {module.joint_name: module.joint for module in self.modules}
        return [entry.actuator.quantities(joints) for entry in self.actuators]

    @property
    def digest(self) -> str:
        """A text that two descriptions share only if they say the same, files included."""
        return sha256(_spelled(self).encode()).hexdigest()

    @property
    def initial(self) -> dict[str, float]:
        """The initial values that are not zero, {coordinate name: value}."""
        return {name: value for name, value, rate in self.start}

    @property
    def initial_rates(self) -> dict[str, float]:
        """The initial rates that are not zero, {coordinate name: rate}."""
        return {name: rate for name, value, rate in self.start if rate}


def _spelled(value: object) -> str:
    """Return all of a value as a text, arrays whole."""
    if is_dataclass(value):
        value = type(value).__qualname__, {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, np.ndarray):
        return f'{value.dtype.str}{value.shape}{sha256(value.tobytes()).hexdigest()}'
    if isinstance(value, dict):
        return f'{{{",".join(f"{key}:{_spelled(part)}" for key, part in value.items())}}}'
    if isinstance(value, (list, tuple)):
        return f'({",".join(map(_spelled, value))})'
    return getattr(value, '__qualname__', None) or repr(value)


def load_robot(
    source: str | PathLike[str] | dict[str, Any], *, folder: str | PathLike[str] | None = None
) -> RobotDescription:
    """
    Return the RobotDescription of a shipped robot's name, a path to a YAML file, or a dict.

    A str that is a plain name (letters, digits, _) is a shipped robot, any other a path. Files
    that the description names are looked for in ``folder``, by default that of the robot file, of
    a dict the working folder. DescriptionError holds every wrong entry at once; UnknownNameError
    lists the shipped robots.
    """
    if isinstance(source, dict):
        return _checked(source, Problems(folder=folder or ''), 'robot description')
    if not isinstance(source, (str, PathLike)):
        raise ArgumentError('source', source, 'a shipped name, a path or a dict')
    path = Path(source)
    if isinstance(source, str) and NAME_PATTERN.fullmatch(source):
        path = _shipped_robot(source)
    data, duplicates = read_yaml(path)
    return _checked(data, Problems(duplicates, folder or path.expanduser().parent), str(path))


def _shipped_robot(source: str) -> Path:
    robots = shipped('robots')
    if source not in robots:
        raise UnknownNameError('robot', source, tuple(robots))
    return robots[source]


@dataclass(frozen=True)
class _Header:
    """Entries at the top of a robot file, beside its lists."""

    name: str = name()
    gravity: tuple[float, float, float] = vector('m/s^2', 3, default=(0.0, 0.0, -9.81))
    base: Pose = nested(Pose, default=Pose())
    contact: ContactOptions = nested(ContactOptions, default=ContactOptions())


_LISTS = 'bodies', 'actuators', 'initial', 'closures', *KEYS


def _checked(data: object, problems: Problems, source: str) -> RobotDescription:
    if isinstance(data, dict):
        header = parse(_Header, data, '', problems, ignore=_LISTS)
        modules = apply_mimics(read_modules(data.get('bodies', MISSING), problems), problems)
        actuators = read_actuators(data.get('actuators'), modules, problems)
        around = read_surroundings(data, [BASE, *(m.name for m in modules)], problems)
        everything = *modules, *around.objects
        start = read_initial(data.get('initial'), everything, problems)
        closures = read_closures(data.get('closures'), everything, problems)
        if not problems:
            problems.extend(unknown_groups(everything, around.environment))
            if not closures:  # else the robot is assembled near that posture
                given = {name: value for name, value, _ in start}
                problems.extend(outside_limits(given, modules))
    else:
        problems.append(Problem('file', data, 'a mapping of name, gravity, bodies, ...'))
    if problems:
        raise DescriptionError(tuple(problems), source)
    return RobotDescription(
        name=header.name,
        gravity=header.gravity,
        base=header.base,
        modules=everything,
        actuators=actuators,
        start=(*around.start, *start),
        environment=around.environment,
        contact=header.contact,
        closures=closures,
    )
