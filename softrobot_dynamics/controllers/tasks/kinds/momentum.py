# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Damp the momentum M q', by rows of the Cholesky factor of the mass matrix."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.gains import rate_gain
from softrobot_dynamics.controllers.tasks.contract import (
    ControlTask,
    level,
    register_task,
    Rows,
    TaskContext,
    TickState,
)
from softrobot_dynamics.kernels.linalg import cholesky, copy
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.model.model import CompiledModel


@kernel
def damp_momentum(state, rows, L, level, scale, decay, q, qd, t):
    """Fill the rows of L' v(T) = ``decay`` L' v (n,) with M = L L'; none where M has no factor."""
    n = len(L)
    for i in range(n):
        copy(state.terms.M[i], L[i])
    rows.level[:] = level if cholesky(L) == 0 else 0
    for i in range(n):
        row = rows.J[i]
        for j in range(n):
            row[j] = scale * L[j, i] if j >= i else 0.0
        rows.aim[i] = decay * dot(row, qd[:n])


@register_task('momentum')
@dataclass(frozen=True)
class Momentum(ControlTask):
    """
    The momentum M q' decays; errors are measured by their kinetic energy.

    It damps what other tasks leave free, heavy parts most. An error of 1 is as the whole robot
    at a speed of its length in 1 s.
    """

    level: int = level(0)
    d: float = rate_gain('Rate of decay', default=10.0)

    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows."""
        return model.n

    def bind(self, state: TickState, rows: Rows, context: TaskContext) -> Entry:
        """Return the Entry of what fills the rows."""
        scales, n = context.model.scales, context.model.n
        mass = float(scales.carried.max())
        return entry(
            damp_momentum,
            state=state,
            rows=rows,
            L=np.zeros((n, n)),
            level=int(self.level),
            scale=1.0 / (scales.length * math.sqrt(mass)),
            decay=math.exp(-self.d * state.period),
        )
