# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Quadratic tetrahedra on a mesh with straight edges, and where curves cross from one into the next.

Ten nodes, the corners and the midpoints of the edges. They bend without the locking of linear
tetrahedra, and bear Poisson's ratios close to 1/2.
"""

from collections.abc import Callable
from dataclasses import dataclass
import functools
from itertools import pairwise
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.bodies.meshes import Mesh

EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])


@dataclass(frozen=True, eq=False)
class Elements:
    """
    Nodes and shape functions of quadratic tetrahedra on a :class:`Mesh`.

    Points in them are given by the element's index (K,) and barycentric coordinates (K, 4).
    """

    mesh: Mesh

    @functools.cached_property
    def nodes(self) -> Matrix:
        """Positions of all nodes (N, 3) [m]: the points of the mesh, then midpoints of edges."""
        points = self.mesh.points
        return np.vstack([points, points[self._edges[0]].mean(axis=1)])

    @functools.cached_property
    def connectivity(self) -> Integers:
        """Nodes of each element (T, 10): four corners, then the midpoints of EDGES."""
        return np.hstack([self.mesh.tetrahedra, len(self.mesh.points) + self._edges[1]])

    @functools.cached_property
    def _edges(self) -> Any:
        pairs = np.sort(self.mesh.tetrahedra[:, EDGES], axis=-1).reshape(-1, 2)
        edges, index = np.unique(pairs, axis=0, return_inverse=True)
        return edges, index.reshape(-1, 6)

    @functools.cached_property
    def _barycentric(self) -> tuple[Matrix, Array]:
        """Values at x = 0 (T, 4) and gradients (T, 4, 3) [1/m] of the barycentric coordinates."""
        corners = self.mesh.points[self.mesh.tetrahedra]
        inverse = np.linalg.inv(np.concatenate([np.ones((len(corners), 4, 1)), corners], axis=2))
        return inverse[:, 0], np.swapaxes(inverse[:, 1:], 1, 2)

    def shapes(self, coordinates: Matrix) -> Matrix:
        """Shape functions (K, 10) at barycentric coordinates (K, 4)."""
        a, b = coordinates[:, EDGES[:, 0]], coordinates[:, EDGES[:, 1]]
        return np.hstack([coordinates * (2.0 * coordinates - 1.0), 4.0 * a * b])

    def derivatives(self, elements: Integers, coordinates: Matrix) -> Array:
        """Gradients (K, 10, 3) [1/m] of the shape functions."""
        first, second = EDGES.T
        by_coordinate = np.zeros((len(coordinates), 10, 4))
        by_coordinate[:, range(4), range(4)] = 4.0 * coordinates - 1.0
        by_coordinate[:, range(4, 10), first] = 4.0 * coordinates[:, second]
        by_coordinate[:, range(4, 10), second] = 4.0 * coordinates[:, first]
        return by_coordinate @ self._barycentric[1][elements]

    def quadrature(self, order: int) -> tuple[Integers, Matrix, Vector]:
        """Elements (K,), barycentric coordinates (K, 4) and weights (K,) [m^3] of a rule."""
        points, weights = self.mesh.quadrature(order)
        count = len(self.mesh.tetrahedra)
        elements = np.repeat(np.arange(count), len(points) // count)
        return elements, self.coordinates(elements, points), weights

    def coordinates(self, elements: Integers, points: Matrix) -> Matrix:
        """Barycentric coordinates (K, 4) of points (K, 3) [m] in given elements."""
        constant, derivatives = self._barycentric
        return constant[elements] + np.einsum('kix,kx->ki', derivatives[elements], points)

    def locate(self, points: Matrix) -> tuple[Integers, Matrix]:
        """
        Return the elements (K,) that points (K, 3) lie in, and barycentric coordinates (K, 4).

        A point outside of the mesh gets the element that it is least outside of, by its least
        coordinate, which is then below zero.
        """
        elements = np.array([np.argmax(self.depths(point)) for point in points], dtype=int)
        return elements, self.coordinates(elements, points)

    def depths(self, point: Vector) -> Vector:
        """Return the least barycentric coordinate (T,) of a point (3,) [m] in each element."""
        constant, derivatives = self._barycentric
        least: Vector = (constant + derivatives @ point).min(axis=1)
        return least

    def values(self, fields: Array, elements: Integers, coordinates: Matrix) -> Array:
        """Values (K, ...) of nodal fields (N, ...) at points within elements."""
        return self._combined(self.shapes(coordinates), fields, elements)

    def gradients(self, fields: Array, elements: Integers, coordinates: Matrix) -> Array:
        """Return derivatives by x (K, ..., 3) of nodal fields (N, ...) at points in elements."""
        derivatives = self.derivatives(elements, coordinates)
        parts = [self._combined(derivatives[:, :, b], fields, elements) for b in range(3)]
        return np.stack(parts, axis=-1)

    def _combined(self, weights: Array, fields: Array, elements: Integers) -> Array:
        """Sum nodal fields with weights (K, 10) of the nodes of each point's element: (K, ...)."""
        from scipy.sparse import csr_array  # late: scipy is slow to import

        columns = self.connectivity[elements].ravel()
        starts = np.arange(0, 10 * len(elements) + 1, 10)
        shape = len(elements), len(self.nodes)
        matrix = csr_array((weights.ravel(), columns, starts), shape=shape)
        return (matrix @ fields.reshape(len(fields), -1)).reshape(-1, *fields.shape[1:])


_TIE_TOLERANCE = 1e-12  # of barycentric coordinates: a curve within a face stays in its element
# samples per element; then a crossing is bisected
_STEPS_PER_ELEMENT, _CROSSING_BISECTIONS = 4, 46
_MIN_PIECE_FRACTION = 1e-7  # of the curve; a shorter piece belongs to the one before it


def crossings(
    elements: Elements, at: Callable[[float], Vector], start: float, end: float
) -> list[float]:
    """
    Return ``start``, the parameters at which a curve changes its element, and ``end``.

    ``at`` gives a point (3,) [m]. Elements are convex and the curve is nearly straight within
    one, so that it leaves each once; a point outside of the mesh belongs to the nearest element.
    """
    found, here = [start], _owner(elements, at(start))
    for a, b in _steps(elements, at, start, end):
        while not _stays(elements, here, at(b)):
            _, a = _narrowed(elements, here, at, a, b)
            found.append(a)
            here = _owner(elements, at(a))
    least = _MIN_PIECE_FRACTION * (end - start)
    apart = [s for last, s in pairwise(found) if s - last > least and end - s > least]
    return [start, *apart, end]


def _steps(
    elements: Elements, at: Callable[[float], Vector], start: float, end: float
) -> list[tuple[float, float]]:
    """Return steps [(from, to)] along a curve, shorter than elements usually are."""
    chord = np.array([at(s) for s in np.linspace(start, end, 65)])
    way = float(np.linalg.norm(np.diff(chord, axis=0), axis=1).sum())
    size = float(np.cbrt(np.median(elements.mesh.volumes())))
    count = max(2, int(np.ceil(_STEPS_PER_ELEMENT * way / size)))
    grid = np.linspace(start, end, count + 1).tolist()
    return list(zip(grid, grid[1:]))


def _narrowed(
    elements: Elements, here: int, at: Callable[[float], Vector], a: float, b: float
) -> tuple[float, float]:
    """Return two close parameters between ``a``, still in the element, and ``b``, beyond it."""
    for _ in range(_CROSSING_BISECTIONS):
        middle = 0.5 * (a + b)
        if _stays(elements, here, at(middle)):
            a = middle
        else:
            b = middle
    return a, b


def _owner(elements: Elements, point: Vector) -> int:
    return int(np.argmax(elements.depths(point)))


def _stays(elements: Elements, here: int, point: Vector) -> bool:
    depths = elements.depths(point)
    return bool(depths[here] >= depths.max() - _TIE_TOLERANCE)
