# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Read the strains of a rod from a robot file: a basis for each, and their values at q = 0."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

from softrobot_dynamics.annotations import Math, Value
from softrobot_dynamics.bodies.cosserat.bases.contract import Basis, OrderedBasis, read_basis
from softrobot_dynamics.bodies.released_strains import polynomial, STRAINS
from softrobot_dynamics.errors import ArgumentError, closest, Problem
from softrobot_dynamics.schema.fields import items, number, vector
from softrobot_dynamics.schema.parsing import custom, join, parse, Problems, reader

# kappa [1/m] and gamma [-] of a straight, unstretched rod
STRAIGHT_STRAINS = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)

_EXPECTED_BASES = f'a mapping, not empty, of strains ({", ".join(STRAINS)}) to {{basis, ...}}'
_EXPECTED_REFERENCE = (
    'six numbers [1/m, -] or a mapping of strains to a number or to {basis, ..., coefficients}'
)
_numbers = reader(vector('1/m or -', 6))
_number = reader(number('1/m or -'))
_damping: Any = reader(number('s', at_least=0.0))


@dataclass(frozen=True)
class Coefficients:
    """Given coefficients of a basis, where these are not coordinates."""

    coefficients: tuple[float, ...] = items(number('1/m or -'))


@dataclass(frozen=True)
class RestStrain:
    """A given strain [1/m or -] along a rod: functions times coefficients."""

    basis: Basis
    coefficients: tuple[float, ...]

    def at(self, sigma: Value, math: Math) -> Value:
        """Value at sigma = s / L [-]."""
        return sum(c * phi for c, phi in zip(self.coefficients, self.basis.at(sigma, math)))


def strain_bases() -> Any:
    """Return the field of {strain: basis}, kept as ((index, basis), ...), kappa_x first."""
    return custom(_read_bases, expected=_EXPECTED_BASES)


def strain_reference() -> Any:
    """Return the field of the strain at q = 0: six numbers or :class:`RestStrain` objects."""
    return custom(
        _read_reference, expected=_EXPECTED_REFERENCE, unit='1/m or -', default=STRAIGHT_STRAINS
    )


def strain_damping() -> Any:
    """Return the field of a damping [s]: one number, or those of strains, kept as six numbers."""
    expected = f'{_damping.expected} or a mapping of strains to such numbers'
    return custom(_read_damping, expected=expected, unit='s', default=0.0)


def widened(
    strains: tuple[tuple[int, Basis], ...], orders: Mapping[str, int]
) -> tuple[tuple[int, Basis], ...]:
    """Return strains with bases of at least these orders; ArgumentError for one without."""
    bases = dict(strains)
    for name, order in orders.items():
        c, here = STRAINS.index(name), Problems()
        basis = bases.get(c) or read_basis(polynomial(order), name, here)
        if not isinstance(basis, OrderedBasis):
            raise ArgumentError('strains', name, 'a strain whose basis has an order')
        bases[c] = replace(basis, order=max(order, basis.order))
    return tuple(sorted(bases.items()))


def _read_bases(value: object, path: str, problems: Problems) -> Any:
    """Return (index of a strain, basis) of each strain of a rod, in the order of STRAINS."""
    if not isinstance(value, dict) or not value:
        problems.append(Problem(path, value, _EXPECTED_BASES))
        return None
    _refuse_unknown(value, path, problems)
    return tuple(
        (c, read_basis(value[name], join(path, name), problems))
        for c, name in enumerate(STRAINS)
        if name in value
    )


def _read_reference(value: object, path: str, problems: Problems) -> Any:
    if not isinstance(value, dict):
        return _numbers(value, path, problems)
    _refuse_unknown(value, path, problems)
    return tuple(
        _read_strain(value[name], join(path, name), problems) if name in value else straight
        for name, straight in zip(STRAINS, STRAIGHT_STRAINS)
    )


def _read_damping(value: object, path: str, problems: Problems) -> Any:
    if not isinstance(value, dict):
        return _damping(value, path, problems)
    _refuse_unknown(value, path, problems)
    return tuple(_damping(value.get(name, 0.0), join(path, name), problems) for name in STRAINS)


def _read_strain(value: object, path: str, problems: Problems) -> Any:
    """Return a strain at q = 0: a number, or a basis with coefficients."""
    if isinstance(value, Real):
        return _number(value, path, problems)
    basis = read_basis(value, path, problems, ignore=('coefficients',))
    if basis is None or not isinstance(value, dict):
        return None
    given = {key: value[key] for key in ('coefficients',) if key in value}
    factors = parse(Coefficients, given, path, problems)
    if factors and len(factors.coefficients) != basis.count():
        expected = f'{basis.count()} numbers, one per function of the basis'
        problems.append(Problem(join(path, 'coefficients'), value['coefficients'], expected))
    return factors and RestStrain(basis, factors.coefficients)


def _refuse_unknown(value: Mapping[Any, object], path: str, problems: Problems) -> None:
    for name in value:
        if name not in STRAINS:
            expected = f'one of the strains {", ".join(STRAINS)}{closest(name, STRAINS)}'
            problems.append(Problem(join(path, name), value[name], expected))
