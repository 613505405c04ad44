# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Tetrahedral meshes: read from any format that meshio knows, checked, and integrated over.

meshio is an optional extra (``pip install softrobot_dynamics[mesh]``), needed to read files only.
"""

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.errors import ArgumentError, MeshError

MIN_RELATIVE_VOLUME = 1e-8  # of a regular element on the longest edge; with less it is flat

_EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))


@dataclass(frozen=True, eq=False)
class Mesh:
    """
    Straight-edged tetrahedra: ``points`` (P, 3) [m] and ``tetrahedra`` (T, 4), rows of points.

    Every tetrahedron is positively oriented, (p1 - p0) x (p2 - p0) . (p3 - p0) > 0, and not flat;
    every point belongs to one. Raises MeshError, with ``source`` in its message, if not.
    """

    points: Matrix
    tetrahedra: Integers
    source: str = 'mesh'

    def __post_init__(self) -> None:
        _check(self)

    def volumes(self) -> Vector:
        """Volumes of the tetrahedra (T,) [m^3]."""
        return _volumes(self.points, self.tetrahedra)

    def quadrature(self, order: int = 1) -> tuple[Matrix, Vector]:
        """
        Points (K, 3) [m] and weights (K,) [m^3] of a rule on all tetrahedra.

        It is exact for polynomials up to the degree ``order`` (1: the centroids); K = T times 1,
        4, 8, 27, ... for the orders 1, 2, 3, 5, ... Weights are positive, points inside.
        """
        coordinates, weights = _tetrahedron_rule(order)
        points = np.einsum('qc,tcx->tqx', coordinates, self.points[self.tetrahedra])
        return points.reshape(-1, 3), np.outer(self.volumes(), weights).ravel()


def read_tetrahedra(path: str | PathLike[str], scale: float = 1.0) -> Mesh:
    """
    Return the :class:`Mesh` of the tetrahedra in a file; ``scale`` [m] is the file's unit.

    Cells of other kinds, and points that no tetrahedron uses, are left out; of tetrahedra with
    ten nodes the corners are kept. Raises MeshError for a file that cannot be read, without
    tetrahedra, or with inverted or flat ones.
    """
    if not (np.isfinite(scale) and scale > 0.0):
        raise ArgumentError('scale', scale, 'the unit of the file, a length > 0 [m]')
    found = read_mesh(path)
    cells = [c.data[:, :4] for c in found.cells if c.type in ('tetra', 'tetra10')]
    if not cells or found.points.shape[1] != 3:
        kinds = ', '.join(sorted({c.type for c in found.cells})) or 'nothing'
        raise MeshError(str(path), f'tetrahedra in 3 dimensions expected; it has {kinds}')
    used, tetrahedra = np.unique(np.concatenate(cells), return_inverse=True)
    points = scale * np.asarray(found.points, dtype=float)[used]
    return Mesh(points, tetrahedra.reshape(-1, 4), str(path))


def read_mesh(path: str | PathLike[str]) -> Any:
    """Return the mesh that meshio reads from a file; raise MeshError if it cannot."""
    try:
        import meshio
    except ImportError:
        words = 'meshio is needed to read it: pip install softrobot_dynamics[mesh]'
        raise MeshError(str(path), words) from None
    try:
        with np.errstate(over='ignore'):  # its reader of .stl takes text for a count
            return meshio.read(path)
    except (Exception, SystemExit) as error:  # its readers raise all kinds, or leave the process
        reason = str(error) if isinstance(error, (OSError, meshio.ReadError)) else ''
        raise MeshError(str(path), f'a mesh file expected {reason}'.rstrip()) from error


def _check(mesh: Mesh) -> None:
    """Raise MeshError for a mesh whose points or tetrahedra are not usable."""
    points, tetrahedra = np.asarray(mesh.points), np.asarray(mesh.tetrahedra)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise MeshError(mesh.source, f'finite points (P, 3) expected, not {points.shape}')
    if tetrahedra.ndim != 2 or tetrahedra.shape[1] != 4 or not len(tetrahedra):
        raise MeshError(mesh.source, f'tetrahedra (T, 4) expected, not {tetrahedra.shape}')
    if not np.array_equal(np.unique(tetrahedra), np.arange(len(points))):
        raise MeshError(mesh.source, f'tetrahedra of all points 0 ... {len(points) - 1} expected')
    corners = points[tetrahedra]
    longest = np.max([np.sum((corners[:, a] - corners[:, b]) ** 2, -1) for a, b in _EDGES], axis=0)
    shape = _volumes(points, tetrahedra) * 6.0 * np.sqrt(2.0) / np.maximum(longest, 1e-300) ** 1.5
    for wrong, kind in ((np.abs(shape) < MIN_RELATIVE_VOLUME, 'flat'), (shape < 0.0, 'inverted')):
        if wrong.any():
            elements = tuple(int(i) for i in np.flatnonzero(wrong))
            raise MeshError(mesh.source, f'{len(elements)} of {len(shape)} {kind}', elements)


def _volumes(points: Matrix, tetrahedra: Integers) -> Vector:
    a, b, c, d = (points[tetrahedra[:, i]] for i in range(4))
    return np.einsum('ti,ti->t', np.cross(b - a, c - a), d - a) / 6.0


def _tetrahedron_rule(order: int) -> tuple[Matrix, Vector]:
    """Barycentric coordinates (Q, 4) and weights (Q,), of sum 1, of a rule of degree ``order``."""
    if order < 1 or order != int(order):
        raise ArgumentError('order', order, 'a degree, a whole number >= 1')
    if order == 2:  # the symmetric rule of four points
        a = (5.0 - np.sqrt(5.0)) / 20.0
        return np.full((4, 4), a) + (1.0 - 4.0 * a) * np.eye(4), np.full(4, 0.25)
    from scipy.special import roots_jacobi  # late: scipy is slow to import

    # the cube folded into a tetrahedron, Gauss rules with the weight of the fold along each edge
    count = (int(order) + 2) // 2
    (x, wx), (y, wy), (z, wz) = (roots_jacobi(count, fold, 0.0) for fold in (2, 1, 0))
    x, y, z = np.meshgrid((x + 1.0) / 2.0, (y + 1.0) / 2.0, (z + 1.0) / 2.0, indexing='ij')
    first, second = (1.0 - x) * y, (1.0 - x) * (1.0 - y) * z
    coordinates = np.stack([x, first, second, 1.0 - x - first - second], axis=-1)
    weights = np.einsum('i,j,k->ijk', wx, wy, wz).ravel()
    return coordinates.reshape(-1, 4), weights / weights.sum()
