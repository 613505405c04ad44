# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Gaps between surfaces that may touch are kept, by distance or by the force of their contact."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.compiling.addresses import Entry, NOTHING
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.gap_rows import fill_gap_row
from softrobot_dynamics.controllers.tasks.contract import BoundRows, FIRST, TaskContext, TickState
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.model.contacts import contact_of
from softrobot_dynamics.recursion.contact import find_contacts
from softrobot_dynamics.recursion.contact_pairs import STIFFNESS

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

UNSURE = 0.03  # share of a way by which the linearisation may be off


@kernel
def keep_gaps(state, rows, contact, clearance, give, approach, q, qd, t):
    """
    Fill the rows of the nearest pairs, as many as half of them.

    d(gap)/dt >= -approach (gap - least), as long as nothing else contradicts it; and gap >= least
    at the time ahead when it will be least, if the command stays as it is. That is a ``clearance``
    [m] less what a force ``give`` [N] presses the surfaces into each other.
    """
    k, n = rows.J.shape[0] // 2, rows.J.shape[1]
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
        missing = clearance - give / contact.numbers[best, STIFFNESS] - nearest
        rows.least[r] = approach * missing
        row = rows.J[r]
        fill_gap_row(contact, best, row)
        change, ways = math.inf, state.ahead.way
        for i in range(len(ways)):
            if dot(row, ways[i]) < change:
                change, rows.when[k + r] = dot(row, ways[i]), i + 1
        if nearest + change < contact.reach:
            copy(row, rows.J[k + r])
            rows.least[k + r] = missing + UNSURE * abs(change)


def count_gaps(model: CompiledModel, pairs: int) -> int:
    """Return the number of rows for so many pairs at most."""
    plan = model.contact_plan
    return 0 if plan is None else 2 * min(pairs, len(plan.pairs))


def bind_gaps(
    state: TickState,
    rows: BoundRows,
    context: TaskContext,
    *,
    reach: float,
    approach: float,
    clearance: float = 0.0,
    give: float = 0.0,
) -> Entry:
    """Return the Entry of what keeps gaps below ``reach`` [m], see :func:`keep_gaps`."""
    plan = context.model.contact_plan
    if plan is None:
        return NOTHING
    contact = contact_of(context.model, state.robot, plan._replace(reach=float(reach)))
    rows.most[:], rows.unit[:] = np.inf, context.model.scales.length
    rows.order[: len(rows.order) // 2] = FIRST
    numbers = {'clearance': float(clearance), 'give': float(give), 'approach': float(approach)}
    return entry(keep_gaps, state=state, rows=rows, contact=contact, **numbers)
