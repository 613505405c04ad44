# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Structured meshes of simple solids standing on z = 0, and their mode files."""

import atexit
import functools
from itertools import permutations
from pathlib import Path
import tempfile

import numpy as np
from softrobot_dynamics.bodies.fem.modes import reduced_basis, Solid
from softrobot_dynamics.bodies.fem.modes_file import ModalBasis, save_modes
from softrobot_dynamics.bodies.meshes import Mesh

RUBBER = Solid(young_modulus=6e5, poisson_ratio=0.3, density=1070.0)


def box(cells, size):
    """Mesh of a box (a, b, L) [m] in (nx, ny, nz) bricks of six tetrahedra, about the z axis."""
    a, b, L = size
    lines = [np.linspace(*ends, count + 1) for ends, count in zip(
        ((-a / 2, a / 2), (-b / 2, b / 2), (0.0, L)), cells)]  # fmt: skip
    points = np.stack(np.meshgrid(*lines, indexing='ij'), axis=-1)
    index = np.arange(points[..., 0].size).reshape(points.shape[:3])
    tetrahedra = []
    for path in permutations(range(3)):  # from corner to opposite corner of a brick
        corners = np.cumsum([[0, 0, 0], *np.eye(3, dtype=int)[list(path)]], axis=0)
        if np.linalg.det(corners[1:]) < 0.0:
            corners = corners[[0, 2, 1, 3]]
        tetrahedra.append(np.stack([_shifted(index, corner).ravel() for corner in corners], -1))
    return Mesh(points.reshape(-1, 3), np.concatenate(tetrahedra))


def _shifted(index, corner):
    """Node numbers of one corner of all bricks."""
    return index[tuple(slice(c, c + n - 1) for c, n in zip(corner, index.shape))]


@functools.cache
def modes(cells=(2, 2, 4), size=(0.03, 0.04, 0.25), count=4, derivatives=1, solid=RUBBER):
    """Return the Modes of a box."""
    mesh = box(cells, size)
    return ModalBasis(mesh, reduced_basis(mesh, solid, count, derivatives), solid)


@functools.cache
def modes_file(*arguments, **options):
    """Path of a file of :func:`modes`, which is there until the session ends."""
    path = Path(_folder(), f'{len(list(_folder().iterdir()))}.npz')
    save_modes(path, modes(*arguments, **options))
    return str(path)


@functools.cache
def _folder():
    folder = tempfile.TemporaryDirectory(prefix='softrobot_dynamics_modes_')
    atexit.register(folder.cleanup)
    return Path(folder.name)
