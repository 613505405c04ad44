# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Locally volume preserving bodies: stretch, bend, shear, twist and source on one backbone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyval
from softrobot_dynamics.annotations import (
    Complaints,
    FrameFormula,
    Math,
    Matrix,
    Value,
    Values,
    Vector,
)
from softrobot_dynamics.bodies.contract import Body, register
from softrobot_dynamics.bodies.frames import horner
from softrobot_dynamics.bodies.lvp import backbone, backbone_tables
from softrobot_dynamics.bodies.lvp.dilation import (
    dilation,
    trace_derivatives,
    trace_terms,
    trace_values,
)
from softrobot_dynamics.bodies.lvp.emit_derivatives import (
    derivatives_numbers,
    derivatives_workspace_size,
    hessian_numbers,
    hessian_scratch,
)
from softrobot_dynamics.bodies.lvp.emit_points import (
    gradient,
    point_numbers,
    point_sums,
    strains_of,
)
from softrobot_dynamics.bodies.lvp.emit_sections import section_numbers, section_sums
from softrobot_dynamics.bodies.lvp.strain_limits import CHECKED_STATIONS, violated_limit
from softrobot_dynamics.bodies.lvp.strain_modes import (
    power_series,
    SETS,
    strain_modes,
    StrainModes,
    STRAINS,
)
from softrobot_dynamics.bodies.lvp.volumes import Cylinder, Tetrahedra, volume_rule
from softrobot_dynamics.bodies.material_points import points_along
from softrobot_dynamics.bodies.skins import boundary, Surface
from softrobot_dynamics.compiling.cache import load_module
from softrobot_dynamics.compiling.jit import Kernel
from softrobot_dynamics.kernels.quadrature import gauss_legendre
from softrobot_dynamics.materials.contract import Material, MATERIALS
from softrobot_dynamics.schema.fields import member, number
from softrobot_dynamics.tracing import graph, programs
from softrobot_dynamics.tracing.differentiate import tangent
from softrobot_dynamics.tracing.programs import TracedKernel

# [rad] short of what the kernel refuses, so that rounding does not decide which of them does
_WINDING_LIMIT = 0.99 * backbone.MAX_WINDING


@register('lvp')
@dataclass(frozen=True)
class LocallyVolumePreserving(Body):
    """
    A cylinder, solid or hollow, or a mesh in one, deformed without change of volume [P, 7.1].

    The backbone (R, o) follows the strains kappa, gamma and lambda, which are sums of modes. The
    point at the polar coordinates (c, theta) of its section moves to o + R (r cos theta,
    r sin theta, 0), with a r^3 + r^2 = (c^2 + source) / lambda and
    a = 2/3 (kappa_x sin theta - kappa_y cos theta) / lambda: then det dp/dx = 1. The tip frame is
    the backbone's.

    Valid while no section folds on the inner side of a bend, sqrt(3 (R^2 + source)) |kappa| <
    lambda^(3/2), none vanishes or closes, and the backbone turns by no more than 2 pi.
    """

    length: float = number('m', above=0.0)
    outer_radius: float = number('m', above=0.0)
    density: float = number('kg/m^3', above=0.0)
    material: Material = member(MATERIALS)
    inner_radius: float = number('m', at_least=0.0, default=0.0)
    fill: float = number('-', above=0.0, at_most=1.0, default=1.0)  # share that has mass
    modes: str | StrainModes = strain_modes(default='table_4')
    quadrature: Cylinder | Tetrahedra = volume_rule()

    traceable = False

    @property
    def radius(self) -> tuple[float, float]:
        """The outer radius [m] at base and tip."""
        return self.outer_radius, self.outer_radius

    @property
    def has_cavity(self) -> bool:
        """Tell whether the body encloses a volume that changes, so that it has a source."""
        return bool(self._modes().source)

    def validate(self) -> Complaints:
        """Yield radii, modes and rules that do not fit each other."""
        size, degree = (self.length, self.outer_radius, self.inner_radius), self._degree()
        if self.inner_radius >= self.outer_radius:
            yield 'inner_radius', self.inner_radius, 'a radius < outer_radius [m]'
        if self.has_cavity and self.inner_radius == 0.0:
            yield 'modes', self.modes, 'no source: without inner_radius there is no cavity'
        if isinstance(self.quadrature, Cylinder) and self.quadrature.axial <= degree:
            yield 'quadrature.axial', self.quadrature.axial, f'> {degree}, the degree of the modes'
        for key, value, expected in self.quadrature.misfit(*size):
            yield f'quadrature.{key}', value, expected

    def coordinates(self) -> tuple[str, ...]:
        """Names of the modes, see :class:`StrainModes`."""
        return self._modes().names()

    def finer(self) -> Body | None:
        """Return the body with one more mode of each strain that has any."""
        modes, rule = self._modes().finer(), self.quadrature
        if not isinstance(rule, Cylinder) or modes == self._modes():
            return None
        return replace(self, modes=modes, quadrature=replace(rule, axial=rule.axial + 2))

    def position(self, x: Values, q: Values, math: Math) -> Values:
        """See the class; the backbone is a power series in x3, too long to be compiled."""
        sigma = x[2] / self.length
        rotation, origin = self._frame(sigma, q)
        factor = dilation(x[0], x[1], self._strains(sigma, q), math, self.has_cavity)
        d1, d2 = x[0] * factor, x[1] * factor
        return [origin[i] + rotation[3 * i] * d1 + rotation[3 * i + 1] * d2 for i in range(3)]

    def tip_frame(self, q: Values, math: Math) -> FrameFormula:
        """Frame of the backbone's end."""
        return self._frame(1.0, q)

    def fibre_count(self, pieces: int) -> int:
        """Return as many as the backbone has nodes: sixteen."""
        return backbone_tables.NODES

    def fibre_speed(self, x: Values, derivative: Values, q: Values, math: Math) -> Value:
        """|gamma + kappa x d + dd/ds| in the section's frame, with d along the curve."""
        z = self._strains(x[2] / self.length, q)
        factor = dilation(x[0], x[1], z, math, self.has_cavity)
        d = [graph.as_node(c * factor) for c in x[:2]]
        along = tangent(d, {('x', 0): derivative[0], ('x', 1): derivative[1], ('x', 2): 1.0})
        a, b, c = (row[2] for row in gradient(d, z, ((0.0, 0.0),) * 2, along))
        return math.sqrt(a * a + b * b + c * c)

    def material_points(self) -> tuple[Matrix, Vector]:
        """Points (K, 3) [m] of the rule and their masses (K,) [kg], with the fill."""
        points, volumes = self.quadrature.points(self.length, self.outer_radius, self.inner_radius)
        return points, self.density * self.fill * volumes

    def skin(self) -> Surface:
        """Return that of the mesh, if its quadrature has one."""
        mesh = self.quadrature.read() if isinstance(self.quadrature, Tetrahedra) else None
        return super().skin() if mesh is None else boundary(mesh)

    def energy(self, F: Sequence[Values], math: Math) -> Value:
        """See the material."""
        return self.material.energy(F, math)

    def viscosity(self) -> Value | None:
        """See the material."""
        return self.material.viscosity()

    def stretch(self, q: Vector) -> float:
        """Return the smallest factor of length along the backbone; volume never changes."""
        return float(np.min(self._strains(CHECKED_STATIONS, [float(a) for a in q])[5]))

    def explain(self, q: Vector) -> str | None:
        """Say why the body cannot take the coordinates q (n,); None if it can."""
        s = CHECKED_STATIONS
        strains = [s * 0.0 + z for z in self._strains(s, [float(a) for a in q])]
        fault = violated_limit(s * self.length, strains, self.outer_radius, self.inner_radius)
        return fault or self._winding(q)

    def kernel(self) -> Kernel:
        """Return the kernel that sums over sections if the rule has them, else over points."""
        symbolic, constants = self._symbolic()
        strains, polynomials = self._shapes()
        size = self.length, self.outer_radius, self.inner_radius
        sums: Callable[..., TracedKernel]
        numbers: Callable[..., Vector]
        rule: Any
        if isinstance(self.quadrature, Cylinder):
            sums, numbers = section_sums, section_numbers
            *places, areas = self.quadrature.sections(*size)
            rule = *places, self.density * self.fill * areas
        else:
            sums, numbers, rule = point_sums, point_numbers, self.material_points()
        traced = trace_terms(sums, strains, symbolic.material, symbolic.density, self.has_cavity)
        frames = backbone_tables.numbers(*size, strains, polynomials)
        parameters = numbers(traced.tables, frames, rule, self.length, polynomials, constants)
        module = load_module(traced.source, f'{self.type_name}_terms')
        return Kernel(module.__name__, 'terms', parameters, traced.scratch)

    def derivatives_kernel(self) -> Kernel:
        """Return the kernel of derivatives, which sums over points."""
        symbolic, constants = self._symbolic()
        strains, polynomials = self._shapes()
        frames = backbone_tables.numbers(
            self.length, self.outer_radius, self.inner_radius, strains, polynomials
        )
        traced = trace_derivatives(tuple(sorted(set(strains))), symbolic.material)
        size = self.length, self.density, float(self.viscosity() or 0.0)
        cloud = self.material_points()
        numbers = derivatives_numbers(traced, frames, cloud, size, polynomials, constants)
        module = load_module(traced.source, f'{self.type_name}_derivatives')
        return Kernel(
            module.__name__, 'derivatives', numbers, derivatives_workspace_size(len(strains))
        )

    def length_hessians(self, points: Matrix, derivatives: Matrix, weights: Vector) -> Kernel:
        """See :class:`Body`."""
        strains, polynomials = self._shapes()
        symbolic, _ = self._symbolic()
        traced = trace_derivatives(tuple(sorted(set(strains))), symbolic.material)
        curve = points, derivatives, weights
        numbers = hessian_numbers(traced.dilation, curve, self.length, strains, polynomials)
        module = load_module(traced.source, f'{self.type_name}_derivatives')
        return Kernel(module.__name__, 'hessians', numbers, hessian_scratch(len(strains)))

    def cavity_kernel(self) -> Kernel:
        """
        Return the :class:`Kernel` of the cavity's volume [m^3], as ``programs.fibre_length``.

        It is pi int (inner_radius^2 + source) ds: all else preserves the volume inside as well.
        """
        n = len(self.coordinates())
        strains, polynomials = self._shapes()
        sigma, weights = gauss_legendre(backbone.MAX_SHAPE_DEGREE, 0.0, 1.0)
        q, x = graph.symbols('q', n + 1), graph.symbols('x', n + 1)
        traced = programs.fibre_length(x[n] + strains_of(strains, q[:n], x[:n])[6], n)
        square = np.full_like(sigma, self.inner_radius**2)
        columns = np.column_stack([*(polyval(sigma, p) for p in polynomials), square])
        table = traced.tables.table(columns, np.pi * self.length * weights, {})
        return self._kernel(traced, 'length', np.zeros(0), table, {})

    def points_kernel(self, points: Matrix) -> Kernel:
        """See :class:`Body`; points at 0 <= x3 <= length."""
        strains, polynomials = self._shapes()
        traced = trace_values(strains, self.has_cavity)
        size = self.length, self.outer_radius, self.inner_radius
        frames = backbone_tables.numbers(*size, strains, polynomials)
        cloud = points_along(points, self.length), np.ones(len(points))
        numbers = point_numbers(traced.tables, frames, cloud, self.length, polynomials, {})
        module = load_module(traced.source, f'{self.type_name}_values')
        return Kernel(module.__name__, 'values', numbers, traced.scratch)

    def _modes(self) -> StrainModes:
        return SETS[self.modes](self.length) if isinstance(self.modes, str) else self.modes

    def _shapes(self) -> tuple[Any, Any]:
        """Index of the strain, (n,), and polynomial of each coordinate."""
        modes = self._modes().each()
        return tuple(STRAINS.index(name) for name, _ in modes), [p for _, p in modes]

    def _degree(self) -> int:
        return max(len(p) for _, p in self._modes().each()) - 1

    def _winding(self, q: Vector) -> str | None:
        """Return in words that the backbone turns too far for its power series, or None."""
        strains, polynomials = self._shapes()
        kappa = np.zeros((3, backbone.MAX_SHAPE_DEGREE + 1))
        for z, p, a in zip(strains, polynomials, q):
            if z < 3:
                kappa[z, : len(p)] += a * np.array(p)
        winding = self.length * np.linalg.norm(kappa, axis=0).sum()
        if winding < _WINDING_LIMIT:
            return None
        words = f'turn: bends and twist of all powers of s add up to {winding:.4g} rad'
        return f'{words}, it must stay < {_WINDING_LIMIT:.4g}'

    def _strains(self, sigma: Value, q: Values) -> Values:
        """Strains (7,) at s / L = sigma."""
        strains, polynomials = self._shapes()
        return strains_of(strains, q, [horner(p, sigma) for p in polynomials])

    def _frame(self, sigma: Value, q: Values) -> FrameFormula:
        """Rotation, row-major, and origin of the backbone at s / L = sigma."""
        strains, polynomials = self._shapes()
        powers = [
            [(z, p[k] * a) for z, p, a in zip(strains, polynomials, q) if k < len(p)]
            for k in range(self._degree() + 1)
        ]
        powers[0].append((5, 1.0))
        turning = max((len(p) for z, p in zip(strains, polynomials) if z < 3), default=0)
        terms = backbone.MAX_SERIES_TERMS * turning + len(powers) + 1
        entries = power_series(powers, self.length, terms)
        return [horner(e, sigma) for e in entries[:9]], [horner(e, sigma) for e in entries[9:]]
