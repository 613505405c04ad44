# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Distances from the surroundings, and between parts of the robot."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.compiling.addresses import Entry, NOTHING
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.gap_rows import fill_gap_row
from softrobot_dynamics.controllers.tasks.contract import (
    approach,
    Bound,
    BoundRows,
    order,
    register_bound,
    TaskContext,
    TickState,
)
from softrobot_dynamics.model.contacts import contact_of
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.recursion.contact import find_contacts
from softrobot_dynamics.schema.fields import integer, number
from softrobot_dynamics.schema.parameters import parameter


@kernel
def keep_distances(rows, contact, clearance, approach, q, qd, t):
    """Fill d(gap)/dt >= -approach (gap - clearance) of the nearest pairs, as many as rows."""
    k, n = rows.J.shape
    find_contacts(contact, q, qd, n)
    rows.J[:, :], rows.least[:] = 0.0, -math.inf
    taken = contact.force  # 1: has a row; it is 0 again afterwards
    for r in range(k):
        best, nearest = -1, contact.reach
        for c in range(contact.candidates[0]):
            i = contact.candidates[1 + c]
            if contact.gap[i] < nearest and taken[i] == 0.0:
                best, nearest = i, contact.gap[i]
        if best < 0:
            break
        taken[best] = 1.0
        rows.least[r] = approach * (clearance - nearest)
        fill_gap_row(contact, best, rows.J[r])


@register_bound('distances')
@dataclass(frozen=True)
class Distances(Bound):
    """
    Collision shapes keep clear of the environment, and of parts that they collide with.

    By distances between surfaces, and their control barrier functions. A robot that cannot touch
    anything has no such rows.
    """

    order: int = order(1)
    clearance: float = parameter(number('m', at_least=0.0, default=0.0), 'Least distance')
    approach: float = approach(5.0)
    reach: float = parameter(
        number('m', above=0.0, default=0.1), 'Distance at which pairs of surfaces are looked at'
    )
    pairs: int = parameter(
        integer(at_least=1, at_most=200, default=12), 'Pairs that are looked at, the nearest'
    )

    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows."""
        plan = model.contact_plan
        return 0 if plan is None else min(self.pairs, len(plan.pairs))

    def bind(self, state: TickState, rows: BoundRows, context: TaskContext) -> Entry:
        """Return the Entry of what fills the rows."""
        plan = context.model.contact_plan
        if plan is None:
            return NOTHING
        contact = contact_of(context.model, state.robot, plan._replace(reach=self.reach))
        rows.most[:] = np.inf
        numbers = {'clearance': float(self.clearance), 'approach': float(self.approach)}
        return entry(keep_distances, rows=rows, contact=contact, **numbers)
