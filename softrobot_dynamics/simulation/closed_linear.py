# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A robot with closed loops near a state as a linear system.

With coordinates z about the state, (q, qd) and (qd, qdd) are functions of (z, zd). Their
derivatives, by differences of fourth order, are S and F, and A = F S^+ with the S^+ that tells
(z, zd) of (q, qd).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.dynamics.closures import require_closed
from softrobot_dynamics.dynamics.contacts import contact_forces
from softrobot_dynamics.dynamics.points import Placement
from softrobot_dynamics.dynamics.wrenches import Load, load_force
from softrobot_dynamics.recursion.closed_motion import begin_chart
from softrobot_dynamics.recursion.differences import by_fourth_order
from softrobot_dynamics.simulation.integrators.closed_loops import ClosedLoops

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_STEP = 1e-3  # [units] of z; what follows from rates is quadratic


def closed_rates(
    model: CompiledModel, q: Vector, qd: Vector, u: Vector, loads: list[Load]
) -> tuple[Matrix, Matrix]:
    """
    Return A (2 n, 2 n) and B (2 n, m) of x = (q, qd): dx/dt changes by A dx + B du.

    For changes dx that keep loops closed; A takes nothing of others. Raises ArgumentError.
    """
    require_closed(model, q, qd)
    n, evaluate = model.n, model.evaluator()
    loops = ClosedLoops(model, evaluate)
    closed, reduced = loops.by(evaluate.entry)
    t, f = loops.terms, len(loops.terms.h)
    move, contact = (
        cached(run, 'VECTOR, VECTOR', entry=reduced),
        model.per_thread.made(contact_forces),
    )
    start = np.zeros((2, f))
    cached(begin_chart, closed=closed)(q, qd, *start)
    along = closed.Q[:, n - f :].T / closed.units

    def rates(x: Vector) -> Vector:
        """Return the rates (2 f,) of a state (z, zd)."""
        move(*np.ascontiguousarray(x.reshape(2, f)))
        force = t.J.T @ (model.signs * u) - t.h
        if loads:
            force += closed.T.T @ load_force(Placement(model, evaluate.robot, closed.q), loads)
        if contact:
            force += closed.T.T @ contact.force(closed.q.copy(), closed.qd.copy())
        return np.r_[closed.qd, closed.T @ np.linalg.solve(t.M, force) + closed.a]

    steps = _STEP * np.r_[np.ones(f), np.full(f, model.scales.rate)]
    F = by_fourth_order(rates, start.ravel(), steps, range(2 * f))
    rates(start.ravel())
    by_u = closed.T @ np.linalg.solve(t.M, t.J.T * model.signs)
    A = F[:, :f] @ np.hstack([along, 0.0 * along]) + F[:, f:] @ np.hstack([0.0 * along, along])
    return A, np.vstack([np.zeros_like(by_u), by_u])
