# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The command between solutions: that of the plan, and its gain on what the state differs in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.jit import kernel

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


def holding_command(model: CompiledModel, q: Vector, lower: Vector, upper: Vector) -> Vector:
    """Return the command (m,) within limits (m,) that is nearest to holding a robot at q (n,)."""
    terms = model.per_thread.evaluator(q, np.zeros(model.n))
    efforts = np.linalg.lstsq(terms.J.T * model.signs, terms.h, rcond=1e-9)[0]
    found = model.per_thread.conversion.commands(q, efforts)
    held: Vector = np.clip(np.where(np.isfinite(found), found, 0.0), lower, upper)
    return held


@kernel
def follow_plan(times, states, commands, gains, knot, t, q, qd, low, high, u):
    """
    Fill u (m,) within ``low`` and ``high`` for the state (q, qd) at t [s].

    Returns how many commands are cut, or -1 after the last command of the plan. The first is for
    times[0], and for ticks up to a knot before, as these are not exactly in time. ``states``
    (K, 2 n) are those at ``times`` (K,); in between q is a cubic and qd a straight line.
    """
    n, past = len(q), (t - times[0]) / knot + 1e-6
    if not -1.0 < past < len(commands):
        return -1
    k = max(0, int(past))
    j = 0
    while j < len(times) - 2 and t >= times[j + 1]:
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
