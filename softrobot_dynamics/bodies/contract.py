# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Base class of bodies: a formula p = f(x, q), material points with masses, and a stress law.

Everything else, velocities, inertia, actuation, follows from the formula by tracing it once.
A body starts at its joint's distal frame S_J, in which all its formulas are written.
"""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
from typing import Any, cast, ClassVar, TYPE_CHECKING, TypeAlias

import numpy as np
from softrobot_dynamics.annotations import FrameFormula, Math, Matrix, Value, Values, Vector
from softrobot_dynamics.bodies import tracing
from softrobot_dynamics.bodies.frames import frame_of_points
from softrobot_dynamics.bodies.released_strains import Released
from softrobot_dynamics.bodies.skins import circle, EMPTY_SURFACE, Surface, tube
from softrobot_dynamics.compiling.cache import load_module
from softrobot_dynamics.compiling.jit import Kernel
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.schema.registry import needed, Registry, required
from softrobot_dynamics.tracing import graph, programs
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from softrobot_dynamics.tracing.differentiate import tangent
from softrobot_dynamics.tracing.graph import Symbol
from softrobot_dynamics.tracing.programs import TracedKernel

BODIES = Registry('body', 'softrobot_dynamics.bodies', 'softrobot_dynamics.bodies')
register = BODIES.register

PlaneCurve: TypeAlias = Callable[[Vector], Matrix]

_DIFFERENCE_STEP, _AXES = 1e-6, np.eye(3)  # step of central differences [size of the body]


@dataclasses.dataclass(frozen=True)
class Body:
    """
    Base of all bodies: subclass it as a frozen dataclass and ``@register`` a name.

    A subclass must have a field ``length`` [m] or override :meth:`tip_frame`. In its formulas each
    float field of ``self`` is a symbol, so that numbers change without compiling again.
    """

    type_name = 'unregistered'
    quadrature = cast(Any, 10)  # Gauss points of a tendon along the body, at least; may be a field
    section_path = True  # tendons run at section offsets along s; False: through given points
    tabulated = False  # True: the position is known at points given as numbers only
    traceable = True  # False: the formula is too long to compile; the kernels are by hand
    has_cavity: ClassVar[Any] = False  # True: a pressure can act in it, see cavity_kernel
    inner_radius = cast(Any, 0.0)  # [m] of a hole along its sections; may be a field

    if TYPE_CHECKING:  # what those subclasses have whose methods ask for it

        @property
        def length(self) -> Value:
            """Length along z [m]."""

        @property
        def density(self) -> Value:
            """Mass per volume [kg/m^3]."""

    @required
    def coordinates(self) -> tuple[str, ...]:
        """Names of the generalized coordinates."""
        raise NotImplementedError

    @required
    def position(self, x: Values, q: Values, math: Math) -> Values:
        """Position (3 values) [m] in S_J of material point x = (x1, x2, x3) [m]; the formula."""
        raise NotImplementedError

    @required
    def material_points(self) -> tuple[Matrix, Vector]:
        """Material points (K, 3) [m] and their masses (K,) [kg]."""
        raise NotImplementedError

    def energy(self, F: Sequence[Values], math: Math) -> Value | None:
        """
        Strain energy density psi [J/m^3] of F = dp/dx, three rows of three; None if there is none.

        The elastic force is then the gradient of the energy, besides that of :meth:`stiffness`.
        A volume is dV = dm / ``density``, so a body with an energy has that field.
        """
        return None

    def viscosity(self) -> Value | None:
        """Viscosity v [Pa s] of the damping v/2 int tr(dC/dt dC/dq_j) dV; None for none."""
        return None

    def stiffness(self) -> Matrix:
        """Constant stiffness matrix K (n, n): elastic force K q."""
        return np.zeros((len(self.coordinates()),) * 2)

    def damping_matrix(self) -> Matrix:
        """Constant damping matrix D (n, n), force D qd: the field ``damping`` [s] times K."""
        return getattr(self, 'damping', 0.0) * np.asarray(self.stiffness())

    @needed
    def cavity_kernel(self) -> Kernel:
        """Return the :class:`Kernel` of the cavity's volume [m^3], as ``fibre_kernel``'s."""
        raise NotImplementedError

    def explain(self, q: Vector) -> str | None:
        """Say in words why the body cannot take the coordinates q (n,); None if it can."""
        return None

    def stretch(self, q: Vector) -> float:
        """
        Smallest factor [-] by which matter is longer (rods) or larger (solids) than at rest.

        1 at q = 0 (n,). The formulas may hold beyond, but a body with one that is not > 0 is
        turned inside out: no posture to come to rest in. Here det dp/dx at the material points,
        by central differences.
        """
        points = self.material_points()[0]
        step = _DIFFERENCE_STEP * np.abs(points).max()
        with np.errstate(all='ignore'):
            columns = [
                self._moved(points + e, q) - self._moved(points - e, q) for e in step * _AXES
            ]
            return float(np.linalg.det(np.stack(columns, axis=-1) / (2.0 * step)).min())

    def finer(self) -> 'Body | dict[str, Any] | None':
        """
        Return the body of the same assumptions that may take more shapes; None if there is none.

        As it may stand in a robot's description: what reports compare this one with.
        """
        return None

    def omitted_strains(self) -> tuple[str, ...]:
        """Return the strains of a rod that it locks, of those whose rigidities are known."""
        return ()

    def with_strains(self, orders: Mapping[str, int]) -> Released:
        """
        Return the :class:`.Released` rod whose strains are polynomials of at least these orders.

        ArgumentError if it is no rod of sections, or a strain's basis has no order.
        """
        raise ArgumentError('strains', tuple(orders), f'a rod of sections, not {self.type_name}')

    def outline(self, sigma: float) -> Matrix:
        """
        Points (P, 2) [m] around the section at sigma = s / L, in order from x to y, to be drawn.

        Here a circle of the field ``radius`` or, without one, through the farthest of the material
        points.
        """
        radius = getattr(self, 'radius', None)
        if radius is None:
            radius = np.hypot(*self.material_points()[0].T[:2]).max()
        base, tip = np.broadcast_to(radius, 2)
        return circle(base + (tip - base) * sigma)

    def skin(self) -> Surface:
        """Return the material points and triangles of its surface; none without sections."""
        return tube(self) if self.section_path else EMPTY_SURFACE

    def tip_frame(self, q: Values, math: Math) -> FrameFormula:
        """
        Tip frame in S_J: (nine entries of the rotation, row-major; three of the origin [m]).

        Here from three material points by Gram-Schmidt [P, (5)-(7)]: the contact disc may deform.
        """
        L = self.length
        points = ((0.0, 0.0), (L, 0.0), (0.0, L))
        o, a, b = (self.position((x, y, L), q, math) for x, y in points)
        return frame_of_points(o, a, b, math)

    def fibre_pieces(self, curve: PlaneCurve, start: float, end: float) -> Sequence[float]:
        """
        Return s / L from ``start`` to ``end``, between each two of which a curve stays smooth.

        ``curve`` gives the places (K, 2) [m] in the sections at s / L (K,), at rest.
        """
        return start, end

    def fibre_count(self, pieces: int) -> int:
        """Return how many Gauss points, at least, measure each of the ``pieces`` of a curve."""
        return int(self.quadrature)

    def fibre_speed(self, x: Values, derivative: Values, q: Values, math: Math) -> Value:
        """Length per unit of x3 of the material curve x(x3) with derivative (dx1/dx3, dx2/dx3)."""
        along = {('x', 0): derivative[0], ('x', 1): derivative[1], ('x', 2): 1.0}
        velocity = tangent([graph.as_node(c) for c in self.position(x, q, math)], along)
        return math.sqrt(sum((c * c for c in velocity[1:]), start=velocity[0] * velocity[0]))

    def kernel(self) -> Kernel:
        """
        Return the :class:`Kernel` of this body's terms, see ``programs.body_terms``.

        Raises ArgumentError if the formula cannot be traced.
        """
        symbolic, constants = self._symbolic()
        tracing.require_traceable(symbolic, type(self))
        traced = tracing.terms(symbolic)
        table = traced.tables.table(*self.material_points(), constants)
        return self._kernel(traced, 'terms', self._matrices(), table, constants)

    def derivatives_kernel(self) -> Kernel | None:
        """
        Return the :class:`Kernel` of derivatives, see ``derivatives.body_derivatives``.

        None where there is none: the body is then differenced.
        """
        if type(self).kernel is not Body.kernel:
            return None
        return self._traced_derivatives(*self.material_points())

    def _traced_derivatives(self, points: Matrix, masses: Vector) -> Kernel | None:
        """Return the kernel that sums over points (K, 3) [m]; None if it is too long."""
        symbolic, constants = self._symbolic()
        traced = tracing.body_derivatives(symbolic)
        if traced is None:
            return None
        table = traced.tables.table(points, masses, constants)
        return self._kernel(traced, 'derivatives', self._matrices(), table, constants)

    def fibre_kernel(self, points: Matrix, derivatives: Matrix, weights: Vector) -> Kernel:
        """
        Return the :class:`Kernel` of the length of a material curve through this body.

        ``points`` (K, 3) [m], ``derivatives`` (K, 2) and ``weights`` (K,) [m] discretise it in x3;
        see ``programs.fibre_length``.
        """
        symbolic, constants = self._symbolic()
        traced = tracing.fibre_length(symbolic)
        table = traced.tables.table(np.hstack([points, derivatives]), weights, constants)
        return self._kernel(traced, 'length', np.zeros(0), table, constants)

    def length_hessians(
        self, points: Matrix, derivatives: Matrix, weights: Vector
    ) -> Kernel | None:
        """
        Return the :class:`Kernel` ``hessians(P, q, out, S)`` of a curve as in `fibre_kernel`.

        It fills out (n n,) with the second derivatives of the length by q. None where there is
        none: they are then made of biases, of one coordinate and of two.
        """
        return None

    def points_kernel(self, points: Matrix) -> Kernel:
        """
        Return the :class:`Kernel` of material points (K, 3) [m], see ``programs.point_values``.

        What depends on the points alone is in its numbers. ArgumentError for a point that is none
        of this body's.
        """
        symbolic, constants = self._symbolic()
        traced = tracing.point_values(symbolic)
        table = traced.tables.table(points, np.ones(len(points)), constants)
        return self._kernel(traced, 'values', np.zeros(0), table, constants)

    def _matrices(self) -> Vector:
        """K and D, one after the other."""
        return np.concatenate([np.ravel(self.stiffness()), np.ravel(self.damping_matrix())])

    def _kernel(
        self,
        traced: TracedKernel,
        function: str,
        matrices: Vector,
        table: Vector,
        constants: dict[Symbol, float],
    ) -> Kernel:
        """Return the kernel of traced terms or derivatives, with the numbers that it reads."""
        rows = (len(traced.tables.rows) + 1) * programs.BLOCK
        parameters = np.concatenate(
            [[len(table) // rows], matrices, traced.tables.numbers(constants), table]
        )
        module = load_module(traced.source, f'{self.type_name}_{function}')
        return Kernel(module.__name__, function, parameters, traced.scratch)

    def _moved(self, points: Matrix, q: Vector) -> Matrix:
        """Positions (K, 3) [m] of material points (K, 3) [m] at q (n,), in numpy."""
        place = self.position(points.T, [float(a) for a in q], NUMERIC)
        return np.stack([np.broadcast_to(c, len(points)) for c in place], axis=-1)

    def _symbolic(self) -> tuple[Any, dict[Symbol, float]]:
        """Return this body with symbols for its float fields, and {symbol: value} of them."""
        constants: dict[Symbol, float] = {}
        return tracing.replaced_fields(self, constants), constants
