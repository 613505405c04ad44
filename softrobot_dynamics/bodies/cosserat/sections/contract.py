# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Base class of cross-sections: rigidities and inertia along a rod, mostly from a shape."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Complaints, Matrix, Value
from softrobot_dynamics.bodies.skins import circle
from softrobot_dynamics.errors import MISSING
from softrobot_dynamics.schema.registry import Registry, required

SECTIONS = Registry('section', __package__, 'softrobot_dynamics.sections')
register = SECTIONS.register


class RodMaterial(NamedTuple):
    """Density and elastic constants of a rod; those that its file does not give are None."""

    density: float | None  # [kg/m^3]
    young_modulus: float | None  # E [Pa]
    poisson_ratio: float  # [-]
    shear_correction: float  # k [-]


class Rigidity(NamedTuple):
    """Numbers of a cross-section (or arrays of them), by strain, kappa_x to gamma_z."""

    EIx: Value  # [N m^2], of bending about x
    EIy: Value  # [N m^2], of bending about y
    GJ: Value  # [N m^2], of twist
    GAx: Value  # [N], of shear along x, with its correction
    GAy: Value  # [N], of shear along y, with its correction
    EA: Value  # [N], of stretch


class LineMass(NamedTuple):
    """Inertia of a rod per length, numbers or arrays of them."""

    mass: Value  # rho A [kg/m]
    Ix: Value  # rho int y^2 dA [kg m], of turning about x
    Iy: Value  # rho int x^2 dA [kg m], of turning about y


class CrossSection:
    """
    A cross-section of a rod, whose principal axes x and y meet on the backbone.

    Members of the registry are subclasses of :class:`Section`, or of this where there is no shape.
    """

    @required
    def rigidity(self, sigma: Value, material: RodMaterial) -> Rigidity:
        """Return the :class:`Rigidity` at sigma = s / L [-], a number or an array."""
        raise NotImplementedError

    @required
    def line_mass(self, sigma: Value, material: RodMaterial) -> LineMass:
        """Return the :class:`LineMass` at sigma = s / L [-], a number or an array."""
        raise NotImplementedError

    def outline(self, sigma: float, material: RodMaterial) -> Matrix:
        """
        Points (P, 2) [m] around the section, in order from x to y, to be drawn.

        Here the ellipse of the same radii of gyration.
        """
        mass, Ix, Iy = self.line_mass(sigma, material)
        # of the point of a cone, which has no area, a point
        return circle(1.0) * (2.0 * np.sqrt(np.array([Iy, Ix]) / (mass or 1.0)))

    @required
    def validate_in(self, material: RodMaterial, strains: Collection[str]) -> Complaints:
        """
        Yield fields that do not fit a rod of this material with these strains (not locked).

        As (path below the rod, value, expected).
        """
        raise NotImplementedError


class Properties(NamedTuple):
    """Numbers of a shape (or arrays of them), about its principal axes x and y."""

    area: Value  # A [m^2]
    Ix: Value  # int y^2 dA [m^4], of bending about x
    Iy: Value  # int x^2 dA [m^4], of bending about y
    J: Value  # torsion constant of Saint-Venant [m^4]; Ix + Iy only if the section is round


class Section(CrossSection):
    """
    Base of all shapes: subclass it as a frozen dataclass and ``@register`` a name.

    A section has its centre on the backbone and its principal axes along x and y. Measures are
    profiles (base, tip), linear in between.
    """

    @required
    def at(self, sigma: Value) -> Properties:
        """Return the :class:`Properties` at sigma = s / L [-], a number or an array."""
        raise NotImplementedError

    def rigidity(self, sigma: Value, material: RodMaterial) -> Rigidity:
        """See :class:`CrossSection`."""
        area, Ix, Iy, J = self.at(sigma)
        E: Value = material.young_modulus
        G = E / (2.0 * (1.0 + material.poisson_ratio))
        shear = material.shear_correction * G * area
        return Rigidity(EIx=E * Ix, EIy=E * Iy, GJ=G * J, GAx=shear, GAy=shear, EA=E * area)

    def line_mass(self, sigma: Value, material: RodMaterial) -> LineMass:
        """See :class:`CrossSection`."""
        area, Ix, Iy, _ = self.at(sigma)
        density: Value = material.density
        return LineMass(density * area, density * Ix, density * Iy)

    def validate_in(self, material: RodMaterial, strains: Collection[str]) -> Complaints:
        """See :class:`CrossSection`: a shape needs a density and a modulus."""
        if material.density is None:
            yield 'density', MISSING, 'a number > 0 [kg/m^3]'
        if material.young_modulus is None:
            yield 'young_modulus', MISSING, 'a number > 0 [Pa]'


def between(profile: tuple[float, float], sigma: Value) -> Value:
    """Value at sigma = s / L of a measure (base, tip)."""
    return profile[0] + (profile[1] - profile[0]) * sigma
