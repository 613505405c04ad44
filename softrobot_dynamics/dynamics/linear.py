# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A robot near a state as a linear system, in continuous time or from command to command."""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.dynamics.derivatives import forward_dynamics_derivatives
from softrobot_dynamics.errors import ArgumentError

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class StateSpace(NamedTuple):
    """Of x = (q, qd): dx/dt or the next x changes by A (2 n, 2 n) dx + B (2 n, m) du."""

    A: Matrix
    B: Matrix


def linearise(
    model: CompiledModel, *, q: ArrayLike, qd: ArrayLike, u: ArrayLike, dt: float | None = None
) -> StateSpace:
    """
    Return the :class:`StateSpace` at q, qd (n,) under u (m,).

    Continuous, or with ``dt`` [s] over a period in which u is held: exactly, by the exponential of
    the continuous one (Van Loan 1978). Away from rest both describe how motions differ from the
    one through this state. Raises ArgumentError, SingularMassError.
    """
    if dt is not None and not 0.0 < dt < np.inf:
        raise ArgumentError('dt', dt, 'a time > 0 [s]')
    found = forward_dynamics_derivatives(model, q=q, qd=qd, u=u)
    n, m = found.by_u.shape
    rates = np.zeros((2 * n + m, 2 * n + m))
    rates[:n, n : 2 * n] = np.eye(n)
    rates[n : 2 * n] = np.hstack([found.by_q, found.by_qd, found.by_u])
    if dt is not None:
        from scipy.linalg import expm  # late: scipy is slow to import

        rates = expm(dt * rates)
    return StateSpace(rates[: 2 * n, : 2 * n].copy(), rates[: 2 * n, 2 * n :].copy())
