# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A robot near a state as a linear system, in continuous time or from command to command."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.dynamics.closures import require_closed
from softrobot_dynamics.dynamics.contacts import contact_forces
from softrobot_dynamics.dynamics.derivatives import (
    forward_dynamics_derivatives,
    ForwardDynamicsDerivatives,
)
from softrobot_dynamics.dynamics.points import Placement
from softrobot_dynamics.dynamics.wrenches import Load, load_force, read_wrenches, Wrenches
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.recursion.closed_motion import begin_chart
from softrobot_dynamics.recursion.constants import L_STABLE_GAMMA
from softrobot_dynamics.recursion.finite_differences import by_fourth_order
from softrobot_dynamics.recursion.linearisation import Linearisation
from softrobot_dynamics.recursion.singular_mass import accelerations
from softrobot_dynamics.simulation.integrators.exponential_step import (
    ONE_STEP_WEIGHT,
    parts_of_step,
    TWO_STEPS_WEIGHT,
)
from softrobot_dynamics.simulation.integrators.loop_closures import ClosedLoops

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


_DIFFERENCE_STEP = 1e-3  # [units] of z; what follows from rates is quadratic


def closed_rates(
    model: CompiledModel, q: Vector, qd: Vector, u: Vector, loads: list[Load]
) -> tuple[Matrix, Matrix]:
    """
    Return A (2 n, 2 n) and B (2 n, m) of x = (q, qd): dx/dt changes by A dx + B du.

    For changes dx that keep loops closed; A takes nothing of others. With coordinates z about the
    state, (q, qd) and (qd, qdd) are functions of (z, zd). Their derivatives, by differences of
    fourth order, are S and F, and A = F S^+ with the S^+ that tells (z, zd) of (q, qd). Raises
    ArgumentError.
    """
    require_closed(model, q, qd)
    n, evaluate = model.n, model.evaluator()
    loops = ClosedLoops(model, evaluate)
    closed, reduced = loops.by(evaluate.entry)
    t, f = loops.terms, len(loops.terms.h)
    move = cached(run, 'VECTOR, VECTOR', entry=reduced)
    contact = model.per_thread.made(contact_forces)
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

    steps = _DIFFERENCE_STEP * np.r_[np.ones(f), np.full(f, model.scales.rate)]
    F = by_fourth_order(rates, start.ravel(), steps, range(2 * f))
    rates(start.ravel())
    by_u = closed.T @ np.linalg.solve(t.M, t.J.T * model.signs)
    A = F[:, :f] @ np.hstack([along, 0.0 * along]) + F[:, f:] @ np.hstack([0.0 * along, along])
    return A, np.vstack([np.zeros_like(by_u), by_u])


class StateSpace(NamedTuple):
    """Of x = (q, qd): dx/dt or the next x changes by A (2 n, 2 n) dx + B (2 n, m) du."""

    A: Matrix
    B: Matrix


def linearise(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike,
    u: ArrayLike,
    dt: float | None = None,
    substep: float | None = None,
    wrenches: Wrenches | None = None,
) -> StateSpace:
    """
    Return the :class:`StateSpace` at q, qd (n,) under u (m,) and ``wrenches``.

    Continuous, or with ``dt`` [s] over a period in which u is held: exactly, by the exponential of
    the continuous one (Van Loan 1978), or with a ``substep`` [s] by as many steps as
    :class:`~softrobot_dynamics.simulation.simulator.Simulator` makes of the period. Away from rest
    all describe how motions differ from the one through this state. ``wrenches`` act from outside
    all the time, as in ``sd.forward_dynamics``; so does contact, in whose presence a ``substep``
    is not looked at: steps solve for its forces. So it is with closed loops: A and B hold for
    changes that keep them closed, and A takes nothing of others. ``sd.closures(...).basis`` spans
    these changes. Raises ArgumentError, SingularMassError.
    """
    for name, value in (('dt', dt), ('substep', substep)):
        if value is not None and not 0.0 < value < np.inf:
            raise ArgumentError(name, value, 'a time > 0 [s]')
    if substep is not None and dt is None:
        raise ArgumentError('substep', substep, 'None, as `dt` is not given')
    if model.closure_plan is not None:
        state = checked('q', q, (model.n,)), checked('qd', qd, (model.n,))
        u, loads = checked('u', u, (model.m,)), read_wrenches(model, wrenches)
        return _over(*closed_rates(model, *state, u, loads), dt)
    found = forward_dynamics_derivatives(model, q=q, qd=qd, u=u, wrenches=wrenches)
    if dt is not None and substep is not None and not _touches(model, q, qd):
        count = max(1, math.ceil(dt / substep - 1e-9))
        step = _Step(model, np.asarray(q, dtype=float), found, dt / count, substep)
        return _repeated(step.change(), count)
    n, m = found.by_u.shape
    A = np.block([[np.zeros((n, n)), np.eye(n)], [found.by_q, found.by_qd]])
    return _over(A, np.vstack([np.zeros((n, m)), found.by_u]), dt)


def _over(A: Matrix, B: Matrix, dt: float | None) -> StateSpace:
    """Return the :class:`StateSpace` of rates A (2 n, 2 n), B (2 n, m), or over dt [s]."""
    if dt is None:
        return StateSpace(A, B)
    from scipy.linalg import expm  # late: scipy is slow to import

    n, m = B.shape
    rates = np.zeros((n + m, n + m))
    rates[:n, :n], rates[:n, n:] = A, B
    rates = expm(dt * rates)
    return StateSpace(rates[:n, :n].copy(), rates[:n, n:].copy())


def _touches(model: CompiledModel, q: ArrayLike, qd: ArrayLike) -> bool:
    """Tell whether forces of contact act at q, qd (n,), checked."""
    contact = model.per_thread.made(contact_forces)
    return contact is not None and bool(
        contact.force(np.asarray(q, dtype=float), np.asarray(qd, dtype=float)).any()
    )


class _Step:
    """
    A step of h [s] of changes, as the ``exponential`` integrator makes it.

    Its linear robot has the stiffness and damping of bodies alone; what tension, gravity and
    wrenches add to them is in the force that it lacks half way. States (x, v) are changes (n, k)
    by a change of (q, qd, u), k = 2 n + m of them; forces are accelerations here.
    """

    def __init__(
        self,
        model: CompiledModel,
        q: Vector,
        found: ForwardDynamicsDerivatives,
        h: float,
        substep: float,
    ) -> None:
        near, n = Linearisation(model), model.n
        near.begin(q)
        M = model.per_thread.evaluator(q, np.zeros(n)).M
        self._K, self._D = (accelerations(model, M, A.T).T for A in (near.stiffness, near.damping))
        self._found, self._parts = found, parts_of_step(model, substep)
        self._g = L_STABLE_GAMMA * h / self._parts
        self._inverse = np.linalg.inv(np.eye(n) + self._g * (self._D + self._g * self._K))

    def change(self) -> Matrix:
        """Return the change (2 n, k) of the state at the end of the step."""
        by_q, by_qd, by_u, parts = *self._found[1:], self._parts
        n = len(by_q)
        start = np.eye(2 * n, 2 * n + by_u.shape[1])
        q, qd = start[:n], start[n:]
        F = np.hstack([by_q, by_qd + self._D, by_u])
        zero = np.zeros_like(F)
        x, v = self._advance(zero, qd, F, zero, 0)
        acting = by_q @ (q + x) + by_qd @ v
        acting[:, 2 * n :] += by_u
        N = parts * (acting + self._D @ v + self._K @ x - F)
        more = self._advance(zero, zero, zero, N, 0)
        x, v = x + more[0], v + more[1]
        if parts == 2:
            x, v = self._advance(x, v, F, N, 1)
        return np.vstack([q + x, v])

    def _advance(self, x: Matrix, v: Matrix, F: Matrix, N: Matrix, part: int) -> Any:
        """Return (x, v) after one part of the step, under F and what has come of N."""
        shares = [(part + k * L_STABLE_GAMMA) / self._parts for k in (1.0, 2.0)]
        once = self._backward_euler_step(x, v, F + shares[0] * N)
        twice = self._backward_euler_step(*once, F + shares[1] * N)
        return tuple(TWO_STEPS_WEIGHT * b + ONE_STEP_WEIGHT * a for a, b in zip(once, twice))

    def _backward_euler_step(self, x: Matrix, v: Matrix, F: Matrix) -> tuple[Matrix, Matrix]:
        """Return (x, v) after g [s] by backward Euler's method under F."""
        v = self._inverse @ (v + self._g * (F - self._K @ x))
        return x + self._g * v, v


def _repeated(change: Matrix, count: int) -> StateSpace:
    """Return the :class:`StateSpace` of so many steps, u being held."""
    n = len(change) // 2
    A, B = change[:, : 2 * n], change[:, 2 * n :]
    whole, held = np.eye(2 * n), np.zeros_like(B)
    for _ in range(count):
        whole, held = A @ whole, A @ held + B
    return StateSpace(whole, held)
