# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
What surrounds a robot: shapes that stand still, and objects that may be moved.

An object is a free rigid body: a module of its own on the base, with a shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.bodies.rigid import Inertia, Rigid
from softrobot_dynamics.collision.box import Box
from softrobot_dynamics.collision.capsule import Capsule
from softrobot_dynamics.collision.contract import Shape
from softrobot_dynamics.collision.sphere import Sphere
from softrobot_dynamics.description.collisions import read_shape
from softrobot_dynamics.description.contact_options import Obstacle
from softrobot_dynamics.description.modules import BASE, Module
from softrobot_dynamics.errors import DescriptionError, MISSING, Problem
from softrobot_dynamics.joints.free import Free
from softrobot_dynamics.schema.fields import name, nested, number
from softrobot_dynamics.schema.parsing import join, parse, Problems, reader
from softrobot_dynamics.schema.poses import Pose
from softrobot_dynamics.schema.yaml_files import read_yaml

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription

KEYS = 'environment', 'objects'  # of a robot file, and of a file of surroundings


class Surroundings(NamedTuple):
    """What a robot may touch."""

    environment: tuple[Obstacle, ...]
    objects: tuple[Module, ...]
    start: tuple[tuple[str, float, float], ...]  # of the objects, see RobotDescription


@dataclass(frozen=True, kw_only=True)
class _Object:
    """An entry of `objects` beside its shape."""

    name: str = name()
    mass: float = number('kg', above=0.0)
    inertia: Inertia | None = nested(Inertia, default=None)
    pose: Pose = nested(Pose, default=Pose())


_name = reader(name())


def surround(
    robot: RobotDescription, given: str | PathLike[str] | Mapping[str, Any]
) -> RobotDescription:
    """
    Return a description with the ``environment`` and ``objects`` of a YAML file or mapping added.

    Places are in the base frame. DescriptionError holds every wrong entry.
    """
    problems, source = Problems(), 'surroundings'
    data: Any = given
    if isinstance(given, (str, PathLike)):
        data, duplicates = read_yaml(Path(given))
        problems.extend(duplicates)
        source = str(given)
    if isinstance(data, dict):
        for key in data:
            if key not in KEYS:
                words = f'one of the fields {", ".join(KEYS)}'
                problems.append(Problem(str(key), data[key], words))
        taken = [*robot.body_names, *(o.name for o in robot.environment), BASE]
        found = read_surroundings(data, taken, problems)
    else:
        problems.append(Problem('file', data, f'a mapping of {", ".join(KEYS)}'))
    if problems:
        raise DescriptionError(tuple(problems), source)
    return replace(
        robot,
        modules=(*robot.modules, *found.objects),
        environment=(*robot.environment, *found.environment),
        start=(*robot.start, *found.start),
    )


def read_surroundings(
    data: Mapping[str, Any], taken: Sequence[str], problems: Problems
) -> Surroundings:
    """Return the :class:`Surroundings` of a mapping, whose names must not be ``taken``."""
    names = list(taken)
    objects, start = _objects(data.get('objects'), names, problems)
    return Surroundings(_environment(data.get('environment'), names, problems), objects, start)


def _environment(value: object, names: list[str], problems: Problems) -> tuple[Obstacle, ...]:
    """Return an Obstacle for each right entry of the list `environment`."""
    found: list[Obstacle] = []
    for path, row in _rows('environment', value, problems):
        shape = read_shape(row, path, problems)
        if shape is not None and not shape.fixed:
            words = 'a shape that needs no body: plane, sphere, capsule, box, tube'
            problems.append(Problem(join(path, 'type'), shape.type_name, words))
        if isinstance(row, dict):
            known = _name(row.get('name', MISSING), f'{path}.name', problems)
            _take(known, names, path, problems)
            found.append(Obstacle(known, shape))
    return tuple(found)


def _objects(
    value: object, names: list[str], problems: Problems
) -> tuple[tuple[Module, ...], tuple[tuple[str, float, float], ...]]:
    """
    Return a Module for each entry of the list `objects`, and where they start.

    An object's frame is that of its shape's centre of mass. Its inertia is by default that of a
    solid of its shape and mass.
    """
    found: list[Module] = []
    start: list[tuple[str, float, float]] = []
    for path, row in _rows('objects', value, problems):
        known = parse(_Object, row, path, problems, ignore=('shape',))
        if not isinstance(row, dict):
            continue
        shape = read_shape(row.get('shape', MISSING), f'{path}.shape', problems)
        if known is None or shape is None:
            continue
        if not (shape.on_bodies and shape.fixed):
            words = 'a shape that an object can have: sphere, capsule, box'
            problems.append(Problem(join(path, 'shape.type'), shape.type_name, words))
            continue
        inertia = known.inertia or _solid(shape, known.mass)
        if inertia is None:
            words = 'an inertia, as the shape is not about the origin'
            problems.append(Problem(join(path, 'inertia'), MISSING, words))
            continue
        _take(known.name, names, path, problems)
        body = Rigid(mass=known.mass, inertia=inertia)
        found.append(Module(known.name, -1, known.name, Free(), body, (shape,), True))
        start += [(c, x, 0.0) for c, x in _posture(known.name, known.pose.matrix()).items()]
    return tuple(found), tuple(start)


def _rows(key: str, value: object, problems: Problems) -> list[tuple[str, Any]]:
    """Return (path, entry) of the entries of a list."""
    if value is not None and not isinstance(value, (list, tuple)):
        problems.append(Problem(key, value, 'a list'))
        return []
    return [(f'{key}[{i}]', row) for i, row in enumerate(value or ())]


def _take(known: Any, names: list[str], path: str, problems: Problems) -> None:
    """Note a name; report one that another has."""
    if known is not None and known in names:
        problems.append(Problem(f'{path}.name', known, 'a name that nothing else has'))
    names.append(known)


def _posture(name: str, T: Matrix) -> dict[str, float]:
    """Return the coordinates of a free joint at a transform (4, 4), those that are not 0."""
    turned = _rotation_vector(T[:3, :3])
    names = [f'{name}/{c}' for c in Free().coordinates()]
    return {n: float(x) for n, x in zip(names, [*T[:3, 3], *turned]) if x}


def _rotation_vector(R: Matrix) -> Any:
    from scipy.spatial.transform import Rotation  # here: it takes time to import

    return Rotation.from_matrix(R).as_rotvec()


def _solid(shape: Shape, mass: float) -> Inertia | None:
    """Return the inertia of a solid shape about the origin; None if that is not its centre."""
    if isinstance(shape, Sphere) and not any(shape.centre):
        return Inertia(*[0.4 * mass * shape.radius**2] * 3)
    if isinstance(shape, Box) and not any(shape.pose.xyz):
        squares = np.square(shape.edges)
        R = shape.pose.matrix()[:3, :3]
        return _inertia(R @ np.diag(mass / 12.0 * (squares.sum() - squares)) @ R.T)
    if isinstance(shape, Capsule) and np.allclose(np.add(shape.start, shape.end), 0.0):
        return _inertia(_capsule(shape, mass))
    return None


def _capsule(shape: Capsule, mass: float) -> Matrix:
    """Inertia (3, 3) of a solid capsule: a cylinder and two half spheres."""
    axis, r = np.subtract(shape.end, shape.start), shape.radius
    length = float(np.linalg.norm(axis))
    volumes = np.array([np.pi * r * r * length, 4.0 / 3.0 * np.pi * r**3])
    m, caps = mass * volumes / volumes.sum()
    about = 0.5 * m * r * r + 0.4 * caps * r * r
    across = m * (length**2 / 12.0 + r * r / 4.0)
    across += caps * (0.4 * r * r + length**2 / 4.0 + 3.0 / 8.0 * length * r)
    u = axis / length if length else np.array([0.0, 0.0, 1.0])
    return across * np.eye(3) + (about - across) * np.outer(u, u)


def _inertia(tensor: Matrix) -> Inertia:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = tensor.tolist()
    return Inertia(xx, yy, zz, xy, xz, yz)
