# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A convex mesh, of a file or of its corners."""

from collections.abc import Sequence
from dataclasses import dataclass
import functools
from pathlib import Path

import numpy as np
from softrobot_dynamics.annotations import Complaints, Integers, Matrix
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.bodies.skins import read_surface, Surface
from softrobot_dynamics.collision.contract import CollisionShape, Element, HULL, register
from softrobot_dynamics.collision.hulls import Hull, hull_of
from softrobot_dynamics.errors import MeshError, Problem
from softrobot_dynamics.schema.fields import file, flag, items, nested, number, vector
from softrobot_dynamics.schema.parsing import Problems
from softrobot_dynamics.schema.poses import Pose

_MAX_HULL_DEVIATION = 1e-3  # of the mesh's size; beyond it the mesh is not convex
_MAX_FACES = 2000
_MIN_HULL_COVERAGE = 0.99  # of the hull's area; with less the mesh is not closed


@dataclass(frozen=True, eq=False)
class SurfaceFile:
    """Points (K, 3), in the unit of the file, and triangles (T, 3) that a file holds."""

    name: str
    points: Matrix
    triangles: Integers


def _read(path: str, place: str, problems: Problems) -> SurfaceFile | None:
    try:
        found = read_surface(path)
    except MeshError as error:
        problems.append(Problem(place, path, f'a file of triangles ({error})'))
        return None
    return SurfaceFile(Path(path).name, found.points, found.triangles)


@register('mesh')
@dataclass(frozen=True, kw_only=True)
class ConvexMesh(CollisionShape):
    """
    A solid bounded by flat faces, convex: that of a ``file`` of triangles or of ``vertices``.

    Of a rigid body, or in the base frame, where its points are in the frame ``pose``. ``scale``
    [m] is the unit of the file or of the vertices. ``centred`` moves the points such that the
    centre of the solid is the origin. A surface that is open or not convex is refused; of
    vertices, the convex hull is meant. It touches others with its corners, and boxes and meshes
    with edges that cross theirs, too.
    """

    pose: Pose = nested(Pose, default=Pose())
    scale: float = number('m', above=0.0, default=1.0)
    centred: bool = flag(default=False)
    vertices: tuple[tuple[float, float, float], ...] | None = items(vector('m', 3), default=None)
    file: SurfaceFile | None = file(_read, expected='a file of triangles', default=None)

    def validate(self) -> Complaints:
        """Need one of file and vertices, of a surface that is closed and convex."""
        yield from super().validate()
        if (self.file is None) == (self.vertices is None):
            yield 'file', self.vertices and 'vertices as well', 'either a file or vertices'
            return
        key, shown = ('file', self.file.name) if self.file else ('vertices', self.vertices)
        try:
            hull = self.hull
        except MeshError as error:
            yield key, shown, f'points of a solid ({error.reason})'
            return
        if len(hull.faces) > _MAX_FACES:
            words = f'at most {_MAX_FACES} faces, not {len(hull.faces)}'
            yield key, shown, f'{words}: make the mesh coarser'
        if self.file is not None:
            surface = Surface(self.file.points, self.file.triangles)
            off = self.scale * hull.depth_of(surface)
            if off > _MAX_HULL_DEVIATION * self.scale * hull.size:
                words = 'a convex mesh: its surface is up to'
                yield key, shown, f'{words} {off:.3g} m inside of its convex hull'
            elif (share := hull.covered_by(surface)) < _MIN_HULL_COVERAGE:
                words = 'a closed mesh: its triangles cover'
                yield key, shown, f'{words} {share:.1%} of its convex hull'

    def validate_on(self, body: Body) -> Complaints:
        """Refuse a body that deforms."""
        if body.coordinates():
            words = f'a rigid body: one of type {body.type_name} deforms; a rod or a skin'
            yield '', 'mesh', words

    @functools.cached_property
    def hull(self) -> Hull:
        """The convex hull, in the unit of the points; MeshError where there is none."""
        points = np.array(self.vertices) if self.file is None else self.file.points
        return hull_of(points, 'vertices' if self.file is None else self.file.name)

    @functools.cached_property
    def _placed(self) -> Hull:
        """The hull in metres, about its centre if that is meant."""
        found = self.hull.scaled(self.scale)
        return found.moved(-found.solid().centre) if self.centred else found

    def elements(self, body: Body | None) -> Sequence[Element]:
        """Return one hull."""
        T, hull = self.pose.matrix(), self._placed
        made = Element(HULL, T[:3, 3].reshape(1, 3), axes=T[:3, :3])
        return (made._replace(corners=hull.corners, faces=hull.faces),)

    def solid_inertia(self, mass: float) -> Matrix | None:
        """Return that of the solid at equal density, if its centre is the origin."""
        solid, T = self._placed.solid(), self.pose.matrix()
        centre = T[:3, :3] @ solid.centre + T[:3, 3]
        if np.linalg.norm(centre) > 1e-6 * self._placed.size:
            return None
        found: Matrix = mass * T[:3, :3] @ solid.inertia @ T[:3, :3].T
        return found
