# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Record a user's formulas as expression graphs, and check them and the numbers beside them.

Every error is an ArgumentError that names the argument, its owner and what would be right.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Math, Matrix, Value, Values, Vector
from softrobot_dynamics.bodies.frames import frame_of_points
from softrobot_dynamics.errors import ArgumentError, closest
from softrobot_dynamics.schema.fields import NAME_PATTERN
from softrobot_dynamics.tracing import graph, traversal
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from softrobot_dynamics.tracing.differentiate import kinematic_derivatives, tangent
from softrobot_dynamics.tracing.graph import Node, Symbol, SYMBOLIC

FUNCTIONS = tuple(name for name in dir(SYMBOLIC) if name[0] != '_' and name != 'number')
"""Functions that the argument ``math`` of a formula offers."""

EXPECTED_FORMULA = (
    'a formula of +, -, *, /, ** and functions of its argument math, without branches on what it'
    ' is given'
)
PROBE_SIZE = 0.01  # [units of the coordinates] where a tip frame is tried


def valued(kind: str, values: Iterable[Any]) -> dict[Symbol, Any]:
    """Return {(kind, index): value}."""
    return {(kind, i): value for i, value in enumerate(values)}


class Recorder:
    """Reads formulas and numbers of the body `owner`; nodes of formulas are tuples."""

    def __init__(self, owner: str) -> None:
        self._owner = owner

    def wrong(self, argument: str, value: object, expected: str) -> ArgumentError:
        """Return the error of an argument."""
        return ArgumentError(f'{argument} of {self._owner}', value, expected)

    def names(self, argument: str, value: object) -> tuple[str, ...]:
        """Return a tuple of different names, at least one."""
        names = (value,) if isinstance(value, str) else tuple(cast(Iterable[str], value))
        good = [isinstance(name, str) and NAME_PATTERN.fullmatch(name) for name in names]
        if not names or not all(good) or len(set(names)) < len(names):
            raise self.wrong(argument, value, f'different names matching {NAME_PATTERN.pattern}')
        return names

    def count(self, argument: str, value: object) -> int:
        """Return a whole number > 0."""
        if not isinstance(value, int) or value < 1:
            raise self.wrong(argument, value, 'a whole number >= 1')
        return value

    def array(
        self, argument: str, value: object, shape: tuple[int | None, ...], above: float = -np.inf
    ) -> Array:
        """Return finite numbers as an array that stays; None in `shape` is any size but 0."""
        size = ', '.join('K' if each is None else str(each) for each in shape)
        words = f'finite numbers{"" if above < 0.0 else " > 0"} of shape ({size})'
        try:
            array = np.array(value, dtype=float)
        except (TypeError, ValueError):
            raise self.wrong(argument, value, words) from None
        fits = [a > 0 if b is None else a == b for a, b in zip(array.shape, shape)]
        if array.ndim != len(shape) or not all(fits):
            raise self.wrong(argument, value, f'{words}, not {array.shape}')
        if not (np.isfinite(array) & (array > above)).all():
            raise self.wrong(argument, value, words)
        array.flags.writeable = False
        return array

    def matrix(self, argument: str, value: ArrayLike, n: int, unit: Matrix) -> Matrix:
        """Return a symmetric matrix (n, n) given so, by its diagonal, or as a multiple of unit."""
        if np.ndim(value) == 0:
            return self.array(argument, value, ()) * np.asarray(unit, dtype=float)
        if np.ndim(value) == 1:
            return np.diag(self.array(argument, value, (n,)))
        matrix = self.array(argument, value, (n, n))
        if not np.array_equal(matrix, matrix.T):
            raise self.wrong(argument, value, f'a symmetric matrix ({n}, {n})')
        return matrix

    def formula(
        self,
        argument: str,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        sizes: tuple[int, ...],
    ) -> tuple[Node, ...]:
        """Return the nodes that a function makes of symbols, in parts of these sizes."""
        try:
            values = function(*arguments, SYMBOLIC)
            parts = [list(part) for part in (values if len(sizes) > 1 else [values])]
            found = tuple(map(len, parts))
            nodes = tuple(graph.as_node(value) for part in parts for value in part)
        except Exception as error:  # of the user's own code
            raise self._unrecorded(argument, function, error) from error
        if found != sizes:
            words = f'a formula that returns {" and ".join(map(str, sizes))} values, not'
            raise self.wrong(argument, function, f'{words} {" and ".join(map(str, found))}')
        return nodes

    def energy(self, argument: str, function: Callable[..., Any]) -> tuple[Node, ...]:
        """Return the node of an energy density of F, at rest where F is the identity."""
        F = graph.symbols('F', 9)

        def one(rows: Sequence[Values], math: Math) -> list[Value]:
            return [function(rows, math)]

        nodes = self.formula(argument, one, ([F[:3], F[3:6], F[6:]],), (1,))
        stress = [tangent(nodes, {s.value: 1.0})[0] for s in F]
        values = _evaluate([*nodes, *stress], valued('F', np.eye(3).ravel()))
        if not np.isfinite(values).all():
            raise self.wrong(argument, function, 'an energy and stress that are finite at F = 1')
        return nodes

    def motion(
        self, argument: str, place: Sequence[Node], points: Matrix, masses: Vector, n: int
    ) -> None:
        """Check that a position and its derivatives are numbers, and each coordinate moves it."""
        jacobian, bias = kinematic_derivatives(place, n)
        nodes = [*place, *(node for column in jacobian for node in column), *bias]
        given = valued('x', points.T) | valued('q', np.zeros(n)) | valued('qd', np.ones(n))
        values = np.array([np.broadcast_to(v, len(points)) for v in _evaluate(nodes, given)])
        wrong = np.argwhere(~np.isfinite(values).T)
        if len(wrong):
            k, row = wrong[0]
            what = ('p', *(f'dp/dq_{j + 1}' for j in range(n)), 'd2p/dq2')[row // 3]
            words = (
                f'finite values and derivatives at q = 0; {what} at x = {points[k].tolist()} is'
            )
            raise self.wrong(argument, values[row, k], f'{words} not')
        J = (np.sqrt(masses) * values[3:-3].reshape(n, 3, -1)).reshape(n, -1)
        scale = np.linalg.norm(J, axis=1)
        if not scale.all() or np.linalg.cond(J / scale[:, None]) > 1e7:
            words = 'coordinates that each move the points in a way of its own at q = 0'
            raise self.wrong(argument, scale, f'{words} (the mass matrix is singular)')

    def tip(
        self, argument: str, value: object, place: Sequence[Node], q: Sequence[Node]
    ) -> tuple[Node, ...]:
        """Return the nodes of a tip frame given as a function or by three material points."""
        if callable(value):
            nodes = self.formula(argument, value, (q,), (9, 3))
        else:
            nodes = self._frame_of_points(argument, value, place, q)
        for size in (0.0, PROBE_SIZE):
            given = valued('q', size * np.cos(np.arange(len(q))))
            numbers = np.array(_evaluate(nodes, given), dtype=np.float64)
            R = numbers[:9].reshape(3, 3)
            proper = np.abs(R @ R.T - np.eye(3)).max() < 1e-9 and np.linalg.det(R) > 0.0
            if not proper or not np.isfinite(numbers).all():
                words = 'nine entries of a rotation, row-major, and an origin, for all q'
                raise self.wrong(argument, value, words)
        return nodes

    def _frame_of_points(
        self, argument: str, value: object, place: Sequence[Node], q: Sequence[Node]
    ) -> tuple[Node, ...]:
        """Return the nodes of the frame of three material points (3, 3), one a row."""
        points = self.array(argument, value, (3, 3))
        at_rest = valued('x', points.T) | valued('q', np.zeros(len(q)))
        o, a, b = np.array([np.broadcast_to(c, 3) for c in _evaluate(place, at_rest)]).T
        area = np.linalg.norm(np.cross(a - o, b - o))
        if not area > 1e-9 * np.linalg.norm(a - o) * np.linalg.norm(b - o):
            words = 'three material points that are not on one line at q = 0'
            raise self.wrong(argument, value, words)
        moved = (traversal.substitute(place, valued('x', _constants(x))) for x in points)
        rotation, origin = frame_of_points(next(moved), next(moved), next(moved), SYMBOLIC)
        return tuple(map(graph.as_node, (*rotation, *origin)))

    def _unrecorded(
        self, argument: str, function: Callable[..., Any], error: Exception
    ) -> ArgumentError:
        if isinstance(error, AttributeError) and getattr(error, 'obj', None) is SYMBOLIC:
            known = f'one of {", ".join(FUNCTIONS)}{closest(error.name, FUNCTIONS)}'
            return self.wrong(argument, f'math.{error.name}', known)
        return self.wrong(
            argument, function, f'{EXPECTED_FORMULA} ({type(error).__name__}: {error})'
        )


def _constants(values: Iterable[float]) -> list[Node]:
    return [graph.constant(value) for value in values]


def _evaluate(nodes: Sequence[Node], given: dict[Symbol, Any]) -> list[Any]:
    with np.errstate(all='ignore'):
        return traversal.evaluate(nodes, given, NUMERIC)
