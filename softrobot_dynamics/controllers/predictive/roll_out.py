# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Roll commands out over a horizon, by the steps of :mod:`~.predictive.implicit_step`.

With a ``renewal`` of r each iteration differentiates one step in r, and the first; the others keep
the derivatives of the iteration before, so that they are those of a motion that is a solution
older. Where surfaces touch or part meanwhile, these say nothing: steps in which forces of contact
act, or did, are differentiated each time.
"""

import numpy as np
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.predictive.implicit_step import (
    make_step,
    NEWTON_TOLERANCE,
    ROUGH_TOLERANCE,
)
from softrobot_dynamics.controllers.predictive.stage_cost import command_cost, state_cost
from softrobot_dynamics.kernels.linalg import copy

# of the ``arguments`` (6,) of a roll-out: index of the tip's body, length [s] and number of steps,
# fraction of the feedforward, and the cost and the work at which it ends
BODY, STEP, COUNT, FRACTION, BOUND, WORK = range(6)


@kernel
def roll_out_and_differentiate(p, arguments, cost):
    """Fill the states of the present commands and all derivatives, and their cost (1,), or inf."""
    body, h, count = int(arguments[BODY]), arguments[STEP], int(arguments[COUNT])
    cost[0] = np.inf
    now, steps, acted, total = p.now, p.steps, p.costs.forces.acted, 0.0
    n, renewal, phase = len(p.step.q), int(p.renewal[0]), int(p.derivative_age[0])
    fresh = phase == 0
    p.step.time[0] = p.aims.time[0]
    for k in range(count):
        before, nominal = (now.u[k - 1], p.trial.u[k - 1]) if k > 0 else (p.last, p.trial_last)
        p.z[:] = 0.0
        if fresh:
            copy(now.u[k], p.trial.u[k])
            for i in range(len(before)):
                p.policy.gain[k, i, :] = p.policy.feedforward[k, i] = 0.0
        else:
            for c in range(2 * n):
                p.z[c] = now.x[k, c] - p.trial.x[k, c]
            for i in range(len(before)):
                p.z[2 * n + i] = before[i] - nominal[i]
        u = p.trial.u[k]
        gain, feedforward = p.policy.gain[k], p.policy.feedforward[k]
        bounded(p.limits, gain, feedforward, 0.0, p.z, u, before, h, now.u[k])
        for i in range(len(before)):
            p.z[2 * n + i] = 0.0 if fresh else now.u[k, i] - u[i]
        _guess(now.A[k], steps.by_all[k], p.z, steps.A[k])
        new = fresh or k == 0 or (k + phase) % renewal == 0 or p.touched[k] > 0.0
        end, began = now.x[k + 1], p.step.time[0]
        while True:
            acted[0], within = 0.0, NEWTON_TOLERANCE if new else ROUGH_TOLERANCE
            if make_step(p.step, steps, k, now.x[k], now.u[k], h, end, new, fresh, within):
                return
            if new or acted[0] == 0.0:
                break
            new, p.step.time[0] = True, began
        p.touched[k] = acted[0]
        for s in range(2):
            copy(steps.A[k, s], now.A[k, s * n : (s + 1) * n])
        total += command_cost(p.weights, p.aims, now.u[k], before, h)
        total += state_cost(p.step, p.weights, p.aims, p.costs, body, k, now.x[k + 1], h, 1)
    copy(p.last, p.trial_last)
    p.derivative_age[0] += 1.0
    cost[0] = total


@kernel
def roll_out(p, arguments, cost):
    """
    Fill p.trial with a fraction of what the policy changes, and its cost (1,), or inf.

    It ends early, with inf, where more work is done than arguments[WORK], and with the cost up to
    there where that is above arguments[BOUND].
    """
    body, h, count = int(arguments[BODY]), arguments[STEP], int(arguments[COUNT])
    fraction = arguments[FRACTION]
    cost[0] = np.inf
    now, trial, z, n, total = p.now, p.trial, p.z, len(p.step.q), 0.0
    copy(now.x[0], trial.x[0])
    p.step.time[0] = p.aims.time[0]
    for k in range(count):
        before, nominal = (trial.u[k - 1], now.u[k - 1]) if k > 0 else (p.last, p.last)
        for i in range(2 * n):
            z[i] = trial.x[k, i] - now.x[k, i]
        for i in range(len(before)):
            z[2 * n + i] = before[i] - nominal[i]
        gain, feedforward = p.policy.gain[k], p.policy.feedforward[k]
        bounded(p.limits, gain, feedforward, fraction, z, now.u[k], before, h, trial.u[k])
        for i in range(len(before)):  # from now on the command, for the guess of A
            z[2 * n + i] = trial.u[k, i] - now.u[k, i]
        _guess(now.A[k], p.steps.by_all[k], z, p.steps.A[k])
        end = trial.x[k + 1]
        if make_step(
            p.step, p.steps, k, trial.x[k], trial.u[k], h, end, False, False, ROUGH_TOLERANCE
        ):
            return
        for s in range(2):
            copy(p.steps.A[k, s], trial.A[k, s * n : (s + 1) * n])
        total += command_cost(p.weights, p.aims, trial.u[k], before, h)
        total += state_cost(p.step, p.weights, p.aims, p.costs, body, k, trial.x[k + 1], h, 0)
        if total > arguments[BOUND]:
            break
        if p.step.work[0] > arguments[WORK]:
            return
    cost[0] = total if total < np.inf else np.inf


@kernel
def _guess(previous, by_all, z, A):
    """Fill A (2, n) with the ``previous`` accelerations (2 n,) and what z (k,) changes in them."""
    n = A.shape[1]
    for s in range(2):
        for i in range(n):
            guess, row = previous[s * n + i], by_all[s, i]
            for c in range(len(z)):
                guess += row[c] * z[c]
            A[s, i] = guess


@kernel
def bounded(limits, gain, feedforward, fraction, z, nominal, before, h, u):
    """Fill u (m,), within limits: nominal command, a fraction of the feedforward, the gain."""
    for i in range(len(u)):
        value, row, reach = nominal[i] + fraction * feedforward[i], gain[i], limits.rate[i] * h
        for c in range(len(z)):
            value += row[c] * z[c]
        low = max(limits.lower[i], min(before[i] - reach, limits.upper[i]))
        high = min(limits.upper[i], max(before[i] + reach, limits.lower[i]))
        u[i] = min(max(value, low), high)
