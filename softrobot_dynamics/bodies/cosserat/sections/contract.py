# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What a cross-section is: area and moments along a rod, about its centre."""

from typing import NamedTuple

from softrobot_dynamics.annotations import Value
from softrobot_dynamics.schema.registry import Registry

SECTIONS = Registry('section', __package__, 'softrobot_dynamics.sections')
register = SECTIONS.register


class Properties(NamedTuple):
    """Numbers of a cross-section (or arrays of them), about its principal axes x and y."""

    area: Value  # A [m^2]
    Ix: Value  # int y^2 dA [m^4], of bending about x
    Iy: Value  # int x^2 dA [m^4], of bending about y
    J: Value  # torsion constant of Saint-Venant [m^4]; Ix + Iy only if the section is round


class Section:
    """
    Base of all sections: subclass it as a frozen dataclass and ``@register`` a name.

    A section has its centre on the backbone and its principal axes along x and y. Measures are
    profiles (base, tip), linear in between.
    """

    def at(self, sigma: Value) -> Properties:
        """Return the :class:`Properties` at sigma = s / L [-], a number or an array."""
        raise NotImplementedError


def between(profile: tuple[float, float], sigma: Value) -> Value:
    """Value at sigma = s / L of a measure (base, tip)."""
    return profile[0] + (profile[1] - profile[0]) * sigma
