# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Statics of a robot with closed loops, in independent coordinates z."""

from __future__ import annotations

from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.dynamics.closures import assemble
from softrobot_dynamics.dynamics.load_stepping import MAX_ITERATIONS, step_load
from softrobot_dynamics.dynamics.newton import newton
from softrobot_dynamics.dynamics.saddle_free_newton import NewtonResult, StaticProblem
from softrobot_dynamics.dynamics.stability import Linearised, Stability
from softrobot_dynamics.model.closures import ClosureEvaluator
from softrobot_dynamics.recursion.closed_motion import allocate_closed_motion, begin_chart, move_to

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_DIFFERENCE_STEP = 1e-4  # [units] of fourth-order differences of the closure forces
_DIFFERENCE_WEIGHTS = ((1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0))


class ClosedEquilibrium(NamedTuple):
    """A posture at rest whose loops are closed, and its stability."""

    q: Vector
    residual: float
    iterations: int
    stability: Stability


def closed_equilibrium(
    model: CompiledModel, statics: StaticProblem, q0: Vector, u: Vector, ramp: bool
) -> ClosedEquilibrium:
    """
    Return the :class:`ClosedEquilibrium` under u (m,) that is found from q0 (n,).

    The closed posture next to q0 is where it begins; otherwise as :func:`.statics.equilibrium`.
    Raises OpenLoopError, NotConvergedError.
    """
    own = ClosedStatics(model, statics, assemble(model, q=q0).q)
    start = np.zeros(own.freedoms)
    found = None if ramp else newton(own, start, u, MAX_ITERATIONS)
    if not (found and (found.balanced and found.direct or own.is_stable_equilibrium(found, u))):
        found = step_load(own, start, u, found.iterations if found else 0)
    last = newton(own, own.restart_at(found.q), u, MAX_ITERATIONS)  # in orthonormal coordinates
    q, steps = own.posture(last.q)[0], found.iterations + last.iterations
    stability = own.linearised(last.q, u).stability()
    return ClosedEquilibrium(q, last.residual, steps, stability)


class ClosedStatics:
    """
    The static residual of a robot along z (f,), which begin at zero in a closed posture q (n,).

    ``statics`` are those of its tree. Where loops cannot be closed, results are nan.
    """

    def __init__(self, model: CompiledModel, statics: StaticProblem, q: Vector) -> None:
        plan: Any = model.closure_plan
        self._statics, independent = statics, plan.independent_rows
        self._weights, self._units = plan.weights[independent], plan.units
        self._found = found = ClosureEvaluator(model, plan, plan.rows[independent])
        self.freedoms, t = model.n - len(independent), found.evaluate.terms
        given = found.closures, self._weights, self._units, (t.h, t.M, t.J)
        self._motion = allocate_closed_motion(found.evaluate.entry, *given)
        self._move = cached(move_to, closed=self._motion)
        self._begin = cached(begin_chart, closed=self._motion)
        self._rest = np.zeros(self.freedoms)
        self._start(q)

    def posture(self, z: Vector) -> tuple[Vector, Matrix]:
        """Return q (n,) at z, and T (n, f), its derivative."""
        q, rates = np.empty((2, len(self._units)))
        if self._move(np.ascontiguousarray(z), self._rest, q, rates) != 0:
            q[:] = np.nan
        return q, self._motion.T.copy()

    def restart_at(self, z: Vector) -> Vector:
        """Restart the coordinates at zero in the posture at z, and return them."""
        self._start(self.posture(z)[0])
        return np.zeros(self.freedoms)

    def _start(self, q: Vector) -> None:
        """Restart the coordinates at q (n,)."""
        self._begin(q, np.zeros(len(q)), *np.zeros((2, self.freedoms)))

    def residual(self, z: Vector, u: Vector) -> tuple[Vector, Vector]:
        """Return the residual (f,) along z and the sizes (f,) of the forces in it."""
        q, T = self.posture(z)
        r, size = self._statics.residual(q, u)
        return T.T @ r, np.abs(T).T @ size

    def set_load_factor(self, factor: float) -> None:
        """Scale all loads by a factor from 0 to 1."""
        self._statics.set_load_factor(factor)

    def stiffness(self, z: Vector, u: Vector, size: Vector) -> tuple[Matrix, Vector]:
        """Return the tangent stiffness (f, f) and the noise (f,) of its diagonal."""
        near = self.linearised(z, u)
        return near.K, near.noise

    def linearised(self, z: Vector, u: Vector) -> Linearised:
        """Return the motion about z under u (m,): T' (K - d(J' lambda)/dq) T, and so on."""
        q, T = self.posture(z)
        r = self._statics.residual(q, u)[0]
        tree = self._statics.linearised(q, u)
        K = T.T @ tree.K @ T - T.T @ self._turning(q, T, r)
        noise = (np.abs(T).T @ np.sqrt(tree.noise)) ** 2
        return Linearised(K, T.T @ tree.D @ T, T.T @ tree.M @ T, noise)

    def is_stable_equilibrium(self, found: NewtonResult, u: Vector) -> bool:
        """Tell whether a posture is balanced, and stable against small motions."""
        return found.balanced and self.linearised(found.q, u).stability().stands

    def posture_fault(self, z: Vector) -> str:
        """Return in words why z is no valid posture, or ''."""
        q = self.posture(z)[0]
        return (
            self._statics.posture_fault(q)
            if np.isfinite(q).all()
            else 'its loops cannot be closed'
        )

    def step_rotation(self, step: Vector) -> float:
        """Largest angle [rad] by which a joint or a body turns by a small step (f,) of z."""
        return self._statics.step_rotation(self._motion.T @ step)

    def step_lengthening(self, step: Vector) -> float:
        """Largest share of its length by which the robot grows by a small step (f,) of z."""
        return self._statics.step_lengthening(self._motion.T @ step)

    def _turning(self, q: Vector, T: Matrix, r: Vector) -> Matrix:
        """Return how J' lambda changes along T, (n, f), with forces lambda that balance r (n,)."""
        k = len(self._weights)
        across = self._units[:, None] * self._motion.Q[:, :k]
        rows = self._weights[:, None] * self._found(q).J
        forces = np.linalg.solve((rows @ across).T, across.T @ r) * self._weights
        turning = np.zeros_like(T)
        for c, way in enumerate(T.T):
            for ahead, weight in _DIFFERENCE_WEIGHTS:
                step = ahead * _DIFFERENCE_STEP * way
                near = self._found(q + step).J.T @ forces
                turning[:, c] += (
                    weight / _DIFFERENCE_STEP * (near - self._found(q - step).J.T @ forces)
                )
        return turning
