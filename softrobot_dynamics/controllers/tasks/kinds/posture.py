# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Hold the coordinates at a posture: PD in what other tasks leave free."""

from __future__ import annotations

from collections.abc import Iterable
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
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.schema.fields import items, number
from softrobot_dynamics.schema.parameters import parameter


@kernel
def hold_posture(state, rows, target, units, p, d, q, qd, t):
    """Fill the rows of q'' = p (q_d - q) - d q' (n,), by the ``units`` of the coordinates."""
    for i in range(len(target)):
        a = p[i] * (target[i] - q[i]) - d[i] * qd[i]
        rows.aim[i] = (qd[i] + state.period * a) / units[i]


@register_task('posture')
@dataclass(frozen=True)
class PostureTask(ControlTask):
    """Every coordinate is kept at a target. Errors are in units of the coordinates' sizes."""

    level: int = level(0)
    target: tuple[float, ...] = parameter(
        items(number('rad or m'), default=()),
        'Coordinates to be kept, in their order; empty: those where the law begins',
    )
    p: Array = gain('Gain on the error of q', default=25.0, each='coordinate')
    d: Array = rate_gain('Gain on the error of its rate', default=10.0, each='coordinate')

    def examine(self, model: CompiledModel) -> Iterable[tuple[str, object, str]]:
        """Yield what does not fit to a model, as (name of the field, value, expected)."""
        if self.target and len(self.target) != model.n:
            yield 'target', self.target, f'{model.n} numbers, or none'

    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows."""
        return model.n

    def bind(self, state: TickState, rows: Rows, context: TaskContext) -> Entry:
        """Return the Entry of what fills the rows."""
        units = context.model.scales.units
        rows.J[:], rows.level[:] = np.diag(1.0 / units), self.level
        target = np.array(self.target, dtype=float) if self.target else context.home
        gains = {'p': np.array(self.p), 'd': np.array(self.d)}
        return entry(hold_posture, state=state, rows=rows, target=target, units=units, **gains)
