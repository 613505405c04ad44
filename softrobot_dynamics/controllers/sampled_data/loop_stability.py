# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Check the stability of a sampled loop: eigenvalues of one period, linearised at rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
import functools
import itertools
import math
import threading
from typing import Any, NamedTuple, TYPE_CHECKING, TypeAlias

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.sampled_data import delayed_loop
from softrobot_dynamics.controllers.sampled_data.command import HeldCommand
from softrobot_dynamics.controllers.sampled_data.delayed_loop import DelayedMotion, Lateness
from softrobot_dynamics.controllers.sampled_data.matrix_exponentials import (
    exponential,
    log_spectral_radius,
)
from softrobot_dynamics.dynamics.contacts import contact_forces
from softrobot_dynamics.dynamics.stability import Linearised
from softrobot_dynamics.kernels.linalg import cholesky, solve_lower, solve_lower_transposed
from softrobot_dynamics.model.cable_drives import Conversion
from softrobot_dynamics.model.evaluation import Evaluator

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

Answer: TypeAlias = Callable[..., tuple[Any, Vector]]
Law: TypeAlias = Callable[[Vector, Vector], Answer]

NO_LATENESS = Lateness(0.0, 0.0)
DIFFERENCE_STEP = 1e-6  # of a law's derivatives, of the sizes of what it depends on


class LoopWorkspace(NamedTuple):
    """Scratch for n coordinates, c actuators, and r = 2 n + the size of the law's memory."""

    J: Matrix  # (c, n)
    L: Matrix  # (n, n)
    cables: Matrix  # (n, n) stiffness of those that are held at a position, which is known
    column: Vector  # (n,)
    feedback: Matrix  # (r, c) change of w per change of (q, qd, memory), transposed
    memory_jacobian: Matrix  # (r, r - 2 n) change of the memory a period later, likewise
    rates: Matrix  # (2 n + c, 2 n + c)
    flow: Array  # the same
    spare: Array  # the same
    closed: Matrix  # (r, r)
    other: Matrix  # (r, r)


def allocate_workspace(n: int, c: int, size: int) -> LoopWorkspace:
    """Return the :class:`LoopWorkspace` of n coordinates, c actuators, a memory of some size."""
    all_of_it, r = (2 * n + c, 2 * n + c), 2 * n + size
    return LoopWorkspace(
        J=np.zeros((c, n)),
        L=np.zeros((n, n)),
        cables=np.zeros((n, n)),
        column=np.zeros(n),
        feedback=np.zeros((r, c)),
        memory_jacobian=np.zeros((r, size)),
        rates=np.zeros(all_of_it),
        flow=np.zeros(all_of_it),
        spare=np.zeros(all_of_it),
        closed=np.zeros((r, r)),
        other=np.zeros((r, r)),
    )


def _sizes(model: CompiledModel, period: float, controlled: Integers, size: int) -> Vector:
    """
    Return the sizes of q (n,), qd (n,) and the memory of a law (size,), (2 n + size,).

    It keeps rates and accelerations of the outputs, in which it is linear: any size will do.
    """
    units, ways = model.scales.units, model.scales.outputs[controlled].max(axis=1, initial=0.0)
    memory = np.where(ways > 0.0, ways, 1.0) / period**2
    return np.concatenate([units, units / period, np.resize(memory, size)])


class SampledLoop:
    """
    The loop of a law, for any thread, beside the one that runs it.

    ``controlled`` (c,) are the indices of the actuators it commands, ``period`` [s] is that of its
    ticks. ``extrapolation`` (:class:`ResponseExtrapolation`) is the response at the place that is
    being looked at. ``size`` is that of what the law keeps from one tick to the next.
    """

    def __init__(
        self, model: CompiledModel, period: float, controlled: Integers, size: int = 0
    ) -> None:
        self._period, self._controlled, self._lock = period, controlled, threading.Lock()
        self._held, self._signs = HeldCommand(model, period), model.signs
        self._conversion = Conversion(model)
        self._evaluate = Evaluator(model, with_mass=False)
        self._contact = contact_forces(model)
        self._sizes = _sizes(model, period, controlled, size)
        self.size, self._memory = size, np.zeros(size)
        self.extrapolation = self._held.extrapolation
        self._work = allocate_workspace(model.n, len(controlled), size)
        self._growth = cached(
            loop_growth, 'float64, float64, float64', response=self._held.response, work=self._work
        )

    def growth(
        self,
        q: Vector,
        u: Vector,
        law: Law,
        uncertainty: float = 0.0,
        lateness: Lateness = NO_LATENESS,
    ) -> float:
        """
        Return the rate [1/s] at which the fastest motion about rest at q (n,) grows.

        With a ``law`` that gives, for q and a command u (m,), a function of q, qd and its memory
        (size,), whose results are the forces w (c,) along the outputs and the memory a period
        later: the logarithm of the largest discrete-time eigenvalue, by the period. Below zero for
        a loop that is stable at this rate, about zero where something rings undamped or turns
        freely; nan where the robot, or the law, cannot be at q. Where the law would not rest at
        q, as where a direction of its commands is left alone because they act the wrong way
        there, it says that errors grow, but not how fast.

        With a share ``uncertainty``, the fastest growth on robots whose stiffness and damping are,
        each on its own, by that share above or below those of the law's model. States with a
        ``lateness`` are predicted by the law, whose answer takes the rates (n,) that the last
        command has reached as a fourth argument (:mod:`~.delayed_loop`).
        """
        with self._lock:
            q, answer = self._rest_at(q, u, law)
            if answer is None:
                return math.nan
            robots = itertools.product({1.0 - uncertainty, 1.0 + uncertainty}, repeat=2)
            if lateness.delay > 0.0:
                return max(self._late_growths(q, answer, robots, lateness)) / self._period
            self._measure(q, answer)
            return max(self._growth(self._period, *robot) for robot in robots) / self._period

    def _late_growths(
        self, q: Vector, answer: Answer, robots: Iterable[tuple[float, ...]], lateness: Lateness
    ) -> list[float]:
        """Return :func:`late_growth` of robots (stiffness, damping) at q (n,)."""
        work, found = self._work, self._held.response
        by = delayed_loop.measure(answer, q, DIFFERENCE_STEP * self._sizes, len(self._controlled))
        self._take_up_cables(by.w)
        motion = DelayedMotion.of(found.M, found.D, found.K, work.cables, work.J)
        growth = functools.partial(delayed_loop.late_growth, motion, by, self._period, lateness)
        return [growth(*robot) for robot in robots]

    def _measure(self, q: Vector, answer: Answer) -> None:
        """Fill the changes of a law's answer by those of q (n,), the rates, and its memory."""
        work, n, rest = self._work, len(q), np.zeros(len(q))
        sizes = DIFFERENCE_STEP * self._sizes
        for j in range(len(work.feedback)):
            step = sizes[j]
            change = np.zeros(len(work.feedback))
            change[j] = step
            by_q, by_qd, by_memory = np.split(change, (n, 2 * n))
            w, after = answer(q + by_q, rest + by_qd, by_memory)
            w_back, before = answer(q - by_q, rest - by_qd, -by_memory)
            work.feedback[j] = (w - w_back) / (2.0 * step)
            work.memory_jacobian[j] = (after - before) / (2.0 * step)
        self._take_up_cables(work.feedback)

    def _take_up_cables(self, feedback: Matrix) -> None:
        """Fill the stiffness of cables that are held; take their part from changes of w by q."""
        work, drives, n = self._work, self._held.drives, len(self._held.response.M)
        # w is that of the tick; cables, whose stiffness is in the flow, then change it
        taut = np.where(drives.tension > 0.0, drives.stiffness, 0.0)
        work.cables[:] = drives.J.T @ (taut[:, None] * drives.J)
        for i, k in enumerate(self._controlled):
            first, count = drives.cables[k]
            for s, way in zip(range(first, first + count), (1.0, -1.0)):
                feedback[:n, i] -= self._signs[k] * way * taut[s] * drives.J[s]

    def zero_dynamics(self, q: Vector, u: Vector, law: Law) -> Any:
        """
        Return the rates (2 (n - c),) [1/s] of the zero dynamics of a ``law`` at q.

        Complex, fastest growth first. ``u`` (m,) is what the other actuators do. None where the
        robot, or the law, cannot be at q.
        """
        with self._lock:
            if self._rest_at(q, u, law)[1] is None:
                return np.array([])
            x = self._held.response
            return Linearised(x.K, x.D, x.M, np.zeros(len(x.K))).held(self._work.J)

    def _rest_at(self, q: Vector, u: Vector, law: Law) -> tuple[Vector, Any]:
        """
        Linearise at rest at q (n,), where the law holds the outputs; the lock is held.

        The law's own command is what tension there is then: u (m,), which limits may have kept
        from it, only begins. Returns q and the law's answer by state and memory, or None.
        """
        q, u, rest = np.array(q, dtype=float), np.array(u, dtype=float), np.zeros(len(q))
        if not (np.isfinite(q).all() and np.isfinite(u).all()):
            return q, None
        for _ in range(2):
            self._held.linearise_at_rest(q, u)
            w, _ = law(q, u)(q, rest, self._memory)
            u = self._conversion.efforts(q, u)
            u[self._controlled] = self._signs[self._controlled] * w
            u = self._conversion.commands(q, u)
            if not np.isfinite(u).all():
                return q, None
        self._held.linearise_at_rest(q, u)
        self._evaluate(q, rest)
        self._work.J[:] = self._evaluate.terms.J[self._controlled]
        if self._contact is not None:  # which acts on the robot, and is unknown to the law
            by_q, by_qd = np.split(self._contact.derivatives(q, rest), 2, axis=1)
            self._held.response.K[:] -= by_q
            self._held.response.D[:] -= by_qd
        return q, law(q, u)


@kernel
def loop_growth(response, work, period, stiffness, damping):
    """
    Logarithm of the largest eigenvalue of the loop's period, after a linearisation at rest.

    Of a robot with so many times the stiffness and damping that were found.
    """
    M, n, c = response.M, len(response.M), len(work.J)
    if not _held_flow(response, period, stiffness, damping, work):
        return math.nan
    exponential(work.rates, work.flow, work.spare)
    for j in range(len(work.closed)):
        unit = 1.0 / math.sqrt(M[j % n, j % n]) if j < 2 * n else 1.0
        for i in range(2 * n):
            work.closed[i, j] = work.flow[i, j] if j < 2 * n else 0.0
            for k in range(c):
                work.closed[i, j] += work.flow[i, 2 * n + k] * work.feedback[j, k] * unit
        for i in range(work.memory_jacobian.shape[1]):
            work.closed[2 * n + i, j] = work.memory_jacobian[j, i] * unit
    return log_spectral_radius(work.closed, work.other)


@kernel
def _held_flow(response, period, stiffness, damping, work):
    """Fill the rates of (q, qd, w) times a period, in coordinates of equal inertia."""
    M, D, K = response.M, response.D, response.K
    n, c, rates = len(M), len(work.J), work.rates
    for i in range(n):
        for j in range(i + 1):
            work.L[i, j] = M[i, j]
    if cholesky(work.L) != 0:
        return False
    rates[:] = 0.0
    for j in range(2 * n + c):
        for i in range(n):
            if j < n:
                of_cables = work.cables[i, j]
                work.column[i] = -stiffness * (K[i, j] - of_cables) - of_cables
            elif j < 2 * n:
                work.column[i] = -damping * D[i, j - n]
            else:
                work.column[i] = work.J[j - 2 * n, i]
        solve_lower(work.L, work.column)
        solve_lower_transposed(work.L, work.column)
        unit = 1.0 / math.sqrt(M[j % n, j % n]) if j < 2 * n else 1.0
        for i in range(n):
            rates[n + i, j] = period * math.sqrt(M[i, i]) * work.column[i] * unit
    for i in range(n):
        rates[i, n + i] = period
    return True
