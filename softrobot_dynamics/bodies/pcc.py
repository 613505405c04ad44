# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Spatial piecewise constant curvature with elongation."""

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import FrameFormula, Math, Matrix, Value, Values, Vector
from softrobot_dynamics.bodies.contract import register
from softrobot_dynamics.bodies.released_strains import (
    as_cosserat,
    OwnCoordinate,
    Released,
    STRAINS,
)
from softrobot_dynamics.bodies.section_body import SectionBody
from softrobot_dynamics.kernels.quadrature import gauss_legendre, rod_points
from softrobot_dynamics.schema.fields import flag, integer, number, profile
from softrobot_dynamics.tracing.emit import MAX_SERIES_ARGUMENT

# strain: (coordinate, sign)
_COORDINATE_STRAINS = {'kappa_x': (1, -1.0), 'kappa_y': (0, 1.0), 'gamma_z': (2, 1.0)}
"""Strains: the coordinate of each, and the sign with which it is divided by the length."""


@register('pcc')
@dataclass(frozen=True)
class PiecewiseConstantCurvature(SectionBody):
    """
    A rod of constant curvature and stretch; q = (bend_x [rad], bend_y [rad], elongation [m]).

    Strains kappa_y = bend_x / L, kappa_x = -bend_y / L, gamma_z = 1 + elongation / L: a positive
    bend_x bends towards +x. The frame is the exponential of the constant strain, written in
    Stumpff functions of the squared bend angle, which are entire: the straight posture is no
    special case. Valid for bends up to 8 rad.
    """

    length: float = number('m', above=0.0)
    radius: tuple[float, float] = profile('m', pointed=True)
    density: float = number('kg/m^3', above=0.0)
    young_modulus: float = number('Pa', above=0.0)
    poisson_ratio: float = number('-', above=-1.0, at_most=0.5, default=0.5)
    damping: float = number('s', at_least=0.0, default=0.0)
    section_inertia: bool = flag(default=True)
    quadrature: int = integer(at_least=1, default=10)

    def coordinates(self) -> tuple[str, ...]:
        """See :class:`Body`."""
        return 'bend_x', 'bend_y', 'elongation'

    def fibre_speed(self, x: Values, derivative: Values, q: Values, math: Math) -> Value:
        """|gamma + kappa x d + d'| of the offset d = (x1, x2, 0) in the section frame."""
        axial = (self.length + q[2] - q[0] * x[0] - q[1] * x[1]) / self.length
        return math.sqrt(
            axial * axial + derivative[0] * derivative[0] + derivative[1] * derivative[1]
        )

    def material_points(self) -> tuple[Matrix, Vector]:
        """See :func:`softrobot_dynamics.kernels.quadrature.rod_points`."""
        return rod_points(
            self.length, self.radius, self.density, self.quadrature, self.section_inertia
        )

    def stiffness(self) -> Matrix:
        """diag(E I, E I, E A) / L^2 integrated along the tapered section."""
        s, weights = gauss_legendre(10, 0.0, self.length)
        radius = self.radius[0] + (self.radius[1] - self.radius[0]) * s / self.length
        bending = self.young_modulus * weights @ (np.pi / 4 * radius**4) / self.length**2
        axial = self.young_modulus * weights @ (np.pi * radius**2) / self.length**2
        return np.diag([bending, bending, axial])

    def explain(self, q: Vector) -> str | None:
        """Return in words why q (n,) bends or shortens the rod too far; None if it does not."""
        if not q[2] > -self.length:
            return f'an elongation above {-self.length:.4g} m, not {q[2]:.4g}'
        largest = (
            math.sqrt(MAX_SERIES_ARGUMENT) * self.length / self.material_points()[0][:, 2].max()
        )
        bend = math.hypot(q[0], q[1])
        return None if bend <= largest else f'a bend of at most {largest:.3g} rad, not {bend:.3g}'

    def stretch(self, q: Vector) -> float:
        """Return the stretch of the axis [-]."""
        return 1.0 + float(q[2]) / self.length

    def finer(self) -> dict[str, Any]:
        """Return a rod whose curvatures and stretch vary quadratically along it."""
        finer: dict[str, Any] = self.with_strains(dict.fromkeys(_COORDINATE_STRAINS, 2)).body
        return finer

    def omitted_strains(self) -> tuple[str, ...]:
        """See :class:`Body`."""
        return tuple(name for name in STRAINS if name not in _COORDINATE_STRAINS)

    def with_strains(self, orders: Mapping[str, int]) -> Released:
        """See :class:`Body`."""
        same = ('length', 'density', 'young_modulus', 'poisson_ratio', 'damping',
                'section_inertia', 'quadrature')  # fmt: skip
        fields = {name: getattr(self, name) for name in same}
        fields['section'] = {'type': 'circular', 'radius': list(self.radius)}
        own = {
            name: OwnCoordinate(i, sign / self.length)
            for name, (i, sign) in _COORDINATE_STRAINS.items()
        }
        return as_cosserat(fields, own, orders)

    def _frame(self, s: Value, q: Values, math: Math) -> FrameFormula:
        """Rotation exp(s K) and origin at s = x3 / L; K = skew(-bend_y, bend_x, 0)."""
        bx, by = q[0], q[1]
        z = s * s * (bx * bx + by * by)
        c1, c2, c3 = (math.stumpff(k, z) for k in (1, 2, 3))
        u, v = s * c1, s * s * c2
        rotation = [
            1.0 - v * bx * bx,
            -v * bx * by,
            u * bx,
            -v * bx * by,
            1.0 - v * by * by,
            u * by,
            -u * bx,
            -u * by,
            math.stumpff(0, z),
        ]
        stretched = math.positive(self.length + q[2])
        return rotation, [stretched * v * bx, stretched * v * by, stretched * s * (1.0 - z * c3)]
