# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A reduced basis of an elastic solid: vibration modes with a fixed base, modal derivatives."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.bodies.fem.assembly import (
    mass_matrix,
    second_order_force,
    stiffness_matrix,
)
from softrobot_dynamics.bodies.fem.elements import Elements
from softrobot_dynamics.bodies.meshes import Mesh
from softrobot_dynamics.errors import ArgumentError, MeshError, NotConvergedError
from softrobot_dynamics.materials.contract import lame

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import SuperLU

# of its size; a modal derivative with less outside of the basis is left out
MIN_INDEPENDENT_FRACTION = 1e-3
MAX_POISSON_RATIO = 0.49  # beyond it these elements lock
_END_FACE_TOLERANCE = 1e-6  # of the length; how far from their plane nodes of an end face may be


class Solid(NamedTuple):
    """Isotropic elastic material of a mesh."""

    young_modulus: float  # [Pa]
    poisson_ratio: float  # [-]
    density: float  # [kg/m^3]

    def check(self) -> None:
        """Raise ArgumentError for numbers that no such material has."""
        for name, low, high in (
            ('young_modulus', 0.0, np.inf),
            ('poisson_ratio', -1.0, MAX_POISSON_RATIO),
            ('density', 0.0, np.inf),
        ):
            value = getattr(self, name)
            if not (low < value <= high and np.isfinite(value)):
                limit = f' and <= {high:g}' if np.isfinite(high) else ''
                raise ArgumentError(name, value, f'a finite number > {low:g}{limit}')


class ReducedBasis(NamedTuple):
    """Displacement fields of the nodes of a mesh's quadratic elements."""

    fields: Array  # (N, 3, n) [-], the largest displacement of each is 1
    frequencies: Vector  # (v,) [Hz] of those that are vibration modes, the first ones


def base_nodes(elements: Elements) -> Integers:
    """Nodes of the face z = 0; MeshError if the mesh does not stand on one."""
    z, tolerance = elements.nodes[:, 2], _END_FACE_TOLERANCE * np.ptp(elements.nodes[:, 2])
    if z.min() < -tolerance:
        words = f'nodes at z >= 0 expected, one is at z = {z.min():.6g} m'
        raise MeshError(elements.mesh.source, words)
    return _face(elements, np.flatnonzero(z <= tolerance), 'base', 0.0)


def tip_nodes(elements: Elements) -> Integers:
    """Nodes of the face at the greatest z; MeshError if there is none."""
    z, tolerance = elements.nodes[:, 2], _END_FACE_TOLERANCE * np.ptp(elements.nodes[:, 2])
    return _face(elements, np.flatnonzero(z >= z.max() - tolerance), 'tip', z.max())


def _face(elements: Elements, nodes: Integers, name: str, z: float) -> Integers:
    plane = elements.nodes[nodes, :2]
    spread = np.linalg.svd(plane - plane.mean(axis=0), compute_uv=False) if len(nodes) > 2 else [0]
    if len(nodes) < 3 or spread[-1] < 1e-3 * spread[0]:
        words = f'a flat {name} face at z = {z:.6g} m expected; it has {len(nodes)} nodes there'
        raise MeshError(elements.mesh.source, words)
    return nodes


def reduced_basis(mesh: Mesh, solid: Solid, count: int, derivatives: int = 0) -> ReducedBasis:
    """
    Return the :class:`ReducedBasis` of ``count`` vibration modes with the face z = 0 held.

    With ``derivatives`` > 0 the static modal derivatives of the first so many modes follow: for
    each pair of modes the displacement that balances, at rest, the second-order elastic force of
    the pair. They let a body that bends far shorten as it must. All fields are orthogonal in mass.
    """
    from scipy.sparse.linalg import splu  # late: scipy is slow to import

    solid.check()
    elements = Elements(mesh)
    free = _free_unknowns(elements)
    _check_count(count, derivatives, len(free))
    constants = lame(solid.young_modulus, solid.poisson_ratio)
    M = mass_matrix(elements, solid.density)[free][:, free]
    K = stiffness_matrix(elements, constants)[free][:, free]
    factor = splu(K, permc_spec='MMD_AT_PLUS_A', options={'SymmetricMode': True})
    values, fields = _vibrations(K, M, factor, count)
    for first, second in combinations_with_replacement(range(derivatives), 2):
        pair = (_everywhere(elements, free, fields[:, i]) for i in (first, second))
        force = second_order_force(elements, constants, *pair)[free]
        fields = _extended(fields, -factor.solve(force), M)
    signs = fields[np.abs(fields).argmax(axis=0), range(fields.shape[1])]
    nodal = [_everywhere(elements, free, field) for field in (fields / signs).T]
    scale = [np.linalg.norm(field, axis=1).max() for field in nodal]
    return ReducedBasis(np.stack(nodal, axis=-1) / scale, np.sqrt(values) / (2.0 * np.pi))


def _free_unknowns(elements: Elements) -> Integers:
    """Unknowns of all nodes but those of the base; MeshError where a part hangs loose."""
    from scipy.sparse import coo_array  # late: scipy is slow to import
    from scipy.sparse.csgraph import connected_components  # late: scipy is slow to import

    tetrahedra, count = elements.mesh.tetrahedra, len(elements.mesh.points)
    pairs = tetrahedra.repeat(4, axis=1).ravel(), np.tile(tetrahedra, 4).ravel()
    touching = coo_array((np.ones(len(pairs[0])), pairs), shape=(count, count)).tocsr()
    parts = connected_components(touching, directed=False)[0]
    if parts > 1:
        raise MeshError(elements.mesh.source, f'one connected body expected, it has {parts} parts')
    held = np.zeros(len(elements.nodes), dtype=bool)
    held[base_nodes(elements)] = True
    tip_nodes(elements)
    return np.flatnonzero(~np.repeat(held, 3))


def _check_count(count: int, derivatives: int, unknowns: int) -> None:
    if not 1 <= count < unknowns - 1:
        raise ArgumentError('modes', count, f'a whole number from 1 to {unknowns - 2}')
    if not 0 <= derivatives <= count:
        raise ArgumentError('derivatives', derivatives, f'a whole number from 0 to {count}')


def _vibrations(
    K: csc_matrix, M: csc_matrix, factor: SuperLU, count: int
) -> tuple[Vector, Matrix]:
    """Squared angular frequencies (count,) and mass-orthonormal fields (free, count)."""
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh, LinearOperator

    inverse = LinearOperator(K.shape, matvec=factor.solve)
    start = np.linspace(1.0, 2.0, K.shape[0])  # the same modes in every run
    try:
        values, fields = eigsh(K, count, M, sigma=0.0, which='LM', OPinv=inverse, v0=start)
    except ArpackNoConvergence as error:
        raise NotConvergedError('the eigensolver', 10 * K.shape[0], np.nan) from error
    order = np.argsort(values)
    return values[order], fields[:, order]


def _extended(fields: Matrix, field: Vector, M: csc_matrix) -> Matrix:
    """Fields with the part of a field that is orthogonal to them in mass, scaled to unit mass."""
    size = np.sqrt(field @ (M @ field))
    for _ in range(2):  # twice: once leaves rounding errors of what has been taken away
        field = field - fields @ (fields.T @ (M @ field))
    left = np.sqrt(field @ (M @ field))
    return (
        np.column_stack([fields, field / left])
        if left > MIN_INDEPENDENT_FRACTION * size
        else fields
    )


def _everywhere(elements: Elements, free: Integers, field: Vector) -> Matrix:
    """Displacement of all nodes (N, 3)."""
    full = np.zeros(3 * len(elements.nodes))
    full[free] = field
    return full.reshape(-1, 3)
