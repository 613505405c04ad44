# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The state in which a command that is late will find the robot."""

from collections import deque
import math

import numpy as np
from softrobot_dynamics.simulation.stepping import Fixed

LONGEST = 100  # periods that can be predicted


class Prediction:
    """
    Moves a measured state on under the commands that are on their way.

    A command acts ``delay`` [s] after the state it answers, and is held for ``period`` [s]. The
    steps are those of the simulator, one for each command.
    """

    def __init__(self, model, period):
        self._period, self._signs = period, model.signs
        self._stepper = Fixed(model, period)
        self._force, self._q, self._qd = np.zeros(model.m), *np.zeros((2, model.n))
        self._sent = deque(maxlen=LONGEST)  # u (m,), the last one last
        self.begin(model.q0)
        self(model.q0, np.zeros(model.n), period, np.zeros(model.m))  # compiles
        self.begin(model.q0)

    def begin(self, q):
        """Begin anew at q (n,)."""
        self._sent.clear()
        self._stepper.reset(q)

    def sent(self, u):
        """Take note of a command (m,) that was sent."""
        self._sent.append(u.copy())

    def __call__(self, q, qd, delay, last):
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
            np.multiply(u, self._signs, out=self._force)
            duration = first if k == under_way else self._period
            if self._stepper.advance(self._force, self._q, self._qd, duration, False):
                self._q[:] = np.nan
        return self._q, self._qd
