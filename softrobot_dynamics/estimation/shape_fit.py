# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The posture of a robot that moves slowly, from one set of measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.dynamics.static_residual import Statics
from softrobot_dynamics.errors import ArgumentError, NotConvergedError, UnknownNameError
from softrobot_dynamics.estimation.priors import force_factor, tip_motion
from softrobot_dynamics.estimation.sensors.contract import BoundRobot, Observation
from softrobot_dynamics.estimation.servo_drives import require_estimable
from softrobot_dynamics.estimation.settings import EstimatorSource, load_estimator

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_STEP_TOLERANCE = 1e-6  # of a standard deviation
_MAX_STEPS = 50
_MAX_HALVINGS = 20


class Shape(NamedTuple):
    """
    A posture q (n,) at rest, and its covariance (n, n).

    ``square`` is the sum of squares that is left of measurements and forces, all normalised: about
    as large as ``numbers``, how many were measured.
    """

    q: Vector
    covariance: Matrix
    square: float
    numbers: int
    iterations: int


class ShapeFit:
    """
    From measurements to the posture: regularised least squares, called with values by sensor.

    What the posture minimises is the sum of squares of what is left of all measurements, each by
    its noise, and of the force that would have to hold the robot there, by what acts from outside
    according to the settings. So what no sensor shows is as statics have it, and joints whose
    drives take velocities are near q0, to about their unit. ``given`` as for an
    :class:`~softrobot_dynamics.estimation.estimator.Estimator`. Not for several threads.
    """

    def __init__(self, model: CompiledModel, given: EstimatorSource) -> None:
        self.model, self.settings = model, load_estimator(given)
        require_estimable(model, self.settings)
        differentiate = Differentiator(model)
        bound_robot = BoundRobot(model, differentiate, np.zeros(model.m), at_rest=True)
        self._sensors = {s.name: (s, s.bind(bound_robot)) for s in self.settings.sensors}
        efforts = self.settings.efforts
        self._efforts = {e.name: (e, e.numbers(model.actuator_names)) for e in efforts}
        self._statics = Statics(model, (), differentiate, commanded=True)
        self._rest = np.zeros(model.n)
        servos = model.servos
        self._positioned, self._driven = servos.actuators, servos.coordinates
        inertia = model.evaluator()(model.q0, self._rest).M.diagonal()[self._driven]
        to_position = servos.positions == 1
        self._spring = np.where(to_position, inertia * servos.rate**2, 0.0)  # of drives, about
        self._velocity_driven, self._start = servos.coordinates[~to_position], model.q0
        self._force = force_factor(tip_motion(model, model.q0), self.settings.disturbance)
        self._known = self._weights = np.linalg.inv(self._force)

    def __call__(
        self, values: Mapping[str, Any], *, u: ArrayLike, q0: ArrayLike | None = None
    ) -> Shape:
        """
        Return the :class:`Shape` by values of some or all sensors under u (m,), from q0 (n,) on.

        What efforts were measured takes the place of u, their noise is a force beside others.
        Raises UnknownNameError, ArgumentError, and NotConvergedError.
        """
        u = checked('u', u, (self.model.m,)).copy()
        q = checked('q0', self.model.q0 if q0 is None else q0, (self.model.n,)).copy()
        self._start = q.copy()
        seen, noise = [], np.zeros(self.model.m)
        for name, value in values.items():
            if name in self._efforts:
                effort, which = self._efforts[name]
                measured = effort.read(value)
                u[which] = np.where(np.isfinite(measured), measured, u[which])
                noise[which] = np.where(np.isfinite(measured), effort.noise, 0.0)
                continue
            if name not in self._sensors:
                raise UnknownNameError('sensor', name, (*self._sensors, *self._efforts))
            sensor, observation = self._sensors[name]
            seen.append((observation, sensor.read(value)))
        self._weights = self._force_weights(q, u, noise) if noise.any() else self._known
        r, J = self._residuals(q, u, seen)
        units = self.model.scales.units
        for k in range(_MAX_STEPS):
            full = units * np.linalg.lstsq(J * units, r, rcond=None)[0]
            way, square = np.linalg.norm(J @ full), r @ r
            if way < _STEP_TOLERANCE:
                numbers = len(r) - self.model.n - len(self._velocity_driven)
                return Shape(q, _covariance(J, units), float(square), numbers, k)
            fraction = 1.0
            for _ in range(_MAX_HALVINGS):
                then, gradients = self._residuals(q + fraction * full, u, seen)
                if then @ then < square:
                    break
                fraction *= 0.5
            else:
                break
            q, r, J = q + fraction * full, then, gradients
        raise NotConvergedError('the fit of a posture', k, float(way))

    def _force_weights(self, q: Vector, u: Vector, noise: Vector) -> Matrix:
        """Return the weights (n, n) that normalise forces where u (m,) has noise (m,), at q."""
        force = self._statics.residual(q, u)[0].copy()
        rows = [self._statics.residual(q, u + each)[0] - force for each in np.diag(noise)]
        square = self._force @ self._force.T + np.transpose(rows) @ np.array(rows)
        weights: Matrix = np.linalg.inv(np.linalg.cholesky(square))
        return weights

    def _residuals(
        self, q: Vector, u: Vector, seen: Sequence[tuple[Observation, Vector]]
    ) -> tuple[Vector, Matrix]:
        """Return the normalised residuals (k,), and minus their derivatives by q, (k, n)."""
        n = self.model.n
        force, tangent = self._statics.residual(q, u)[0], self._statics.tangent(q, u)
        if len(self._driven):
            j = self._driven
            force, tangent = force.copy(), tangent.copy()
            force[j], tangent[j] = self._spring * (q[j] - u[self._positioned]), 0.0
            tangent[j, j] = self._spring
        residuals, gradients = [-self._weights @ force], [self._weights @ tangent]
        if len(self._velocity_driven):  # drives that take velocities stay anywhere
            units = self.model.scales.units
            residuals.append(((self._start - q) / units)[self._velocity_driven])
            gradients.append((np.eye(n) / units)[self._velocity_driven])
        for observation, z in seen:
            observation.observe(q, self._rest, z)
            e, H = observation.observed.residual, observation.observed.H[:, :n]
            there = np.isfinite(e)
            residuals.append((e / observation.noise)[there])
            gradients.append((H / observation.noise[:, None])[there])
        r, J = np.concatenate(residuals), np.concatenate(gradients)
        if not (np.isfinite(r).all() and np.isfinite(J).all()):
            raise ArgumentError('q0', q, 'a posture that the bodies can represent')
        return r, J


def _covariance(J: Matrix, units: Vector) -> Matrix:
    """
    Return the covariance (n, n) of a fit with the gradients J (k, n) of normalised residuals.

    By singular values: those of J^T J are squares, of which rounding would leave none.
    """
    _, singular, axes = np.linalg.svd(J * units, full_matrices=False)
    axes = axes / singular[:, None]
    covariance: Matrix = (axes.T @ axes) * np.outer(units, units)
    return covariance
