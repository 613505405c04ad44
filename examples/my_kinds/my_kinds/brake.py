# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A task: the controlled outputs come to rest."""

from dataclasses import dataclass
import math

from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.tasks.contract import ControlTask, level, register_task
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter


@kernel
def brake(state, rows, decay, q, qd, t):
    """Fill the rows of y'(T) = decay y'."""
    for i in range(len(state.controlled)):
        k = state.controlled[i]
        rows.aim[i] = decay * state.velocity[k] - state.period * state.terms.bias[k]
        for j in range(rows.J.shape[1]):
            rows.J[i, j] = state.terms.J[k, j]


@register_task('brake')
@dataclass(frozen=True)
class Brake(ControlTask):
    """The rates of the controlled outputs decay."""

    level: int = level(0)
    d: float = parameter(number('1/s', at_least=0.0, default=5.0), 'Rate of decay')

    def count(self, model, controlled):
        """Return the number of rows."""
        return len(controlled)

    def bind(self, state, rows, context):
        """Return the Entry of what fills the rows."""
        rows.level[:] = self.level
        return entry(brake, state=state, rows=rows, decay=math.exp(-self.d * state.period))
