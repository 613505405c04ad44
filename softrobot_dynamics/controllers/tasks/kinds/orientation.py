# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Orient a tip: PD on the rotation vector from its axes to those of its course."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.gains import gain, rate_gain
from softrobot_dynamics.controllers.rotations import rotation_error, turn_matrix, turn_rate
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
from softrobot_dynamics.recursion.passes import STATE, TIP_POSE
from softrobot_dynamics.references.tip_commands import LEVER_RATIO
from softrobot_dynamics.schema.fields import text
from softrobot_dynamics.schema.parameters import parameter


@kernel
def orient_tip(state, rows, tracking, scratch, q, qd, t):
    """
    Fill the rows of w' = w_d' + d (w_d - w) + p e (3,), where R_d is known.

    And what the part of e beyond ``tracking.far_threshold`` adds to them. e is the rotation from R
    to R_d [rad], base frame. ``scratch`` is (3, 9).
    """
    n, tip = rows.J.shape[1], tracking.tip
    known = sample_course(tracking.course, t[0])
    rows.level[:] = tracking.level if known & 2 else 0
    if not known & 2:
        return
    measure_tip(state.robot, tip)
    desired, error, rates = tracking.course.sample, scratch[1], scratch[2]
    pose = tip.body * STATE + TIP_POSE
    turn_matrix(desired[0, 3:], tracking.course.rotation, scratch[0])
    rotation_error(scratch[0], state.robot.W[pose : pose + 9], error)
    turn_rate(desired[0, 3:], desired[1, 3:], rates[:3])
    turn_rate(desired[0, 3:], desired[2, 3:], rates[3:6])
    excess = excess_fraction(error[:3], tracking.far_threshold)
    for i in range(3):
        J, row = tip.J[i * n : (i + 1) * n], rows.J[i]
        v = dot(J, qd[:n])
        a = rates[3 + i] + tracking.d * (rates[i] - v) + tracking.p * error[i]
        rows.excess_aim[i] = state.period * tracking.p * excess * error[i]
        rows.aim[i] = v + state.period * (a - tip.bias[i])
        for j in range(n):
            row[j] = J[j]


@register_task('orientation')
@dataclass(frozen=True)
class TipOrientation(ControlTask):
    """
    The tip's axes are as the last live pose or twist says; without one it does not count.

    Errors are turns in rad.
    """

    fades = True
    level: int = level(1)
    body: str = parameter(text(default=''), 'Body whose tip it is; empty: that of `position`')
    p: float = gain('Gain on the error of the orientation')
    d: float = rate_gain('Gain on the error of the angular velocity')

    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows."""
        return 3

    def bind(self, state: TickState, rows: Rows, context: TaskContext) -> Entry:
        """Return the Entry of what fills the rows."""
        tracking = tip_tracking(self, context, 1.0, MAX_ERROR_WHILE_SLOWED / LEVER_RATIO)
        return entry(
            orient_tip, state=state, rows=rows, tracking=tracking, scratch=np.zeros((3, 9))
        )
