# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The optimisation of the law `predictive` on Crocoddyl's own steps: Euler's, semi-implicit.

With the acceleration a(q, v, u) a step of h leads to v + h a and q + h (v + h a), as in
Crocoddyl's `IntegratedActionModelEuler`. Search, backward pass and costs are those of the law;
only the roll-outs, which know the steps, are these.
"""

from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.predictive.horizon import Horizon
from softrobot_dynamics.controllers.predictive.iteration import iterate
from softrobot_dynamics.controllers.predictive.roll_out import BODY, bounded, COUNT, FRACTION, STEP
from softrobot_dynamics.controllers.predictive.stage_cost import command_cost, state_cost
from softrobot_dynamics.dynamics.response import (
    accelerate,
    AccelerationResponse,
    allocate_response,
    respond,
)
from softrobot_dynamics.kernels.linalg import copy


class EulerSteps(NamedTuple):
    """A horizon, and what its accelerations are worked out in."""

    p: Horizon
    r: AccelerationResponse


def euler_iteration(model, p):
    """Return :func:`iterate` on Euler's steps, a function of (body, h, count, ...)."""
    steps: Any = EulerSteps(p, allocate_response(model)._replace(stiffness=p.step.stiffness))
    return cached(
        iterate,
        p=p,
        differentiate=entry(differentiate_euler, s=steps),
        attempt=entry(roll_out_euler, s=steps),
        arguments=np.zeros(6),
        trial_cost=np.zeros(1),
    )


@kernel
def differentiate_euler(s, arguments, cost):
    """Fill the states of the present commands and all derivatives, and their cost (1,), or inf."""
    p, r = s.p, s.r
    body, h, count = int(arguments[BODY]), arguments[STEP], int(arguments[COUNT])
    w, now, n, total = p.step, p.now, len(p.step.q), 0.0
    cost[0] = np.inf
    for k in range(count):
        x, F = now.x[k], p.steps.F[k]
        failed = respond(w.robot, w.parts, w.terms, w.by_state, r, x[:n], x[n:], now.u[k])
        if failed != 0:
            return
        if k > 0:
            total += state_cost(w, p.weights, p.aims, p.costs, body, k - 1, x, h, 1)
        for i in range(n):
            for c in range(F.shape[1]):
                F[n + i, c] = h * r.change[i, c]
                F[i, c] = h * F[n + i, c]
            F[i, i] += 1.0
            F[i, n + i] += h
            F[n + i, n + i] += 1.0
        go_on(r.qdd, x, h, now.x[k + 1])
        before = now.u[k - 1] if k > 0 else p.last
        total += command_cost(p.weights, p.aims, now.u[k], before, h)
    cost[0] = total + end_cost(p, body, now.x[count], count, h, 1)


@kernel
def roll_out_euler(s, arguments, cost):
    """Fill p.trial with a share of what the policy changes, and its cost (1,), or inf."""
    p, r = s.p, s.r
    body, h, count = int(arguments[BODY]), arguments[STEP], int(arguments[COUNT])
    share = arguments[FRACTION]
    w, now, trial, z, n, total = p.step, p.now, p.trial, p.z, len(p.step.q), 0.0
    cost[0] = np.inf
    copy(now.x[0], trial.x[0])
    for k in range(count):
        x, u = trial.x[k], trial.u[k]
        before, nominal = (trial.u[k - 1], now.u[k - 1]) if k > 0 else (p.last, p.last)
        for i in range(2 * n):
            z[i] = x[i] - now.x[k, i]
        for i in range(len(u)):
            z[2 * n + i] = before[i] - nominal[i]
        gain, feedforward = p.policy.gain[k], p.policy.feedforward[k]
        bounded(p.limits, gain, feedforward, share, z, now.u[k], before, h, u)
        if accelerate(w.parts, w.terms, r, x[:n], x[n:], u) != 0:
            return
        if k > 0:
            total += state_cost(w, p.weights, p.aims, p.costs, body, k - 1, x, h, 0)
        go_on(r.qdd, x, h, trial.x[k + 1])
        total += command_cost(p.weights, p.aims, u, before, h)
    total += end_cost(p, body, trial.x[count], count, h, 0)
    cost[0] = total if total < np.inf else np.inf


@kernel
def go_on(qdd, x, h, end):
    """Fill the state (2 n,) a step after x (2 n,)."""
    n = len(qdd)
    for i in range(n):
        end[n + i] = x[n + i] + h * qdd[i]
        end[i] = x[i] + h * end[n + i]


@kernel
def end_cost(p, body, x, count, h, differentiate):
    """Return the cost of the last state x (2 n,)."""
    w, n = p.step, len(x) // 2
    run(w.parts.evaluate, x[:n], x[n:])
    return state_cost(w, p.weights, p.aims, p.costs, body, count - 1, x, h, differentiate)
