# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Ways to move a robot in time: two plain methods, compiled, and the package's Simulator."""

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import cholesky, solve_lower, solve_lower_transposed


@kernel
def accelerate(terms, force, a):
    """Fill the acceleration a (n,) under forces (m,) along y; the mass matrix is destroyed."""
    for i in range(len(a)):
        a[i] = -terms.h[i]
        for j in range(len(force)):
            a[i] += terms.J[j, i] * force[j]
    cholesky(terms.M)
    solve_lower(terms.M, a)
    solve_lower_transposed(terms.M, a)


@kernel
def explicit(evaluate, terms, K, D, force, q, qd, h, steps, b):
    """Advance (q, qd) by steps of Runge and Kutta's method; K, D are not used, b is scratch."""
    n = len(q)
    for _ in range(steps):
        for stage in range(4):
            ahead, last = (
                0.0 if stage == 0 else h if stage == 3 else 0.5 * h,
                2 * max(stage - 1, 0),
            )
            for i in range(n):
                b[8, i] = q[i] + ahead * b[last, i]
                b[9, i] = qd[i] + ahead * b[last + 1, i]
                b[2 * stage, i] = b[9, i]
            run(evaluate, b[8], b[9])
            accelerate(terms, force, b[2 * stage + 1])
        for i in range(n):
            q[i] += h / 6.0 * (b[0, i] + 2.0 * (b[2, i] + b[4, i]) + b[6, i])
            qd[i] += h / 6.0 * (b[1, i] + 2.0 * (b[3, i] + b[5, i]) + b[7, i])


@kernel
def first_order(evaluate, terms, K, D, force, q, qd, h, steps, b):
    """Advance (q, qd) by steps (M + h D + h^2 K) dv = h (force - ID(q, v, 0) - h K v)."""
    n, a = len(q), b[0]
    for _ in range(steps):
        run(evaluate, q, qd)
        for i in range(n):
            for j in range(n):
                terms.h[i] += h * K[i, j] * qd[j]
                terms.M[i, j] += h * D[i, j] + h * h * K[i, j]
        accelerate(terms, force, a)
        for i in range(n):
            qd[i] += h * a[i]
            q[i] += h * qd[i]


class Loop:
    """One of the methods above, compiled for a robot, under constant tensions u (m,)."""

    def __init__(self, model, method, u, h):
        self.q, self.qd = np.zeros((2, model.n))
        self._program, self._h, self._scratch = cached(method), h, np.zeros((10, model.n))
        evaluator, matrices = model.evaluator(), (model.stiffness, model.damping)
        self._arrays = (
            evaluator.entry,
            evaluator.terms,
            *matrices,
            model.signs * u,
            self.q,
            self.qd,
        )

    def reset(self, q):
        """Return to rest at q (n,)."""
        self.q[:], self.qd[:], self.substeps = q, 0.0, 0

    def advance(self, duration):
        """Go on for a duration [s], a multiple of the step."""
        steps = round(duration / self._h)
        self._program(*self._arrays, self._h, steps, self._scratch)
        self.substeps += steps


class Shipped:
    """The package's Simulator under constant tensions u (m,)."""

    def __init__(self, model, u, **settings):
        self._simulator, self._u = sd.Simulator(model, **settings), u
        self.reset, self.q = self._simulator.reset, self._simulator.q

    def advance(self, duration):
        """Go on for a duration [s]."""
        self._simulator.step(self._u, duration)

    @property
    def substeps(self):
        """Steps since the start."""
        return self._simulator.substeps
