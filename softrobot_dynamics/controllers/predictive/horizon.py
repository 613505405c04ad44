# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Iterate control-limited differential dynamic programming over a horizon, in one compiled call.

An iteration rolls the commands out from the present state and differentiates the steps on the way,
goes backward (:mod:`~.predictive.backward_pass`), and rolls out what this finds, in shares of
``SHARES`` until the cost falls. With a ``renewal`` of r each iteration differentiates one step in
r, and the first; the others keep the derivatives of the iteration before, so that they are those
of a motion that is a solution older. Steps are those of :mod:`~.predictive.implicit_step`.
"""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.predictive.backward_pass import (
    allocate_backward,
    allocate_policy,
    backward_pass,
    BackwardWorkspace,
    Policy,
)
from softrobot_dynamics.controllers.predictive.implicit_step import (
    allocate_steps,
    make_step,
    ROUGH,
    StepArrays,
    StepWorkspace,
    TOLERANCE,
)
from softrobot_dynamics.controllers.predictive.stage_cost import (
    Aims,
    allocate_aims,
    allocate_costs,
    allocate_weights,
    command_cost,
    CostArrays,
    state_cost,
    Weights,
)
from softrobot_dynamics.kernels.linalg import copy

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

SHARES = (1.0, 0.5, 0.25, 0.1)
COST, RESIDUAL, TRIED, EXTRA, DONE = range(5)  # of the report
ROLLED_OUT, FAILED, NO_DESCENT = 0, 1, 2


class Limits(NamedTuple):
    """Limits of commands, (m,) each, actuator units."""

    lower: Vector
    upper: Vector
    rate: Vector  # [unit/s]


class HorizonMotion(NamedTuple):
    """States and commands over N steps, and the accelerations of their stages."""

    x: Matrix  # (N + 1, 2 n)
    u: Matrix  # (N, m)
    A: Matrix  # (N, 2 n) of both stages


class Horizon(NamedTuple):
    """A problem and all that its solution is worked out in."""

    step: StepWorkspace
    steps: StepArrays
    weights: Weights
    aims: Aims
    costs: CostArrays
    limits: Limits
    room: BackwardWorkspace
    policy: Policy
    now: HorizonMotion
    trial: HorizonMotion  # x and u are at first those that now.A and the policy are of, if known
    last: Vector  # (m,) the command before the first
    before: Vector  # (m,) the same of the motion in ``trial``
    z: Vector  # (2 n + m,)
    report: Vector  # (5,) cost, residual, roll-outs, regularisation, iterations
    known: Vector  # (1,) iterations since all steps got derivatives, from 1; 0: they have none
    renewal: Vector  # (1,) iterations in which all steps get new derivatives, a part in each


def allocate_horizon(model: CompiledModel, count: int, touching: bool = False) -> Horizon:
    """
    Return a :class:`Horizon` of up to ``count`` steps for a model, with its limits.

    If ``touching``, forces of contact act in the steps.
    """
    n, m = model.n, model.m
    step, steps, forces = allocate_steps(model, count, touching)

    def trajectory() -> HorizonMotion:
        x = np.zeros((count + 1, 2 * n))
        return HorizonMotion(x, np.zeros((count, m)), np.zeros((count, 2 * n)))

    return Horizon(
        step=step,
        steps=steps,
        weights=allocate_weights(n, m),
        aims=allocate_aims(n, m, count),
        costs=allocate_costs(model, count, step.robot, forces),
        limits=Limits(model.lower.copy(), model.upper.copy(), model.rate_limit.copy()),
        room=allocate_backward(n, m),
        policy=allocate_policy(n, m, count),
        now=trajectory(),
        trial=trajectory(),
        last=np.zeros(m),
        before=np.zeros(m),
        z=np.zeros(2 * n + m),
        report=np.zeros(5),
        known=np.zeros(1),
        renewal=np.ones(1),
    )


@kernel
def iterate(p, body, h, count, iterations, tolerance):
    """
    Improve the commands of ``count`` steps of ``h`` [s] in p.now, from the state p.now.x[0].

    ``body``: index of that whose tip is led. It ends when the residual is below ``tolerance``
    times the cost, or after so many ``iterations``. Returns ROLLED_OUT, FAILED where the present
    commands cannot be rolled out, NO_DESCENT where no share brings the cost down.
    """
    now, trial, extra = p.now, p.trial, p.report[EXTRA]
    p.report[TRIED] = p.report[DONE] = 0.0
    status = ROLLED_OUT
    for _ in range(iterations):
        cost = _roll_out_and_differentiate(p, body, h, count)
        if not cost < np.inf:
            p.known[0] = 0.0
            return FAILED
        p.report[DONE] += 1.0
        residual = _go_backward(p, h, count, extra)
        p.report[COST], p.report[RESIDUAL] = cost, residual
        if residual < 0.0:
            return FAILED
        if residual <= tolerance * cost:
            return ROLLED_OUT
        status = NO_DESCENT
        for share in SHARES:
            p.report[TRIED] += 1.0
            found = _roll_out(p, body, h, count, share)
            if found < cost or (found <= cost * (1.0 + 1e-12) and share == 1.0):
                status, p.report[COST] = ROLLED_OUT, found
                break
        if status != ROLLED_OUT:
            p.report[EXTRA] = min(1.0, max(1e-6, 10.0 * p.report[EXTRA]))
            extra = p.report[EXTRA]
            for k in range(count + 1):
                copy(now.x[k], trial.x[k])
            for k in range(count):
                copy(now.u[k], trial.u[k])
            continue
        p.report[EXTRA] = 0.1 * p.report[EXTRA] if p.report[EXTRA] > 1e-9 else 0.0
        extra = p.report[EXTRA]
        for k in range(count):
            copy(trial.x[k + 1], now.x[k + 1])
            copy(trial.u[k], now.u[k])
            copy(trial.A[k], now.A[k])
    return status


@kernel
def _go_backward(p, h, count, extra):
    """Return the residual of a backward pass, with more regularisation where it needs it; -1."""
    for _ in range(8):
        found = backward_pass(
            p.room,
            p.steps.F,
            p.costs,
            p.weights,
            p.aims,
            p.limits,
            p.now.u,
            p.last,
            h,
            count,
            p.policy,
            extra,
        )
        if found >= 0.0:
            return found
        extra = max(1e-6, 100.0 * extra)
    return -1.0


@kernel
def _roll_out_and_differentiate(p, body, h, count):
    """Fill the states of the present commands and all derivatives; return the cost, or inf."""
    now, steps, total = p.now, p.steps, 0.0
    n, renewal, phase = len(p.step.q), int(p.renewal[0]), int(p.known[0])
    fresh = phase == 0
    p.step.time[0] = p.aims.time[0]
    for k in range(count):
        before, nominal = (now.u[k - 1], p.trial.u[k - 1]) if k > 0 else (p.last, p.before)
        p.z[:] = 0.0
        if fresh:
            copy(now.u[k], p.trial.u[k])
            for i in range(len(before)):
                p.policy.gain[k, i, :] = p.policy.move[k, i] = 0.0
        else:
            for c in range(2 * n):
                p.z[c] = now.x[k, c] - p.trial.x[k, c]
            for i in range(len(before)):
                p.z[2 * n + i] = before[i] - nominal[i]
        u = p.trial.u[k]
        bounded(p.limits, p.policy.gain[k], p.policy.move[k], 0.0, p.z, u, before, h, now.u[k])
        for i in range(len(before)):
            p.z[2 * n + i] = 0.0 if fresh else now.u[k, i] - u[i]
        _guess(now.A[k], steps.by_all[k], p.z, steps.A[k])
        new = fresh or k == 0 or (k + phase) % renewal == 0
        end, within = now.x[k + 1], TOLERANCE if new else ROUGH
        if make_step(p.step, steps, k, now.x[k], now.u[k], h, end, new, fresh, within):
            return np.inf
        for s in range(2):
            copy(steps.A[k, s], now.A[k, s * n : (s + 1) * n])
        total += command_cost(p.weights, p.aims, now.u[k], before, h)
        total += state_cost(p.step, p.weights, p.aims, p.costs, body, k, now.x[k + 1], h, 1)
    copy(p.last, p.before)
    p.known[0] += 1.0
    return total


@kernel
def _roll_out(p, body, h, count, share):
    """Fill p.trial with a share of what the policy changes; return its cost, or inf."""
    now, trial, z, n, total = p.now, p.trial, p.z, len(p.step.q), 0.0
    copy(now.x[0], trial.x[0])
    p.step.time[0] = p.aims.time[0]
    for k in range(count):
        before, nominal = (trial.u[k - 1], now.u[k - 1]) if k > 0 else (p.last, p.last)
        for i in range(2 * n):
            z[i] = trial.x[k, i] - now.x[k, i]
        for i in range(len(before)):
            z[2 * n + i] = before[i] - nominal[i]
        bounded(
            p.limits, p.policy.gain[k], p.policy.move[k], share, z, now.u[k], before, h, trial.u[k]
        )
        for i in range(len(before)):  # from now on the command, for the guess of A
            z[2 * n + i] = trial.u[k, i] - now.u[k, i]
        _guess(now.A[k], p.steps.by_all[k], z, p.steps.A[k])
        end = trial.x[k + 1]
        if make_step(p.step, p.steps, k, trial.x[k], trial.u[k], h, end, False, False, ROUGH):
            return np.inf
        for s in range(2):
            copy(p.steps.A[k, s], trial.A[k, s * n : (s + 1) * n])
        total += command_cost(p.weights, p.aims, trial.u[k], before, h)
        total += state_cost(p.step, p.weights, p.aims, p.costs, body, k, trial.x[k + 1], h, 0)
    return total if total < np.inf else np.inf


@kernel
def _guess(known, by_all, z, A):
    """Fill A (2, n) with the ``known`` accelerations (2 n,) and what z (k,) changes in them."""
    n = A.shape[1]
    for s in range(2):
        for i in range(n):
            guess, row = known[s * n + i], by_all[s, i]
            for c in range(len(z)):
                guess += row[c] * z[c]
            A[s, i] = guess


@kernel
def bounded(limits, gain, move, share, z, nominal, before, h, u):
    """Fill u (m,): the nominal command, a share of its move and the gain, within the limits."""
    for i in range(len(u)):
        value, row, reach = nominal[i] + share * move[i], gain[i], limits.rate[i] * h
        for c in range(len(z)):
            value += row[c] * z[c]
        low = max(limits.lower[i], min(before[i] - reach, limits.upper[i]))
        high = min(limits.upper[i], max(before[i] + reach, limits.lower[i]))
        u[i] = min(max(value, low), high)
