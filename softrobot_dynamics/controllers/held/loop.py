# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Whether a loop by a held command is stable: eigenvalues of one period, linearised at rest."""

from __future__ import annotations

from collections.abc import Callable
import math
import threading
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.held.command import HeldCommand
from softrobot_dynamics.controllers.held.flows import exponential, log_spectral_radius
from softrobot_dynamics.dynamics.stability import Linearised
from softrobot_dynamics.kernels.linalg import cholesky, solve_lower, solve_lower_transposed
from softrobot_dynamics.model.evaluation import Evaluator

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

POSITION_STEP, RATE_STEP = 1e-6, 1e-3  # of differences of a law, in units of the coordinates


class Room(NamedTuple):
    """Scratch for n coordinates and c actuators."""

    J: Matrix  # (c, n)
    L: Matrix  # (n, n)
    column: Vector  # (n,)
    feedback: Matrix  # (2 n, c) change of w per change of (q, qd), transposed
    rates: Matrix  # (2 n + c, 2 n + c)
    flow: Array  # the same
    spare: Array  # the same
    closed: Matrix  # (2 n, 2 n)
    other: Matrix  # (2 n, 2 n)


def allocate_room(n: int, c: int) -> Room:
    """Return the :class:`Room` for n coordinates and c actuators."""
    all_of_it = 2 * n + c, 2 * n + c
    return Room(
        J=np.zeros((c, n)),
        L=np.zeros((n, n)),
        column=np.zeros(n),
        feedback=np.zeros((2 * n, c)),
        rates=np.zeros(all_of_it),
        flow=np.zeros(all_of_it),
        spare=np.zeros(all_of_it),
        closed=np.zeros((2 * n, 2 * n)),
        other=np.zeros((2 * n, 2 * n)),
    )


class SampledLoop:
    """
    The loop of a law, for any thread, beside the one that runs it.

    ``controlled`` (c,) are the indices of the actuators it commands, ``period`` [s] is that of
    its ticks. ``lines`` (:class:`Lines`) is the response at the place that is being looked at.
    """

    def __init__(self, model: CompiledModel, period: float, controlled: Integers) -> None:
        self._period, self._controlled, self._lock = period, controlled, threading.Lock()
        self._held, self._signs = HeldCommand(model, period), model.signs
        self._evaluate = Evaluator(model, with_mass=False)
        self.lines, self._room = self._held.lines, allocate_room(model.n, len(controlled))
        self._growth = cached(
            loop_growth, response=self._held.response, period=float(period), room=self._room
        )

    def growth(self, q: Vector, u: Vector, law: Callable[[Vector, Vector], Any]) -> float:
        """
        Return the rate [1/s] at which the fastest motion about rest at q (n,) grows.

        With a ``law`` that gives, for q and a command u (m,), the forces w (c,) along the outputs
        as a function of q and qd: the logarithm of the largest eigenvalue of a period, by its
        length. Below zero for a loop that is stable at this rate, about zero where something
        rings undamped or turns freely; nan where the robot, or the law, cannot be at q.
        Where the law would not rest at q, as where a direction of its commands is left alone
        because they act the wrong way there, it says that errors grow, but not how fast.
        """
        with self._lock:
            q, forces = self._rest_at(q, u, law)
            if forces is None:
                return math.nan
            rest = np.zeros(len(q))
            for j, unit in enumerate(np.eye(len(q))):
                by_q, by_qd = POSITION_STEP * unit, RATE_STEP * unit
                change = forces(q + by_q, rest) - forces(q - by_q, rest)
                self._room.feedback[j] = change / (2.0 * POSITION_STEP)
                change = forces(q, by_qd) - forces(q, -by_qd)
                self._room.feedback[len(q) + j] = change / (2.0 * RATE_STEP)
            return self._growth() / self._period

    def zero_dynamics(self, q: Vector, u: Vector, law: Callable[[Vector, Vector], Any]) -> Any:
        """
        Return the rates (2 (n - c),) [1/s] of what is left while a ``law`` holds the outputs at q.

        Complex, fastest growth first. ``u`` (m,) is what the other actuators do. None where the
        robot, or the law, cannot be at q.
        """
        with self._lock:
            if self._rest_at(q, u, law)[1] is None:
                return np.array([])
            x = self._held.response
            return Linearised(x.K, x.D, x.M, 0.0).held(self._room.J)

    def _rest_at(self, q: Vector, u: Vector, law: Callable[..., Any]) -> tuple[Vector, Any]:
        """
        Linearise at rest at q (n,), where the law holds the outputs; the lock is held.

        The law's own command is what tension there is then: u (m,), which limits may have kept
        from it, only begins. Returns q and the law's forces by (q, qd), None if it has none.
        """
        q, u, rest = np.array(q, dtype=float), np.array(u, dtype=float), np.zeros(len(q))
        if not (np.isfinite(q).all() and np.isfinite(u).all()):
            return q, None
        for _ in range(2):
            self._held.begin(q, rest, u)
            w = law(q, u)(q, rest)
            u[self._controlled] = self._signs[self._controlled] * w
            if not np.isfinite(u).all():
                return q, None
        self._held.begin(q, rest, u)
        self._evaluate(q, rest)
        self._room.J[:] = self._evaluate.terms.J[self._controlled]
        return q, law(q, u)


@kernel
def loop_growth(response, period, room):
    """Logarithm of the largest eigenvalue of the loop's period, after a linearisation at rest."""
    M, n, c = response.M, len(response.M), len(room.J)
    if not _held_flow(M, response.D, response.K, period, room):
        return math.nan
    exponential(room.rates, room.flow, room.spare)
    for j in range(2 * n):
        unit = 1.0 / math.sqrt(M[j % n, j % n])
        for i in range(2 * n):
            room.closed[i, j] = room.flow[i, j]
            for k in range(c):
                room.closed[i, j] += room.flow[i, 2 * n + k] * room.feedback[j, k] * unit
    return log_spectral_radius(room.closed, room.other)


@kernel
def _held_flow(M, D, K, period, room):
    """Fill the rates of (q, qd, w) times a period, in coordinates of equal inertia."""
    n, c, rates = len(M), len(room.J), room.rates
    for i in range(n):
        for j in range(i + 1):
            room.L[i, j] = M[i, j]
    if cholesky(room.L) != 0:
        return False
    rates[:] = 0.0
    for j in range(2 * n + c):
        for i in range(n):
            if j < n:
                room.column[i] = -K[i, j]
            elif j < 2 * n:
                room.column[i] = -D[i, j - n]
            else:
                room.column[i] = room.J[j - 2 * n, i]
        solve_lower(room.L, room.column)
        solve_lower_transposed(room.L, room.column)
        unit = 1.0 / math.sqrt(M[j % n, j % n]) if j < 2 * n else 1.0
        for i in range(n):
            rates[n + i, j] = period * math.sqrt(M[i, i]) * room.column[i] * unit
    for i in range(n):
        rates[i, n + i] = period
    return True
