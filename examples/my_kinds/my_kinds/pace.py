# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A bound: no controlled output changes too fast."""

from dataclasses import dataclass

from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.tasks.contract import Bound, order, register_bound
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter


@kernel
def keep_pace(state, rows, most, q, qd, t):
    """Fill the rows of -most <= y' <= most."""
    for i in range(len(state.controlled)):
        k = state.controlled[i]
        rows.lower[i] = -most - state.period * state.terms.bias[k]
        rows.upper[i] = most - state.period * state.terms.bias[k]
        for j in range(rows.J.shape[1]):
            rows.J[i, j] = state.terms.J[k, j]


@register_bound('pace')
@dataclass(frozen=True)
class Pace(Bound):
    """Rates of the controlled outputs are limited."""

    order: int = order(0)
    most: float = parameter(number('unit of y/s', above=0.0, default=1.0), 'Greatest rate')

    def count(self, model, controlled):
        """Return the number of rows."""
        return len(controlled)

    def bind(self, state, rows, context):
        """Return the Entry of what fills the rows."""
        return entry(keep_pace, state=state, rows=rows, most=float(self.most))
