# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The file that `softrobot modes` writes and the body `fem` reads: a mesh and its reduced basis.

A .npz archive of arrays in SI units, read without executing anything in it. Entries: ``format``,
``units``, ``mesh`` (digest of points and tetrahedra), ``points`` (P, 3), ``tetrahedra`` (T, 4),
``fields`` (N, 3, n), ``frequencies`` (v,), ``material`` (Young's modulus, Poisson's ratio,
density), ``scale`` (metres per unit of the mesh file).
"""

from dataclasses import dataclass
import hashlib
from os import PathLike
from pathlib import Path
from typing import Any, cast
import zipfile
import zlib

import numpy as np
from softrobot_dynamics.bodies.fem.elements import Elements
from softrobot_dynamics.bodies.fem.modes import base_nodes, ReducedBasis, Solid, tip_nodes
from softrobot_dynamics.bodies.meshes import Mesh
from softrobot_dynamics.errors import ArgumentError, MeshError

FORMAT = 1
UNITS = 'm, kg, s'
_ARRAY_KINDS = {
    'points': 'f', 'tetrahedra': 'i', 'fields': 'f', 'frequencies': 'f', 'material': 'f',
    'scale': 'f', 'mesh': 'U', 'units': 'U',
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class ModalBasis:
    """A mesh with a reduced basis of its displacements, and the material it was made for."""

    mesh: Mesh
    basis: ReducedBasis
    solid: Solid
    scale: float = 1.0  # metres per unit of the file that the mesh was read from


def digest(mesh: Mesh) -> str:
    """Return a text that two meshes share only if they have the same points and tetrahedra."""
    points, tetrahedra = (
        np.ascontiguousarray(array, dtype=kind)
        for array, kind in ((mesh.points, '<f8'), (mesh.tetrahedra, '<i8'))
    )
    return hashlib.sha256(points.tobytes() + tetrahedra.tobytes()).hexdigest()


def save_modes(path: str | PathLike[str], modes: ModalBasis) -> None:
    """Write :class:`ModalBasis` to a file; ArgumentError if it cannot be written."""
    content = {
        'format': FORMAT,
        'units': UNITS,
        'mesh': digest(modes.mesh),
        'points': modes.mesh.points,
        'tetrahedra': np.asarray(modes.mesh.tetrahedra, dtype=np.int64),
        'fields': modes.basis.fields,
        'frequencies': modes.basis.frequencies,
        'material': np.array(modes.solid, dtype=float),
        'scale': float(modes.scale),
    }
    try:
        with open(path, 'wb') as file:
            np.savez_compressed(file, **cast(Any, content))
    except OSError as error:
        raise ArgumentError('path', str(path), f'a file to write ({error.strerror})') from error


def load_modes(path: str | PathLike[str]) -> ModalBasis:
    """Return the :class:`ModalBasis` in a file; raise ArgumentError if it is damaged or wrong."""
    try:
        return _checked(_read(Path(path).expanduser()), str(path))
    except (ArgumentError, MeshError, _WrongContent) as error:
        words = f'a file made by `softrobot modes` ({error})'
        raise ArgumentError('path', str(path), words) from error


class _WrongContent(Exception):
    """An array of a file has a wrong shape, type or value."""


def _read(path: str | PathLike[str]) -> dict[str, Any]:
    """Return {name: array} of a file."""
    try:
        with open(path, 'rb') as file:
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise _WrongContent('it holds one array, not an archive of them')
            with archive:
                return {name: archive[name] for name in archive.files}
    except OSError as error:
        raise _WrongContent(error.strerror or 'it cannot be read') from error
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise _WrongContent(f'not an .npz archive, or damaged: {error}') from error


def _checked(content: dict[str, Any], source: str) -> ModalBasis:
    """Return the modal basis that arrays hold by name; raise _WrongContent for a wrong one."""
    found = content.get('format')
    if found is None or found.shape != () or found != FORMAT:
        shown = 'missing' if found is None else found.tolist()
        raise _WrongContent(f'format {FORMAT} expected, not {shown}')
    for name, kind in _ARRAY_KINDS.items():
        if name not in content or content[name].dtype.kind != kind:
            raise _WrongContent(f'no entry {name} of the right kind')
        if kind == 'f' and not np.isfinite(content[name]).all():
            raise _WrongContent(f'entry {name} has numbers that are not finite')
    if content['units'] != UNITS:
        raise _WrongContent(f'units {UNITS} expected, not {content["units"]}')
    mesh = Mesh(content['points'], content['tetrahedra'], source)
    if content['mesh'] != digest(mesh):
        raise _WrongContent('the mesh is not the one that the modes are of')
    elements = Elements(mesh)
    _check_shapes(content, len(elements.nodes))
    tip_nodes(elements)
    if content['fields'][base_nodes(elements)].any():
        raise _WrongContent('the base moves')
    solid = Solid(*content['material'].tolist())
    solid.check()
    basis = ReducedBasis(content['fields'], content['frequencies'])
    return ModalBasis(mesh, basis, solid, float(content['scale']))


def _check_shapes(content: dict[str, Any], nodes: int) -> None:
    """Refuse arrays that do not belong to so many nodes, by _WrongContent."""
    fields = content['fields'].shape
    if len(fields) != 3 or fields[:2] != (nodes, 3) or fields[2] < 1:
        raise _WrongContent(f'fields of shape ({nodes}, 3, n) expected, not {fields}')
    frequencies = content['frequencies'].shape
    if len(frequencies) != 1 or not 1 <= frequencies[0] <= fields[2]:
        raise _WrongContent(f'frequencies of at most {fields[2]} modes expected')
    for name, shape in (('material', (3,)), ('scale', ())):
        if content[name].shape != shape:
            raise _WrongContent(f'{name} of shape {shape} expected, not {content[name].shape}')
