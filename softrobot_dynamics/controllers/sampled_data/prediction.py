# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Delay compensation: predict the state at the time when a command acts."""

from __future__ import annotations

from collections import deque
import math
from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.dynamics.arguments import TIME_TOLERANCE
from softrobot_dynamics.kernels.linalg import (
    all_finite,
    cholesky,
    solve_lower,
    solve_lower_transposed,
)
from softrobot_dynamics.recursion.loads import evaluate_with_force
from softrobot_dynamics.simulation.integrators.contract import Inputs
from softrobot_dynamics.simulation.integrators.exponential import ExponentialIntegrator

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

MAX_DELAY_PERIODS = 100  # that can be predicted


class Prediction:
    """
    Moves a measured state on under the commands that are on their way.

    A command acts ``delay`` [s] after the state it answers, and is held for ``period`` [s]. The
    steps are those of the simulator, one for each command. What the model does not know acts
    meanwhile, too, or a robot at rest would be predicted to move: a force (n,) that becomes known
    by what rates were measured beyond those predicted for then, by the response G (n, n) to a
    force that is held for a period. It does as fast as the law finds it by itself, or else the law
    would hold for motion what is not yet known here.

    Attributes: ``force`` (n,), and ``reached`` (n,), the rates to which the last command brings
    the state that was predicted for it, within its period: by the model, that force, and what the
    present state differs in from what was predicted for now; nan where that is not known.
    """

    def __init__(self, model: CompiledModel, period: float, G: Matrix) -> None:
        self._period, self._inputs = period, Inputs(model, commanded=True)
        self._stepper = stepper = ExponentialIntegrator(model, period, self._inputs)
        self.force, self.reached, self._missed = np.zeros((3, model.n))
        pushed = entry(
            evaluate_with_force, evaluate=stepper.entry, h=stepper.terms.h, force=self.force
        )
        self._step = stepper.bind(pushed)
        scratch = {'missed': self._missed, 'L': np.zeros_like(G)}
        self._learn = cached(learn, 'float64', G=G, force=self.force, **scratch)
        self._q, self._qd = np.zeros((2, model.n))
        self._sent: deque[Vector] = deque(maxlen=MAX_DELAY_PERIODS)  # u (m,), the last one last
        self._next = np.zeros(model.n)  # rates when the next state is measured
        self._left = math.nan  # [s] from the end of the prediction until then
        self._asked = math.nan  # [s] when it was asked for last
        for t in (0.0, period):  # compiles
            self(t, model.q0, np.zeros(model.n), period, np.zeros(model.m), period)
        self.begin(model.q0)

    def begin(self, q: Vector) -> None:
        """Restart at q (n,)."""
        self._forget()
        self._stepper.reset(q)

    def _forget(self) -> None:
        self._sent.clear()
        self.force[:], self.reached[:], self._asked = 0.0, math.nan, math.nan

    def skip_next_state(self) -> None:
        """Learn nothing from the state that is measured next."""
        self._asked = math.nan

    def note_command(self, u: Vector) -> None:
        """Take note of a command (m,) that was sent."""
        self._sent.append(u.copy())
        self._advance(u, self._period)

    def __call__(
        self, t: float, q: Vector, qd: Vector, delay: float, last: Vector, time: float
    ) -> tuple[Vector, Vector]:
        """
        Return (q, qd) ``delay`` [s] on from time t [s], nan where the robot cannot be there.

        ``last`` (m,) is the last command: in force since before any that was noted. ``time`` [s]
        is that in which the force becomes known; 0: it is not looked for. Without a delay this is
        the state itself, and all that was found is forgotten.
        """
        if not delay > 0.0:
            if self._sent:
                self._forget()
            return q, qd
        if not self._sent:
            self._sent.append(last.copy())
        self.reached[:] = math.nan  # after a pause nobody knows
        if time == 0.0:
            self.force[:] = 0.0
        elif abs(t - self._asked - self._period) < 0.5 * self._period:
            np.subtract(qd, self._next, out=self._missed)
            np.add(self._qd, self._missed, out=self.reached)
            self._learn(self._period / (self._period + time))
        self._asked, self._left, self._next[:] = t, self._period, math.nan
        self._q[:], self._qd[:] = q, qd
        under_way = math.ceil(delay / self._period - TIME_TOLERANCE)
        first = delay - (under_way - 1) * self._period  # that is left of the one in force
        for k in range(under_way, 0, -1):
            u = self._sent[max(0, len(self._sent) - k)]
            self._advance(u, first if k == under_way else self._period)
        return self._q, self._qd

    def _advance(self, u: Vector, duration: float) -> None:
        """Go on under a command (m,), with a stop when the next state is measured."""
        self._inputs.take(u)
        if TIME_TOLERANCE * self._period < self._left < duration - TIME_TOLERANCE * self._period:
            duration -= self._left
            self._integrate(self._left)
        self._integrate(duration)

    def _integrate(self, duration: float) -> None:
        """Go on by a duration [s]."""
        if self._step(self._inputs.force, self._q, self._qd, duration, False):
            self._q[:] = math.nan
        self._left -= duration
        if abs(self._left) <= TIME_TOLERANCE * self._period:
            self._next[:] = self._qd


@kernel
def learn(G, force, missed, L, share):
    """Correct the force (n,) by a share of that which explains ``missed`` rates; zero these."""
    for i in range(len(missed)):
        for j in range(i + 1):
            L[i, j] = G[i, j]
    if not all_finite(missed) or cholesky(L) != 0:  # a force that is no number would stay that
        return
    solve_lower(L, missed)
    solve_lower_transposed(L, missed)
    for i in range(len(force)):
        force[i] += share * missed[i]
