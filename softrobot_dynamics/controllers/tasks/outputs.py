# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The controlled outputs follow the reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.annotations import Array, Integers
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.gains import gain, rate_gain
from softrobot_dynamics.controllers.tasks.contract import (
    level,
    register,
    Rows,
    Task,
    TaskContext,
    TickState,
)
from softrobot_dynamics.model.model import CompiledModel


@kernel
def follow_outputs(state, rows, scale, p, d, q, qd, t):
    """Fill the rows of y'' = y_d'' + d (y_d' - y') + p (y_d - y) (c,), by a ``scale`` (c,)."""
    wanted, terms, n = state.desired, state.terms, rows.J.shape[1]
    for i in range(len(state.controlled)):
        k, row = state.controlled[i], rows.J[i]
        a = wanted[2, i] + d[i] * (wanted[1, i] - state.velocity[k])
        a += p[i] * (wanted[0, i] - state.y[k]) - terms.bias[k]
        rows.aim[i] = scale[i] * (state.velocity[k] + state.period * a)
        for j in range(n):
            row[j] = scale[i] * terms.J[k, j]


@register('outputs')
@dataclass(frozen=True)
class Outputs(Task):
    """
    The coordinates y of the controlled actuators follow the reference, as in ``pfbl``.

    Errors are shares of how far y goes by one unit of the coordinate that moves it most.
    """

    level: int = level(2)
    p: Array = gain('Gain on the error of y', each='output')
    d: Array = rate_gain('Gain on the error of its rate', each='output')

    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows."""
        return len(controlled)

    def bind(self, state: TickState, rows: Rows, context: TaskContext) -> Entry:
        """Return the Entry of what fills the rows."""
        ways = context.model.scales.outputs[context.controlled].max(axis=1, initial=0.0)
        rows.level[:] = self.level
        scale = 1.0 / np.where(ways > 0.0, ways, 1.0)
        gains = {'p': np.array(self.p), 'd': np.array(self.d)}
        return entry(follow_outputs, state=state, rows=rows, scale=scale, **gains)
