# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Base class of bounds that keep gaps between surfaces, by distance or by force of contact."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, Entry
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.gap_gradients import fill_gap_gradient
from softrobot_dynamics.controllers.tasks.contract import (
    approach,
    barrier_gain,
    Bound,
    BoundRows,
    order,
    SILENT_ORDER,
    TaskContext,
    TickState,
)
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.model.contacts import contact_of
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.recursion.contact_kinematics import find_contacts
from softrobot_dynamics.recursion.contact_pairs import STIFFNESS
from softrobot_dynamics.schema.fields import integer, number
from softrobot_dynamics.schema.parameters import parameter
from softrobot_dynamics.schema.registry import required

LINEARISATION_ERROR = 0.03  # of a way, by which the linearised gap may be off


@kernel
def keep_gaps(state, rows, contact, clearance, max_force, approach, motion_start, step, q, qd, t):
    """
    Fill the rows of the nearest pairs, as many as half of them.

    d(gap)/dt >= -approach (gap - least), as long as nothing else contradicts it; and gap >= least
    at the time ahead, ``step`` [s] apart, when it will be least, if the command stays as it is.
    That is a ``clearance`` [m] less what a force ``max_force`` [N] presses surfaces into each
    other. Obstacles go on at the velocity that their motion, begun at ``motion_start`` [s], has
    now.
    """
    k = rows.J.shape[0] // 2
    contact.moving.time[0] = t[0] - motion_start
    find_contacts(contact, q, qd)
    rows.J[:, :], rows.lower[:] = 0.0, -math.inf
    taken = contact.force  # 1: has a row; it is 0 again afterwards
    for r in range(k):
        best, nearest = -1, contact.detection_distance
        for c in range(contact.candidates[0]):
            i = contact.candidates[1 + c]
            if contact.gap[i] < nearest and taken[i] == 0.0:
                best, nearest = i, contact.gap[i]
        if best < 0:
            break
        taken[best] = 1.0
        missing = clearance - max_force / contact.numbers[best, STIFFNESS] - nearest
        opening = dot(contact.normal[best], contact.drift[best])  # by given motions [m/s]
        rows.lower[r] = approach * missing - opening
        row = rows.J[r]
        fill_gap_gradient(contact, best, row)
        change, by_obstacles, ways = math.inf, 0.0, state.prediction.displacement
        for i in range(len(ways)):
            by_robot, others = dot(row, ways[i]), (i + 1) * step * opening
            if by_robot + others < change:
                change, by_obstacles, rows.when[k + r] = by_robot + others, others, i + 1
        if nearest + change < contact.detection_distance:
            copy(row, rows.J[k + r])
            rows.lower[k + r] = (
                missing - by_obstacles + LINEARISATION_ERROR * abs(change - by_obstacles)
            )


@dataclass(frozen=True)
class GapBound(Bound):
    """Base of bounds that keep the gaps of the nearest pairs of surfaces, see `keep_gaps`."""

    looks_ahead = True
    order: int = order(1)
    approach: float = approach(5.0)
    reach: float = parameter(
        number('m', above=0.0, default=0.1), 'Distance at which pairs of surfaces are looked at'
    )
    pairs: int = parameter(
        integer(at_least=1, at_most=200, default=12), 'Pairs that are looked at, the nearest'
    )
    motion_start: float = parameter(
        number('s', default=0.0),
        'When the given motions of obstacles begin, by the time since the loop began',
    )

    @property
    @required
    def kept(self) -> tuple[float, float]:
        """The clearance [m] that is kept, and the force [N] that may press surfaces together."""
        raise NotImplementedError

    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows: two for each pair that is looked at."""
        plan = model.contact_plan
        return 0 if plan is None else 2 * min(self.pairs, len(plan.pairs))

    def bind(self, state: TickState, rows: BoundRows, context: TaskContext) -> Entry:
        """Return the Entry of what fills the rows."""
        plan = context.model.contact_plan
        if plan is None:
            return EMPTY_ENTRY
        rows.upper[:], rows.unit[:] = np.inf, context.model.scales.length
        rows.order[: len(rows.order) // 2] = SILENT_ORDER
        plan = plan._replace(detection_distance=float(self.reach))
        contact = contact_of(context.model, state.robot, plan)
        clearance, max_force = map(float, self.kept)
        numbers = {
            'clearance': clearance,
            'max_force': max_force,
            'approach': barrier_gain(self.approach, state.period),
            'motion_start': float(self.motion_start),
            'step': state.period * 2**state.prediction.doublings,
        }
        return entry(keep_gaps, state=state, rows=rows, contact=contact, **numbers)
