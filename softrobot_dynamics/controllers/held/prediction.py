# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The state in which a command that is late will find the robot."""

from __future__ import annotations

from collections import deque
import math
from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.simulation.stepping import Fixed, Inputs

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

LONGEST = 100  # periods that can be predicted


class Prediction:
    """
    Moves a measured state on under the commands that are on their way.

    A command acts ``delay`` [s] after the state it answers, and is held for ``period`` [s]. The
    steps are those of the simulator, one for each command.
    """

    def __init__(self, model: CompiledModel, period: float) -> None:
        self._period, self._inputs = period, Inputs(model, commanded=True)
        self._stepper = Fixed(model, period, self._inputs)
        self._q, self._qd = np.zeros((2, model.n))
        self._sent: deque[Vector] = deque(maxlen=LONGEST)  # u (m,), the last one last
        self.begin(model.q0)
        self(model.q0, np.zeros(model.n), period, np.zeros(model.m))  # compiles
        self.begin(model.q0)

    def begin(self, q: Vector) -> None:
        """Begin anew at q (n,)."""
        self._sent.clear()
        self._stepper.reset(q)

    def sent(self, u: Vector) -> None:
        """Take note of a command (m,) that was sent."""
        self._sent.append(u.copy())

    def __call__(self, q: Vector, qd: Vector, delay: float, last: Vector) -> tuple[Vector, Vector]:
        """
        Return (q, qd) ``delay`` [s] on, nan where the robot cannot be there.

        ``last`` (m,) is the last command: in force since before any that was noted.
        """
        if not self._sent:
            self.sent(last)
        self._q[:], self._qd[:] = q, qd
        under_way = math.ceil(delay / self._period - 1e-9)
        first = delay - (under_way - 1) * self._period  # that is left of the one in force
        for k in range(under_way, 0, -1):
            u = self._sent[max(0, len(self._sent) - k)]
            self._inputs.take(u)
            duration = first if k == under_way else self._period
            if self._stepper.advance(self._inputs.force, self._q, self._qd, duration, False):
                self._q[:] = np.nan
        return self._q, self._qd
