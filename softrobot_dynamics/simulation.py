# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Forward dynamics in time: a robot that moves under its actuation."""

import math
from numbers import Real

import numpy as np
from softrobot_dynamics.arguments import checked
from softrobot_dynamics.errors import ArgumentError, SimulationDivergedError
from softrobot_dynamics.integrators import allocate_stages, first_stage, second_stage
from softrobot_dynamics.kinematics.binding import cached
from softrobot_dynamics.linearisation import Linearisation
from softrobot_dynamics.recentring import recentre, recentring

SHORTEST = 1e-9  # sub-step [s] below which the state cannot be continued


class Simulator:
    """
    A robot in simulation; deterministic: equal inputs give equal states, bit by bit.

    Attributes: ``q``, ``qd`` (n,) the state, ``time`` [s]. ``substep`` [s] is the longest step of
    the integrator (:mod:`softrobot_dynamics.integrators`), after which the state is
    :func:`~softrobot_dynamics.recentring.recentred`. With a ``tolerance`` sub-steps are shortened
    until the estimated error of each, in q and in qd, is below it, absolute and relative. Not
    thread-safe: one simulator belongs to one thread.
    """

    def __init__(self, model, *, q=None, qd=None, substep=5e-4, tolerance=None):
        self.model, self.time = model, 0.0
        self.substep = _positive('substep', substep, 'a time > 0 [s]')
        self.tolerance = tolerance and _positive('tolerance', tolerance, 'a number > 0 or None')
        self.q, self.qd = np.zeros(model.n), np.zeros(model.n)
        self._evaluate, self._stages = model.evaluator(), allocate_stages(model.n)
        self._first, self._second = cached(first_stage), cached(second_stage)
        self._linearisation = Linearisation(model)
        self._force, self._recentring = np.zeros(model.m), recentring(model)
        self.reset(q, qd)

    def reset(self, q=None, qd=None):
        """Return to time zero at q (n,), default the description's initial state, and qd (n,)."""
        n = self.model.n
        q = self.model.q0 if q is None else checked('q', q, (n,))
        qd = 0.0 if qd is None else checked('qd', qd, (n,))
        self.q[:], self.qd[:] = q, qd
        self.time, self._next = 0.0, self.substep
        self._linearisation.begin(self.q)

    def step(self, u, dt):
        """
        Advance by dt [s] under the constant actuation u (m,), in actuator units.

        Raises ArgumentError, or SimulationDivergedError with the last good state kept.
        """
        u = checked('u', u, (self.model.m,))
        dt = _positive('dt', dt, 'a time > 0 [s]')
        np.multiply(u, self.model.signs, out=self._force)
        if self.tolerance is None:
            steps = max(1, math.ceil(dt / self.substep - 1e-9))
            for _ in range(steps):
                self._advance(dt / steps)
        else:
            self._adapt(dt)

    def _adapt(self, dt):
        """Advance by dt in sub-steps as long as the tolerance allows."""
        done, q, qd = 0.0, self.q.copy(), self.qd.copy()
        while done < dt * (1.0 - 1e-12):
            h = min(self._next, dt - done)
            self._advance(h)
            excess = self._excess(q, qd)
            longer = h * min(3.0, max(0.2, 0.9 / math.sqrt(max(excess, 1e-12))))
            if h == self._next or excess > 1.0:  # a remainder says little of the next
                self._next = min(self.substep, longer)
            if excess > 1.0 and h > SHORTEST:
                self.q[:], self.qd[:] = q, qd
                self.time -= h
            else:
                done += h
                q[:], qd[:] = self.q, self.qd

    def _excess(self, q, qd):
        """Estimated error of the last sub-step from (q, qd), in tolerances."""
        error = self._stages.error
        return max(
            float((np.abs(e) / (self.tolerance * (1.0 + np.abs(x)))).max())
            for e, x in zip(error, (q, qd))
        )

    def _advance(self, h):
        """Advance by one sub-step of h [s]; SimulationDivergedError with the state kept."""
        stages, force, q, qd = self._stages, self._force, self.q, self.qd
        terms = self._evaluate(q, qd)
        self._linearisation.refresh(self._evaluate, q, qd)
        K, D = self._linearisation.stiffness, self._linearisation.damping
        failed = self._first(terms, K, D, force, q, qd, h, stages)
        if not failed:
            terms = self._evaluate(stages.q, stages.qd)
            failed = self._second(terms, K, force, q, qd, h, stages)
        if failed:
            wrong = np.flatnonzero(~np.isfinite(terms.h))
            raise SimulationDivergedError(
                self.time, self.model.coordinate_names[wrong[0] if len(wrong) else 0]
            )
        recentre(self._recentring, q, qd)
        self.time += h


def _positive(name, value, expected):
    """Return a number > 0 as a float, or ArgumentError."""
    if not (isinstance(value, Real) and math.isfinite(value) and value > 0.0):
        raise ArgumentError(name, value, expected)
    return float(value)
