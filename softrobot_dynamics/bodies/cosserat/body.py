# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Cosserat rod whose strains are sums of basis functions: PCS, GVS and models between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
from softrobot_dynamics.bodies.contract import Body, PlaneCurve, register
from softrobot_dynamics.bodies.cosserat import rod, rod_derivatives, rod_fibre, rod_points
from softrobot_dynamics.bodies.cosserat.bases.contract import Basis
from softrobot_dynamics.bodies.cosserat.nodes import march, moments, rows_of, triples
from softrobot_dynamics.bodies.cosserat.rod_steps import MAX_STEP_ROTATION
from softrobot_dynamics.bodies.cosserat.screws import compose, exponential, fibre_velocity, magnus
from softrobot_dynamics.bodies.cosserat.sections.contract import (
    CrossSection,
    RodMaterial,
    SECTIONS,
)
from softrobot_dynamics.bodies.cosserat.strains import (
    RestStrain,
    strain_bases,
    strain_damping,
    strain_reference,
    widened,
)
from softrobot_dynamics.bodies.material_points import points_along
from softrobot_dynamics.bodies.released_strains import by_names, Released, STRAINS
from softrobot_dynamics.bodies.section_body import SectionBody
from softrobot_dynamics.compiling.jit import Kernel
from softrobot_dynamics.kernels.lanes import LANES
from softrobot_dynamics.kernels.quadrature import composite
from softrobot_dynamics.schema.fields import flag, integer, member, number
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from softrobot_dynamics.tracing.emit import BLOCK

# R row by row, then the origin
_IDENTITY_FRAME = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0]


@register('cosserat')
@dataclass(frozen=True)
class Cosserat(SectionBody):
    """
    A rod of rigid sections; q = coefficients of its strains [1/m or -], e.g. `kappa_x_0`.

    The strain xi = (kappa, gamma) = reference_strain + sum phi_k(s / L) q_k bends the backbone
    frame, dT/ds = T hat(xi), which is integrated from one of the ``quadrature`` Gauss points to
    the next by a Magnus step of fourth order, exactly where the strain is constant. Pieces of
    bases that jump have ``quadrature`` points each. Steps may turn by 3.6 rad, so that a rod may
    turn by 2 pi whatever its quadrature. A straight thin rod (section_inertia: false) has no
    inertia in torsion. A section of rigidities takes the place of density and moduli.
    """

    length: float = number('m', above=0.0)
    section: CrossSection = member(SECTIONS)
    strains: tuple[tuple[int, Basis], ...] = strain_bases()
    density: float | None = number('kg/m^3', above=0.0, default=None)
    young_modulus: float | None = number('Pa', above=0.0, default=None)
    reference_strain: tuple[Any, ...] = strain_reference()
    poisson_ratio: float = number('-', above=-1.0, at_most=0.5, default=0.5)
    shear_correction: float = number('-', above=0.0, default=1.0)
    damping: float | tuple[float, ...] = strain_damping()
    section_inertia: bool = flag(default=True)
    quadrature: int = integer(at_least=1, default=10)

    traceable = False  # as many exponentials as points: too long a formula to compile

    def coordinates(self) -> tuple[str, ...]:
        """See :class:`Body`."""
        return tuple(
            f'{STRAINS[c]}_{k}' for c, basis in self.strains for k in range(basis.count())
        )

    def strain(self, sigma: Value, q: Values, math: Math) -> Values:
        """Strain xi (6 values) [1/m, -] at sigma = s / L [-]."""
        return self._combined(self._functions(sigma, math), q)

    def fibre_speed(self, x: Values, derivative: Values, q: Values, math: Math) -> Value:
        """|gamma + kappa x d + d'| of the offset d = (x1, x2, 0) in the section frame."""
        u = self._fibre_velocity(x, derivative, q, math)
        return math.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])

    def fibre_pieces(self, curve: PlaneCurve, start: float, end: float) -> Sequence[float]:
        """Return the ends, and the places between them where a strain jumps."""
        return start, *(b for b in self._breaks() if start < b < end), end

    def material_points(self) -> tuple[Matrix, Vector]:
        """
        Points (K, 3) [m] and masses (K,) [kg] of the sections that the kernel knows as discs.

        With section inertia three points stand for each, with its mass, centre and second moments.
        """
        _, sigma, masses, second_x, second_y = self._sections()
        at, masses = masses > 0.0, masses[masses > 0.0]
        s, zero = self.length * sigma[at], 0.0 * masses
        if not self.section_inertia:
            return np.column_stack([zero, zero, s]), masses
        points = triples(s, second_x[at] / masses, second_y[at] / masses)
        return points, np.repeat(masses / 3.0, 3)

    def outline(self, sigma: float) -> Matrix:
        """See :class:`CrossSection`."""
        return self.section.outline(sigma, self._material())

    def stiffness(self) -> Matrix:
        """Integral of Phi^T diag(E Ix, E Iy, G J, k G A, k G A, E A) Phi along the rod."""
        count = 16 + 4 * len(self.coordinates())
        sigma, weights = composite((0.0, *self._breaks(), 1.0), count)
        rigidity = weights * rows_of(self.section.rigidity(sigma, self._material()), sigma)
        phi, of = rows_of(self._functions(sigma, NUMERIC)[6:], sigma), np.array(self._owners())
        K = self.length * np.where(of[:, None] == of, (phi * rigidity[of]) @ phi.T, 0.0)
        return 0.5 * (K + K.T)

    def damping_matrix(self) -> Matrix:
        """Return the stiffness, each strain's times its ``damping`` [s]."""
        return np.broadcast_to(self.damping, 6)[self._owners(), None] * self.stiffness()

    def finer(self) -> Body | None:
        """Return the rod with a finer basis for every strain that has one."""
        strains = tuple((c, basis.finer() or basis) for c, basis in self.strains)
        return replace(self, strains=strains) if strains != self.strains else None

    def omitted_strains(self) -> tuple[str, ...]:
        """See :class:`Body`: those that the section has rigidities for."""
        own, material = {c for c, _ in self.strains}, self._material()
        others = (name for c, name in enumerate(STRAINS) if c not in own)
        return tuple(n for n in others if not any(self.section.validate_in(material, [n])))

    def with_strains(self, orders: Mapping[str, int]) -> Released:
        """See :class:`Body`."""
        strains = widened(self.strains, orders)
        points = max(self.quadrature, *(basis.count() for _, basis in strains))
        body = replace(self, strains=strains, quadrature=points)
        return by_names(body, self.coordinates())

    def kernel(self) -> Kernel:
        """Return the march of :mod:`softrobot_dynamics.bodies.cosserat.rod`."""
        low, high, *inertia = self._sections()
        n = len(self.coordinates())
        table, varying, varies = self._table(inertia, low, high)
        heading = [n, len(low), varying, *self._owners(), *varies]
        matrices = np.ravel(self.stiffness()), np.ravel(self.damping_matrix())
        numbers = np.concatenate([heading, *matrices, table])
        return Kernel(rod.__name__, 'rod_terms', numbers, rod.scratch_size(n))

    def derivatives_kernel(self) -> Kernel:
        """Return the kernel of derivatives (:mod:`.rod_derivatives`), of the same numbers."""
        P = self.kernel().parameters
        return Kernel(
            rod_derivatives.__name__, 'rod_derivatives', P, rod_derivatives.scratch_size(P)
        )

    def points_kernel(self, points: Matrix) -> Kernel:
        """See :class:`Body`; points at 0 <= x3 <= length."""
        n, padding = len(self.coordinates()), -len(points) % BLOCK
        x1, x2, s = np.pad(points_along(points, self.length), ((0, padding), (0, 0)), 'edge').T
        low, high, _ = march((0.0, *self._breaks(), 1.0), self.quadrature)
        start = np.searchsorted(high[:-1], s / self.length)
        steps, some, each = self._table(np.zeros((3, len(low))), low, high)
        table, more, others = self._table([start, x1, x2], low[start], s / self.length)
        varies = np.logical_or(each, others)
        heading = [n, len(low), some or more, len(s) // LANES, *self._owners(), *varies]
        numbers = np.concatenate([heading, steps, table])
        scratch = rod_points.scratch_size(n, len(low))
        return Kernel(rod_points.__name__, 'values', numbers, scratch)

    def fibre_kernel(self, points: Matrix, derivatives: Matrix, weights: Vector) -> Kernel:
        """See :class:`Body`; the tangent of the curve in the section frame is linear in q."""
        x, derivatives = np.transpose(points), np.transpose(derivatives)
        n, padding = len(self.coordinates()), -len(weights) % LANES
        still = rows_of(self._fibre_velocity(x, derivatives, np.zeros(n), NUMERIC), x[2])
        columns = [
            rows_of(self._fibre_velocity(x, derivatives, unit, NUMERIC), x[2]) - still
            for unit in np.eye(n)
        ]
        rows = np.pad(np.vstack([still, *columns]), ((0, 0), (0, padding)), mode='edge')
        rows = np.vstack([np.pad(weights, (0, padding)), rows])
        table = rows.reshape(len(rows), -1, LANES).transpose(1, 0, 2)
        numbers = np.concatenate([[n, len(table)], table.ravel()])
        return Kernel(rod_fibre.__name__, 'rod_fibre', numbers, rod_fibre.SCRATCH)

    def stretch(self, q: Vector) -> float:
        """Return the smallest gamma_z at quadrature points and ends, of the reference's."""
        sigma = np.concatenate([[0.0], self._sections()[1]])
        values = self._functions(sigma, NUMERIC)
        return float(np.min(self._combined(values, q)[5] / values[5]))

    def explain(self, q: Vector) -> str | None:
        """Return in words why the strains q (n,) are too large, or None."""
        if not (stretch := self.stretch(q)) > 0.0:
            return f'strains that leave every part a length > 0, not {stretch:.3g} of its own'
        low, high, *_ = self._sections()
        turns = np.linalg.norm(self._logarithm(low, high, q, NUMERIC)[:3], axis=0)
        if not turns.max() > MAX_STEP_ROTATION:
            return None
        return (
            f'strains that turn it by less than {MAX_STEP_ROTATION:.3g} rad from one point of its '
            f'quadrature to the next, not {turns.max():.3g}'
        )

    def validate(self) -> Complaints:
        """Yield missing fields of the section, and bases too large for the quadrature."""
        strains = [STRAINS[c] for c, _ in self.strains]
        yield from self.section.validate_in(self._material(), strains)
        pieces = len(self._breaks()) + 1
        for c, basis in self.strains:
            needed = -(-basis.count() // pieces)
            if self.quadrature < needed:
                what = f'{STRAINS[c]} has {basis.count()} functions'
                yield 'quadrature', self.quadrature, f'a whole number >= {needed}: {what}'

    def _material(self) -> RodMaterial:
        """Return density and elastic constants of the sections."""
        return RodMaterial(
            self.density, self.young_modulus, self.poisson_ratio, self.shear_correction
        )

    def _owners(self) -> list[int]:
        """Index of the strain that each coordinate belongs to."""
        return [c for c, basis in self.strains for _ in range(basis.count())]

    def _breaks(self) -> tuple[float, ...]:
        """Points within (0, 1) where a strain jumps."""
        given = [b for _, b in self.strains]
        given += [r.basis for r in self.reference_strain if isinstance(r, RestStrain)]
        return tuple(sorted({point for basis in given for point in basis.breaks()}))

    def _sections(self) -> tuple[Any, ...]:
        """
        Return steps and sections, arrays (K,): sigma at a step's start and at its end.

        Then the mass there [kg] and its second moments along x and y [kg m^2]: a quadrature point,
        or the end of a piece, without mass.
        """
        low, high, weights = march((0.0, *self._breaks(), 1.0), self.quadrature)
        mass, Ix, Iy = self.section.line_mass(high, self._material())
        line = self.length * weights
        thick = line * self.section_inertia
        return low, high, line * mass, thick * Iy, thick * Ix

    def _table(
        self, first: Matrix | Sequence[Vector], low: Vector, high: Vector
    ) -> tuple[Any, ...]:
        """
        Return a table of steps for the kernels, flat: of each three rows, then its moments.

        Then whether strains vary within steps, and whether the functions of each (6,) do.
        """
        of, padding = self._owners(), -len(low) % LANES
        mean, derivative = (rows_of(v, low) for v in self._moments(low, high, NUMERIC))
        rows = np.vstack([*first, mean[:6], derivative[:6], mean[6:], derivative[6:]])
        rows = np.pad(rows, ((0, 0), (0, padding)))  # steps of no length
        varies: Any = derivative[6:].any(axis=1)
        strains = [any(v for v, c in zip(varies, of) if c == i) for i in range(6)]
        table = rows.reshape(len(rows), -1, LANES).transpose(1, 0, 2)
        return table.ravel(), derivative.any(), strains

    def _functions(self, sigma: Value, math: Math) -> Values:
        """Values at sigma of the reference strain (6), then of each coordinate's function (n)."""
        values = [
            r.at(sigma, math) if isinstance(r, RestStrain) else r for r in self.reference_strain
        ]
        return [*values, *(phi for _, basis in self.strains for phi in basis.at(sigma, math))]

    def _combined(self, values: Values, q: Values) -> Values:
        """Six strains, or moments of them, from values as :meth:`_functions` orders them."""
        strain = list(values[:6])
        for c, phi, coordinate in zip(self._owners(), values[6:], q):
            strain[c] = strain[c] + phi * coordinate
        return strain

    def _fibre_velocity(self, x: Values, derivative: Values, q: Values, math: Math) -> Values:
        """Return the derivative (3 values) of a curve by x3, in the section frame."""
        return fibre_velocity(self.strain(x[2] / self.length, q, math), x, derivative)

    def _moments(self, low: Value, high: Value, math: Math) -> tuple[Any, Any]:
        """Return the :func:`moments` of what :meth:`_functions` returns."""
        return moments(lambda sigma: self._functions(sigma, math), low, high, self.length)

    def _logarithm(self, low: Value, high: Value, q: Values, math: Math) -> Any:
        """Twist Omega (6 values) of Magnus' fourth-order step: T(high) = T(low) exp(Omega)."""
        return magnus(*(self._combined(v, q) for v in self._moments(low, high, math)))

    def _frame(self, sigma: Value, q: Values, math: Math) -> FrameFormula:
        """Frame at sigma: the product of all steps up to there, the last one cut short."""
        frame: FrameFormula = _IDENTITY_FRAME
        low, high, _ = march((0.0, *self._breaks(), 1.0), self.quadrature)
        for a, b in zip(low.tolist(), high.tolist()):
            end = a + (sigma - a) * math.step(sigma - a) - (sigma - b) * math.step(sigma - b)
            frame = compose(frame, exponential(self._logarithm(a, end, q, math), math))
        return frame
