# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Quadrature rules of volumes as a robot file gives them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
import functools
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.bodies.meshes import Mesh, read_tetrahedra
from softrobot_dynamics.errors import MeshError
from softrobot_dynamics.kernels.quadrature import annulus_points, cylinder_points, gauss_legendre
from softrobot_dynamics.schema.fields import custom, file, integer, number
from softrobot_dynamics.schema.parsing import parse, Problems


@dataclass(frozen=True)
class Cylinder:
    """The product rule, see :func:`softrobot_dynamics.kernels.quadrature.cylinder_points`."""

    axial: int = integer(at_least=2, default=6)
    radial: int = integer(at_least=1, default=2)
    angular: int = integer(at_least=4, default=8)

    def points(self, length: float, outer: float, inner: float) -> tuple[Matrix, Vector]:
        """Points (K, 3) [m] and volumes (K,) [m^3] between two radii [m]."""
        return cylinder_points(length, outer, inner, self.axial, self.radial, self.angular)

    def sections(
        self, length: float, outer: float, inner: float
    ) -> tuple[Vector, Vector, Matrix, Vector]:
        """Stations (S,) [m], their weights [m], points (K, 2) [m] of a section, areas [m^2]."""
        section = annulus_points(outer, inner, self.radial, self.angular)
        return *gauss_legendre(self.axial, 0.0, length), *section

    def finer(self) -> list['Cylinder']:
        """Return the rules with half as many points again, rounded up, in one direction each."""
        return [
            replace(self, **{name: (3 * getattr(self, name) + 1) // 2})
            for name in ('axial', 'radial', 'angular')
        ]

    def coarser(self) -> list['Cylinder']:
        """Return the rules with one point less in one direction each, as far as there are any."""
        return [
            replace(self, **{name: getattr(self, name) - 1})
            for name, least in (('axial', 2), ('radial', 1), ('angular', 4))
            if getattr(self, name) > least
        ]

    def misfit(
        self, length: float, outer: float, inner: float
    ) -> Iterable[tuple[str, object, str]]:
        """Yield nothing: a cylinder fits."""
        return ()


@dataclass(frozen=True)
class Tetrahedra:
    """A rule on a mesh of the body at rest: from z = 0 to its length, about the z axis."""

    mesh: str = file(expected='a mesh file')
    scale: float = number('m', above=0.0, default=1.0)  # the unit of the file
    order: int = integer(at_least=1, default=1)  # of polynomials that are integrated exactly

    def points(self, length: float, outer: float, inner: float) -> tuple[Matrix, Vector]:
        """Points (K, 3) [m] and volumes (K,) [m^3]; MeshError if there are none."""
        return self.read().quadrature(self.order)

    def read(self) -> Mesh:
        """Return the mesh; MeshError."""
        return _read(self.mesh, self.scale)

    def finer(self) -> list['Tetrahedra']:
        """Return the rule of the next order but one."""
        return [replace(self, order=self.order + 2)]

    def coarser(self) -> list['Tetrahedra']:
        """Return the rule of the next lower order."""
        return [replace(self, order=self.order - 1)] if self.order > 1 else []

    def misfit(
        self, length: float, outer: float, inner: float
    ) -> Iterable[tuple[str, object, str]]:
        """Yield (field, value, expected) if the mesh cannot be read or is not in the cylinder."""
        try:
            points = self.read().points
        except MeshError as error:
            yield 'mesh', self.mesh, f'a mesh of tetrahedra ({error})'
            return
        radius, slack = np.hypot(points[:, 0], points[:, 1]).max(), 1e-6 * length
        low, high = points[:, 2].min(), points[:, 2].max()
        if low < -slack or high > length + slack or radius > outer + slack:
            found = f'its radius is {radius:.4g} m, z from {low:.4g} to {high:.4g} m'
            yield 'mesh', self.mesh, f'a mesh within length and outer_radius: {found}; see scale'


def volume_rule() -> Any:
    """Return the field of a rule: {axial, radial, angular}, or {mesh, scale, order}."""

    def read(value: object, path: str, problems: Problems) -> Any:
        cls = Tetrahedra if isinstance(value, dict) and 'mesh' in value else Cylinder
        return parse(cls, value, path, problems)

    expected = '{axial, radial, angular}, or {mesh, scale, order}'
    return custom(read, expected=expected, default=Cylinder())


@functools.cache
def _read(path: str, scale: float) -> Mesh:
    return read_tetrahedra(path, scale)
