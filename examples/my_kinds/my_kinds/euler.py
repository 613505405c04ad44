# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Semi-implicit Euler steps, as game engines make them."""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.compiling.addresses import Entry, run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import all_finite, copy
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.simulation.integrators.contract import (
    begin_steps,
    Clock,
    count_step,
    Integrator,
    register,
)
from softrobot_dynamics.simulation.integrators.forces import acceleration


class Work(NamedTuple):
    """Work arrays of a step."""

    evaluate: Entry
    terms: Terms
    clock: Clock
    substep: float
    tried: np.ndarray  # (n,)
    a: np.ndarray  # (n,)


@kernel
def euler_steps(work, force, q, qd, duration, once):
    """Make steps of first order; 1 where there is no acceleration."""
    steps, a = begin_steps(work.clock, duration, work.substep), work.a
    h = duration / steps
    for _ in range(1 if once else steps):
        copy(q, work.tried)
        run(work.evaluate, q, qd)
        if acceleration(work.terms, force, a) != 0 or not all_finite(a):
            return 1
        for i in range(len(q)):
            qd[i] += h * a[i]
            q[i] += h * qd[i]
        count_step(work.clock, duration, steps)
    return 0


@register('euler')
class Euler(Integrator):
    """qd += h qdd(q, qd), then q += h qd; too coarse for stiff bodies."""

    def prepare(self, model):
        """Allocate the array of the kernel, and bind it."""
        self.a = np.zeros(model.n)
        self.advance = self.bind(self.entry)

    def bind(self, evaluate):
        """Return advance, by an entry that evaluates the robot."""
        own = Work(evaluate, self.terms, self.clock, self.substep, self.tried, self.a)
        return cached(euler_steps, work=own)
