# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Forward dynamics in time: a robot that moves under its actuation."""

import math

import numpy as np
from softrobot_dynamics.dynamics import checked
from softrobot_dynamics.errors import ArgumentError, SimulationDivergedError
from softrobot_dynamics.kernels.jit import kernel
from softrobot_dynamics.kernels.linalg import (
    all_finite,
    cholesky,
    solve_lower,
    solve_lower_transposed,
)
from softrobot_dynamics.kinematics.binding import cached


@kernel
def implicit_step(terms, K, D, force, q, qd, h):
    """
    Advance (q, qd), in place, by one linearly implicit step of h [s] from their terms.

    (M + h D + h^2 K) dv = h (J' force - ID(q, v, 0) - h K v),  v += dv,  q += h v:  first order,
    stable for any stiffness K and damping D (n, n). ``force`` (m,) acts along y. Returns 0, or 1
    if the state would no longer be a number; it is then kept.
    """
    n, M, rhs = len(q), terms.M, terms.h
    for i in range(n):
        total = -rhs[i]
        for a in range(len(force)):
            total += terms.J[a, i] * force[a]
        for j in range(n):
            total -= h * K[i, j] * qd[j]
        for j in range(i + 1):
            M[i, j] += h * D[i, j] + h * h * K[i, j]
        rhs[i] = h * total
    if cholesky(M) != 0:
        return 1
    solve_lower(M, rhs)
    solve_lower_transposed(M, rhs)
    if not all_finite(rhs):
        return 1
    for i in range(n):
        qd[i] += rhs[i]
        q[i] += h * qd[i]
    return 0


class Simulator:
    """
    A robot in simulation; deterministic: equal inputs give equal states, bit by bit.

    Attributes: ``q``, ``qd`` (n,) the state, ``time`` [s]. ``substep`` [s] is the longest step of
    the integrator. Not thread-safe: one simulator belongs to one thread.
    """

    def __init__(self, model, *, q=None, qd=None, substep=2.5e-4):
        if not (math.isfinite(substep) and substep > 0.0):
            raise ArgumentError('substep', substep, 'a time > 0 [s]')
        self.model, self.substep, self.time = model, float(substep), 0.0
        self.q, self.qd = np.zeros(model.n), np.zeros(model.n)
        self._evaluate, self._step = model.evaluator(), cached(implicit_step)
        self._force = np.zeros(model.m)
        self.reset(q, qd)

    def reset(self, q=None, qd=None):
        """Return to time zero at q (n,), default the description's initial state, and qd (n,)."""
        n = self.model.n
        q = self.model.q0 if q is None else checked('q', q, (n,))
        qd = 0.0 if qd is None else checked('qd', qd, (n,))
        self.q[:], self.qd[:] = q, qd
        self.time = 0.0

    def step(self, u, dt):
        """
        Advance by dt [s] under the constant actuation u (m,), in actuator units.

        Raises ArgumentError, or SimulationDivergedError with the last good state kept.
        """
        u = checked('u', u, (self.model.m,))
        if not (math.isfinite(dt) and dt > 0.0):
            raise ArgumentError('dt', dt, 'a time > 0 [s]')
        steps = max(1, math.ceil(dt / self.substep - 1e-9))
        np.multiply(u, self.model.signs, out=self._force)
        for _ in range(steps):
            self._substep(dt / steps)

    def _substep(self, h):
        model, terms = self.model, self._evaluate(self.q, self.qd)
        if self._step(terms, model.stiffness, model.damping, self._force, self.q, self.qd, h):
            wrong = np.flatnonzero(~np.isfinite(terms.h))
            raise SimulationDivergedError(
                self.time, model.coordinate_names[wrong[0] if len(wrong) else 0]
            )
        self.time += h
