# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Convex hulls of points as rows of faces that kernels read, and the solids that they bound."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.bodies.skins import Surface
from softrobot_dynamics.errors import MeshError


class HullSolid(NamedTuple):
    """A solid of equal density."""

    volume: float  # [m^3]
    centre: Vector  # (3,) [m]
    inertia: Matrix  # (3, 3) [m^2] about the centre, for 1 kg


class Hull(NamedTuple):
    """
    A convex solid with flat faces.

    Rows of ``faces`` are a normal outwards (3), the height d of its plane n . x = d [m], and the
    corners of a triangle (9) [m], right-handed about the normal.
    """

    corners: Matrix  # (K, 3) [m]
    faces: Matrix  # (F, 13)

    @property
    def size(self) -> float:
        """Longest edge [m] of the box around it."""
        return float(np.ptp(self.corners, axis=0).max())

    def depth_of(self, surface: Surface) -> float:
        """Return how far corners, middles of edges and of triangles are within it at most [m]."""
        corners = surface.points[surface.triangles]
        edges = 0.5 * (corners + np.roll(corners, 1, axis=1))
        points = np.concatenate([*corners, *edges, corners.mean(axis=1)])
        heights = points @ self.faces[:, :3].T - self.faces[:, 3]
        return float(-heights.max(axis=1).min())

    def covered_by(self, surface: Surface) -> float:
        """Return the area of a surface's distinct triangles, as a share of its own."""
        distinct = np.unique(np.sort(surface.triangles, axis=1), axis=0)
        own = self.faces[:, 4:].reshape(-1, 3, 3)
        return _area(surface.points[distinct]) / _area(own)

    def scaled(self, scale: float) -> Hull:
        """Return it with all lengths times a scale."""
        faces = self.faces.copy()
        faces[:, 3:] *= scale
        return Hull(scale * self.corners, faces)

    def moved(self, by: Vector) -> Hull:
        """Return it moved by (3,) [m]."""
        faces = self.faces.copy()
        faces[:, 3] += faces[:, :3] @ by
        faces[:, 4:] += np.tile(by, 3)
        return Hull(self.corners + by, faces)

    def solid(self) -> HullSolid:
        """Return the solid, as tetrahedra from the origin to each face."""
        a, b, c = (self.faces[:, k : k + 3] for k in (4, 7, 10))
        volumes = np.einsum('fi,fi->f', np.cross(a, b), c) / 6.0
        volume = float(volumes.sum())
        centre = volumes @ (a + b + c) / (4.0 * volume)
        total = a + b + c
        second = sum(np.einsum('f,fi,fj->ij', volumes, x, x) for x in (a, b, c, total))
        second = second / (20.0 * volume) - np.outer(centre, centre)
        return HullSolid(volume, centre, np.trace(second) * np.eye(3) - second)


def hull_of(points: Matrix, source: str) -> Hull:
    """Return the :class:`Hull` of points (K, 3); MeshError where they bound no solid."""
    from scipy.spatial import ConvexHull, QhullError  # here: it takes time to import

    if len(points) < 4 or not np.isfinite(points).all():
        raise MeshError(source, f'four finite points or more expected, not {len(points)}')
    middle = points.mean(axis=0)
    try:
        found = ConvexHull(points - middle)
    except QhullError:
        raise MeshError(source, 'points that are not all in one plane expected') from None
    triangles = points[found.simplices]
    normals = found.equations[:, :3]
    turn = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    wrong = np.einsum('fi,fi->f', turn, normals) < 0.0
    triangles[wrong] = triangles[wrong][:, ::-1]
    heights = normals @ middle - found.equations[:, 3]
    faces = np.column_stack([normals, heights, triangles.reshape(-1, 9)])
    return Hull(np.ascontiguousarray(points[found.vertices]), faces)


def _area(corners: Array) -> float:
    """Return the area of triangles (T, 3, 3) [m^2]."""
    a, b, c = np.swapaxes(corners, 0, 1)
    return 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
