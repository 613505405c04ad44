# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Plan commands over a horizon from a measured state, again and again.

A planner belongs to one thread at a time, which holds no lock of the interpreter while it solves.
Equal requests in equal order give equal plans, bit by bit.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.blending import BlendedReference, sample_plan
from softrobot_dynamics.controllers.predictive.distances import allocate_distances
from softrobot_dynamics.controllers.predictive.horizon import (
    allocate_horizon,
    COST,
    DONE,
    FIRST,
    Horizon,
    HorizonProblem,
    REGULARISATION,
    RESIDUAL,
    take_over,
)
from softrobot_dynamics.controllers.predictive.implicit_step import single_step
from softrobot_dynamics.controllers.predictive.iteration import FAILED, iteration
from softrobot_dynamics.controllers.predictive.step_workspace import StepArrays, StepWorkspace
from softrobot_dynamics.controllers.predictive.warm_start import shift

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

MAX_HORIZON_STEPS = 50
FIRST_ITERATIONS = 3  # of the first solution, which has nothing to begin with, but may not be late
OBSERVER_STEP, PREDICTION_STEP, DELAY_STEP = range(3)  # single steps besides those of a horizon
# [units of coordinates] of these: the observer learns a force by them
SINGLE_STEP_TOLERANCE = 1e-9
CONVERGED_RESIDUAL = 1e-9  # of the cost; below it there is nothing to improve


class Request(NamedTuple):
    """A state from which to plan, and what the robot is known to do until then."""

    restarts: bool  # nothing is known of before: the law begins anew
    t: float  # [s] of the state
    x: Vector  # (2 n,)
    reference: BlendedReference  # of the tip (3 columns), or of the controlled outputs
    problem: HorizonProblem
    time_since_last: float  # [s] since the last request; nan: nothing is learnt
    applied_command: Vector  # (m,) mean command that acted since then
    lead: float  # [s] until the plan is taken up
    lead_command: Vector  # (m,) mean command that acts meanwhile
    delay: float  # [s] after which what is sent then acts
    delay_command: Vector  # (m,) mean command that acts in that time
    last: Vector  # (m,) command before the plan


class SingleSteps(NamedTuple):
    """Steps aside of the horizon, a row for each, and what they begin with the next time."""

    steps: StepArrays  # of 3
    duration: Vector  # (3,) [s] of the last one; nan: nothing is known
    age: Vector  # (3,) how often derivatives were used since they were taken
    z: Matrix  # (3, 2 n + m) state and command that A belongs to
    S: Matrix  # (n, n) Newton's matrix of that for OBSERVER_STEP


class Plan(NamedTuple):
    """Commands, states and gains over a horizon."""

    t: float  # [s] of the measured state that the first command answers
    knot: float  # [s]
    times: Vector  # (K,) [s] of the states
    x: Matrix  # (K, 2 n)
    u: Matrix  # (N, m)
    gain: Array  # (N, m, 2 n)
    ok: bool
    cost: float
    residual: float  # the largest gain in cost by a command, of the present problem
    iterations: int
    seconds: float  # that it took


@kernel
def sample_aims(plan, t, h, count, out, blend, tip, y, controlled):
    """Fill what ``count`` states are led to, ``h`` [s] after each other: ``tip``, or ``y``."""
    for k in range(count):
        sample_plan(plan, t + (k + 1) * h, out, blend)
        if len(controlled) == 0:
            for i in range(3):
                tip[k, i] = out[0, i]
        for i in range(len(controlled)):
            y[k, controlled[i]] = out[0, i]


@kernel
def add_force(S, missed, share, force):
    """Add to the force (n,) a share of S times the rates ``missed`` (n,)."""
    for i in range(len(force)):
        for j in range(len(force)):
            force[i] += share * S[i, j] * missed[j]


class Planner:
    """
    Solutions for one robot, each from that before.

    ``controlled`` (c,) are the outputs that references lead, none where they lead a tip.
    ``disturbance`` (n,) is the generalized force that the model lacks, as far as it is known. If
    ``touching``, forces of contact act.
    """

    def __init__(
        self, model: CompiledModel, controlled: Integers, width: int, touching: bool = False
    ) -> None:
        n, m = model.n, model.m
        self._model, self._n, self._m = model, n, m
        self._horizon: Horizon = allocate_horizon(model, MAX_HORIZON_STEPS, touching)
        self.disturbance = self._horizon.step.disturbance
        self._iterate = iteration(self._horizon)
        self._clearance = 0.0  # [m] that gaps are measured below
        self._workspace: StepWorkspace = self._horizon.step
        single = StepArrays(*(np.zeros((3, *x.shape[1:])) for x in self._horizon.steps))
        sizes = {'z': np.zeros((3, 2 * n + m)), 'S': np.zeros((n, n))}
        self._single = SingleSteps(single, np.full(3, math.nan), np.zeros(3), **sizes)
        self._step = single_step(self._workspace, single)
        self._sample = cached(sample_aims)
        self._add_force = cached(add_force, 'VECTOR, float64, VECTOR', S=self._single.S)
        self._controlled = np.array(controlled, dtype=np.int64)
        self._sampled = np.zeros((2, 3, width))
        self._begin, self._knot, self._count = math.nan, math.nan, 0
        self._before = np.full(2 * n, np.nan)
        self._start, self._end = np.zeros((2, 2 * n))

    def solve(self, request: Request) -> Plan:
        """Return the :class:`Plan` from a request; not ``ok`` where there is none."""
        began = time.perf_counter()
        problem, n = request.problem, self._n
        if request.restarts:
            self._forget()
        self._learn(request)
        self._before[:] = request.x
        self._take(problem)
        p = self._horizon
        count, h = problem.steps, problem.knot
        sound, x = True, request.x
        states = [x]
        self._workspace.time[0] = request.t - problem.motion_start
        for which, duration, u in (
            (PREDICTION_STEP, request.lead, request.lead_command),
            (DELAY_STEP, request.delay, request.delay_command),
        ):
            if duration > 0.0:
                sound = sound and self._move(which, x, u, duration)
                x = self._end.copy()
            states.append(x)
        p.last[:] = request.last
        t = request.t + request.lead + request.delay
        first = self._shift(t, h, count, request.last)
        p.now.x[0], p.aims.time[0] = x, t - problem.motion_start
        self._sample(
            request.reference, t, h, count, *self._sampled, p.aims.tip, p.aims.y, self._controlled
        )
        iterations = FIRST_ITERATIONS if first else problem.iterations
        status = (
            self._iterate(problem.body, h, count, iterations, CONVERGED_RESIDUAL)
            if sound
            else FAILED
        )
        if status == FAILED and sound and not first:
            self.forget_warm_start()
            self._shift(t, h, count, request.last)
            status = self._iterate(problem.body, h, count, FIRST_ITERATIONS, CONVERGED_RESIDUAL)
        ok = status != FAILED and bool(np.isfinite(p.now.u[:count]).all())
        self._begin = t if ok else math.nan
        taken = request.t + request.lead
        times: Vector = t + h * np.arange(count + 1, dtype=float)
        places: Matrix = p.now.x[: count + 1].copy()
        if request.delay > 0.0:
            times = np.concatenate([np.full(1, taken), times])
            places = np.concatenate([states[1][None], places])
        return Plan(
            t=taken,
            knot=h,
            times=times,
            x=places,
            u=p.now.u[:count].copy(),
            gain=np.ascontiguousarray(p.policy.gain[:count, :, : 2 * n]),
            ok=ok,
            cost=float(p.report[COST]),
            residual=float(p.report[RESIDUAL]),
            iterations=int(p.report[DONE]),
            seconds=time.perf_counter() - began,
        )

    def forget_warm_start(self) -> None:
        """Have the next solution begin with the command before it, held all the time."""
        self._begin = math.nan
        self._horizon.derivative_age[0] = 0.0

    def _take(self, problem: HorizonProblem) -> None:
        """Take over weights, aims and limits."""
        p = self._horizon
        take_over(p, problem)
        clearance = float(p.aims.clearance[0])
        if clearance != self._clearance:  # only pairs that are nearer get derivatives
            distances = allocate_distances(self._model, p.step.robot, clearance)
            self._horizon = p._replace(costs=p.costs._replace(distances=distances))
            self._iterate = iteration(self._horizon)
            self._clearance = clearance

    def _forget(self) -> None:
        """Know nothing of solutions before."""
        self._begin, self._before[:], self.disturbance[:] = math.nan, math.nan, 0.0
        self._single.duration[:] = math.nan
        self._horizon.derivative_age[0] = 0.0
        self._horizon.report[REGULARISATION], self._horizon.report[FIRST] = 0.0, 1.0

    def _learn(self, request: Request) -> None:
        """
        Bring the disturbance on by what the last period has shown.

        Not where surfaces touched: one step does not resolve the impact, and what it misses would
        be held against the surfaces.
        """
        time_constant = request.problem.observer
        if time_constant == 0.0:
            self.disturbance[:] = 0.0
        elif request.time_since_last > 0.0 and np.isfinite(self._before).all():
            n, T = self._n, request.time_since_last
            self._workspace.time[0] = request.t - T - request.problem.motion_start
            acted = self._horizon.costs.forces.acted
            acted[0] = 0.0
            found = self._move(OBSERVER_STEP, self._before, request.applied_command, T)
            if found and acted[0] == 0.0:
                missed = request.x[n:] - self._end[n:]
                share = T / (T + time_constant) / T
                before = self.disturbance.copy()
                self._add_force(missed, share, self.disturbance)
                if not np.isfinite(self.disturbance).all():
                    self.disturbance[:] = before

    def _move(self, which: int, x: Vector, u: Vector, duration: float) -> bool:
        """
        Fill ``_end`` with the state a duration [s] after x (2 n,); return whether it exists.

        ``which`` single step it is: it begins with what the last one of that row has found, and
        has new derivatives as often as the steps of the horizon.
        """
        a, z = self._single, np.concatenate([x, u])
        known = abs(a.duration[which] - duration) <= 1e-6 * duration
        began = self._workspace.time[0]
        for fresh in (False, True) if known else (True,):
            self._workspace.time[0] = began
            renewed = fresh or a.age[which] >= self._horizon.renewal[0]
            if fresh:
                a.steps.A[which] = 0.0
            else:
                a.steps.A[which] += a.steps.by_all[which] @ (z - a.z[which])
            given = x, u, duration, self._end, renewed, fresh, SINGLE_STEP_TOLERANCE
            if self._step(which, *given) == 0:
                a.duration[which], a.z[which] = duration, z
                a.age[which] = 1.0 if renewed else a.age[which] + 1.0
                if renewed and which == OBSERVER_STEP:
                    a.S[:] = self._workspace.S
                return True
        a.duration[which] = math.nan
        return False

    def _shift(self, t: float, h: float, count: int, last: Vector) -> bool:
        """Begin with the last solution, t [s] being the time now; return False if there is one."""
        now, ahead = self._horizon.now, (t - self._begin) / self._knot
        if not (0.0 <= ahead < self._count) or h != self._knot:
            now.u[:], now.A[:] = last, 0.0
            self._horizon.steps.by_all[:] = 0.0  # may be of no number
            self._horizon.derivative_age[0] = 0.0
            self._knot, self._count = h, count
            return True
        shift(self._horizon, ahead, self._count, count)
        self._count = count
        return False
