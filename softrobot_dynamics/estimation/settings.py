# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Settings of an estimator from a file: sensors, disturbance, model error.

Such as::

    sensors:
      - {name: camera, type: pose, body: segment3, position_noise: 1.0e-3, delay: 0.02}
      - {name: cables, type: joint, names: [t1, t2, t3], noise: 2.0e-4}
    efforts:                              # measured beside the commands, if any
      - {name: gauges, names: [t1, t2, t3], rate: 500.0, noise: 0.05, change: 50.0}
    disturbance: {force: 1.0, moment: 0.02, fading: 1.0}
    model_error: {inertia: 0.1, stiffness: 0.2}
    initial: {position: 0.02, velocity: 0.1}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from softrobot_dynamics.annotations import Complaints, Vector
from softrobot_dynamics.errors import ArgumentError, DescriptionError, UnknownNameError
from softrobot_dynamics.estimation.effort_measurements import Effort
from softrobot_dynamics.estimation.sensors.contract import Sensor, SENSORS
from softrobot_dynamics.schema.fields import flag, items, member, nested, number
from softrobot_dynamics.schema.parsing import parse, Problems
from softrobot_dynamics.schema.yaml_files import read_yaml


@dataclass(frozen=True)
class Disturbance:
    """
    Disturbances and model errors, as a wrench on the tip of every body.

    Deviations in the long run, along each axis of the base; it is forgotten within ``fading`` [s].
    """

    force: float = number('N', above=0.0, default=1.0)
    moment: float = number('N m', above=0.0, default=0.02)
    fading: float = number('s', above=0.0, default=1.0)


@dataclass(frozen=True)
class ModelError:
    """
    Standard deviations of the relative errors of the model; 0: none.

    Of all inertia and weight, of elastic forces, of damping. They are learned as the robot moves,
    and forgotten within ``fading`` [s].
    """

    inertia: float = number('-', at_least=0.0, at_most=0.5, default=0.0)
    stiffness: float = number('-', at_least=0.0, at_most=0.5, default=0.0)
    damping: float = number('-', at_least=0.0, at_most=0.5, default=0.0)
    fading: float = number('s', above=0.0, default=100.0)

    @property
    def deviations(self) -> Vector:
        """Standard deviations of the three shares (3,), or none (0,) if all are 0."""
        each = np.array([self.inertia, self.stiffness, self.damping])
        return each if each.any() else np.zeros(0)


@dataclass(frozen=True)
class Initial:
    """Standard deviations of the initial state, as displacements of the robot."""

    position: float = number('m', above=0.0, default=0.02)
    velocity: float = number('m/s', above=0.0, default=0.1)


@dataclass(frozen=True, kw_only=True)
class EstimatorSettings:
    """
    Sensors, measured efforts, uncertainties; steps of the prediction [s], how long it is kept [s].

    Covariances move in steps no longer than ``step``, states in such of ``substep``. A measurement
    may be ``history`` older than the newest one. If ``contact``, that with the surroundings that
    the robot file describes is predicted.
    """

    sensors: tuple[Sensor, ...] = items(member(SENSORS))
    efforts: tuple[Effort, ...] = items(nested(Effort), default=())
    disturbance: Disturbance = nested(Disturbance, default=Disturbance())
    model_error: ModelError = nested(ModelError, default=ModelError())
    initial: Initial = nested(Initial, default=Initial())
    contact: bool = flag(default=False)
    step: float = number('s', above=0.0, default=1e-2)
    substep: float = number('s', above=0.0, default=1e-3)
    history: float = number('s', above=0.0, default=0.5)

    def validate(self) -> Complaints:
        """Yield equal names of sensors or efforts, wrong messages, actuators measured twice."""
        named = [(f'sensors[{i}].name', each.name) for i, each in enumerate(self.sensors)]
        named += [(f'efforts[{i}].name', each.name) for i, each in enumerate(self.efforts)]
        for i, (place, name) in enumerate(named):
            if name in [other for _, other in named[:i]]:
                yield place, name, 'a name that no other sensor has'
        for i, sensor in enumerate(self.sensors):
            for field, value, expected in sensor.complaints():
                yield f'sensors[{i}].{field}', value, expected
        actuators = [name for effort in self.efforts for name in effort.names]
        for name in sorted({name for name in actuators if actuators.count(name) > 1}):
            yield 'efforts', name, 'each actuator once'

    def sensor(self, name: str) -> Sensor:
        """Return a sensor by name; UnknownNameError."""
        for sensor in self.sensors:
            if sensor.name == name:
                return sensor
        raise UnknownNameError('sensor', name, tuple(s.name for s in self.sensors))


EstimatorSource: TypeAlias = (
    str | PathLike[str] | Mapping[str, Any] | Sequence[Sensor] | EstimatorSettings
)
"""Arguments of :func:`load_estimator`."""


def load_estimator(given: EstimatorSource) -> EstimatorSettings:
    """
    Return the :class:`EstimatorSettings` of a YAML file, a mapping, or a list of sensors.

    Raises DescriptionError with every wrong entry, ArgumentError for anything else.
    """
    if isinstance(given, EstimatorSettings):
        return given
    if isinstance(given, Mapping):
        return _read(dict(given), Problems(), 'estimator')
    if isinstance(given, (str, PathLike)):
        path = Path(given).expanduser()
        data, duplicates = read_yaml(path)
        return _read(data, Problems(duplicates, path.parent), str(path))
    if isinstance(given, (list, tuple)) and given and all(isinstance(s, Sensor) for s in given):
        settings = EstimatorSettings(sensors=tuple(given))
        for place, name, expected in settings.validate():
            raise ArgumentError(place, name, expected)
        return settings
    raise ArgumentError('estimator', given, 'a path, a mapping, or a list, not empty, of sensors')


def _read(data: object, problems: Problems, source: str) -> EstimatorSettings:
    settings: EstimatorSettings = parse(EstimatorSettings, data, '', problems)
    if problems:
        raise DescriptionError(tuple(problems), source)
    return settings
