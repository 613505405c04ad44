# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Reduced volumetric finite elements: modes of a mesh as coordinates."""

from collections.abc import Sequence
from dataclasses import dataclass
import functools
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import (
    Array,
    Complaints,
    FrameFormula,
    Integers,
    Math,
    Matrix,
    Value,
    Values,
    Vector,
)
from softrobot_dynamics.bodies.contract import PlaneCurve, register
from softrobot_dynamics.bodies.fem.assembly import (
    hooke,
    MASS_QUADRATURE_ORDER,
    STIFFNESS_QUADRATURE_ORDER,
)
from softrobot_dynamics.bodies.fem.elements import crossings, Elements
from softrobot_dynamics.bodies.fem.modes import tip_nodes
from softrobot_dynamics.bodies.fem.modes_file import digest, load_modes, ModalBasis
from softrobot_dynamics.bodies.frames import frame_of_points
from softrobot_dynamics.bodies.linear_basis import LinearBasis
from softrobot_dynamics.bodies.meshes import Mesh, read_tetrahedra
from softrobot_dynamics.bodies.skins import boundary, Surface
from softrobot_dynamics.errors import ArgumentError, MeshError, Problem
from softrobot_dynamics.materials.contract import lame, Material, MATERIALS
from softrobot_dynamics.schema.fields import file, integer, member, number
from softrobot_dynamics.schema.parsing import Problems
from softrobot_dynamics.tracing.graph import Node

# barycentric coordinate: tendons may run a little outside of a coarse mesh
MIN_BARYCENTRIC = -0.25
_EXPECTED_MODES_FILE = 'a file made by `softrobot modes`'
_EXPECTED_MESH_FILE = 'the mesh that the modes were made of'


def _read_modes(file: str, path: str, problems: Problems) -> ModalBasis | None:
    try:
        return load_modes(file)
    except ArgumentError as error:
        problems.append(Problem(path, file, error.expected))


@register('fem')
@dataclass(frozen=True)
class ReducedFiniteElements(LinearBasis):
    """
    Quadratic tetrahedra moving in the modes of a file; q [m], the largest displacement of each.

    The mesh stands on z = 0, which moves with the joint, and ends in a flat face at its greatest
    z, whose least-squares plane carries the tip frame. Without ``material`` elasticity is linear:
    that of the numbers the modes were made with, good for small displacements only. With one its
    energy is integrated in any displacement, over four points of each element at every call: take
    no finer a mesh than the modes need.
    """

    modes: ModalBasis = file(_read_modes, expected=_EXPECTED_MODES_FILE)
    material: Material | None = member(MATERIALS, default=None)
    damping: float = number('s', at_least=0.0, default=0.0)  # of linear elasticity
    mesh: str | None = file(expected=_EXPECTED_MESH_FILE, default=None)
    quadrature: int = integer(at_least=2, default=64)  # Gauss points of a tendon, at least

    tabulated = True

    def validate(self) -> Complaints:
        """Yield modes of another mesh, and damping that belongs to the material."""
        yield from super().validate()
        if self.material is not None and self.damping:
            yield 'damping', self.damping, "none beside a material, which has its own 'damping'"
        if self.mesh is not None:
            try:
                same = digest(read_tetrahedra(self.mesh, self.modes.scale)) == digest(self._mesh)
            except MeshError as error:
                yield 'mesh', self.mesh, f'{_EXPECTED_MESH_FILE} ({error})'
            else:
                if not same:
                    yield 'mesh', self.mesh, f'{_EXPECTED_MESH_FILE}; this is another one'

    @property
    def length(self) -> float:
        """Greatest z [m]."""
        return float(self._mesh.points[:, 2].max())

    @property
    def radius(self) -> float:
        """Greatest distance of the mesh from the z axis [m]."""
        return float(np.linalg.norm(self._mesh.points[:, :2], axis=1).max())

    def skin(self) -> Surface:
        """Return that of the mesh."""
        return boundary(self._mesh)

    @property
    def density(self) -> float:
        """Mass per volume [kg/m^3], of the file."""
        return self.modes.solid.density

    def coordinates(self) -> tuple[str, ...]:
        """Return mode_1, ..., then derivative_1, ..."""
        vibrations = len(self.modes.basis.frequencies)
        others = self.modes.basis.fields.shape[2] - vibrations
        names = ('mode', vibrations), ('derivative', others)
        return tuple(f'{name}_{i + 1}' for name, count in names for i in range(count))

    def position(self, x: Values, q: Values, math: Math) -> Values:
        """Position of points given as numbers, each in its element of the mesh."""
        if any(isinstance(c, Node) for c in x):
            raise TypeError('the position of a fem body is known at points of its mesh only')
        x = np.broadcast_arrays(*(np.asarray(c, dtype=float) for c in x))
        fields = self.fields_at(np.stack([c.ravel() for c in x], axis=-1))
        if x[0].shape:
            fields = np.moveaxis(fields, 0, 2).reshape(*fields.shape[1:], *x[0].shape)
        else:
            x, fields = [float(c) for c in x], fields[0].tolist()
        return _moved(x, fields, q)

    def fields_at(self, points: Matrix) -> Array:
        """See :class:`LinearBasis`; points outside of the mesh belong to the nearest element."""
        known, inside, coordinates = self._inertia
        if not np.array_equal(points, known):
            inside, coordinates = self._elements.locate(points)
        return self._elements.values(self.modes.basis.fields, inside, coordinates)

    def derivatives_at(self, points: Matrix) -> Array:
        """See :class:`LinearBasis`; they jump from element to element."""
        return self._derivatives(*self._elements.locate(points))

    def fibre_pieces(self, curve: PlaneCurve, start: float, end: float) -> Sequence[float]:
        """
        Return the ends, and where a curve enters another element: its derivative jumps.

        ArgumentError for a curve that leaves the mesh.
        """

        def at(sigma: float) -> Vector:
            return np.append(curve(np.array([sigma]))[0], sigma * self.length)

        ends = crossings(self._elements, at, start, end)
        vertices = np.array([at(sigma) for sigma in ends])
        beyond = self._elements.locate(vertices)[1].min(axis=1) < MIN_BARYCENTRIC
        if beyond.any():
            raise ArgumentError('points', vertices[beyond][0], 'a curve within the mesh [m]')
        return ends

    def fibre_count(self, pieces: int) -> int:
        """Return the share of each piece in the ``quadrature`` points, but two."""
        return max(2, -(-self.quadrature // pieces))

    def material_points(self) -> tuple[Matrix, Vector]:
        """See :class:`Body`; a rule that is exact for the mass, centre and inertia at rest."""
        weights = self._elements.quadrature(MASS_QUADRATURE_ORDER)[2]
        return self._inertia[0], self.density * weights

    def strain_quadrature(self) -> tuple[Array, Vector]:
        """See :class:`LinearBasis`; exact in small strain."""
        inside, coordinates, volumes = self._elements.quadrature(STIFFNESS_QUADRATURE_ORDER)
        return self._derivatives(inside, coordinates), volumes

    @functools.cached_property
    def strain_derivatives(self) -> Array:
        """See :class:`LinearBasis`; at the points of the energy."""
        return self.strain_quadrature()[0]

    def tip_points(self) -> tuple[Matrix, Array]:
        """See :class:`LinearBasis`; by least squares of the displacements in the tip face."""
        tip, L = tip_nodes(self._elements), self.length
        plane = np.column_stack([np.ones(len(tip)), self._elements.nodes[tip, :2]])
        fields = self.modes.basis.fields[tip]
        mean, by_x, by_y = np.linalg.lstsq(plane, fields.reshape(len(tip), -1), rcond=None)[0]
        moved = np.stack([mean, mean + L * by_x, mean + L * by_y])
        return np.array([[0.0, 0.0, L], [L, 0.0, L], [0.0, L, L]]), moved.reshape(3, 3, -1)

    def tip_frame(self, q: Values, math: Math) -> FrameFormula:
        """Frame of the least-squares plane of the tip face."""
        o, a, b = (_moved(x, fields, q) for x, fields in zip(*self._tip))
        return frame_of_points(o, a, b, math)

    def energy(self, F: Sequence[Values], math: Math) -> Value | None:
        """Return the material's, if there is one."""
        return self.material and self.material.energy(F, math)

    def viscosity(self) -> Value | None:
        """Return the material's, if there is one."""
        return self.material and self.material.viscosity()

    def stiffness(self) -> Matrix:
        """Linear elasticity, without a material."""
        if self.material is not None:
            return super().stiffness()
        derivatives, volumes = self.strain_quadrature()
        solid = self.modes.solid
        stress = hooke(derivatives, lame(solid.young_modulus, solid.poisson_ratio))
        sums = [0, 2, 3], [0, 2, 3]
        K = np.tensordot(volumes[:, None, None, None] * stress, derivatives, axes=sums)
        return 0.5 * (K + K.T)

    @property
    def _mesh(self) -> Mesh:
        return self.modes.mesh

    @functools.cached_property
    def _elements(self) -> Elements:
        return Elements(self._mesh)

    @functools.cached_property
    def _inertia(self) -> tuple[Matrix, Integers, Matrix]:
        """Points of the rule for inertia (K, 3), their elements and barycentric coordinates."""
        inside, coordinates, _ = self._elements.quadrature(MASS_QUADRATURE_ORDER)
        return self._mesh.quadrature(MASS_QUADRATURE_ORDER)[0], inside, coordinates

    @functools.cached_property
    def _tip(self) -> tuple[Any, Any]:
        points, fields = self.tip_points()
        return points.tolist(), fields.tolist()

    def _derivatives(self, inside: Integers, coordinates: Matrix) -> Array:
        derivatives = self._elements.gradients(self.modes.basis.fields, inside, coordinates)
        return np.swapaxes(derivatives, 1, 2)


def _moved(x: Values, fields: Sequence[Values] | Matrix, q: Values) -> list[Any]:
    """Position x + fields q of a point, or of arrays of points, in any arithmetic."""
    return [sum((f * a for f, a in zip(row, q)), start=c) for c, row in zip(x, fields)]
