# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Track the reference by the controlled outputs: PD with its acceleration fed forward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.annotations import Array, Integers
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.gains import gain, rate_gain
from softrobot_dynamics.controllers.tasks.contract import (
    ControlTask,
    level,
    register_task,
    Rows,
    TaskContext,
    TickState,
)
from softrobot_dynamics.controllers.tasks.tip_course import LIVE
from softrobot_dynamics.model.model import CompiledModel


@kernel
def follow_outputs(state, rows, mode, scale, p, d, q, qd, t):
    """
    Fill the rows of y'' = y_d'' + d (y_d' - y') + p (y_d - y) (c,), by a ``scale`` (c,).

    Where the tip is led by messages that is y'' = -d y'.
    """
    desired, terms, n = state.desired, state.terms, rows.J.shape[1]
    led = mode[0] == LIVE
    for i in range(len(state.controlled)):
        k, row = state.controlled[i], rows.J[i]
        a = -terms.bias[k] - d[i] * state.velocity[k]
        if not led:
            a += desired[2, i] + d[i] * desired[1, i] + p[i] * (desired[0, i] - state.y[k])
        rows.aim[i] = scale[i] * (state.velocity[k] + state.period * a)
        for j in range(n):
            row[j] = scale[i] * terms.J[k, j]


@register_task('outputs')
@dataclass(frozen=True)
class Outputs(ControlTask):
    """
    The coordinates y of the controlled actuators follow the reference, as in ``pfbl``.

    While the tip is led by messages, which say nothing of the rest of the robot, outputs that the
    tip leaves free are damped only. Errors are shares of how far y goes by one unit of the
    coordinate that moves it most.
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
        mode = context.course.mode
        return entry(follow_outputs, state=state, rows=rows, mode=mode, scale=scale, **gains)
