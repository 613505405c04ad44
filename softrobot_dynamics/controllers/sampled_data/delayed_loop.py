# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Check the stability of a sampled loop whose law predicts states that are late.

As :mod:`~.loop_stability`, with what :class:`~.prediction.Prediction` does: a command acts
``delay`` after the state that it answers, and the law acts on the state to which the model brings
that one, under the commands that are on their way and a force that becomes known by what was
predicted wrongly. Of a robot as the model the delay is made up for; of another one it is not.

No LAPACK on large matrices here, as it keeps the interpreter's lock; products do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.controllers.sampled_data.matrix_exponentials import SERIES_TERMS

MATRIX_SQUARINGS = 24  # of a power whose growth is the spectral radius
_SINGLE_THREAD_MULTIPLICATIONS = 2**17  # in a product, up to which BLAS uses one thread
_PERIOD_TOLERANCE = 1e-9  # of a period

LateAnswer: TypeAlias = Callable[[Vector, Vector, Vector, Vector], tuple[Any, Vector]]


class Lateness(NamedTuple):
    """Delay of the states that a law answers, and rate at which a force becomes known."""

    delay: float  # [s]
    time: float  # [s] of the observer, 0: no force is looked for


@dataclass(frozen=True, eq=False)
class DelayedMotion:
    """
    M x'' + D x' + K x = Jᵀ w + f about rest, of n coordinates with c forces along outputs.

    ``cables`` is the part of K that is known: of cables that are held at a position. Everything is
    in coordinates of equal inertia, ``root`` (n,) times those of the robot.
    """

    M: Matrix
    D: Matrix
    K: Matrix
    cables: Matrix
    J: Matrix  # (c, n)
    root: Vector

    @classmethod
    def of(cls, M: Matrix, D: Matrix, K: Matrix, cables: Matrix, J: Matrix) -> DelayedMotion:
        """Return that of matrices in the coordinates of the robot."""
        root = np.sqrt(np.diag(M))
        both = np.outer(root, root)
        return cls(M / both, D / both, K / both, cables / both, J / root, root)

    def flows(self, stiffness: float, damping: float) -> Callable[[float], _Flow]:
        """Return a function of a duration [s]; with so many times the stiffness and damping."""
        n, c = len(self.M), len(self.J)
        K = stiffness * (self.K - self.cables) + self.cables
        size = 3 * n + c
        rates = np.zeros((size, size))
        rates[:n, n : 2 * n] = np.eye(n)
        right = np.hstack([-K, -damping * self.D, self.J.T, np.eye(n)])
        rates[n : 2 * n] = np.linalg.solve(self.M, right)

        def flow(duration: float) -> _Flow:
            E = _exponential(rates * duration)[: 2 * n]
            return _Flow(E[:, : 2 * n], E[:, 2 * n : 2 * n + c], E[:, 2 * n + c :])

        return flow


class _Flow(NamedTuple):
    """Maps of a state (q, qd), held forces w and a force f over a time."""

    state: Matrix  # (2 n, 2 n)
    w: Matrix  # (2 n, c)
    f: Matrix  # (2 n, n)

    def after(self, x: Array, w: Array, f: Array) -> Array:
        """Return the state after that time, columns of a state x."""
        found: Array = self.state @ x + self.w @ w + self.f @ f
        return found


class Responses(NamedTuple):
    """Changes of a law's answer by those of (q, qd, memory, reached), in rows of these."""

    w: Matrix  # (3 n + size, c)
    memory: Matrix  # (3 n + size, size)


def measure(answer: LateAnswer, q: Vector, sizes: Vector, c: int) -> Responses:
    """Return the :class:`Responses` about rest at q (n,) by steps of sizes (2 n + size,)."""
    n, rest = len(q), np.zeros(len(q))
    steps = np.concatenate([sizes, sizes[n : 2 * n]])
    found = Responses(np.zeros((len(steps), c)), np.zeros((len(steps), len(sizes) - 2 * n)))
    for j, step in enumerate(steps):
        change = np.zeros(len(steps))
        change[j] = step
        by_q, by_qd, by_memory, by_reached = np.split(change, (n, 2 * n, len(sizes)))
        w, after = answer(q + by_q, rest + by_qd, by_memory, by_reached)
        w_back, before = answer(q - by_q, rest - by_qd, -by_memory, -by_reached)
        found.w[j] = (w - w_back) / (2.0 * step)
        found.memory[j] = (after - before) / (2.0 * step)
    return found


def late_growth(
    motion: DelayedMotion,
    responses: Responses,
    period: float,
    lateness: Lateness,
    stiffness: float = 1.0,
    damping: float = 1.0,
) -> float:
    """
    Return the logarithm of the largest eigenvalue of the loop's period; nan if it has none.

    Of a robot with so many times the stiffness and damping that the law assumes.
    """
    closed = _closed_loop(motion, responses, period, lateness, stiffness, damping)
    return _log_spectral_radius(closed) if np.isfinite(closed).all() else math.nan


def _closed_loop(
    motion: DelayedMotion,
    responses: Responses,
    period: float,
    lateness: Lateness,
    stiffness: float,
    damping: float,
) -> Matrix:
    """
    Return the matrix of a period of the loop, between states that are measured.

    Its state: that of the robot as the oldest command under way began to act, the commands w that
    are, the law's memory, and of the prediction its force, the rates that it expects of the next
    state, and those to which the last command brings the state predicted for it.
    """
    n, c, size = len(motion.M), len(motion.J), responses.memory.shape[1]
    under_way = math.ceil(lateness.delay / period - _PERIOD_TOLERANCE)
    rest = under_way * period - lateness.delay  # from then until the state was measured
    robot, model = motion.flows(stiffness, damping), motion.flows(1.0, 1.0)
    real, whole, until = robot(period), model(period), model(rest)
    since, measured = model(period - rest), robot(rest)
    share = period / (period + lateness.time) if lateness.time > 0.0 else 0.0
    inverse = share * np.linalg.inv(whole.f[n:])
    ends = np.cumsum([2 * n, under_way * c, size, n, n, n])
    X, sent, memory, f, expected, reached = np.split(np.eye(ends[-1]), ends[:-1])
    commands = np.split(sent, under_way)

    x = measured.after(X, commands[0], np.zeros((n, ends[-1])))
    missed = x[n:] - expected
    f = f + inverse @ missed
    reached = reached + missed
    known = x
    x = since.after(x, commands[0], f)
    for w in commands[1:]:
        x = whole.after(x, w, f)
    root = np.concatenate([motion.root, motion.root, np.ones(size), motion.root])
    given = np.concatenate([x, memory, reached if share else x[n:]]) / root[:, None]
    w, memory = responses.w.T @ given, responses.memory.T @ given
    following = [*commands[1:], w]
    expected = until.after(since.after(known, commands[0], f), following[0], f)[n:]
    reached = whole.after(x, w, f)[n:]
    X = real.after(X, commands[0], np.zeros((n, ends[-1])))
    return np.concatenate([X, *following, memory, f, expected, reached])


def _exponential(A: Matrix) -> Matrix:
    """Return exp(A), by scaling and squaring."""
    norm = float(np.abs(A).sum(axis=1).max())
    if not norm < 1e300:
        return np.full_like(A, math.nan)
    halvings = max(0, math.ceil(math.log2(max(norm, 1e-300) / 0.5)))
    A = math.ldexp(1.0, -halvings) * A
    E = np.eye(len(A))
    for k in range(SERIES_TERMS, 0, -1):
        E = np.eye(len(A)) + A @ E / k
    for _ in range(halvings):
        E = E @ E
    return E


def _log_spectral_radius(A: Matrix) -> float:
    """Return the logarithm of the spectral radius, by how powers of A grow."""
    logarithm = 0.0
    for k in range(MATRIX_SQUARINGS):
        norm = float(np.linalg.norm(A))
        if not 0.0 < norm < math.inf:
            return -math.inf if norm == 0.0 else math.nan
        logarithm += math.ldexp(math.log(norm), -k)
        A = A / norm
        A = _square(A)
    return logarithm + math.ldexp(
        math.log(max(float(np.linalg.norm(A)), 1e-300)), -MATRIX_SQUARINGS
    )


def _square(A: Matrix) -> Matrix:
    """Return A A, in one thread: those of BLAS would wait for each other beside a busy loop."""
    rows = max(1, _SINGLE_THREAD_MULTIPLICATIONS // len(A) ** 2)
    return np.concatenate([A[k : k + rows] @ A for k in range(0, len(A), rows)])
