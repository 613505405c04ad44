# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Points of the surface of a body that deforms."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.annotations import Complaints, Integers, Matrix
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.collision.contract import CollisionShape, Element, register, SEGMENT
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.schema.fields import integer, number

_RADIUS_FRACTION = 0.05  # of half the least extent of the surface
_EIGENVALUE_CUTOFF = 0.05  # of the largest; normals that differ by less are of one smooth surface


@register('skin')
@dataclass(frozen=True, kw_only=True)
class Skin(CollisionShape):
    """
    Spheres about material points just below a body's surface, which they touch.

    There are ``points`` of them, or as many as the surface has, spread as evenly as these are:
    each is the one that is farthest from all before. The ``radius`` is by default 0.05 of half of
    the surface's least extent. What is smaller than their distance may slip in between.
    """

    points: int = integer(at_least=1, at_most=5000, default=100)
    radius: float | None = number('m', above=0.0, default=None)

    fixed = False

    def validate_on(self, body: Body) -> Complaints:
        """Refuse a body that has no surface, and spheres larger than it."""
        points = body.skin().points
        if not len(points):
            yield '', 'skin', f'a body with a surface: one of type {body.type_name} has none'
        elif self.radius is not None and self.radius > (most := _half_extent(points)):
            yield 'radius', self.radius, f'at most {most:.3g} m, as the surface is no thicker'

    def elements(self, body: Body | None) -> Sequence[Element]:
        """Return segments of no length."""
        if body is None:
            raise ArgumentError('body', None, 'a body with a surface, of which points are taken')
        surface = body.skin()
        radius = self.radius or _RADIUS_FRACTION * _half_extent(surface.points)
        inner = surface.points + radius * _inwards(*surface)
        chosen = _farthest_points(surface.points, self.points)
        return [Element(SEGMENT, inner[i : i + 1], radius) for i in chosen]


def _half_extent(points: Matrix) -> float:
    """Return half of the least extent [m] of points (K, 3) along an axis."""
    return 0.5 * float(np.ptp(points, axis=0).min())


def _inwards(points: Matrix, triangles: Integers) -> Matrix:
    """
    Return steps (K, 3) from points to 1 below all triangles that meet there, by area.

    At an edge that is to 1 below both sides; where normals differ by little, along their mean.
    """
    a, b, c = np.swapaxes(points[triangles], 0, 1)
    areas = np.cross(b - a, c - a)
    sizes = np.linalg.norm(areas, axis=1, keepdims=True)
    squares = areas[:, :, None] * areas[:, None, :] / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    A, sums = np.zeros((len(points), 3, 3)), np.zeros_like(points)
    for k in range(3):
        np.add.at(A, triangles[:, k], squares)
        np.add.at(sums, triangles[:, k], areas)
    steps: Matrix = -np.einsum(
        'kij,kj->ki', np.linalg.pinv(A, rcond=_EIGENVALUE_CUTOFF, hermitian=True), sums
    )
    return steps


def _farthest_points(points: Matrix, count: int) -> list[int]:
    """Return rows of points, each the one that is farthest from those before, none twice."""
    found = [int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))]
    away = np.linalg.norm(points - points[found[0]], axis=1)
    while len(found) < count and away.max() > 1e-9 * np.ptp(points):
        found.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(points - points[found[-1]], axis=1))
    return found
