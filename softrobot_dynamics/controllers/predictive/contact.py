# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Forces of contact in the steps of a horizon, and what they are beyond a soft limit.

The force is that of :mod:`~softrobot_dynamics.recursion.contact_forces` at the end of each stage,
a function of the state alone: surfaces that have a restitution get no damping from it. The method,
which is L-stable, dissipates most of an impact that takes less than a step.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, Entry, run_three
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.gap_gradients import fill_gap_gradient
from softrobot_dynamics.dynamics.response import ResponseEntries
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.model.contacts import contact_of
from softrobot_dynamics.recursion.contact_forces import (
    add_contact_stiffness,
    evaluate_with_contact,
)
from softrobot_dynamics.recursion.contact_pairs import FRICTION, RESTITUTION, STIFFNESS

if TYPE_CHECKING:
    from softrobot_dynamics.dynamics.derivative_workspace import DerivativeWorkspace
    from softrobot_dynamics.model.model import CompiledModel


class HorizonForces(NamedTuple):
    """Forces of contact above a limit, and their derivatives; P pairs of elements may touch."""

    # of a change of q (n,) and ``max_force``, fills the others; EMPTY_ENTRY without contact
    measure: Entry
    max_force: Vector  # (1,) [N] soft limit
    above: Integers  # (1,) how many forces there are
    excess: Vector  # (P,) [N]
    rows: Matrix  # (P, n) of them by q
    acted: Vector  # (1,) 1 where a force has acted since it was set to 0


class StepParts(NamedTuple):
    """Parts of a step, with forces of contact or without."""

    parts: ResponseEntries
    time: Vector  # (1,) [s] of the motions that obstacles are given
    forces: HorizonForces


def step_parts(model: CompiledModel, own: DerivativeWorkspace, touching: bool) -> StepParts:
    """Return the :class:`StepParts` of a model; if ``touching``, with contact where it may be."""
    plan, n = model.contact_plan, model.n
    if plan is None or not touching:
        return StepParts(own.parts, np.zeros(1), allocate_forces(0, n))
    numbers = plan.numbers.copy()
    numbers[:, RESTITUTION] = np.minimum(numbers[:, RESTITUTION], 0.0)
    contact = contact_of(model, own.robot, plan._replace(numbers=numbers))
    by_state = own.tangents.by_state
    given = {'K': np.zeros((n, n)), 'D': np.zeros((n, n)), 'by_state': by_state}
    before = own.parts.differentiate
    forces, evaluate = allocate_forces(len(plan.pairs), n), own.parts.evaluate
    acts = {'evaluate': evaluate, 'contact': contact, 'h': own.terms.h, 'acted': forces.acted}
    parts = own.parts._replace(
        evaluate=entry(evaluate_and_note_contact, **acts),
        differentiate=entry(differentiate_touching, before=before, contact=contact, **given),
    )
    filled = {'above': forces.above, 'excess': forces.excess, 'rows': forces.rows}
    measure = entry(measure_forces, contact=contact, **filled)
    return StepParts(parts, contact.moving.time, forces._replace(measure=measure))


def allocate_forces(count: int, n: int) -> HorizonForces:
    """Return :class:`HorizonForces` of ``count`` pairs that nothing measures yet."""
    above = np.zeros(1, dtype=np.int64)
    rows = np.zeros((count, n))
    return HorizonForces(EMPTY_ENTRY, np.zeros(1), above, np.zeros(count), rows, np.zeros(1))


@kernel
def evaluate_and_note_contact(evaluate, contact, h, acted, q, qd):
    """Evaluate at (q, qd) with forces of contact; acted[0] becomes 1 where there are any."""
    evaluate_with_contact(evaluate, contact, h, q, qd)
    for c in range(contact.candidates[0]):
        if contact.force[contact.candidates[1 + c]] > 0.0:
            acted[0] = 1.0


@kernel
def differentiate_touching(before, contact, K, D, by_state, q, qd, qdd):
    """Add to the derivatives (n, 2 n) of ID those of contact as it was evaluated last."""
    run_three(before, q, qd, qdd)
    n = len(K)
    K[:, :] = 0.0
    D[:, :] = 0.0
    add_contact_stiffness(contact, K, D)
    complete_friction(contact, K, D)
    for i in range(n):
        for j in range(n):
            by_state[i, j] += K[i, j]
            by_state[i, n + j] += D[i, j]


@kernel
def complete_friction(contact, K, D):
    """
    Add to K and D (n, n) what :func:`.add_contact_stiffness` leaves out of friction.

    It grows with the force that presses surfaces together, and less and less with their sliding.
    """
    n = len(K)
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        f = contact.force[i]
        if contact.gap[i] >= 0.0 or f <= 0.0:
            continue
        J, N, t, k = contact.J[i], contact.normal[i], contact.sliding[i], contact.numbers[i]
        speed = dot(t, t) + contact.slip * contact.slip
        share = k[FRICTION] / math.sqrt(speed)
        stiff = share * k[STIFFNESS] * (1.0 - contact.damping[i] * contact.speed[i])
        damped = -share * k[STIFFNESS] * contact.gap[i] * contact.damping[i]
        x, y, z = J[:n], J[n : 2 * n], J[2 * n : 3 * n]
        for a in range(n):
            along = t[0] * x[a] + t[1] * y[a] + t[2] * z[a]
            for b in range(n):
                pressing = along * (N[0] * x[b] + N[1] * y[b] + N[2] * z[b])
                sliding = along * (t[0] * x[b] + t[1] * y[b] + t[2] * z[b])
                K[a, b] -= stiff * pressing
                D[a, b] -= damped * pressing + share * f / speed * sliding


@kernel
def measure_forces(contact, above, excess, rows, change, max_force):
    """Fill the forces above max_force[0] [N], for a change of q since the last evaluation."""
    count = 0
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        if contact.gap[i] >= contact.detection_distance:
            continue
        row = rows[count]
        fill_gap_gradient(contact, i, row)
        slope = max(0.0, 1.0 - contact.damping[i] * contact.speed[i])
        slope *= -contact.numbers[i, STIFFNESS]
        force_excess = slope * (contact.gap[i] + dot(row, change)) - max_force[0]
        if force_excess > 0.0:
            for j in range(len(row)):
                row[j] *= slope
            excess[count] = force_excess
            count += 1
    above[0] = count
