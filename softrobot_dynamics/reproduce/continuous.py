# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The collocated partial feedback linearization of [P, Sec. 6] as a continuous law, in closed loop.

Robot and law are one ordinary differential equation, as in the paper: no samples, no limits. It is
stiff, by the bodies' damping, and solved by an implicit method.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.references.piecewise import Reference
from softrobot_dynamics.reproduce.outcome import Array

DIFFERENCE_STEPS = 1e-7, 1e-6  # by q and by qd


class Followed(NamedTuple):
    """A motion in closed loop, at times (T,) [s]."""

    t: Array
    q: Array  # (T, n)
    errors: Array  # y - y_d (T, m)
    u: Array  # commands (T, m), actuator units


class ContinuousLaw:
    """
    The closed loop of all of a robot's actuators: gains p [1/s^2] and d [1/s], a Reference.

    With S = J M^-1 J^T and a = y_d'' + d (y_d' - y') + p (y_d - y) the forces along y are
    w = S^-1 (a + J M^-1 h - Jdot qd), so that y'' = a.
    """

    def __init__(self, model: CompiledModel, reference: Reference, p: float, d: float) -> None:
        from scipy.interpolate import PPoly  # late: scipy is slow to import

        self._model, self._gains, self._evaluate = model, (p, d), model.evaluator()
        path = PPoly(reference.coefficients[::-1], reference.breaks)
        self._path, self._period = [path.derivative(k) for k in range(3)], reference.period

    def desired(self, t: float) -> list[Array]:
        """Return y_d (m,), its rate and its acceleration at t [s]."""
        return [each(t % self._period if self._period else t) for each in self._path]

    def errors(self, t: float, x: Array) -> Array:
        """Return y - y_d (m,) in the state x (2 n,) = (q, qd)."""
        y: Array = self._terms(x).y - self._model.y0 - self.desired(t)[0]
        return y

    def answer(self, t: float, x: Array) -> tuple[Array, Array]:
        """Return the acceleration (n,) and the command u (m,) in the state x (2 n,)."""
        (p, d), terms, (y, rate, acceleration) = self._gains, self._terms(x), self.desired(t)
        J, qd = terms.J, x[self._model.n :]
        free = np.linalg.solve(terms.M, np.column_stack([J.T, terms.h]))
        mobility, weight = free[:, :-1], free[:, -1]
        a = acceleration + d * (rate - J @ qd) + p * (y - terms.y + self._model.y0)
        w = np.linalg.solve(J @ mobility, a + J @ weight - terms.bias)
        return mobility @ w - weight, w * self._model.signs

    def follow(self, q: ArrayLike, qd: ArrayLike, times: Array, rtol: float) -> Followed:
        """Integrate from (q, qd), (n,) each, at times[0]; RuntimeError where that fails."""
        from scipy.integrate import solve_ivp

        found = solve_ivp(
            self._derivative, times[[0, -1]], np.concatenate([q, qd]), 'Radau', times,
            rtol=rtol, atol=0.01 * rtol, jac=self._jacobian,
        )  # fmt: skip
        if not found.success:
            raise RuntimeError(found.message)
        states = found.y.T
        errors = [self.errors(t, x) for t, x in zip(times, states)]
        u = [self.answer(t, x)[1] for t, x in zip(times, states)]
        return Followed(times, states[:, : self._model.n], np.array(errors), np.array(u))

    def _terms(self, x: Array) -> Terms:
        n = self._model.n
        return self._evaluate(np.ascontiguousarray(x[:n]), np.ascontiguousarray(x[n:]))

    def _derivative(self, t: float, x: Array) -> Array:
        return np.concatenate([x[self._model.n :], self.answer(t, x)[0]])

    def _jacobian(self, t: float, x: Array) -> Array:
        """By differences of steps that suit the coordinates; those of scipy leave their range."""
        result = np.empty((len(x), len(x)))
        for j in range(len(x)):
            step = np.zeros(len(x))
            step[j] = DIFFERENCE_STEPS[j >= self._model.n]
            change = self._derivative(t, x + step) - self._derivative(t, x - step)
            result[:, j] = change / (2.0 * step[j])
        return result
