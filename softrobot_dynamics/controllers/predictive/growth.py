# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Growth of errors about rest under the law `predictive`, without limits of commands.

About rest the robot is linear, and so is the law: its solutions are those of a linear quadratic
problem, from one interval between solutions to the next (:mod:`~.predictive.solution_cycle`).
"""

from __future__ import annotations

import itertools
import math
import threading
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.controllers.predictive.horizon import (
    allocate_horizon,
    HorizonProblem,
    take_over,
)
from softrobot_dynamics.controllers.predictive.implicit_step import NEWTON_TOLERANCE, single_step
from softrobot_dynamics.controllers.predictive.solution_cycle import cycle_matrix, Timing
from softrobot_dynamics.controllers.predictive.stage_cost import single_cost
from softrobot_dynamics.dynamics import calls
from softrobot_dynamics.recursion.constants import L_STABLE_GAMMA
from softrobot_dynamics.recursion.linearisation import Linearisation

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

REST_STEP = 1e-7  # [s] of the step by which a robot at rest is measured


class RestingRobot(NamedTuple):
    """A robot about rest: M dqdd + D dqd + K dq = G du + df; c commands."""

    M: Matrix  # (n, n)
    D: Matrix  # (n, n)
    K: Matrix  # (n, n)
    G: Matrix  # (n, c)

    def rates(self) -> Matrix:
        """Return the rates (2 n, 2 n + c + n) of x = (q, qd) by x, u and f."""
        n = len(self.M)
        by_force = np.linalg.solve(self.M, np.hstack([-self.K, -self.D, self.G, np.eye(n)]))
        still = np.zeros((n, by_force.shape[1]))
        still[:, n : 2 * n] = np.eye(n)
        return np.vstack([still, by_force])

    def flow(self, t: float) -> Matrix:
        """Return the change (2 n, 2 n + c + n) of x within t [s] by x, u and f, exactly."""
        from scipy.linalg import expm  # late: scipy is slow to import

        found, n = self.rates(), len(self.M)
        square = np.zeros((found.shape[1], found.shape[1]))
        square[: 2 * n] = t * found
        whole: Matrix = expm(square)
        return whole[: 2 * n]

    def step(self, t: float) -> Matrix:
        """Return the same of a step of t [s] that the law predicts by, see `implicit_step`."""
        rates, n, h = self.rates(), len(self.M), t
        A, start = rates[:, : 2 * n], np.eye(2 * n, rates.shape[1])
        left, forced = np.eye(2 * n) - L_STABLE_GAMMA * h * A, rates.copy()
        forced[:, : 2 * n] = 0.0
        first = np.linalg.solve(left, rates)
        middle = start + (1.0 - L_STABLE_GAMMA) * h * first
        second = np.linalg.solve(left, A @ middle + forced)
        return start + h * ((1.0 - L_STABLE_GAMMA) * first + L_STABLE_GAMMA * second)

    def newton(self, t: float) -> Matrix:
        """Return Newton's matrix (n, n) of a step of t [s], see `implicit_step`."""
        g = L_STABLE_GAMMA * t
        return self.M + g * (self.D + g * self.K)


class RestAnalysis:
    """Analysis of one model's loops about rest, for any thread; ``touching``: with contact."""

    def __init__(self, model: CompiledModel, touching: bool) -> None:
        self._model, self._lock = model, threading.Lock()
        self._horizon = p = allocate_horizon(model, 1, touching)
        self._step = single_step(p.step, p.steps)
        self._cost = single_cost(p.step, p.weights, p.aims, p.costs)
        self._near = Linearisation(model)

    def growth(
        self,
        q: Vector,
        u: Vector,
        problem: HorizonProblem,
        controlled: Integers,
        timing: Timing,
        uncertainty: float,
    ) -> float:
        """
        Return the rate [1/s] at which errors about rest at q (n,) under u (m,) grow.

        nan where it cannot be said. ``controlled`` (c,) are the commands of the law;
        ``uncertainty`` as in :meth:`Controller.growth`.
        """
        with self._lock:
            robot, Q, weights = self.measure(q, u, problem)
            if robot is None:
                return math.nan
            self._near.begin(q)
            bodies = self._near.stiffness.copy(), self._near.damping.copy()
        own = robot._replace(G=robot.G[:, controlled])
        per_command = weights[0][controlled], weights[1][controlled]
        fastest = -math.inf
        for stiffer, damped in itertools.product({-uncertainty, uncertainty}, repeat=2):
            plant = own._replace(K=own.K + stiffer * bodies[0], D=own.D + damped * bodies[1])
            try:
                cycle = cycle_matrix(own, plant, Q, per_command, problem, timing)
                fastest = max(fastest, float(np.abs(np.linalg.eigvals(cycle)).max()))
            except np.linalg.LinAlgError:  # singular, or of numbers that are not finite
                return math.nan
        return math.log(max(fastest, 1e-300)) / (timing.ticks * timing.period)

    def measure(
        self, q: Vector, u: Vector, problem: HorizonProblem
    ) -> tuple[RestingRobot | None, Matrix, tuple[Vector, Vector]]:
        """
        Return the robot at rest (None: it has none), Hessian and weights of :func:`.knot_gains`.

        For one thread at a time.
        """
        p, n = self._horizon, len(q)
        take_over(p, problem)
        x, end, Q = np.concatenate([q, np.zeros(n)]), np.zeros(2 * n), np.zeros((2 * n, 2 * n))
        weights = p.weights.effort.copy(), p.weights.change.copy()
        if not np.isfinite(np.concatenate([x, u])).all():
            return None, Q, weights
        w, command = p.step, np.array(u, dtype=float)
        w.disturbance[:] = 0.0
        for _ in range(2):  # then with a force that holds the robot, where the command does not
            p.steps.A[:], w.time[0] = 0.0, 0.0
            if self._step(0, x, command, REST_STEP, end, True, True, NEWTON_TOLERANCE) != 0:
                return None, Q, weights
            w.disturbance[:] -= w.terms.M @ p.steps.A[0, 1]
        p.aims.y[0] = w.terms.y - p.costs.y0
        if problem.body >= 0:
            p.aims.tip[0] = calls.forward_kinematics(self._model, q=q)[problem.body][:3, 3]
        self._cost(problem.body, 0, end, problem.knot, 1)
        Q[:n, :n], Q[n:, n:] = p.costs.by_qq[0], np.diag(p.costs.by_vv[0])
        G = w.S @ p.steps.by_all[0, 1][:, 2 * n :]
        return RestingRobot(w.terms.M.copy(), w.D.copy(), w.K.copy(), G), Q, weights
