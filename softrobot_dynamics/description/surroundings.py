# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Surroundings of a robot: shapes that stand still, and objects that may be moved.

An object is a free rigid body: a module of its own on the base, with a shape.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.bodies.contract import BODIES
from softrobot_dynamics.collision.contract import CollisionShape, DEFAULT_GROUPS, SHAPES
from softrobot_dynamics.description.collisions import Obstacle, read_obstacle, read_shape
from softrobot_dynamics.description.modules import Module
from softrobot_dynamics.description.obstacle_motion import ObstacleMotion
from softrobot_dynamics.errors import MISSING, Problem
from softrobot_dynamics.joints.contract import JOINTS
from softrobot_dynamics.schema.fields import name, nested, number
from softrobot_dynamics.schema.parsing import custom, join, parse, Problems, reader
from softrobot_dynamics.schema.poses import Pose

KEYS = 'environment', 'objects'  # of a robot file, and of a file of surroundings


class Surroundings(NamedTuple):
    """Obstacles and objects that a robot may touch."""

    environment: tuple[Obstacle, ...]
    objects: tuple[Module, ...]
    start: tuple[tuple[str, float, float], ...]  # of the objects, see RobotDescription


def _mapping(value: object, path: str, problems: Problems) -> Any:
    """Return the entries that the body reads."""
    return value


@dataclass(frozen=True, kw_only=True)
class _Object:
    """An entry of `objects` beside its shape."""

    name: str = name()
    mass: float = number('kg', above=0.0)
    inertia: dict[str, Any] | None = custom(_mapping, expected='an inertia', default=None)
    pose: Pose = nested(Pose, default=Pose())


_name = reader(name())


def read_surroundings(
    data: Mapping[str, Any], taken: Sequence[str], problems: Problems
) -> Surroundings:
    """Return the :class:`Surroundings` of a mapping, whose names must not be ``taken``."""
    names = list(taken)
    objects, start = _objects(data.get('objects'), names, problems)
    return Surroundings(_environment(data.get('environment'), names, problems), objects, start)


def unknown_groups(
    modules: Sequence[Module], environment: Sequence[Obstacle]
) -> Iterator[Problem]:
    """
    Yield a Problem for each group in a `collides_with` that no shape is in.

    Without surroundings no group is unknown: shapes of those to come may be in it.
    """
    shapes = [(f'{m.name}.collision', shape) for m in modules for shape in m.shapes]
    shapes += [(obstacle.name, obstacle.shape) for obstacle in environment]
    known = {*DEFAULT_GROUPS, *(shape.group for _, shape in shapes if shape.group is not None)}
    if not environment and not any(m.is_object for m in modules):
        return
    for place, shape in shapes:
        for group in shape.collides_with or ():
            if group not in known:
                words = f'a group that has a shape: {", ".join(sorted(known))}'
                yield Problem(join(place, 'collides_with'), group, words)


def _environment(value: object, names: list[str], problems: Problems) -> tuple[Obstacle, ...]:
    """Return an Obstacle for each right entry of the list `environment`."""
    found: list[Obstacle] = []
    for path, row in _rows('environment', value, problems):
        shape = read_obstacle(row, path, problems)
        if shape is not None and not shape.fixed:
            words = f'a shape that needs no body: {_kinds(lambda shape: shape.fixed)}'
            problems.append(Problem(join(path, 'type'), shape.type_name, words))
        if isinstance(row, dict):
            known = _name(row.get('name', MISSING), f'{path}.name', problems)
            _take(known, names, path, problems)
            motion = row.get('motion')
            if motion is not None:
                motion = parse(ObstacleMotion, motion, f'{path}.motion', problems)
            found.append(Obstacle(known, shape, motion))
    return tuple(found)


def _objects(
    value: object, names: list[str], problems: Problems
) -> tuple[tuple[Module, ...], tuple[tuple[str, float, float], ...]]:
    """
    Return a Module for each entry of the list `objects`, and where they start.

    An object's frame is that of its shape's centre of mass. Its inertia is by default that of a
    solid of its shape and mass; of several shapes together it must be given.
    """
    found: list[Module] = []
    start: list[tuple[str, float, float]] = []
    for path, row in _rows('objects', value, problems):
        known = parse(_Object, row, path, problems, ignore=('shape',))
        if not isinstance(row, dict):
            continue
        shapes = _object_shapes(row.get('shape', MISSING), path, problems)
        if known is None or not shapes:
            continue
        solid = shapes[0].solid_inertia(known.mass) if len(shapes) == 1 else None
        given = known.inertia if solid is None else known.inertia or inertia_entries(solid)
        if given is None:
            why = 'the shape is not about the origin' if len(shapes) == 1 else 'there are several'
            problems.append(Problem(join(path, 'inertia'), MISSING, f'an inertia, as {why}'))
            continue
        body = parse(BODIES.get('rigid'), {'mass': known.mass, 'inertia': given}, path, problems)
        if body is None:
            continue
        _take(known.name, names, path, problems)
        joint = JOINTS.get('free')()
        found.append(Module(known.name, -1, known.name, joint, body, shapes, True))
        coordinates = [f'{known.name}/{c}' for c in joint.coordinates()]
        start += [(c, x, 0.0) for c, x in zip(coordinates, _posture(known.pose.matrix())) if x]
    return tuple(found), tuple(start)


def _object_shapes(value: object, path: str, problems: Problems) -> tuple[CollisionShape, ...]:
    """Return the shapes of an object, one or a list of them; () if one is wrong."""
    path = f'{path}.shape'
    rows = {path: value}
    if isinstance(value, (list, tuple)):
        rows = {f'{path}[{i}]': row for i, row in enumerate(value)}
    if not rows:
        problems.append(Problem(path, value, 'a shape, or a list of such'))
    found: list[CollisionShape] = []
    for place, row in rows.items():
        shape = read_shape(row, place, problems)
        if shape is None:
            continue
        if shape.on_bodies and shape.fixed:
            found.append(shape)
            continue
        kinds = _kinds(lambda kind: kind.on_bodies and kind.fixed)
        words = f'a shape that an object can have: {kinds}'
        problems.append(Problem(join(place, 'type'), shape.type_name, words))
    return tuple(found) if len(found) == len(rows) else ()


def _kinds(fits: Callable[[type[CollisionShape]], bool]) -> str:
    """Return the names of the kinds of shapes that fit."""
    return ', '.join(kind for kind in SHAPES.names() if fits(SHAPES.get(kind)))


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


def _posture(T: Matrix) -> list[float]:
    """Return the six coordinates of a free joint at a transform (4, 4)."""
    from scipy.spatial.transform import Rotation  # here: it takes time to import

    return [*map(float, T[:3, 3]), *map(float, Rotation.from_matrix(T[:3, :3]).as_rotvec())]


def inertia_entries(tensor: Matrix) -> dict[str, float]:
    """Return the entries of a body's inertia (3, 3), by name."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = tensor.tolist()
    return {'ixx': xx, 'iyy': yy, 'izz': zz, 'ixy': xy, 'ixz': xz, 'iyz': yz}
