# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Simulate the sensors of an estimator: with noise, delay and dropouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.dynamics.arguments import TIME_TOLERANCE
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.estimation.effort_measurements import Effort
from softrobot_dynamics.estimation.estimator import Estimator
from softrobot_dynamics.estimation.sensors.contract import BoundRobot, Observation, Sensor
from softrobot_dynamics.simulation.sensing import Measured

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class Reading(NamedTuple):
    """A measurement as an :class:`~.estimator.Estimator` takes it."""

    time: float  # stamp [s]
    sensor: str
    value: Array


class _SimulatedSensor:
    """One sensor on the simulated robot."""

    def __init__(self, sensor: Sensor, observation: Observation) -> None:
        self.sensor, self._observation = sensor, observation

    def begin(self, time: float) -> None:
        """Measure at a time [s] for the first time."""
        self._start, self._count = time, 0

    def due(self, time: float) -> bool:
        """Tell whether it is time [s] for the next measurement."""
        passed = (time - self._start + TIME_TOLERANCE) * self.sensor.rate
        due, self._count = passed >= self._count, max(self._count, int(passed) + 1)
        return due

    def look(self, q: Vector, qd: Vector, random: np.random.Generator) -> Array:
        """Return a value with noise, of a new array."""
        seen, noise = self._observation.observed, self._observation.noise
        self._observation.observe(q, qd, np.zeros(len(seen.predicted)))
        error = noise * random.standard_normal(len(noise))
        return self.sensor.value(self.sensor.add_noise(seen.predicted, error))


class _SimulatedEffort(_SimulatedSensor):
    """A simulated measurement of the robot's efforts."""

    def __init__(self, effort: Effort, bound_robot: BoundRobot) -> None:
        self.sensor: Any = effort
        self._which, self._u = effort.numbers(bound_robot.model.actuator_names), bound_robot.u

    def look(self, q: Vector, qd: Vector, random: np.random.Generator) -> Array:
        """Return values with noise, of a new array."""
        noise = self.sensor.noise * random.standard_normal(len(self._which))
        return self._u[self._which] + noise


class SimulatedSensors:
    """
    The sensors of a simulated robot, each at its own ``rate``; equal seeds give equal noise.

    Values, those of measured ``efforts`` among them, come when their ``delay`` is over.
    ``dropout`` is the share of those that are lost.
    """

    def __init__(
        self,
        model: CompiledModel,
        sensors: Sequence[Sensor],
        *,
        efforts: Sequence[Effort] = (),
        seed: int = 0,
        dropout: float = 0.0,
    ) -> None:
        if not 0.0 <= dropout <= 1.0:
            raise ArgumentError('dropout', dropout, 'a share from 0 to 1')
        self._outside = np.zeros(model.n)
        differentiate = Differentiator(model, self._outside, commanded=True)
        self._place = BoundRobot(model, differentiate, np.zeros(model.m))
        self._seed, self._dropout = seed, dropout
        self._all = [_SimulatedSensor(sensor, sensor.bind(self._place)) for sensor in sensors]
        self._all += [_SimulatedEffort(effort, self._place) for effort in efforts]
        self.begin(0.0)

    def begin(self, time: float) -> None:
        """Restart at a time [s]."""
        self._random = np.random.default_rng(self._seed)
        self._underway: list[Reading] = []
        for each in self._all:
            each.begin(time)

    def look(
        self, time: float, q: Vector, qd: Vector, u: Vector, outside: Vector | None = None
    ) -> list[Reading]:
        """
        Measure a state under u (m,) at a time [s]; return the readings that arrived, in order.

        ``outside`` (n,) is the generalized force on the robot beside gravity, as of contact, which
        accelerations are due to as well.
        """
        self._place.u[:] = u
        self._outside[:] = 0.0 if outside is None else outside
        for each in self._all:
            if not each.due(time):
                continue
            value, lost = each.look(q, qd, self._random), self._random.random()
            if lost >= self._dropout:
                self._underway.append(Reading(time + each.sensor.delay, each.sensor.name, value))
        there = [each for each in self._underway if each.time <= time + TIME_TOLERANCE]
        self._underway = [each for each in self._underway if each.time > time + TIME_TOLERANCE]
        return sorted(there, key=lambda each: each.time)


class EstimatedSensing:
    """
    Senses the states that an estimator makes of measurements; called as a ``Sensing``.

    The robot may differ from the estimator's model, but has its bodies. ``acting()`` is what its
    actuators do (m,), ``touching()`` the generalized force of contact (n,); the estimator knows
    what actuators were told.
    """

    def __init__(
        self,
        estimator: Estimator,
        instruments: SimulatedSensors,
        acting: Callable[[], Vector],
        touching: Callable[[], Vector],
    ) -> None:
        self._estimator, self._instruments = estimator, instruments
        self._acting, self._touching = acting, touching

    def begin(
        self,
        u: Vector,
        q: ArrayLike | None = None,
        qd: ArrayLike | None = None,
        delay: float = 0.0,
    ) -> None:
        """
        Restart at time zero near q, qd (n,), None: the initial ones, under u (m,).

        Commands act a ``delay`` [s] after they are sent.
        """
        self._delay = delay
        self._estimator.begin(0.0, q=q, qd=qd, u=u)
        self._instruments.begin(0.0)

    def sense(self, time: float, q: Vector, qd: Vector) -> Measured:
        """Take the robot's state (q, qd); return the estimated one of the model."""
        for reading in self._instruments.look(time, q, qd, self._acting(), self._touching()):
            self._estimator.measure(*reading)
        found = self._estimator.estimate(time)
        return Measured(time, found.q, found.qd)

    def take_command(self, time: float, u: Vector) -> None:
        """Take notice of a command u (m,) that is sent."""
        self._estimator.command(time + self._delay, u)
