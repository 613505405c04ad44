# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Limit commands and their rates before they go out.

Whatever a command comes from, law, safe command or a change of limits: it differs from the last
one sent by no more than the rate limit allows, and is within the limits of the robot file.
"""

from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel


@kernel
def limit(lower, upper, u, last, rate, dt, out):
    """Bring u into reach of the last command and into the limits; return how many changed."""
    changed = 0
    for k in range(len(u)):
        reach = rate[k] * dt * (1.0 + 1e-9)  # a law that goes to the limit is left alone
        low, high = max(lower[k], last[k] - reach), min(upper[k], last[k] + reach)
        out[k] = min(max(u[k], low), high)
        changed += out[k] != u[k]
    return changed


class Limiter:
    """
    Keeps commands within ``lower``, ``upper`` (m,) and close to the last one.

    ``last`` (m,) is that one, in actuator units; ``has_last`` tells whether there has been one.
    """

    def __init__(self, lower: Vector, upper: Vector) -> None:
        self.last, self.has_last = np.zeros(len(lower)), False
        self._u, self._rate, self._out = np.zeros((3, len(lower)))
        self._limit = cached(
            limit,
            'VECTOR, VECTOR, VECTOR, float64, VECTOR',
            lower=np.array(lower),
            upper=np.array(upper),
        )
        self._limit(self._u, self.last, self._rate, 1.0, self._out)  # compiles

    def apply(self, u: Vector, rate: Vector, dt: float) -> tuple[Vector, Any]:
        """
        Return (the command to send instead of u, whether it is another), each (m,).

        ``rate`` (m,) [unit/s] counts for ``dt`` > 0 [s]. Valid until the next call.
        """
        # in arrays of its own: one that cannot be written to is of another type, to be compiled
        self._u[:], self._rate[:] = u, rate if self.has_last else np.inf
        changed = self._limit(self._u, self.last, self._rate, dt, self._out)
        self.last[:], self.has_last = self._out, True
        return self._out, bool(changed)
