# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
What surrounds a robot: shapes that stand still, and objects that may be moved.

An object is a free rigid body: a module of its own on the base, with a shape.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.bodies.rigid import Inertia, Rigid
from softrobot_dynamics.collision.box import Box
from softrobot_dynamics.collision.capsule import Capsule
from softrobot_dynamics.collision.contract import Shape, SHAPES
from softrobot_dynamics.collision.sphere import Sphere
from softrobot_dynamics.errors import MISSING, Problem
from softrobot_dynamics.joints.free import Free
from softrobot_dynamics.schema.fields import member, name, nested, number
from softrobot_dynamics.schema.parsing import join, parse, Problems, reader
from softrobot_dynamics.schema.poses import Pose
from softrobot_dynamics.schema.yaml_files import read_yaml

KEYS = 'environment', 'objects'  # of a robot file, and of a file of surroundings


@dataclass(frozen=True)
class Obstacle:
    """A shape of the environment, in the base frame, and its name."""

    name: str
    shape: Shape


@dataclass(frozen=True)
class Contacts:
    """How contact is simulated; entries of ``contact`` at the top of a robot file."""

    slip: float | None = number('m/s', above=0.0, default=None)
    stiffness: float | None = number('N/m', above=0.0, default=None)


@dataclass(frozen=True, kw_only=True)
class _Object:
    """An entry of `objects` beside its shape."""

    name: str = name()
    mass: float = number('kg', above=0.0)
    inertia: Inertia | None = nested(Inertia, default=None)
    pose: Pose = nested(Pose, default=Pose())


_shape = reader(member(SHAPES, ignore=('name',)))
_name = reader(name())


def with_surroundings(
    data: dict[str, Any], given: str | PathLike[str] | Mapping[str, Any] | None, problems: Problems
) -> dict[str, Any]:
    """Return the mapping of a robot with the lists of a file, or mapping, of surroundings added."""
    if given is None:
        return data
    if isinstance(given, (str, PathLike)):
        found, duplicates = read_yaml(Path(given))
        problems.extend(duplicates)
    else:
        found = dict(given)
    if not isinstance(found, dict):
        problems.append(Problem('surroundings', found, f'a mapping of {", ".join(KEYS)}'))
        return data
    for key in found:
        if key not in KEYS:
            problems.append(Problem(str(key), found[key], f'one of the fields {", ".join(KEYS)}'))
    both = dict(data)
    for key in KEYS:
        if found.get(key) is not None:
            both[key] = [*_rows(data.get(key)), *_rows(found[key])]
    return both


def _rows(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def read_environment(value: object, problems: Problems) -> tuple[Obstacle, ...]:
    """Return an Obstacle for each right entry of the list `environment`."""
    if value is not None and not isinstance(value, (list, tuple)):
        problems.append(Problem('environment', value, 'a list of shapes with names'))
        return ()
    found: list[Obstacle] = []
    for i, row in enumerate(value or ()):
        path = f'environment[{i}]'
        shape = _shape(row, path, problems)
        if shape is not None and not shape.fixed:
            problems.append(Problem(join(path, 'type'), shape.type_name, 'a shape of no body'))
        if not isinstance(row, dict):
            continue
        known = _name(row.get('name', MISSING), f'{path}.name', problems)
        if known in [o.name for o in found]:
            problems.append(Problem(f'{path}.name', known, 'a name of its own'))
        found.append(Obstacle(known, shape))
    return tuple(found)


def read_shapes(
    value: object, path: str, body: Body | None, problems: Problems
) -> tuple[Shape, ...]:
    """Return the shapes of a body that `collision` gives: a mapping, or a list of such."""
    rows = value if isinstance(value, (list, tuple)) else [] if value is None else [value]
    found: list[Shape] = []
    for i, row in enumerate(rows):
        place = f'{path}[{i}]' if isinstance(value, (list, tuple)) else path
        shape = row if isinstance(row, Shape) else _shape(row, place, problems)
        if shape is None:
            continue
        if not shape.on_bodies:
            words = 'a shape that a body can have: sphere, capsule, box, rod'
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


def object_rows(value: object, problems: Problems) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """
    Return entries of `bodies` for the list `objects`, and of `initial`.

    An object's frame is that of its shape's centre of mass. Its inertia is by default that of a
    solid of its shape and mass.
    """
    if value is not None and not isinstance(value, (list, tuple)):
        problems.append(Problem('objects', value, 'a list of objects'))
        return [], {}
    rows: list[dict[str, Any]] = []
    initial: dict[str, float] = {}
    for i, row in enumerate(value or ()):
        path = f'objects[{i}]'
        known = parse(_Object, row, path, problems, ignore=('shape',))
        if not isinstance(row, dict):
            continue
        shape = _shape(row.get('shape', MISSING), f'{path}.shape', problems)
        if known is None or shape is None:
            continue
        inertia = known.inertia or _solid(shape, known.mass)
        if inertia is None:
            words = 'an inertia, as this shape is not a sphere, capsule or box about its centre'
            problems.append(Problem(join(path, 'inertia'), MISSING, words))
            continue
        rows.append({
            'name': known.name,
            'parent': 'base',
            'joint': Free(),
            'body': Rigid(mass=known.mass, inertia=inertia),
            'collision': shape,
        })  # fmt: skip
        initial |= _posture(known.name, known.pose.matrix())
    return rows, initial


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
