# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Postures that hold given points, and the actuation that does so with the least effort.

Newton iterations on the conditions of optimality under the static residual of
:mod:`softrobot_dynamics.dynamics.statics`. Each evaluation releases the GIL, so that a controller
keeps its rate while a new reference is prepared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.dynamics.arguments import body_index, checked
from softrobot_dynamics.dynamics.calls import actuation
from softrobot_dynamics.dynamics.load_stepping import MAX_ITERATIONS
from softrobot_dynamics.dynamics.newton import ACCEPTED_RESIDUAL
from softrobot_dynamics.dynamics.saddle_free_newton import relative_residual
from softrobot_dynamics.dynamics.static_residual import Statics
from softrobot_dynamics.errors import InfeasibleReferenceError, NotConvergedError, SoftRobotError
from softrobot_dynamics.references.sqp import effort_units, Equation, minimise

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

# limits enter by a logarithmic barrier, so that u stays strictly inside them and depends smoothly
# on the points; points enter by a stiff penalty, so that the search for one out of reach ends at
# the nearest that is not
RANGE_RESERVE = 0.02  # of each actuator's range, left to feedback at both limits
# of that and of what u costs, in turn: limits may be far away
CONTINUATION_SCALES = (1.0, 0.1, 0.01)
BARRIER_WEIGHT = 1e-3  # final, of the logarithms; |u|^2 ends some 1 % above its least value
PENALTY_STIFFNESS = 1e8  # offsets of some 1e-8 of the robot's length
STEP_TOLERANCE = 1e-7  # relative; steps shrink thirtyfold in an iteration
POINT_TOLERANCE = 1e-5  # of the robot's length; farther from its point, a posture does not hold it
MAX_STEP = 0.3  # of a coordinate, in its unit of `Scales`


class PathPostures(NamedTuple):
    """Postures that hold a path: q (K, n), u (K, m) in actuator units, y (K, m)."""

    q: Matrix
    u: Matrix
    y: Matrix


def hold_points(
    model: CompiledModel,
    *,
    bodies: Sequence[str],
    times: Sequence[float] | Vector,
    points: ArrayLike,
    q0: ArrayLike | None = None,
    stay: float = 0.0,
) -> PathPostures:
    """
    Return the :class:`PathPostures` in which tips stay at given points with the least |u|^2.

    Where actuators have different units (N, N m, Pa), each counts by the median range of those
    that have its own.
    ``bodies`` (P names) whose tips shall be at ``points`` (K, P, 3) [m], base frame, at ``times``
    (K,) [s]; consecutive points should be close to each other. The search starts from ``q0`` (n,),
    by default the description's initial posture. Every u is strictly inside its limits. ``stay``
    weighs, against the effort, how far joints with limits leave q0, of their range.

    Raises ArgumentError, InfeasibleReferenceError for the first point that no admissible u can
    hold with the :data:`RANGE_RESERVE` nor with less, NotConvergedError if the search fails for
    another reason.
    """
    indices = [body_index(model, body) for body in bodies]
    points = checked('points', points, (len(times), len(bodies), 3))
    q0 = checked('q0', model.q0 if q0 is None else q0, (model.n,))
    reason: Any = None  # the first error
    for scale in CONTINUATION_SCALES:
        try:
            solutions = Search(model, indices, q0, scale, stay).follow(times, points)
            break
        except (InfeasibleReferenceError, NotConvergedError) as error:
            reason = reason or error
    else:
        raise reason
    q, u = solutions[:, : model.n], solutions[:, model.n :]
    return PathPostures(q, u, np.array([actuation_coordinates(model, each) for each in q]))


def actuation_coordinates(model: CompiledModel, q: ArrayLike) -> Vector:
    """Actuation coordinates y (m,) at q (n,)."""
    return actuation(model, q=q, qd=np.zeros(model.n)).coordinates


class Search:
    """
    Newton's method for the conditions of optimality, along a path of targets.

    z = (q, u) minimises |u|^2 / 2 with its barrier, subject to statics; q has barriers at the
    joints' position limits, the cost of leaving q0 that ``stay`` says and, for uniqueness, a
    slight preference to stay where it is. All that is compared is free of units: z by ``_units``,
    forces by the energies at play, ways by the robot's length.
    """

    def __init__(
        self, model: CompiledModel, bodies: Sequence[int], q0: Vector, scale: float, stay: float
    ) -> None:
        self._model, self._bodies, self._statics = model, bodies, Statics(model)
        half = 0.5 * (model.effort_upper - model.effort_lower)
        finite = np.isfinite(half)
        self._share, self._stiffness = scale * RANGE_RESERVE, PENALTY_STIFFNESS / scale**2
        reserve = np.where(finite, 2.0 * self._share * half, 0.0)
        self._lower = np.concatenate([model.q_lower, model.effort_lower + reserve])
        self._upper = np.concatenate([model.q_upper, model.effort_upper - reserve])
        self._length, self._units = model.scales.length, model.scales.units
        self._effort = scale * effort_units(model)
        self._scale = np.concatenate([self._units, self._effort])
        whole = self._upper - self._lower
        gap = 0.01 * np.where(np.isfinite(whole), whole, self._scale)
        self._innermost = self._lower + gap, self._upper - gap
        self._least = 1e-9 * gap  # from a bound, which rounding would reach
        # inf: nothing to pay
        spans = np.maximum(model.q_upper - model.q_lower, 1e-9 * self._units)
        self._cost = np.concatenate([stay / spans**2, self._effort**-2])
        self._goal = np.concatenate([q0, np.zeros(model.m)])
        self.z = np.clip(self._goal, *self._innermost)

    @property
    def q(self) -> Vector:
        """Posture (n,) at which the search is."""
        return self.z[: self._model.n]

    def follow(self, times: Sequence[float] | Vector, points: Array) -> Matrix:
        """Return z for each of the points (K, P, 3)."""
        self.approach(points[0])
        return np.array([self.reach(target, t) for t, target in zip(times, points)])

    def approach(self, target: Matrix) -> None:
        """Move from where the tips are to the first target, softly at first."""
        self._statics.residual(*self._split())
        start = self._statics.tips(self._bodies)[0]
        for share in np.linspace(0.1, 1.0, 10):
            self.solve(start + share * (target - start), 1e-2, 1e4, 20)
        for barrier in (1e-2, BARRIER_WEIGHT):
            self.solve(target, barrier, self._stiffness, MAX_ITERATIONS)

    def reach(self, target: Matrix, time: float) -> Any:
        """Return z that holds a target, or raise for the reason why there is none."""
        for stiffness in (self._stiffness, 100.0 * self._stiffness):  # a large u needs more
            error, static, change = self.solve(target, BARRIER_WEIGHT, stiffness, 40)
            if error < 0.1 * POINT_TOLERANCE and static < ACCEPTED_RESIDUAL and change < 1e-5:
                return self.z.copy()
        found = self._rescue(target)
        if (
            found.success
            and np.abs(self._gap(found.x, target)).max() < POINT_TOLERANCE * self._length
        ):
            self.z = np.clip(found.x, *self._innermost)  # a barrier can only start inside
            return found.x
        raise self._explanation(target, time)

    def _rescue(self, target: Matrix) -> Any:
        """Solve the problem without barrier and penalty by sequential quadratic programming."""

        def gap(z: Vector) -> Vector:
            return self._gap(z, target) / self._length

        def gap_derivative(z: Vector) -> Matrix:
            return self._gap_derivative(z) / self._length

        def effort(z: Vector) -> Any:
            derivative = self._cost * (z - self._goal)
            return 0.5 * derivative @ (z - self._goal), derivative

        return self._minimise(effort, [(gap, gap_derivative)])

    def _explanation(self, target: Matrix, time: float) -> SoftRobotError:
        """Return the error that says why a target was not reached, from the nearest posture."""

        def miss(z: Vector) -> Any:
            gap = self._gap(z, target) / self._length
            return gap @ gap, 2.0 * gap @ self._gap_derivative(z) / self._length

        found = self._minimise(miss, [])
        if not found.success:  # far away, where the last digits of a distance are rounding
            found = self._minimise(miss, [], settled=1e-10)
        distance = float(np.sqrt(found.fun)) * self._length
        if not found.success or distance < POINT_TOLERANCE * self._length:
            return NotConvergedError(f'posture at t = {time:.4g} s', found.nit, distance)
        self.z = found.x
        return InfeasibleReferenceError(time, target[0], tuple(self._at_limits()), distance)

    def _minimise(
        self,
        objective: Callable[[Vector], Any],
        equations: Sequence[Equation],
        settled: float = 1e-14,
    ) -> Any:
        """Return scipy's result of the least objective at rest, under further equations."""
        n, sizes = self._model.n, self._statics.residual(*self._split())[1]
        sizes = np.where(sizes > 0.0, sizes, 1.0)  # nothing acts along that coordinate

        def balance(z: Vector) -> Any:
            return self._statics.residual(z[:n], z[n:])[0] / sizes

        def derivative(z: Vector) -> Any:
            K = self._statics.tangent(z[:n], z[n:])
            return np.hstack([K, -self._statics.actuation_matrix()]) / sizes[:, None]

        bounds, equations = (self._lower, self._upper), [(balance, derivative), *equations]
        return minimise(objective, equations, self.z, bounds, self._scale, settled)

    def _gap(self, z: Vector, target: Matrix) -> Vector:
        """From the targets to the tips, (3 P,) [m]."""
        self._statics.residual(z[: self._model.n], z[self._model.n :])
        return (self._statics.tips(self._bodies)[0] - target).ravel()

    def _gap_derivative(self, z: Vector) -> Matrix:
        self._statics.residual(z[: self._model.n], z[self._model.n :])
        jacobians = self._statics.tips(self._bodies)[1]
        columns = np.zeros((3 * len(self._bodies), len(z)))
        columns[:, : self._model.n] = jacobians.reshape(-1, self._model.n)
        return columns

    def aims(self, target: Any) -> tuple[Vector, Matrix]:
        """Return (from the tips to a target (3 P,) [m], the tips' Jacobian), as last evaluated."""
        points, jacobians = self._statics.tips(self._bodies)
        return (target - points).ravel(), jacobians.reshape(-1, self._model.n)

    def _split(self) -> tuple[Any, ...]:
        return self.z[: self._model.n], self.z[self._model.n :]

    def solve(
        self,
        target: Any,
        barrier: float,
        stiffness: float,
        iterations: int,
        settled: float = STEP_TOLERANCE,
    ) -> tuple[float, float, float]:
        """
        Iterate from ``z`` until steps are below ``settled``, relative.

        Returns the points' error, of the robot's length, and the relative static residual before
        the last step, and that step in units of z.
        """
        error = static = change = np.inf
        for _ in range(iterations):
            matrix, rhs, error, static = self._conditions(target, barrier, stiffness)
            try:
                step = self._scale * np.linalg.solve(matrix, rhs)[: len(self.z)]
            except np.linalg.LinAlgError:
                return error, static, np.inf
            scale = self._longest(step)
            self.z = self.z + scale * step
            change = np.abs(step / self._scale).max()
            if not np.isfinite(change) or (change < settled and scale == 1.0):
                break
        return error, static, change

    def _conditions(self, target: Any, barrier: float, stiffness: float) -> Any:
        """Matrix and right-hand side of a Newton step of z / _scale, and the errors before it."""
        n, size, scale = self._model.n, len(self.z), self._scale
        q, u = self._split()
        K = self._statics.tangent(q, u)
        r, forces = self._statics.residual(q, u)
        gap, derivatives = (each / self._length for each in self.aims(target))
        rows = 1.0 / np.where(forces > 0.0, forces, 1.0)
        rooms = self.z - self._lower, self._upper - self.z
        below, above = (1.0 / np.maximum(room, self._least) for room in rooms)
        gradient = self._cost * (self.z - self._goal) + barrier * (above - below)
        constraints = np.zeros((n + len(gap), size))
        constraints[:n, :n], constraints[:n, n:] = K, -self._statics.actuation_matrix()
        constraints[:n] *= rows[:, None]
        constraints[n:, :n] = derivatives
        constraints *= scale
        curvature = (self._cost + barrier * (above**2 + below**2)) * scale**2 + 1e-9
        softness = np.concatenate([np.zeros(n), np.full(len(gap), 1.0 / stiffness)])
        matrix = np.block([[np.diag(curvature), constraints.T], [constraints, -np.diag(softness)]])
        return (
            matrix,
            np.concatenate([-gradient * scale, -r * rows, gap]),
            np.abs(gap).max(),
            relative_residual(r, forces),
        )

    def _longest(self, step: Vector) -> float:
        """Share of a step that stays inside the bounds and turns no coordinate too far."""
        room = np.where(step < 0.0, self.z - self._lower, self._upper - self.z)
        longest = 0.95 * room / np.maximum(np.abs(step), 1e-300)
        turn = MAX_STEP / max(np.abs(step[: self._model.n] / self._units).max(), 1e-300)
        return min(1.0, turn, float(longest.min()))

    def _at_limits(self) -> list[str]:
        """Names of the actuators within 1 % of their range of the reserve at a limit."""
        model, u = self._model, self._split()[1]
        near = (self._share + 0.01) * (model.effort_upper - model.effort_lower)
        return [
            name
            for name, x, low, high, gap in zip(
                model.actuator_names, u, model.effort_lower, model.effort_upper, near
            )
            if x - low < gap or high - x < gap
        ]
