# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The outer surfaces of bodies, as triangles between points of their material."""

from __future__ import annotations

from os import PathLike
from typing import NamedTuple, Protocol

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix
from softrobot_dynamics.bodies.meshes import Mesh, read_mesh
from softrobot_dynamics.errors import MeshError

TUBE_SIDES, TUBE_RINGS = 24, 20  # of a tube
_TETRAHEDRON_FACES = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])  # outwards


class Surface(NamedTuple):
    """A closed surface of triangles, whose corners run right-handed about the way out."""

    points: Matrix  # (K, 3) [m]
    triangles: Integers  # (T, 3), rows of points


EMPTY_SURFACE = Surface(np.empty((0, 3)), np.empty((0, 3), dtype=int))


class _SectionedBody(Protocol):
    """A body with sections."""

    inner_radius: float

    @property
    def length(self) -> float: ...

    def outline(self, sigma: float) -> Matrix: ...


def circle(radius: float) -> Matrix:
    """Return points (TUBE_SIDES, 2) [m] on a circle, from x to y."""
    angles = np.linspace(0.0, 2.0 * np.pi, TUBE_SIDES, endpoint=False)
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def tube(body: _SectionedBody) -> Surface:
    """Return the outlines of a body's sections, joined, and its ends, down to a hole if any."""
    sigma = np.linspace(0.0, 1.0, TUBE_RINGS)
    rings = [np.column_stack([p := body.outline(s), np.full(len(p), s * body.length)])
             for s in sigma]  # fmt: skip
    first, last = (_inner(ring, body.inner_radius) for ring in (rings[0], rings[-1]))
    return joined([first, *rings, last])


def joined(rings: list[Matrix]) -> Surface:
    """
    Return the surface between rings (P, 3) [m], one after the other.

    Each runs right-handed about the way to the next. What is within the first and the last stays
    open: rings of one place close it.
    """
    count = len(rings[0])
    i = np.arange(count)
    j = (i + 1) % count
    strip = np.concatenate([np.column_stack([i, j, j + count]),
                            np.column_stack([i, j + count, i + count])])  # fmt: skip
    strips = [strip + k * count for k in range(len(rings) - 1)]
    return Surface(np.concatenate(rings), np.concatenate(strips))


def boundary(mesh: Mesh) -> Surface:
    """Return the faces of a mesh that one tetrahedron has alone."""
    faces = mesh.tetrahedra[:, _TETRAHEDRON_FACES].reshape(-1, 3)
    _, first, count = np.unique(
        np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True
    )
    outer = faces[first[count == 1]]
    used, triangles = np.unique(outer, return_inverse=True)
    return Surface(mesh.points[used], triangles.reshape(-1, 3))


def read_surface(path: str | PathLike[str]) -> Surface:
    """
    Return the triangles in a file, in its unit; of quadrangles, two each.

    Points that no triangle uses are left out. MeshError for a file that cannot be read or is
    without triangles.
    """
    found = read_mesh(path)
    cells = [np.asarray(c.data) for c in found.cells if c.type in ('triangle', 'quad')]
    if not cells or found.points.shape[1] != 3:
        kinds = ', '.join(sorted({c.type for c in found.cells})) or 'nothing'
        raise MeshError(str(path), f'triangles in 3 dimensions expected; it has {kinds}')
    halves = [c[:, [0, 1, 2]] for c in cells] + [c[:, [0, 2, 3]] for c in cells if c.shape[1] == 4]
    used, triangles = np.unique(np.concatenate(halves), return_inverse=True)
    points = np.asarray(found.points, dtype=float)[used]
    return Surface(points, triangles.reshape(-1, 3))


def _inner(ring: Matrix, radius: float) -> Matrix:
    """Return the ring (P, 3) drawn in to a hole of a radius [m], 0: to the axis."""
    inner = ring.copy()
    size = np.linalg.norm(ring[:, :2], axis=1, keepdims=True)
    inner[:, :2] *= radius / np.where(size > 0.0, size, 1.0)  # of the point of a cone: itself
    return inner
