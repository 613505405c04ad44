# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A body made in Python of a formula and numbers, without a class of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import FrameFormula, Math, Matrix, Value, Values, Vector
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.bodies.formula_recording import Recorder, valued
from softrobot_dynamics.materials.contract import Material
from softrobot_dynamics.tracing import traversal
from softrobot_dynamics.tracing.graph import Node, Symbol, symbols


@dataclass(frozen=True)
class _Formulas(Body):
    """Recorded formulas of a custom body, which are compiled; equal if they compute the same."""

    names: tuple[str, ...]
    length: float
    place: tuple[Node, ...]  # nodes of the position, in x and q
    frame: tuple[Node, ...]  # nodes of the tip frame, nine and three, in q
    strain: tuple[Node, ...]  # node of the energy density, in F; or empty
    density: float | None
    viscous: Value | None

    type_name = 'custom'

    def coordinates(self) -> tuple[str, ...]:
        return self.names

    def position(self, x: Values, q: Values, math: Math) -> Values:
        return traversal.evaluate(self.place, valued('x', x) | valued('q', q), math)

    def tip_frame(self, q: Values, math: Math) -> FrameFormula:
        values = traversal.evaluate(self.frame, valued('q', q), math)
        return values[:9], values[9:]

    def energy(self, F: Sequence[Values], math: Math) -> Value | None:
        values = traversal.evaluate(self.strain, valued('F', [c for row in F for c in row]), math)
        return values[0] if values else None

    def viscosity(self) -> Value | None:
        return self.viscous


class CustomBody(Body):
    """
    A body p = f(x, q) given by the function ``position`` and by numbers.

    In the dict description of a robot it stands where else the mapping of a body does. Its
    formulas are called here, once, and recorded: what they refer to may change afterwards. Another
    formula, or another number within one, is compiled anew; points, masses, stiffness and damping
    are not compiled. For a type that robot files can name write a class (docs/bodies.md).

    - ``position(x, q, math)``: position (3) [m] in the joint frame S_J of the material point x (3)
      [m], which is its place at rest, at the coordinates q (n); functions are those of ``math``.
    - ``coordinates``: names (n). ``length`` [m]: how far tendons run along x3.
    - ``points`` (K, 3) [m] and ``masses`` (K,) [kg]: the material points.
    - ``tip``: three material points (3, 3) [m], the centre of the last section and two beside it,
      default (0, 0, L), (L, 0, L), (0, L, L); or a function ``tip(q, math)`` that returns nine
      entries of a rotation, row-major, and three of an origin [m].
    - ``stiffness``: K (n, n) or its diagonal (n,), default 0; ``damping``: D likewise, or a number
      [s], D = damping K.
    - ``energy``: a material, or a function ``energy(F, math)``, the strain energy density [J/m^3]
      of F = dp/dx, three rows of three. It takes the ``density`` [kg/m^3], for dV = dm / density,
      and perhaps a ``viscosity`` [Pa s], default the material's.
    - ``quadrature``: Gauss points of a tendon.

    The arguments are by name only, one for each method of :class:`~.contract.Body` that a class of
    its own would have. Raises ArgumentError.
    """

    type_name = 'custom'
    length: float
    density: float | None

    def __init__(
        self,
        *,
        position: Callable[..., Any],
        coordinates: Sequence[str] | int,
        length: ArrayLike,
        points: ArrayLike,
        masses: ArrayLike,
        tip: ArrayLike | Callable[..., Any] | None = None,
        stiffness: ArrayLike = 0.0,
        damping: ArrayLike = 0.0,
        energy: Material | Callable[..., Value] | None = None,
        density: float | None = None,
        viscosity: Value | None = None,
        quadrature: int = 10,
    ) -> None:
        record = Recorder(f'CustomBody {getattr(position, "__qualname__", position)}')
        names = record.names('coordinates', coordinates)
        n, q = len(names), symbols('q', len(names))
        self.length = float(record.array('length', length, (), above=0.0))
        self.quadrature = record.count('quadrature', quadrature)
        place = record.formula('position', position, (symbols('x', 3), q), (3,))
        self._points = record.array('points', points, (None, 3))
        self._masses = record.array('masses', masses, (len(self._points),), above=0.0)
        self._stiffness = record.matrix('stiffness', stiffness, n, np.zeros((n, n)))
        self._damping = record.matrix('damping', damping, n, self._stiffness)
        record.motion('position', place, self._points, self._masses, n)
        frame = record.tip('tip', self._last_section() if tip is None else tip, place, q)
        if isinstance(energy, Material):
            viscosity = energy.viscosity() if viscosity is None else viscosity
            energy = energy.energy
        strain = () if energy is None else record.energy('energy', energy)
        if strain:
            density = float(record.array('density', density, (), above=0.0))
        self.density = density
        self._formulas = _Formulas(names, self.length, place, frame, strain, density, viscosity)

    def coordinates(self) -> tuple[str, ...]:
        """Return the names given."""
        return self._formulas.names

    def position(self, x: Values, q: Values, math: Math) -> Values:
        """Evaluate the recorded formula."""
        return self._formulas.position(x, q, math)

    def tip_frame(self, q: Values, math: Math) -> FrameFormula:
        """Evaluate the recorded formula, or that of the three points."""
        return self._formulas.tip_frame(q, math)

    def energy(self, F: Sequence[Values], math: Math) -> Value | None:
        """Evaluate the recorded formula; None without one."""
        return self._formulas.energy(F, math)

    def viscosity(self) -> Value | None:
        """Return the number given, or the material's."""
        return self._formulas.viscous

    def material_points(self) -> tuple[Matrix, Vector]:
        """Return the points and masses given."""
        return self._points, self._masses

    def stiffness(self) -> Matrix:
        """Return the matrix given."""
        return self._stiffness

    def damping_matrix(self) -> Matrix:
        """Return the matrix given."""
        return self._damping

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CustomBody) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash(self._value())

    def _symbolic(self) -> tuple[Any, dict[Symbol, float]]:
        return self._formulas, {}

    def _value(self) -> tuple[object, ...]:
        arrays = self._points, self._masses, self._stiffness, self._damping
        return (self._formulas, self.quadrature, *(a.tobytes() for a in arrays))

    def _last_section(self) -> tuple[tuple[float, float, float], ...]:
        L = self.length
        return (0.0, 0.0, L), (L, 0.0, L), (0.0, L, L)
