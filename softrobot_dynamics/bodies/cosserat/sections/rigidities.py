# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A section known by its rigidities and its mass, as measured or homogenised, without a shape."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

from softrobot_dynamics.annotations import Complaints, Value
from softrobot_dynamics.bodies.cosserat.sections.contract import (
    between,
    CrossSection,
    LineMass,
    register,
    Rigidity,
    RodMaterial,
)
from softrobot_dynamics.errors import MISSING
from softrobot_dynamics.schema.fields import custom, profile
from softrobot_dynamics.schema.parsing import parse, Problems, reader

Profile: TypeAlias = tuple[float, float]


def _about_axes(unit: str, default: object = MISSING) -> Any:
    """Return the field of {x: profile, y: profile}, or one for both; kept as (of x, of y)."""

    @dataclass(frozen=True)
    class Axes:
        """Profiles that differ about the two axes of a section."""

        x: Profile = profile(unit)
        y: Profile = profile(unit)

    one = profile(unit)
    expected = f'{one.metadata["expected"]}, or {{x, y}} of such, about these axes'

    def read(value: object, path: str, problems: Problems) -> tuple[Profile, Profile] | None:
        """Return (of x, of y), None and append every problem."""
        if isinstance(value, dict):
            axes = parse(Axes, value, path, problems)
            return axes and (axes.x, axes.y)
        if _kept(value):
            return (reader(one)(value[0], path, problems), reader(one)(value[1], path, problems))
        return (reader(one)(value, path, problems),) * 2

    return custom(read, expected=expected, unit=unit, default=default)


def _kept(value: object) -> TypeGuard[Sequence[object]]:
    """Tell whether a value is the pair of profiles that a section has, as where it is varied."""
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return False
    return all(isinstance(each, (list, tuple)) for each in value)


@register('rigidities')
@dataclass(frozen=True)
class Rigidities(CrossSection):
    """
    Rigidities E I, G J, G A (with its correction), E A; mass rho A and rho I per length.

    A strain that is locked needs none. Without `rhoI` sections have no inertia of their own.
    """

    rhoA: Profile = profile('kg/m')
    rhoI: tuple[Profile, Profile] | None = _about_axes('kg m', default=None)
    EI: tuple[Profile, Profile] | None = _about_axes('N m^2', default=None)
    GJ: Profile | None = profile('N m^2', default=None)
    GA: Profile | None = profile('N', default=None)
    EA: Profile | None = profile('N', default=None)

    def rigidity(self, sigma: Value, material: RodMaterial) -> Rigidity:
        """See :class:`CrossSection`; 0 of strains that are locked."""
        GJ, GA, EA = (_at(each, sigma) for each in (self.GJ, self.GA, self.EA))
        return Rigidity(*_both(self.EI, sigma), GJ, GA, GA, EA)

    def line_mass(self, sigma: Value, material: RodMaterial) -> LineMass:
        """See :class:`CrossSection`."""
        return LineMass(between(self.rhoA, sigma), *_both(self.rhoI, sigma))

    def validate_in(self, material: RodMaterial, strains: Collection[str]) -> Complaints:
        """See :class:`CrossSection`: the rigidities of these strains, and no other material."""
        for name in ('density', 'young_modulus'):
            value = getattr(material, name)
            if value is not None:
                yield name, value, 'none beside a section of rigidities, which has its own'
        for field, (unit, resisted) in _RIGIDITIES.items():
            needing = [name for name in strains if name in resisted]
            if needing and getattr(self, field) is None:
                yield f'section.{field}', MISSING, f'a number > 0 [{unit}], for {needing[0]}'


_RIGIDITIES = {
    'EI': ('N m^2', ('kappa_x', 'kappa_y')),
    'GJ': ('N m^2', ('kappa_z',)),
    'GA': ('N', ('gamma_x', 'gamma_y')),
    'EA': ('N', ('gamma_z',)),
}
"""Fields, their units, and the strains that they resist."""


def _at(profile: Profile | None, sigma: Value) -> Value:
    return 0.0 * sigma if profile is None else between(profile, sigma)


def _both(axes: tuple[Profile, Profile] | None, sigma: Value) -> tuple[Value, Value]:
    x, y = axes or (None, None)
    return _at(x, sigma), _at(y, sigma)
