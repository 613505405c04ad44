# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Closed loops in steps in time: each step is made in the coordinates that the loops leave.

An integrator makes its step for the terms of :mod:`softrobot_dynamics.recursion.closed_motion`
as for those of any robot, so that its order and its energy are the same. Loops are closed to
rounding at each evaluation and at the end of each step.
"""

from __future__ import annotations

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.model.closures import closures_of
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.model.evaluation import Evaluator
from softrobot_dynamics.model.terms import allocate_terms, Terms
from softrobot_dynamics.recursion.closed_motion import (
    allocate_closed_motion,
    ClosedMotion,
    evaluate_closed,
    reduce_near,
)
from softrobot_dynamics.recursion.closures import close_rows
from softrobot_dynamics.recursion.contact_kinematics import find_contacts
from softrobot_dynamics.recursion.contact_workspace import ContactWorkspace
from softrobot_dynamics.recursion.loads import evaluate_with_force
from softrobot_dynamics.simulation.integrators.contact_step import apply_lasting


class ClosedLoops:
    """
    The closed loops of a robot in a simulation, by the evaluator whose terms an entry fills.

    Attributes: ``terms``, the reduced :class:`Terms` of f freedoms; ``motion``, the
    :class:`ClosedMotion`; ``state`` (2, f), room for z and its rates.
    """

    def __init__(self, model: RobotModel, evaluate: Evaluator) -> None:
        plan, own = model.closure_plan, evaluate.terms
        independent = plan.independent_rows
        rows = closures_of(model, evaluate, plan, plan.rows[independent])
        given = plan.weights[independent], plan.units, (own.h, own.M, own.J)
        self.motion: ClosedMotion = allocate_closed_motion(evaluate.entry, rows, *given)
        self.terms: Terms = allocate_terms(model.n - len(independent), model.m)
        self.state = np.zeros((2, model.n - len(independent)))
        self._contact: ContactWorkspace | None = None
        self._weights, self._close = plan.weights[independent], cached(close_rows, closures=rows)

    def by(self, evaluate: Entry) -> tuple[ClosedMotion, Entry]:
        """Return the motion by another entry of the robot, and the entry of its terms at z, zd."""
        motion, t = self.motion._replace(evaluate=evaluate), self.terms
        found = entry(evaluate_closed, closed=motion, h=t.h, M=t.M, J=t.J)
        if self._contact is not None:
            found = entry(evaluate_with_force, evaluate=found, h=t.h, force=self._contact.applied)
        return motion, found

    def touching(self, contact: ContactWorkspace) -> tuple[Entry, ContactWorkspace]:
        """Return an entry that begins contact in a step, and the contact along z that it fills."""
        P, f = len(contact.gap), len(self.terms.h)
        reduced = contact._replace(J=np.zeros((P, 3 * f)), applied=np.zeros(f))
        self._contact = reduced
        given = {'closed': self.motion, 'contact': contact, 'reduced': reduced}
        return entry(begin_closed_contact, **given, h=self.terms.h), reduced

    def constrain(self, inverse: Matrix, q: Vector, qd: Vector) -> tuple[Matrix, Vector]:
        """
        Return an inverse mass matrix (n, n) whose accelerations keep loops closed, and a (n,).

        ``inverse`` is that without loops, after an evaluation of the robot at q, qd (n,): under a
        force F it accelerates as inverse F + a. Rates qd are changed, the least by inertia, to
        ones that keep loops closed.
        """
        self._close(q, qd)
        rows = self.motion.closures
        J = self._weights[:, None] * rows.J
        by_force = np.linalg.solve(J @ inverse @ J.T, J @ inverse)
        qd -= by_force.T @ (J @ qd)
        return inverse - inverse @ J.T @ by_force, -by_force.T @ (self._weights * rows.bias)

    def reduced(self, follow: Entry, K: Matrix, D: Matrix) -> tuple[Entry, Matrix, Matrix]:
        """Return an entry that fills stiffness and damping (f, f) of z, and these."""
        f = len(self.terms.h)
        given = {'closed': self.motion, 'K': K, 'D': D}
        own = {'stiffness': np.zeros((f, f)), 'damping': np.zeros((f, f))}
        return entry(reduce_near, follow=follow, **given, **own), own['stiffness'], own['damping']


@kernel
def begin_closed_contact(closed, contact, reduced, h, z, zd):
    """Find what is near after an evaluation at z, zd, and apply the forces that last, along z."""
    n, f = closed.T.shape
    find_contacts(contact, closed.q, closed.qd)
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        if contact.gap[i] >= contact.detection_distance:
            continue
        for k in range(3):
            for a in range(f):
                total = 0.0
                for j in range(n):
                    total += contact.J[i, k * n + j] * closed.T[j, a]
                reduced.J[i, k * f + a] = total
    apply_lasting(reduced, h)
