# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Ritz-Galerkin on position: displacement fields, or a backbone, as sums of given polynomials."""

from collections.abc import Sequence
from dataclasses import dataclass
import re
from typing import Any, TypeAlias

import numpy as np
from softrobot_dynamics.annotations import (
    Complaints,
    FrameFormula,
    Math,
    Matrix,
    Value,
    Values,
    Vector,
)
from softrobot_dynamics.bodies.contract import register
from softrobot_dynamics.bodies.linear_basis import LinearBasis
from softrobot_dynamics.bodies.section_body import SectionBody
from softrobot_dynamics.errors import Problem
from softrobot_dynamics.kernels.quadrature import cylinder_points, rod_points
from softrobot_dynamics.materials.contract import determinant, Material, MATERIALS
from softrobot_dynamics.schema.fields import integer, member, NAME_PATTERN, number, profile
from softrobot_dynamics.schema.parsing import custom, join, Problems, reader

_FACTOR = re.compile(r'([xys])(?:\^([1-9][0-9]?))?')
_COEFFICIENT = reader(number('-'))

Polynomial: TypeAlias = tuple[tuple[float, tuple[int, ...]], ...]
"""Coefficients, each with the powers of x, y and s."""


@dataclass(frozen=True)
class _Notation:
    """
    Reads {name: {component: {monomial: coefficient}}}, one coordinate for each name.

    A monomial is a product of ``variables`` with powers, such as 'x s^2'. It contains s: with at
    least the power ``lateral`` in the components x and y. The result is a tuple of (name,
    components), the components x, y and z tuples of (coefficient, powers of x, y, s).
    """

    variables: str
    lateral: int

    @property
    def monomials(self) -> str:
        """Return in words the monomials that are allowed."""
        lateral = f', in x and y at least s^{self.lateral}' if self.lateral > 1 else ''
        return f'products of {", ".join(self.variables)} such as s^2, with s in each{lateral}'

    @property
    def expected(self) -> str:
        """Return in words the notation that is read."""
        return f'{{name: {{x, y or z: {{monomial: coefficient}}}}}}, {self.monomials}'

    def __call__(self, value: object, path: str, problems: Problems) -> Any:
        """Return the tuple, and append a Problem for whatever is wrong."""
        if not isinstance(value, dict) or not value:
            problems.append(Problem(path, value, self.expected))
            return None
        for name in value:
            if not isinstance(name, str) or not NAME_PATTERN.fullmatch(name):
                problems.append(Problem(path, name, f'names matching {NAME_PATTERN.pattern}'))
        return tuple(
            (name, self._components(given, join(path, name), problems))
            for name, given in value.items()
        )

    def _components(self, value: object, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict) or not value or set(value) - set('xyz'):
            problems.append(Problem(path, value, 'polynomials of one or more of x, y, z'))
            return ()
        rows = (('x', self.lateral), ('y', self.lateral), ('z', 1))
        return tuple(
            self._terms(value.get(name, {}), least, join(path, name), problems)
            for name, least in rows
        )

    def _terms(self, value: object, least: int, path: str, problems: Problems) -> Any:
        """Return (coefficient, powers) of the terms of a polynomial."""
        if not isinstance(value, dict):
            problems.append(Problem(path, value, f'{{monomial: coefficient}}, {self.monomials}'))
            return ()
        terms = []
        for text, coefficient in value.items():
            powers = self._powers(str(text))
            if powers is None or powers[2] < least:
                problems.append(Problem(path, text, self.monomials))
            terms.append((_COEFFICIENT(coefficient, join(path, text), problems), powers))
        return tuple(terms)

    def _powers(self, text: str) -> tuple[int, ...] | None:
        """Powers of x, y, s in a monomial; None if it is none."""
        found: dict[str, int] = {}
        for factor in text.split():
            match = _FACTOR.fullmatch(factor)
            if match is None or match[1] not in self.variables or match[1] in found:
                return None
            found[match[1]] = int(match[2] or 1)
        return tuple(found.get(v, 0) for v in 'xys')


def _sum(terms: Polynomial, x: Value, y: Value, s: Value) -> Value:
    """Value of a polynomial."""
    total = 0.0
    for coefficient, powers in terms:
        product = coefficient
        for base, power in zip((x, y, s), powers):
            for _ in range(power):
                product = product * base
        total = total + product
    return total


def _derivative(terms: Polynomial) -> Polynomial:
    """Return the derivative of a polynomial by s."""
    return tuple((c * k, (i, j, k - 1)) for c, (i, j, k) in terms)


@register('ritz')
@dataclass(frozen=True)
class Ritz(LinearBasis):
    """
    A volume p = x + sum_j phi_j(x) q_j; each field phi_j is given as a polynomial, zero at s = 0.

    Variables x, y and s are x1/L, x2/L and x3/L; the coordinates q_j [m] bear the names given:

        fields:
          bend_x: {x: {s^2: 1.0}, z: {x s: -2.0}}
          stretch: {z: {s: 1.0}}

    A solid round body; the material's energy is integrated over its volume, in any displacement.
    Rotations are only as large as the fields can express: they are straight lines in q.
    """

    length: float = number('m', above=0.0)
    radius: tuple[float, float] = profile('m')
    density: float = number('kg/m^3', above=0.0)
    material: Material = member(MATERIALS)
    fields: tuple[Any, ...] = custom(_Notation('xys', 1))
    quadrature: int = integer(at_least=1, default=10)

    def validate(self) -> Complaints:
        """Yield fields that are sums of others, and too few points for their degree."""
        yield from super().validate()
        yield from _wrong('fields', self.fields, self.quadrature)

    def coordinates(self) -> tuple[str, ...]:
        """Return the fields' names."""
        return tuple(name for name, _ in self.fields)

    def position(self, x: Values, q: Values, math: Math) -> Values:
        """See the class."""
        at = [c / self.length for c in x]
        return [
            x[i] + sum(_sum(components[i], *at) * a for (_, components), a in zip(self.fields, q))
            for i in range(3)
        ]

    def material_points(self) -> tuple[Matrix, Vector]:
        """See :class:`Body`."""
        degree = max(i + j for _, c in self.fields for terms in c for _, (i, j, _) in terms)
        counts = self.quadrature, degree + 3, 4 * (degree + 1)
        return _cylinder_points(self.length, self.radius, self.density, *counts)

    def energy(self, F: Sequence[Values], math: Math) -> Value:
        """Return the material's."""
        return self.material.energy(F, math)

    def viscosity(self) -> Value:
        """Return the material's."""
        return self.material.viscosity()


@register('ritz_backbone')
@dataclass(frozen=True)
class RitzBackbone(SectionBody):
    """
    A backbone r(s) = (0, 0, s L) + sum_j f_j(s) q_j that carries rigid sections normal to it.

    The f_j are polynomials of s = x3/L, zero at s = 0, in x and y with their derivative; q_j [m]
    as in ``ritz``. A section stands turned by the least rotation that takes z to the tangent,
    which is undefined only where the tangent points backwards, to -z; it does not twist on its
    own. Strain energy is E/2 (det F - 1)^2: a fibre's stretch normal to its section, so that a rod
    has the section stiffness E A and E I; twist and the rotation about the tangent store none.
    """

    length: float = number('m', above=0.0)
    radius: tuple[float, float] = profile('m')
    density: float = number('kg/m^3', above=0.0)
    young_modulus: float = number('Pa', above=0.0)
    functions: tuple[Any, ...] = custom(_Notation('s', 2))
    damping: float = number('s', at_least=0.0, default=0.0)
    quadrature: int = integer(at_least=1, default=10)

    def validate(self) -> Complaints:
        """Yield functions that are sums of others, and too few points for their degree."""
        yield from _wrong('functions', self.functions, self.quadrature)

    def coordinates(self) -> tuple[str, ...]:
        """Return the functions' names."""
        return tuple(name for name, _ in self.functions)

    def material_points(self) -> tuple[Matrix, Vector]:
        """See :func:`softrobot_dynamics.kernels.quadrature.rod_points`."""
        return rod_points(self.length, self.radius, self.density, self.quadrature, True)

    def energy(self, F: Sequence[Values], math: Math) -> Value:
        """E/2 times the squared strain of fibres normal to the sections."""
        strain = determinant(F) - 1.0
        return 0.5 * self.young_modulus * strain * strain

    def viscosity(self) -> Value:
        """Return the viscosity that damps a small stretch with ``damping`` E."""
        return 0.5 * self.damping * self.young_modulus

    def _frame(self, s: Value, q: Values, math: Math) -> FrameFormula:
        """Rotation and origin of the section at s."""
        origin, derivative = [0.0, 0.0, self.length * s], [0.0, 0.0, 1.0]
        for (_, components), a in zip(self.functions, q):
            for i, terms in enumerate(components):
                origin[i] = origin[i] + _sum(terms, 0.0, 0.0, s) * a
                derivative[i] = (
                    derivative[i] + _sum(_derivative(terms), 0.0, 0.0, s) * a / self.length
                )
        norm = math.sqrt(
            derivative[0] * derivative[0]
            + derivative[1] * derivative[1]
            + derivative[2] * derivative[2]
        )
        x, y, z = (c / norm for c in derivative)
        k = 1.0 / (1.0 + z)
        R = [1.0 - k * x * x, -k * x * y, x, -k * x * y, 1.0 - k * y * y, y, -x, -y, z]
        return R, origin


def _wrong(
    name: str, polynomials: Sequence[tuple[str, Sequence[Polynomial]]], quadrature: int
) -> Complaints:
    """Yield polynomials that depend on each other, and too few points for their degree."""
    coefficients = [
        {(i, powers): c for i, terms in enumerate(components) for c, powers in terms}
        for _, components in polynomials
    ]
    monomials = sorted(set().union(*coefficients))
    rows = np.array([[row.get(m, 0.0) for m in monomials] for row in coefficients])
    sizes = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    if not sizes.all() or np.linalg.matrix_rank(rows / sizes) < len(rows):
        yield name, [each for each, _ in polynomials], 'independent polynomials'
    least = max((powers[2] for _, powers in monomials), default=0) + 2
    if quadrature < least:  # inertia is of twice the degree, and two more by the taper
        yield 'quadrature', quadrature, f'at least {least} points for these {name}'


def _cylinder_points(
    length: float,
    radii: tuple[float, float],
    density: float,
    axial: int,
    radial: int,
    angular: int,
) -> tuple[Matrix, Vector]:
    """Points (K, 3) [m] and masses (K,) [kg] of a solid round body with radii (base, tip)."""
    points, volumes = cylinder_points(length, 1.0, 0.0, axial, radial, angular)
    radius = radii[0] + (radii[1] - radii[0]) * points[:, 2] / length
    points[:, :2] *= radius[:, None]
    return points, density * radius**2 * volumes
