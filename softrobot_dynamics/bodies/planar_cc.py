# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Planar constant curvature without elongation, in closed form."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from softrobot_dynamics.compiling.jit import inlined, Kernel, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.functions import stumpff_doubled, stumpff_family
from softrobot_dynamics.kernels.quadrature import gauss_legendre, rod_points
from softrobot_dynamics.schema.fields import flag, integer, number

_GAUSS_NODES = 16  # for derivatives


@register('planar_cc')
@dataclass(frozen=True)
class PlanarConstantCurvature(SectionBody):
    """
    An inextensible rod bending in the x-z plane; q = bend_x [rad], positive towards +x.

    All integrals are exact, in Stumpff functions c_k of q^2 and (2 q)^2. These are entire, so the
    expressions hold at q = 0 as they stand (the paper's, in powers of 1/q, cancel
    catastrophically there). ``quadrature`` matters for tendons only. The paper's toy coordinate is
    q = -bend_x.
    """

    length: float = number('m', above=0.0)
    radius: float = number('m', above=0.0)
    density: float = number('kg/m^3', above=0.0)
    young_modulus: float = number('Pa', above=0.0)
    damping: float = number('s', at_least=0.0, default=0.0)
    section_inertia: bool = flag(default=True)
    quadrature: int = integer(at_least=1, default=10)

    def coordinates(self) -> tuple[str, ...]:
        """See :class:`Body`."""
        return ('bend_x',)

    def position(self, x: Values, q: Values, math: Math) -> Values:
        """Return p: the formula from which tendons and the oracle of the closed form are made."""
        rotation, origin = self._frame(x[2] / self.length, q, math)
        return [origin[0] + rotation[0] * x[0], x[1], origin[2] + rotation[6] * x[0]]

    def fibre_speed(self, x: Values, derivative: Values, q: Values, math: Math) -> Value:
        """|gamma + kappa x d + d'| of the offset d = (x1, x2, 0) in the section frame."""
        axial = 1.0 - q[0] * x[0] / self.length
        return math.sqrt(
            axial * axial + derivative[0] * derivative[0] + derivative[1] * derivative[1]
        )

    def material_points(self) -> tuple[Matrix, Vector]:
        """See :func:`softrobot_dynamics.kernels.quadrature.rod_points`."""
        return rod_points(
            self.length,
            (self.radius, self.radius),
            self.density,
            self.quadrature,
            self.section_inertia,
        )

    def stiffness(self) -> Matrix:
        """E I / L."""
        return np.array([[self.young_modulus * np.pi / 4 * self.radius**4 / self.length]])

    def stretch(self, q: Vector) -> float:
        """Return 1: the axis keeps its length."""
        return 1.0

    def finer(self) -> dict[str, Any]:
        """Return a rod in the same plane whose curvature is a parabola along it."""
        finer: dict[str, Any] = self.with_strains({'kappa_y': 2}).body
        return finer

    def omitted_strains(self) -> tuple[str, ...]:
        """See :class:`Body`."""
        return tuple(name for name in STRAINS if name != 'kappa_y')

    def with_strains(self, orders: Mapping[str, int]) -> Released:
        """See :class:`Body`."""
        same = 'length', 'density', 'young_modulus', 'damping', 'section_inertia', 'quadrature'
        fields = {name: getattr(self, name) for name in same}
        fields['section'] = {'type': 'circular', 'radius': self.radius}
        return as_cosserat(fields, {'kappa_y': OwnCoordinate(0, 1.0 / self.length)}, orders)

    def kernel(self) -> Kernel:
        """Return the closed form."""
        mass = self.density * np.pi * self.radius**2 * self.length
        section = mass * self.radius**2 / 4 if self.section_inertia else 0.0
        stiffness, damping = self.stiffness()[0, 0], self.damping_matrix()[0, 0]
        return Kernel(
            __name__, 'planar_cc_terms', np.array([self.length, mass, section, stiffness, damping])
        )

    def derivatives_kernel(self) -> Kernel | None:
        """
        Return the traced kernel, with enough points that it is exact to rounding up to 8 rad.

        The relative error is 1e-10 at two turns; beyond 16 rad the result is of no use. Two points
        represent a section: inertia across the plane moves with the joint frame only.
        """
        s, weights = gauss_legendre(_GAUSS_NODES, 0.0, self.length)
        mass, x = 0.5 * self.density * np.pi * self.radius**2 * weights, 0.5 * self.radius
        column = np.column_stack([np.full_like(s, x * self.section_inertia), 0.0 * s, s])
        points = np.vstack([column, column * [-1.0, 1.0, 1.0]])
        return self._traced_derivatives(points, np.tile(mass, 2))

    def _frame(self, s: Value, q: Values, math: Math) -> FrameFormula:
        bend = s * q[0]
        half, cosine, sine = 0.5 * bend, math.cos(bend), math.sin(bend)
        chord = self.length * s * math.stumpff(1, half * half)  # at half the angle
        origin = [chord * math.sin(half), 0.0, chord * math.cos(half)]
        return [cosine, 0.0, sine, 0.0, 1.0, 0.0, -sine, 0.0, cosine], origin


class _Moments(NamedTuple):
    """Integrals over the body of p, J = dp/dq and p'' = d2p/dq2, vectors in the x-z plane."""

    first: tuple[float, float]  # int p dm: x, z
    first1: tuple[float, float]  # its derivative by q, int J dm
    first2: tuple[float, float]  # int p'' dm
    second: tuple[float, float, float, float]  # int p p^T dm: xx, yy, zz, xz
    mixed: tuple[float, float, float, float]  # int p J^T dm: xx, xz, zx, zz
    swing: float  # int (p x J)_y dm
    swing1: float  # its derivative by q
    own: float  # int J . J dm, the mass
    half_own1: float  # half its derivative by q


@kernel
def planar_cc_terms(P, q, qd, w, W, S):
    """Slab of a planar constant-curvature body; P: length, mass, mass r^2/4 (or 0), k, d."""
    L, mass, section, t = P[0], P[1], P[2], q[0]
    c = stumpff_family(t * t)
    moments = _moments(mass * L, mass * L * L, section, t, c)
    _frame(L, t, qd[0], c, W)
    _rigid_sums(mass, moments, W)
    _bias(qd[0], w, moments, W)
    coupling = layout.coupling_offset(1)
    W[coupling : coupling + 6] = 0.0
    W[coupling + 1] = moments.swing
    W[coupling + 3], W[coupling + 5] = moments.first1
    W[layout.mass_offset(1)] = moments.own
    elastic = layout.bias_offset(1) + 1
    W[elastic], W[elastic + 1] = P[3] * t, P[4] * qd[0]


@inlined
def _moments(first, line, section, t, c):
    """Moments at q = t: of the backbone by mass times length and its square, and the section's."""
    c0, c1, c2, c3, c4, c5, c6, c7 = c
    C1, C2, C3, C4, C5, C6, C7 = stumpff_doubled(c0, c1, c2, c3, c4, c5, c6, c7)
    z = t * t
    f, g = 2.0 * z * (C3 - C4), t * (C2 - C3)
    xx = line * 2.0 * z * (4.0 * C5 - c5) + section * 0.5 * (1.0 + C1)
    zz = line * 2.0 * C3 + section * 2.0 * z * C3
    xz = line * t * (4.0 * C4 - c4) - section * t * C2
    swing = line * (c3 - c4) + section * 0.5
    xz1 = line * (4.0 * C4 - c4 + z * (16.0 * (4.0 * C6 - C5) - (4.0 * c6 - c5))) + section * (
        2.0 * f - 0.5
    )
    mixed_xx = (
        line * t * (2.0 * (4.0 * C5 - c5) + z * (16.0 * (5.0 * C7 - C6) - (5.0 * c7 - c6)))
        - section * g
    )
    mixed_zz = line * 4.0 * t * (3.0 * C5 - C4) + section * g
    return _Moments(
        first=(first * t * c3, first * c2),
        first1=(first * (c3 + z * (3.0 * c5 - c4)), first * t * (2.0 * c4 - c3)),
        first2=(
            first * t * (3.0 * (3.0 * c5 - c4) + z * (15.0 * c7 - 7.0 * c6 + c5)),
            first * (2.0 * c4 - c3 + z * (8.0 * c6 - 5.0 * c5 + c4)),
        ),
        second=(xx, section, zz, xz),
        mixed=(mixed_xx, 0.5 * (xz1 - swing), 0.5 * (xz1 + swing), mixed_zz),
        swing=swing,
        swing1=line * t * (4.0 * c5 - c4 - 4.0 * c6),
        own=line * 2.0 * (c4 - 2.0 * c5) + section / 3.0,
        half_own1=line * t * (6.0 * c6 - c5 - 10.0 * c7),
    )


@kernel
def _frame(L, t, rate, c, W):
    """Tip frame: rotation by t about y at the end of the arc, c_k being those of t^2."""
    c0, c1, c2, c3, c4, c5, c6, _ = c
    z = t * t
    W[0:24] = 0.0
    W[0], W[2], W[4], W[6], W[8] = c0, t * c1, 1.0, -t * c1, c0
    W[9], W[11] = L * t * c2, L * c1
    W[15] = L * rate * rate * t * (3.0 * (2.0 * c4 - c3) + z * (8.0 * c6 - 5.0 * c5 + c4))
    W[17] = L * rate * rate * (c3 - c2 + z * (3.0 * c5 - 3.0 * c4 + c3))
    W[19] = 1.0
    W[21], W[23] = L * (c2 + z * (2.0 * c4 - c3)), L * t * (c3 - c2)


@kernel
def _rigid_sums(mass, moments, W):
    """Mass, first moment and inertia about S_J."""
    ten = W[layout.inertia_offset(1) : layout.inertia_offset(1) + 10]
    xx, yy, zz, xz = moments.second
    ten[0], ten[1], ten[2], ten[3] = mass, moments.first[0], 0.0, moments.first[1]
    ten[4], ten[5], ten[6] = yy + zz, xx + zz, xx + yy
    ten[7], ten[8], ten[9] = 0.0, -xz, 0.0


@kernel
def _bias(rate, w, moments, W):
    """Bias wrench and generalized bias: sums of a = w x (w x p) + 2 w x J qd + p'' qd^2."""
    w0, w1, w2 = w[0], w[1], w[2]
    twice, square = 2.0 * rate, rate * rate
    b = W[layout.wrench_offset(1) : layout.wrench_offset(1) + 6]
    # moment: -w x (S2 w) + 2 qd (w tr P2 - P2^T w) + qd^2 (0, swing', 0), of S2 = int p p^T dm
    # and P2 = int p J^T dm
    Sxx, Syy, Szz, Sxz = moments.second
    Pxx, Pxz, Pzx, Pzz = moments.mixed
    s0, s1, s2 = Sxx * w0 + Sxz * w2, Syy * w1, Sxz * w0 + Szz * w2
    trace = Pxx + Pzz
    b[0] = w2 * s1 - w1 * s2 + twice * (w0 * trace - Pxx * w0 - Pzx * w2)
    b[1] = w0 * s2 - w2 * s0 + twice * w1 * trace + square * moments.swing1
    b[2] = w1 * s0 - w0 * s1 + twice * (w2 * trace - Pxz * w0 - Pzz * w2)
    # force: w x (w x h) + 2 qd w x h' + qd^2 h''
    (hx, hz), (hx1, hz1), (hx2, hz2) = moments.first, moments.first1, moments.first2
    u0, u1, u2 = w1 * hz + twice * hx1, w2 * hx - w0 * hz, -w1 * hx + twice * hz1
    b[3] = w1 * u2 - w2 * u1 + square * hx2
    b[4] = w2 * u0 - w0 * u2
    b[5] = w0 * u1 - w1 * u0 + square * hz2
    # generalized: w . P2 w - |w|^2 tr P2 + qd^2 M'/2
    W[layout.bias_offset(1)] = (
        w0 * (Pxx * w0 + Pxz * w2)
        + w2 * (Pzx * w0 + Pzz * w2)
        - (w0 * w0 + w1 * w1 + w2 * w2) * trace
        + square * moments.half_own1
    )
