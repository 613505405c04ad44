# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Iterate control-limited differential dynamic programming over a horizon, in one compiled call.

An iteration rolls the commands out from the present state and differentiates the steps on the way,
goes backward (:mod:`~.predictive.backward_pass`), and rolls out what this finds, in shares of
``SHARES`` until the cost falls. Where the whole of it gains less than ``LITTLE`` of what the
quadratic cost promises, half of it is rolled out, too, and the better is taken: far from the
solution whole moves overshoot, and gain less than shorter ones.
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
    EXTRA,
    Horizon,
    RESIDUAL,
    TRIED,
)
from softrobot_dynamics.controllers.predictive.roll_out import (
    BODY,
    COUNT,
    roll_out,
    roll_out_and_differentiate,
    SHARE,
    STEP,
)
from softrobot_dynamics.kernels.linalg import copy

SHARES = (1.0, 0.5, 0.25, 0.1)
LITTLE = 0.5  # of the gain in cost that is promised
ROLLED_OUT, FAILED, NO_DESCENT = 0, 1, 2


def iteration(p: Horizon) -> Callable[[int, float, int, int, float], int]:
    """Return :func:`iterate` for a horizon, a function of (body, h, count, ...), see there."""
    found: Callable[[int, float, int, int, float], int] = cached(
        iterate,
        p=p,
        differentiate=entry(roll_out_and_differentiate, p=p),
        attempt=entry(roll_out, p=p),
        told=np.zeros(4),
        found=np.zeros(1),
    )
    return found


@kernel
def iterate(p, differentiate, attempt, told, found, body, h, count, iterations, tolerance):
    """
    Improve the commands of ``count`` steps of ``h`` [s] in p.now, from the state p.now.x[0].

    ``body``: index of that whose tip is led. It ends when the residual is below ``tolerance``
    times the cost, or after so many ``iterations``. Returns ROLLED_OUT, FAILED where the present
    commands cannot be rolled out, NO_DESCENT where no share brings the cost down. The entries
    ``differentiate`` and ``attempt`` of (told, found) are those of :mod:`~.predictive.roll_out`.
    """
    now, trial, extra = p.now, p.trial, p.report[EXTRA]
    told[BODY], told[STEP], told[COUNT] = body, h, count
    p.report[TRIED] = p.report[DONE] = 0.0
    status = ROLLED_OUT
    for _ in range(iterations):
        run(differentiate, told, found)
        cost = found[0]
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
        if not _search(p, attempt, told, found, cost):
            status = NO_DESCENT
            p.report[EXTRA] = min(1.0, max(1e-6, 10.0 * p.report[EXTRA]))
            extra = p.report[EXTRA]
            _copy_motion(now, trial, count)
            continue
        status, p.report[COST] = ROLLED_OUT, found[0]
        p.report[EXTRA] = 0.1 * p.report[EXTRA] if p.report[EXTRA] > 1e-9 else 0.0
        extra = p.report[EXTRA]
        _copy_motion(trial, now, count)
    return status


@kernel
def _search(p, attempt, told, found, cost):
    """Fill p.trial and its cost ``found`` (1,) with a share that is below a cost, if there is."""
    for share in SHARES:
        _attempt(p, attempt, told, found, share)
        one = found[0]
        if not (one < cost or (one <= cost * (1.0 + 1e-12) and share == 1.0)):
            continue
        if share == 1.0 and cost - one < LITTLE * p.room.promise[0]:
            count = int(told[COUNT])
            _copy_motion(p.trial, p.spare, count)
            _attempt(p, attempt, told, found, 0.5)
            if not found[0] < one:
                found[0] = one
                _copy_motion(p.spare, p.trial, count)
        return True
    return False


@kernel
def _attempt(p, attempt, told, found, share):
    """Roll out a share of what the policy changes."""
    p.report[TRIED] += 1.0
    told[SHARE] = share
    run(attempt, told, found)


@kernel
def _copy_motion(source, target, count):
    """Copy states, commands and accelerations of ``count`` steps."""
    copy(source.x[0], target.x[0])
    for k in range(count):
        copy(source.x[k + 1], target.x[k + 1])
        copy(source.u[k], target.u[k])
        copy(source.A[k], target.A[k])


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
