# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Filter state of a robot (mean and covariance), and its prediction in time."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.dynamics.arguments import TIME_TOLERANCE
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.errors import SimulationDivergedError
from softrobot_dynamics.estimation.effort_measurements import EffortHistory
from softrobot_dynamics.estimation.effort_noise import NoisyEfforts
from softrobot_dynamics.estimation.model_error import Columns, ScaledModel
from softrobot_dynamics.estimation.noise_covariance import allocate_noise_prediction, predict_noise
from softrobot_dynamics.estimation.servo_drives import drive_deflection, ServoDifferentiator
from softrobot_dynamics.estimation.settings import EstimatorSettings
from softrobot_dynamics.estimation.square_root_filter import allocate_prediction, predict
from softrobot_dynamics.model.contacts import forget_contact
from softrobot_dynamics.recursion.loads import evaluate_with_force
from softrobot_dynamics.simulation.integrators.contract import Inputs
from softrobot_dynamics.simulation.integrators.exponential import ExponentialIntegrator

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class FilterState(NamedTuple):
    """
    Estimate at a time [s]: x = (q, qd, force, shares) (N,), and S (N, N), P = S S^T.

    N (N, N) is the covariance of its errors without disturbances, see :mod:`~.noise_covariance`.
    """

    time: float
    x: Vector
    S: Matrix
    N: Matrix

    def copy(self) -> FilterState:
        """Return one with arrays of its own."""
        return FilterState(self.time, self.x.copy(), self.S.copy(), self.N.copy())


class StatePredictor:
    """
    Predicts filter states in time, in its own arrays; for one thread.

    ``q``, ``qd``, ``force`` (n,), ``shares`` (k,) and ``u`` (m,) are those of the last prediction:
    steps of the simulator, no longer than a ``substep``, under the commands and an external force
    that decays. Covariances are predicted in steps no longer than a ``step``, each by the
    derivatives at its beginning. The stationary covariance of the force has the factor ``noise``
    (n, n), that of the shares the ``deviations`` (k,): none, or three, which act as forces along
    ``E`` (n, k), see :mod:`.model_error`. ``touch`` (n,) is the mean force of contact in the last
    prediction, 0 unless contact is predicted; ``outside`` (n,) is that and ``force``. Steps [s],
    decay times and the noise of efforts are ``given`` by the settings.
    """

    def __init__(
        self, model: CompiledModel, noise: Matrix, deviations: Vector, given: EstimatorSettings
    ) -> None:
        n, off = model.n, ScaledModel(model) if len(deviations) else None
        self.model, self._step, self._substep = model, given.step, given.substep
        self._fading, self._lasting = given.disturbance.fading, given.model_error.fading
        self.shares = np.zeros(0) if off is None else off.shares
        model = off or model  # type: ignore[assignment]  # it has what a model has
        self.q, self.qd, self.force = np.zeros(n), np.zeros(n), np.zeros(n)
        self.outside, self.touch = np.zeros(n), np.zeros(n)
        self.u = np.zeros(model.m)
        self._inputs = Inputs(model, commanded=True, servos=True, touching=given.contact)
        fixed = ExponentialIntegrator(model, self._substep, self._inputs)
        pushed = entry(
            evaluate_with_force, evaluate=fixed.entry, h=fixed.terms.h, force=self.force
        )
        self._fixed, self._advance = fixed, fixed.bind(pushed)
        self._servos, self._contact = fixed.acts.servos, fixed.acts.contact
        if self._servos is None:
            own = Differentiator(model, self.outside, commanded=True, touching=given.contact)
        else:
            evaluate = fixed.driven(pushed)
            own = ServoDifferentiator(model, self.outside, self._servos, evaluate, given.contact)
        self.differentiate: Differentiator = own
        self._columns = None if off is None else Columns(off, own)
        self.E = np.zeros((n, 0)) if self._columns is None else self._columns.E
        known = {'M': own.M, 'by_state': own.by_state, 'stiffness': own.stiffness, 'E': self.E}
        work = allocate_prediction(noise, deviations, self._lasting, **known)
        self._predict: Callable[..., int] = cached(predict, w=work)
        self._predict_noise = cached(
            predict_noise, w=work, b=allocate_noise_prediction(3 * n + len(deviations))
        )
        noisy = [effort for effort in given.efforts if effort.noise]
        self._noisy_efforts = NoisyEfforts(noisy, own, work) if noisy else None

    def begin(self, q: Vector) -> None:
        """Restart near q (n,)."""
        self._fixed.reset(q)
        forget_contact(self._contact)
        self.touch[:] = 0.0

    def predict(
        self, state: FilterState, time: float, commands: EffortHistory, mean: Vector | None = None
    ) -> FilterState:
        """
        Return the filter state at a later time [s], in the arrays of the earlier one.

        ``mean`` is x (N,) then, where it is known and the way is no longer than a ``step``.
        """
        _, x, S, N = state
        now = state.time
        count = max(1, math.ceil((time - now) / self._step - TIME_TOLERANCE))
        if time - now <= TIME_TOLERANCE:
            return state
        h = (time - now) / count
        for _ in range(count):
            self.set_state(x, now)
            self.u[:] = commands.at(now)
            self.linearise()
            keep = math.exp(-h / self._fading)
            if self._predict(S, h, keep):
                self._fail(now)
            self._predict_noise(N, h, keep)
            if self._noisy_efforts is not None:
                self._noisy_efforts.add_noise(S, N, now, h, commands)
            if mean is not None and count == 1:
                self.set_state(mean, now)
            else:
                self._advance_mean(now, now + h, commands)
            self._write(x)
            now += h
        return FilterState(time, x, S, N)

    def predict_mean(self, x: Vector, start: float, time: float, commands: EffortHistory) -> None:
        """Predict x (N,) from a start to a later time [s]."""
        if time - start > TIME_TOLERANCE:
            self.set_state(x, start)
            self._advance_mean(start, time, commands)
            self._write(x)

    def set_state(self, x: Vector, time: float = 0.0) -> None:
        """Set the state x (N,), and obstacles to where they are at a time [s]."""
        n, self.differentiate.time = self.model.n, time
        self.q[:], self.qd[:], self.force[:] = x[:n], x[n : 2 * n], x[2 * n : 3 * n]
        if self._columns is not None:
            self.shares[:] = x[3 * n :]
        np.add(self.force, self.touch, out=self.outside)

    def _write(self, x: Vector) -> None:
        n = self.model.n
        x[:n], x[n : 2 * n], x[2 * n : 3 * n] = self.q, self.qd, self.force
        if self._columns is not None:
            x[3 * n :] = self.shares

    def linearise(self) -> None:
        """Differentiate the robot at the state that is set, under ``u``."""
        self._apply(self.u)
        self.differentiate.forward(self.q, self.qd, self.u)
        if self._columns is not None:
            self._columns.fill()

    def _apply(self, u: Vector) -> None:
        """Let u (m,) act; drives go as much beyond it as their model seems to be wrong."""
        self._inputs.take(u)
        if self._servos is not None:
            self._servos.setpoint[:] += drive_deflection(self._servos, self.force)

    def _advance_mean(self, start: float, end: float, commands: EffortHistory) -> None:
        """Advance q and qd, the command of each step its mean; then the force has faded."""
        since, contact = start, self._contact
        self.touch[:] = 0.0
        for until, u in commands.between(start, end, self._substep):
            self._apply(u)
            if contact is not None:
                contact.moving.time[0] = since
            if self._advance(self._inputs.force, self.q, self.qd, until - since, False):
                self._fail(since)
            if contact is not None:
                self.touch += (until - since) / (end - start) * contact.applied
            since = until
        self.force *= math.exp(-(end - start) / self._fading)
        if self._columns is not None:
            self.shares *= math.exp(-(end - start) / self._lasting)

    def _fail(self, time: float) -> None:
        there = np.isfinite(self.q) & np.isfinite(self.qd)
        worst = int(np.argmin(there)) if not there.all() else int(np.abs(self.qd).argmax())
        raise SimulationDivergedError(time, self.model.coordinate_names[worst])
