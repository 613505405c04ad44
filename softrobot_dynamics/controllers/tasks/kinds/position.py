# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Track a point in the base frame by the tip of a body: PD along its course."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from softrobot_dynamics.annotations import Integers
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
from softrobot_dynamics.controllers.tasks.runaway import MAX_ERROR_WHILE_SLOWED
from softrobot_dynamics.controllers.tasks.tip_course import sample_course
from softrobot_dynamics.controllers.tasks.tip_kinematics import (
    excess_fraction,
    measure_tip,
    tip_tracking,
)
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.schema.fields import items, number, text
from softrobot_dynamics.schema.parameters import parameter


@kernel
def place_tip(state, rows, tracking, q, qd, t):
    """
    Fill the rows of x'' = x_d'' + d (x_d' - x') + p (x_d - x) (3,), where x_d is known.

    And what the part of the error beyond ``tracking.far_threshold`` adds to them.
    """
    n, tip = rows.J.shape[1], tracking.tip
    known = sample_course(tracking.course, t[0])
    rows.level[:] = tracking.level if known & 1 else 0
    if not known & 1:
        return
    measure_tip(state.robot, tip)
    desired = tracking.course.sample
    for i in range(3):
        tracking.error[i] = desired[0, i] - tip.point[i]
    excess = excess_fraction(tracking.error, tracking.far_threshold)
    for i in range(3):
        J, row = tip.J[(3 + i) * n : (4 + i) * n], rows.J[i]
        v = dot(J, qd[:n])
        a = (
            desired[2, i]
            + tracking.d * (desired[1, i] - v)
            + tracking.p * (desired[0, i] - tip.point[i])
        )
        rows.excess_aim[i] = (
            tracking.scale * state.period * tracking.p * excess * tracking.error[i]
        )
        rows.aim[i] = tracking.scale * (v + state.period * (a - tip.bias[3 + i]))
        for j in range(n):
            row[j] = tracking.scale * J[j]


@register_task('position')
@dataclass(frozen=True)
class TipPosition(ControlTask):
    """
    The tip of a body is where a live target, the reference, or ``target`` says, base frame.

    Where none of them says anything the task does not count. Errors are shares of the robot's
    length.
    """

    fades = True
    level: int = level(1)
    body: str = parameter(text(default=''), 'Body whose tip it is; empty: the last one')
    target: tuple[float, ...] = parameter(
        items(number('m'), default=()),
        'Where the tip is to be, base frame, if no message or reference says; empty: anywhere',
    )
    p: float = gain('Gain on the error of the position')
    d: float = rate_gain('Gain on the error of the velocity')

    def validate(self) -> Iterable[tuple[str, object, str]]:
        """Yield what does not fit together, as (name of the field, value, expected)."""
        if len(self.target) not in (0, 3):
            yield 'target', self.target, 'three numbers [m], or none'

    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows."""
        return 3

    def bind(self, state: TickState, rows: Rows, context: TaskContext) -> Entry:
        """Return the Entry of what fills the rows."""
        length = context.model.scales.length
        tracking = tip_tracking(self, context, 1.0 / length, MAX_ERROR_WHILE_SLOWED * length)
        return entry(place_tip, state=state, rows=rows, tracking=tracking)
