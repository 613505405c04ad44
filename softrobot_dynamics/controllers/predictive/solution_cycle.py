# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Bring small errors on from one solution of the law `predictive` to the next, without limits.

A solution is asked for with the state now, and taken up an interval later, where the robot is
predicted to be then. Each tick commands what the plan says, and its gain on what the state differs
in. The force that the model lacks is brought on as each solution is asked for. All are linear
functions of the errors (columns here).
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.predictive.horizon import HorizonProblem


class LinearRobot(Protocol):
    """A robot about rest: changes (2 n, 2 n + c + n) of its state by state, command and force."""

    def flow(self, t: float) -> Matrix:
        """Return that within t [s], exactly."""

    def step(self, t: float) -> Matrix:
        """Return that of one predicted step."""

    def newton(self, t: float) -> Matrix:
        """Return Newton's matrix (n, n) of that step."""


class Timing(NamedTuple):
    """Times of a loop."""

    period: float  # [s] of a tick
    ticks: int  # from one solution to the next
    delayed: int  # ticks after which a command acts


class Cycle(NamedTuple):
    """All that is carried from one solution to the next, k columns of errors each."""

    x: Matrix  # (2 n, k) state of the robot
    force: Matrix  # (n, k) that the model is thought to lack
    takeover_state: Matrix  # (2 n, k) state of the plan where it is taken up
    states: list[Matrix]  # C + 1 of the plan, as its commands act
    commands: list[Matrix]  # C of the plan, (c, k)
    sent: list[Matrix]  # commands that do not act yet, oldest first


class KnotGains(NamedTuple):
    """Gains of one knot on its state, the command before and the force."""

    by_x: Matrix  # (c, 2 n)
    by_u: Matrix  # (c, c)
    by_force: Matrix  # (c, n)


def knot_gains(
    step: Matrix, Q: Matrix, effort: Vector, change: Vector, knot: float, steps: int
) -> list[KnotGains]:
    """
    Return the optimal :class:`KnotGains` of each knot, by Riccati's recursion.

    ``step`` of a knot; ``Q`` (2 n, 2 n) Hessian of the cost of a state, for the time of a
    ``knot`` [s]; ``effort`` and ``change`` (c,) as in :class:`.Weights`.
    """
    x, c = len(step), len(effort)
    size = step.shape[1]  # of z = (x, u before, f)
    A, B = np.zeros((size, size)), np.zeros((size, c))
    A[:x], B[:x] = step, step[:, x : x + c]
    A[:x, x : x + c] = 0.0
    B[x : x + c] = np.eye(c)
    A[x + c :, x + c :] = np.eye(size - x - c)
    rate, W, found = np.diag(change / knot), np.zeros((size, size)), []
    before = np.zeros((size, c))
    before[x : x + c] = rate
    for _ in range(steps):
        W[:x, :x] += Q
        by_u = B.T @ W @ B + np.diag(knot * effort) + rate
        by_z = B.T @ W @ A - before.T
        gain = -np.linalg.solve(by_u, by_z).astype(float)
        W = A.T @ W @ A + by_z.T @ gain
        W[x : x + c, x : x + c] += rate
        W = 0.5 * (W + W.T)
        found.append(KnotGains(gain[:, :x], gain[:, x : x + c], gain[:, x + c :]))
    return found[::-1]


def cycle_matrix(
    robot: LinearRobot,
    plant: LinearRobot,
    Q: Matrix,
    weights: tuple[Vector, Vector],
    problem: HorizonProblem,
    timing: Timing,
) -> Matrix:
    """
    Return the matrix (K, K) by which errors become those one solution later.

    ``robot`` is the law's, ``plant`` is controlled; ``Q`` and ``weights`` (effort, change) as in
    :func:`knot_gains`.
    """
    ahead = timing.ticks * timing.period
    knots = max(1, math.ceil(ahead / problem.knot - 1e-9))
    policy = knot_gains(robot.step(problem.knot), Q, *weights, problem.knot, problem.steps)
    policy = [policy[min(k, len(policy) - 1)] for k in range(knots)]
    x, c = len(Q), len(weights[0])
    n = x // 2
    sizes = [x, n, x, *[x] * (knots + 1), *[c] * knots, *[c] * timing.delayed]
    parts: list[Matrix] = list(np.split(np.eye(sum(sizes)), np.cumsum(sizes)[:-1]))
    begin = Cycle(
        x=parts[0],
        force=parts[1],
        takeover_state=parts[2],
        states=parts[3 : 4 + knots],
        commands=parts[4 + knots : 4 + 2 * knots],
        sent=parts[4 + 2 * knots :],
    )
    end = _Advance(robot, plant, policy, problem, timing)(begin)
    return np.vstack([end.x, end.force, end.takeover_state, *end.states, *end.commands, *end.sent])


class _Advance:
    """Bring a :class:`Cycle` on by an interval between solutions."""

    def __init__(
        self,
        robot: LinearRobot,
        plant: LinearRobot,
        policy: list[KnotGains],
        problem: HorizonProblem,
        timing: Timing,
    ) -> None:
        self._robot, self._policy, self._timing = robot, policy, timing
        self._knot, self._observer = problem.knot, problem.observer
        self._ahead = timing.ticks * timing.period
        self._delay = timing.delayed * timing.period
        self._tick, self._whole = plant.flow(timing.period), robot.step(self._ahead)

    def __call__(self, now: Cycle) -> Cycle:
        """Return what comes of it."""
        taken, states, commands = self._planned(now)
        x, sent, acting = now.x, list(now.sent), []
        for j in range(self._timing.ticks):
            t = j * self._timing.period
            k = self._knot_at(t)
            u = now.commands[k] + self._policy[k].by_x @ (x - self._place(now, t))
            sent.append(u)
            acting.append(sent.pop(0))
            x = self._moved(self._tick, x, acting[-1], 0.0 * now.force)
        force = self._learnt(now, x, np.mean(acting, axis=0))
        return Cycle(x, force, taken, states, commands, sent)

    def _planned(self, now: Cycle) -> tuple[Matrix, list[Matrix], list[Matrix]]:
        """Return the next plan: where it is taken up, its states and commands."""
        period, ahead, delay = self._timing.period, self._ahead, self._delay
        times = period * (np.arange(self._timing.ticks) + 0.5) - delay
        by_gain = self._policy[0].by_x @ (now.x - self._place(now, 0.0))
        leading = np.mean([self._command_at(now, t) for t in times], axis=0) + by_gain
        x = taken = self._moved(self._whole, now.x, leading, now.force)
        if delay > 0.0:
            times = ahead - (np.arange(4) + 0.5) * delay / 4.0
            u = np.mean([self._command_at(now, t) for t in times], axis=0)
            x = self._moved(self._robot.step(delay), x, u, now.force)
        u, states, commands = self._command_at(now, ahead - 0.5 * period), [x], []
        step = self._robot.step(self._knot)
        for policy in self._policy:
            u = policy.by_x @ x + policy.by_u @ u + policy.by_force @ now.force
            x = self._moved(step, x, u, now.force)
            states.append(x)
            commands.append(u)
        return taken, states, commands

    def _command_at(self, now: Cycle, t: float) -> Matrix:
        """Return the command of the time t [s] since the plan was taken up, as far as planned."""
        if t < 0.0:
            return now.sent[int((t + self._delay) / self._timing.period + 1e-9)]
        return now.commands[self._knot_at(t)]

    def _knot_at(self, t: float) -> int:
        return min(int(t / self._knot + 1e-6), len(self._policy) - 1)

    def _place(self, now: Cycle, t: float) -> Matrix:
        """Return the state of the plan at t [s], as :func:`.follow_plan` does."""
        times = [self._delay + k * self._knot for k in range(len(now.states))]
        states = now.states
        if self._delay > 0.0:
            times, states = [0.0, *times], [now.takeover_state, *states]
        j = 0
        while j < len(times) - 2 and t >= times[j + 1]:
            j += 1
        T = times[j + 1] - times[j]
        s = (t - times[j]) / T
        (a, va), (b, vb) = (np.split(x, 2) for x in states[j : j + 2])
        h00, h10 = (1.0 + 2.0 * s) * (1.0 - s) ** 2, s * (1.0 - s) ** 2
        h01, h11 = s * s * (3.0 - 2.0 * s), s * s * (s - 1.0)
        q = h00 * a + h10 * T * va + h01 * b + h11 * T * vb
        return np.vstack([q, (1.0 - s) * va + s * vb])

    def _learnt(self, now: Cycle, x: Matrix, acted: Matrix) -> Matrix:
        """Return the force as it is known an interval later, see :meth:`.Planner.solve`."""
        if self._observer == 0.0:
            return 0.0 * now.force
        missed = x - self._moved(self._whole, now.x, acted, now.force)
        share = 1.0 / (self._ahead + self._observer)
        learnt: Matrix = self._robot.newton(self._ahead) @ missed[len(x) // 2 :]
        return now.force + share * learnt

    @staticmethod
    def _moved(change: Matrix, x: Matrix, u: Matrix, force: Matrix) -> Matrix:
        """Return the state after a change by x, u and force."""
        moved: Matrix = change @ np.vstack([x, u, force])
        return moved
