# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Iterate control-limited differential dynamic programming over a horizon, in one compiled call.

An iteration rolls the commands out from the present state and differentiates the steps on the way,
goes backward (:mod:`~.predictive.backward_pass`), and rolls out what this finds: the whole of it,
then fractions until the cost falls. The next fraction is the best one by a parabola through the
costs of none and of the last, with the slope of the quadratic cost (Nocedal, Wright, Numerical
Optimization, 2006, Sec. 3.5). It is small where soft limits are met, of which the quadratic cost
knows nothing before; the regularisation grows then, as where nothing is found. Where the whole
gains less than ``SUFFICIENT_DECREASE`` of what the quadratic cost predicts, half of it is rolled
out, too, and the better is taken: far from the solution whole moves overshoot, and gain less than
shorter ones.

A solution that comes late is worth less than one that goes less far, and where surfaces touch or
part a roll-out takes several times as long as elsewhere. So the work of robots on which forces are
abrupt is bounded, in evaluations of the dynamics, since clocks would not repeat: a fraction that
takes ``MAX_TRIAL_WORK`` counts as one that fails, after ``MAX_ITERATION_WORK`` no other is tried,
and near the solution only one. Where less than ``MIN_ACCEPTED_FRACTION`` is found, the next
iteration, mostly that of the next solution, begins with ``MIN_ACCEPTED_FRACTION``. Without a
fraction the commands remain, with new gains.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.predictive.backward_pass import backward_pass
from softrobot_dynamics.controllers.predictive.horizon import (
    COST,
    DONE,
    FIRST,
    Horizon,
    REGULARISATION,
    RESIDUAL,
    ROLL_OUTS,
)
from softrobot_dynamics.controllers.predictive.roll_out import (
    BODY,
    BOUND,
    COUNT,
    FRACTION,
    roll_out,
    roll_out_and_differentiate,
    STEP,
    WORK,
)
from softrobot_dynamics.kernels.linalg import copy

MAX_LINE_SEARCH_STEPS = 4  # roll-outs of fractions of a move, besides that of half of it
MIN_ACCEPTED_FRACTION = 0.25  # of a move; where less is found, the quadratic cost is far off
# of the fraction before, for the next; MIN_ACCEPTED_FRACTION after the whole move
MIN_BACKTRACKING, MAX_BACKTRACKING = 0.01, 0.5
MAX_REGULARISATION = 1.0  # relative to the diagonal of the Hessian
SUFFICIENT_DECREASE = 0.5  # of the gain that the quadratic cost predicts
# of the cost; where less is predicted only one fraction is tried: where forces are abrupt others
# take too long, where they are smooth the costs of two differ by little more than rounding
ABRUPT_PREDICTED_DECREASE, SMOOTH_PREDICTED_DECREASE = 1e-3, 1e-9
MAX_TRIAL_WORK = 15.0  # evaluations a step of the horizon that one fraction may take
MAX_ITERATION_WORK = 20.0  # the same of an iteration; with more no other fraction is tried
ROLLED_OUT, FAILED, NO_DESCENT = 0, 1, 2


def iteration(p: Horizon) -> Callable[[int, float, int, int, float], int]:
    """Return :func:`iterate` for a horizon, a function of (body, h, count, ...), see there."""
    found: Callable[[int, float, int, int, float], int] = cached(
        iterate,
        'int64, float64, int64, int64, float64',
        p=p,
        differentiate=entry(roll_out_and_differentiate, p=p),
        attempt=entry(roll_out, p=p),
        arguments=np.zeros(6),
        trial_cost=np.zeros(1),
    )
    return found


@kernel
def iterate(
    p, differentiate, attempt, arguments, trial_cost, body, h, count, iterations, tolerance
):
    """
    Improve the commands of ``count`` steps of ``h`` [s] in p.now, from the state p.now.x[0].

    ``body``: index of that whose tip is led. It ends when the residual is below ``tolerance``
    times the cost, or after so many ``iterations``. Returns ROLLED_OUT, FAILED where the present
    commands cannot be rolled out, NO_DESCENT where no fraction brings the cost down. The entries
    ``differentiate`` and ``attempt`` of (arguments, trial_cost (1,)) are those of
    :mod:`~.predictive.roll_out`.
    """
    now, trial, extra = p.now, p.trial, p.report[REGULARISATION]
    arguments[BODY], arguments[STEP], arguments[COUNT] = body, h, count
    p.report[ROLL_OUTS] = p.report[DONE] = 0.0
    status = ROLLED_OUT
    for _ in range(iterations):
        p.step.work[0] = 0.0
        run(differentiate, arguments, trial_cost)
        cost = trial_cost[0]
        if not cost < np.inf:
            p.derivative_age[0] = 0.0
            return FAILED
        p.report[DONE] += 1.0
        residual = _regularised_backward_pass(p, h, count, extra)
        p.report[COST], p.report[RESIDUAL] = cost, residual
        if residual < 0.0:
            return FAILED
        if residual <= tolerance * cost:
            return ROLLED_OUT
        fraction = _line_search(p, attempt, arguments, trial_cost, cost)
        extra = _regularisation(p.report[REGULARISATION], fraction)
        p.report[REGULARISATION] = extra
        if fraction == 0.0:
            status = NO_DESCENT
            _copy_motion(now, trial, count)
            continue
        status, p.report[COST] = ROLLED_OUT, trial_cost[0]
        _copy_motion(trial, now, count)
    return status


@kernel
def _line_search(p, attempt, arguments, trial_cost, cost):
    """
    Fill p.trial and ``trial_cost`` (1,) with a fraction that is below a cost; return the fraction.

    0: there is none, or there was no time for it.
    """
    count, fraction = int(arguments[COUNT]), p.report[FIRST]
    predicted = p.backward.predicted_decrease[0]
    least = ABRUPT_PREDICTED_DECREASE if p.step.abrupt else SMOOTH_PREDICTED_DECREASE
    far, arguments[BOUND] = predicted > least * cost, cost * (1.0 + 1e-12)
    per_step = float(count) if p.step.abrupt else np.inf
    for _ in range(MAX_LINE_SEARCH_STEPS if far else 1):
        arguments[WORK] = p.step.work[0] + MAX_TRIAL_WORK * per_step
        _attempt(p, attempt, arguments, trial_cost, fraction)
        one = trial_cost[0]
        if not (one < cost or (one <= arguments[BOUND] and fraction == 1.0)):
            fraction *= _next_fraction(fraction, one - cost, 2.0 * predicted)
            p.report[FIRST] = MIN_ACCEPTED_FRACTION
            if p.step.work[0] > MAX_ITERATION_WORK * per_step:
                return 0.0
            continue
        p.report[FIRST] = 1.0 if fraction >= MIN_ACCEPTED_FRACTION else MIN_ACCEPTED_FRACTION
        if fraction == 1.0 and far and cost - one < SUFFICIENT_DECREASE * predicted:
            _copy_motion(p.trial, p.spare, count)
            _attempt(p, attempt, arguments, trial_cost, 0.5)
            if not trial_cost[0] < one:
                trial_cost[0] = one
                _copy_motion(p.spare, p.trial, count)
        return fraction
    return 0.0


@kernel
def _regularisation(extra, fraction):
    """Return the regularisation after a search that found a ``fraction`` of the move, 0: none."""
    if fraction < MIN_ACCEPTED_FRACTION:
        return min(MAX_REGULARISATION, max(1e-6 if fraction == 0.0 else 1e-3, 10.0 * extra))
    return 0.1 * extra if extra > 1e-9 else 0.0


@kernel
def _next_fraction(fraction, rise, slope):
    """Return the factor for the next fraction, by the ``rise`` of the cost with it, or inf."""
    best = 0.5 * slope * fraction / (rise + slope * fraction)
    return min(
        max(best, MIN_ACCEPTED_FRACTION if fraction == 1.0 else MIN_BACKTRACKING), MAX_BACKTRACKING
    )


@kernel
def _attempt(p, attempt, arguments, trial_cost, fraction):
    """Roll out a fraction of what the policy changes."""
    p.report[ROLL_OUTS] += 1.0
    arguments[FRACTION] = fraction
    run(attempt, arguments, trial_cost)


@kernel
def _copy_motion(source, target, count):
    """Copy states, commands and accelerations of ``count`` steps."""
    copy(source.x[0], target.x[0])
    for k in range(count):
        copy(source.x[k + 1], target.x[k + 1])
        copy(source.u[k], target.u[k])
        copy(source.A[k], target.A[k])


@kernel
def _regularised_backward_pass(p, h, count, extra):
    """Return the residual of a backward pass, with more regularisation where it needs it; -1."""
    for _ in range(8):
        found = backward_pass(
            p.backward,
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
