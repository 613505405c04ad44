# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Gaps from the environment, and between parts of the robot, at a state on the horizon."""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, Entry
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.gap_gradients import fill_gap_gradient
from softrobot_dynamics.model.contacts import contact_of
from softrobot_dynamics.recursion.contact_kinematics import find_contacts
from softrobot_dynamics.recursion.passes import Robot

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class HorizonDistances(NamedTuple):
    """Gaps below the clearance, and their derivatives; P pairs of elements may touch."""

    measure: Entry  # of q and qd, fills the others; EMPTY_ENTRY where nothing can touch
    time: Vector  # (1,) [s] of the motions that obstacles are given, to be set before
    gap_count: Integers  # (1,) how many gaps there are
    gaps: Vector  # (P,) [m]
    rows: Matrix  # (P, n) of them by q


def allocate_distances(model: CompiledModel, robot: Robot, clearance: float) -> HorizonDistances:
    """Return the :class:`HorizonDistances` below a ``clearance`` [m], by the poses of a robot."""
    plan = model.contact_plan
    count = 0 if plan is None else len(plan.pairs)
    gap_count = np.zeros(1, dtype=np.int64)
    gaps, rows = np.zeros(count), np.zeros((count, model.n))
    measure, time = EMPTY_ENTRY, np.zeros(1)
    if plan is not None:
        contact = contact_of(model, robot, plan._replace(detection_distance=float(clearance)))
        given = {'gap_count': gap_count, 'gaps': gaps, 'rows': rows}
        measure, time = entry(measure_distances, contact=contact, **given), contact.moving.time
    return HorizonDistances(measure, time, gap_count, gaps, rows)


@kernel
def measure_distances(contact, gap_count, gaps, rows, q, qd):
    """Fill the gaps below the detection distance at (q, qd), after an evaluation with poses."""
    find_contacts(contact, q, qd)
    count = 0
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        if contact.gap[i] < contact.detection_distance:
            gaps[count] = contact.gap[i]
            fill_gap_gradient(contact, i, rows[count])
            count += 1
    gap_count[0] = count
