# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A robot near a state as a linear system, in continuous time or from command to command."""

from __future__ import annotations

import math
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.dynamics.derivatives import (
    forward_dynamics_derivatives,
    ForwardDynamicsDerivatives,
)
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.simulation.exponential import GAMMA, ONCE, parts_of_step, TWICE

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


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
) -> StateSpace:
    """
    Return the :class:`StateSpace` at q, qd (n,) under u (m,).

    Continuous, or with ``dt`` [s] over a period in which u is held: exactly, by the exponential of
    the continuous one (Van Loan 1978), or with a ``substep`` [s] by as many steps as
    :class:`~softrobot_dynamics.simulation.simulator.Simulator` makes of the period, which cost the
    inverse of one matrix (n, n). Away from rest all describe how motions differ from the one
    through this state. Raises ArgumentError, SingularMassError.
    """
    for name, value in (('dt', dt), ('substep', substep)):
        if value is not None and not 0.0 < value < np.inf:
            raise ArgumentError(name, value, 'a time > 0 [s]')
    if substep is not None and dt is None:
        raise ArgumentError('substep', substep, 'None, unless there is a dt')
    found = forward_dynamics_derivatives(model, q=q, qd=qd, u=u)
    if dt is not None and substep is not None:
        count = max(1, math.ceil(dt / substep - 1e-9))
        return _stepped(found, dt, count * parts_of_step(model, substep))
    n, m = found.by_u.shape
    rates = np.zeros((2 * n + m, 2 * n + m))
    rates[:n, n : 2 * n] = np.eye(n)
    rates[n : 2 * n] = np.hstack([found.by_q, found.by_qd, found.by_u])
    if dt is not None:
        from scipy.linalg import expm  # late: scipy is slow to import

        rates = expm(dt * rates)
    return StateSpace(rates[: 2 * n, : 2 * n].copy(), rates[: 2 * n, 2 * n :].copy())


def _stepped(change: ForwardDynamicsDerivatives, dt: float, parts: int) -> StateSpace:
    """
    Return the :class:`StateSpace` over dt [s] in so many parts, as steps have them.

    Each is the combination of one and of two steps of backward Euler's method, g [s] long, of
    :mod:`~softrobot_dynamics.simulation.exponential`, here in terms of accelerations:
    (1 - g dqdd/dqd - g^2 dqdd/dq) v+ = v + g (dqdd/dq x + dqdd/du u), x+ = x + g v+.
    """
    n, m = change.by_u.shape
    g = GAMMA * dt / parts
    inverse = np.linalg.inv(np.eye(n) - g * (change.by_qd + g * change.by_q))
    one = np.empty((2 * n, 2 * n + m))
    one[n:] = inverse @ np.hstack([g * change.by_q, np.eye(n), g * change.by_u])
    one[:n] = g * one[n:]
    one[:n, :n] += np.eye(n)
    step, hold = one[:, : 2 * n], one[:, 2 * n :]
    A, B = TWICE * step @ step + ONCE * step, TWICE * (step @ hold + hold) + ONCE * hold
    whole, held = np.eye(2 * n), np.zeros((2 * n, m))
    for _ in range(parts):
        whole, held = A @ whole, A @ held + B
    return StateSpace(whole, held)
