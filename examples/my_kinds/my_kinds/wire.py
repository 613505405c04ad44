# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A draw-wire sensor: the distance of a tip from the outlet of the wire."""

from dataclasses import dataclass
import math

import numpy as np
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.estimation.sensors.contract import allocate, Observation, register, Sensor
from softrobot_dynamics.estimation.sensors.frames import bind_frames, SensorFrame
from softrobot_dynamics.schema.fields import number, text, vector


@kernel
def observe_wire(place, frame, J, outlet, o, q, qd, z):
    """Fill what is observed of the origin of a frame (12,) with the Jacobian J (6 n,)."""
    run(place, q, qd)
    n = len(q)
    x, y, w = frame[9] - outlet[0], frame[10] - outlet[1], frame[11] - outlet[2]
    length = math.sqrt(x * x + y * y + w * w)
    o.predicted[0] = length
    o.residual[0] = z[0] - length
    for j in range(n):
        o.H[0, j] = (x * J[3 * n + j] + y * J[4 * n + j] + w * J[5 * n + j]) / length


@register('wire')
@dataclass(frozen=True, kw_only=True)
class Wire(Sensor):
    """The length (1,) [m] of a straight wire from an outlet, base frame, to the tip of a body."""

    message_type = 'sensor_msgs/Range'

    body: str = text()
    outlet: tuple = vector('m', 3, default=(0.0, 0.0, 0.0))
    noise: float = number('m', above=0.0, default=1e-3)

    def read(self, value):
        """Return z (1,) of a value."""
        return checked(self.name, value, (1,))

    def value(self, z):
        """Return the value of z."""
        return z.copy()

    def from_message(self, message):
        """Return the value in a message."""
        return [message.range]

    def to_message(self, value):
        """Return the fields of a message."""
        return {'range': value[0]}

    def bind(self, bound_robot):
        """Return the Observation on a robot."""
        model = bound_robot.model
        spots = bind_frames(model, model.evaluator(), [SensorFrame(self.body)])
        o = allocate(1, model.n)
        given = {'frame': spots.frames[0], 'J': spots.jacobians[0], 'o': o}
        given |= {'place': spots.place_frames, 'outlet': np.array(self.outlet)}
        observe = cached(observe_wire, **given)
        return Observation(observe, o, np.array([self.noise]), np.array([0, 1]))
