# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The command between solutions: that of the plan, and its gain on what the state differs in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.predictive.planner import MAX_HORIZON_STEPS, Plan

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_FOLLOW_TYPES = 'int64, int64, float64, float64, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR'


def holding_command(model: CompiledModel, q: Vector, lower: Vector, upper: Vector) -> Vector:
    """Return the command (m,) within limits (m,) that is nearest to holding a robot at q (n,)."""
    terms = model.per_thread.evaluator(q, np.zeros(model.n))
    efforts = np.linalg.lstsq(terms.J.T * model.signs, terms.h, rcond=1e-9)[0]
    found = model.per_thread.conversion.commands(q, efforts)
    held: Vector = np.clip(np.where(np.isfinite(found), found, 0.0), lower, upper)
    return held


class PlanFeedback:
    """
    The commands of a plan with its feedback gains.

    The plan is copied into arrays that the kernel knows: no plan has it compiled anew in a tick.
    """

    def __init__(self, n: int, m: int) -> None:
        count = MAX_HORIZON_STEPS
        self._times, self._states = np.zeros(count + 2), np.zeros((count + 2, 2 * n))
        self._commands, self._gains = np.zeros((count, m)), np.zeros((count, m, 2 * n))
        self._plan: Plan | None = None
        self._follow = cached(
            follow_plan,
            _FOLLOW_TYPES,
            times=self._times,
            states=self._states,
            commands=self._commands,
            gains=self._gains,
        )

    def command(
        self, plan: Plan, t: float, q: Vector, qd: Vector, low: Vector, high: Vector, u: Vector
    ) -> int:
        """Fill u (m,) by a plan and a state at t [s], see :func:`follow_plan`."""
        if plan is not self._plan:
            states, steps = len(plan.times), len(plan.u)
            self._times[:states], self._states[:states] = plan.times, plan.x
            self._commands[:steps], self._gains[:steps] = plan.u, plan.gain
            self._plan = plan
        size = len(plan.times), len(plan.u)
        cut: int = self._follow(*size, plan.knot, t, q, qd, low, high, u)
        return cut


@kernel
def follow_plan(times, states, commands, gains, count, steps, knot, t, q, qd, low, high, u):
    """
    Fill u (m,) within ``low`` and ``high`` (m,) for the state (q, qd), (n,) each, at t [s].

    Returns how many commands are cut, or -1 after the last command of the plan. The first of its
    ``steps`` commands is for times[0], and for ticks up to a ``knot`` [s] before, as these are not
    exactly in time. ``states`` (., 2 n) has ``count`` rows, those at ``times`` (.,); in between q
    is a cubic and qd a straight line. ``gains`` (., m, 2 n) act on the differences from them.
    """
    n, past = len(q), (t - times[0]) / knot + 1e-6
    if not -1.0 < past < steps:
        return -1
    k = max(0, int(past))
    j = 0
    while j < count - 2 and t >= times[j + 1]:
        j += 1
    T = times[j + 1] - times[j]
    s = min(max((t - times[j]) / T, 0.0), 1.0)
    a, b, cut = states[j], states[j + 1], 0
    for i in range(len(u)):
        u[i] = commands[k, i]
    h00, h10 = (1.0 + 2.0 * s) * (1.0 - s) * (1.0 - s), s * (1.0 - s) * (1.0 - s)
    h01, h11 = s * s * (3.0 - 2.0 * s), s * s * (s - 1.0)
    for c in range(n):
        place = h00 * a[c] + h10 * T * a[n + c] + h01 * b[c] + h11 * T * b[n + c]
        position_error, rate_error = q[c] - place, qd[c] - ((1.0 - s) * a[n + c] + s * b[n + c])
        for i in range(len(u)):
            u[i] += gains[k, i, c] * position_error + gains[k, i, n + c] * rate_error
    for i in range(len(u)):
        value = min(max(u[i], low[i]), high[i])
        cut += value != u[i]
        u[i] = value
    return cut
