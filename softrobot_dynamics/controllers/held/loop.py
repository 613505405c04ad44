# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Whether a loop by a held command is stable: eigenvalues of one period, linearised at rest."""

from __future__ import annotations

import math
import threading
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.held.command import HeldCommand
from softrobot_dynamics.controllers.held.flows import exponential, log_spectral_radius
from softrobot_dynamics.kernels.linalg import (
    cholesky,
    copy,
    solve_general,
    solve_lower,
    solve_lower_transposed,
)
from softrobot_dynamics.model.evaluation import Evaluator

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

RIDGE = 1e-9  # added to the scaled response of actuators, which redundant ones make singular


class Room(NamedTuple):
    """Scratch for n coordinates and c actuators."""

    J: Matrix  # (c, n)
    X: Matrix  # (c, n)
    S: Matrix  # (c, c)
    factors: Matrix  # (c, c)
    scale: Vector  # (c,)
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
        X=np.zeros((c, n)),
        S=np.zeros((c, c)),
        factors=np.zeros((c, c)),
        scale=np.zeros(c),
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
    The loop of partial feedback linearization, for any thread, beside the one that runs it.

    ``controlled`` (c,) are the indices of the actuators whose coordinates are controlled.
    """

    def __init__(self, model: CompiledModel, period: float, controlled: Any) -> None:
        self._period, self._rest = period, np.zeros(model.n)
        self._held, self._lock = HeldCommand(model, period), threading.Lock()
        self._evaluate = Evaluator(model, with_mass=False)
        self._growth = cached(
            loop_growth,
            terms=self._evaluate.terms,
            response=self._held.response,
            lines=self._held.lines,
            controlled=controlled,
            period=float(period),
            room=allocate_room(model.n, len(controlled)),
        )

    def growth(self, q: Vector, u: Vector, p: Vector, d: Vector) -> float:
        """
        Return the rate [1/s] at which the fastest motion about rest at q (n,) grows.

        Under the command u (m,), with gains p, d (m,): the logarithm of the largest eigenvalue of
        a period, by its length. Below zero for a loop that is stable at this rate, about zero
        where something rings undamped or turns freely; nan where the robot cannot be at q.
        """
        q, u = np.array(q, dtype=float), np.array(u, dtype=float)
        if not (np.isfinite(q).all() and np.isfinite(u).all()):
            return math.nan
        with self._lock:
            self._held.begin(q, self._rest, u)
            self._evaluate(q, self._rest)
            return self._growth(p, d) / self._period


@kernel
def loop_growth(terms, response, lines, controlled, period, room, p, d):
    """Logarithm of the largest eigenvalue of the loop's period, after a linearisation at rest."""
    M, D, K, n, c = response.M, response.D, response.K, len(terms.h), len(controlled)
    for i in range(c):
        for j in range(n):
            room.J[i, j] = terms.J[controlled[i], j]
    if not _held_flow(M, D, K, period, room):
        return math.nan
    exponential(room.rates, room.flow, room.spare)
    _feed_back(lines.last[0], lines.last[1], D, K, controlled, period, p, d, room)
    for i in range(2 * n):
        for j in range(2 * n):
            room.closed[i, j] = room.flow[i, j]
            for k in range(c):
                room.closed[i, j] += room.flow[i, 2 * n + k] * room.feedback[j, k]
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


@kernel
def _feed_back(G, drift, D, K, controlled, period, p, d, room):
    """Fill the change of w by the law per change of (q, qd), in the same coordinates."""
    J, X, S, scale, M = room.J, room.X, room.S, room.scale, room.L
    n, c = len(G), len(J)
    for i in range(c):
        for j in range(n):
            X[i, j] = 0.0
            for k in range(n):
                X[i, j] += J[i, k] * G[k, j]
    for i in range(c):
        size = 0.0
        for j in range(n):
            size += X[i, j] * J[i, j]
        scale[i] = 1.0 / math.sqrt(abs(size)) if size != 0.0 else 0.0
    for i in range(c):
        for j in range(c):
            S[i, j] = RIDGE if i == j else 0.0
            for k in range(n):
                S[i, j] += scale[i] * scale[j] * X[i, k] * J[j, k]
    for j in range(2 * n):
        column, x, moving = room.feedback[j], j % n, j >= n
        inertia = 0.0
        for k in range(x + 1):
            inertia += M[x, k] * M[x, k]
        for i in range(c):
            gain = d[controlled[i]] if moving else p[controlled[i]]
            total = -period * gain * J[i, x]
            for k in range(n):
                total += X[i, k] * (D[k, x] if moving else K[k, x])
                if moving:
                    total += J[i, k] * drift[k, x]
            column[i] = scale[i] * total
            copy(S[i], room.factors[i])
        sound = solve_general(room.factors, column) == 0  # it need not be positive definite
        for i in range(c):
            column[i] *= scale[i] / math.sqrt(inertia) if sound else math.nan
