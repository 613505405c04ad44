# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Coordinates of joints, and of actuators: encoders, motor angles, lengths of cables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.dynamics.periodic_coordinates import periodic_coordinates
from softrobot_dynamics.errors import UnknownNameError
from softrobot_dynamics.estimation.sensors.contract import (
    allocate,
    BoundRobot,
    Observation,
    register,
    Sensor,
)
from softrobot_dynamics.estimation.sensors.messages import (
    Message,
    MessageFields,
    named_numbers,
    read_array,
)
from softrobot_dynamics.schema.fields import items, number, text


@register('joint')
@dataclass(frozen=True, kw_only=True)
class JointSensor(Sensor):
    """
    Coordinates (K,) by name: of the robot, q, or of its actuators, y; NaN for one that is missing.

    y is as everywhere: of a tendon its elongation [m], zero at q = 0. Each is gated alone. An
    angle that may go round (:mod:`softrobot_dynamics.dynamics.periodic_coordinates`) may be
    measured within a turn: what is nearest to the estimate counts, but for a robot of which only
    one posture is asked for.
    """

    message_type: ClassVar[str] = 'sensor_msgs/JointState'

    names: tuple[str, ...] = items(text())
    noise: float = number('of the coordinate', above=0.0)

    def read(self, value: ArrayLike) -> Vector:
        """Return z of coordinates (K,), in the order of the names."""
        expected = f'{len(self.names)} numbers, NaN for one that is missing'
        return read_array(self.name, value, (len(self.names),), expected)

    def value(self, z: Vector) -> Vector:
        """Return the coordinates (K,)."""
        return z.copy()

    def from_message(self, message: Message) -> Vector:
        """Return the positions (K,) of a sensor_msgs/JointState, NaN for one not there."""
        return named_numbers(message, 'position', self.names)

    def to_message(self, value: Vector) -> MessageFields:
        """Return the fields of a sensor_msgs/JointState."""
        return {'name': list(self.names), 'position': value.tolist()}

    def message_entries(self) -> int:
        """Return the number of names."""
        return len(self.names)

    def bind(self, bound_robot: BoundRobot) -> Observation:
        """Return the :class:`Observation` on a robot."""
        model, K = bound_robot.model, len(self.names)
        known = [*model.coordinate_names, *model.actuator_names]
        for each in self.names:
            if each not in known:
                raise UnknownNameError('coordinate or actuator', each, tuple(known))
        evaluate, observed = model.evaluator(), allocate(K, model.n)
        period = np.r_[periodic_coordinates(model.description).period, np.zeros(model.m)]
        which = np.array([known.index(each) for each in self.names])
        observe = cached(
            observe_coordinates,
            evaluate=evaluate.entry,
            terms=evaluate.terms,
            y0=model.y0,
            which=which,
            period=np.zeros(K) if bound_robot.at_rest else period[which],
            o=observed,
        )
        return Observation(observe, observed, np.full(K, self.noise), np.arange(K + 1))


@kernel
def observe_coordinates(evaluate, terms, y0, which, period, o, q, qd, z):
    """Fill the observation of coordinates by their indices, those of q before those of y."""
    run(evaluate, q, qd)
    n = len(q)
    for k in range(len(which)):
        if which[k] < n:
            o.predicted[k] = q[which[k]]
            o.H[k, which[k]] = 1.0
        else:
            own = which[k] - n
            o.predicted[k] = terms.y[own] - y0[own]
            for j in range(n):
                o.H[k, j] = terms.J[own, j]
        o.residual[k] = z[k] - o.predicted[k]
        if abs(o.residual[k]) > 0.5 * period[k] > 0.0:
            o.residual[k] -= period[k] * np.rint(o.residual[k] / period[k])
