# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Limit the speed of a tip along its present direction, linearised in every tick."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.tasks.contract import (
    Bound,
    BoundRows,
    order,
    register_bound,
    TaskContext,
    TickState,
)
from softrobot_dynamics.controllers.tasks.tip_kinematics import allocate_tip, measure_tip
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.schema.fields import number, text
from softrobot_dynamics.schema.parameters import parameter


@kernel
def keep_tip_speed(state, rows, tip, max_speed, q, qd, t):
    """Fill the row: the velocity along its present direction is ``max_speed`` [m/s] or less."""
    n, row = rows.J.shape[1], rows.J[0]
    row[:], rows.upper[0] = 0.0, math.inf
    if not max_speed < math.inf:
        return
    measure_tip(state.robot, tip)
    v = tip.origin  # zero again when it has been used
    for i in range(3):
        v[i] = dot(tip.J[(3 + i) * n : (4 + i) * n], qd[:n])
    speed = math.sqrt(dot(v, v))
    if speed > 0.01 * max_speed:
        rows.upper[0] = max_speed
        for i in range(3):
            direction = v[i] / speed
            rows.upper[0] -= state.period * direction * tip.bias[3 + i]
            for j in range(n):
                row[j] += direction * tip.J[(3 + i) * n + j]
    v[:] = 0.0


@register_bound('tip_speed')
@dataclass(frozen=True)
class TipSpeed(Bound):
    """The tip of a body is no faster than some speed."""

    order: int = order(3)
    body: str = parameter(text(default=''), 'Body whose tip it is; empty: the last one')
    most: float = parameter(
        number('m/s', above=0.0, default=math.nan), 'Greatest speed of the tip; not set: any'
    )

    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows."""
        return 1

    def bind(self, state: TickState, rows: BoundRows, context: TaskContext) -> Entry:
        """Return the Entry of what fills the row."""
        rows.lower[:], rows.unit[:] = -np.inf, context.model.scales.length
        tip = allocate_tip(context.model, self.body)
        return entry(keep_tip_speed, state=state, rows=rows, tip=tip, max_speed=float(self.most))
