# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A bellows beside the axis of a pcc body, filled with pressure."""

from dataclasses import dataclass
from math import inf

import numpy as np
from softrobot_dynamics.actuators.contract import Actuator, FibreSegment, Quantity, register
from softrobot_dynamics.compiling.jit import Kernel, kernel
from softrobot_dynamics.schema.fields import interval, number, reference, vector


@kernel
def volume(P, q, qd, out, S):
    """Fill out: y of the coordinates q (3,) of a pcc body, its gradient (3,), (dJ/dt) qd."""
    area, x, y = P[0], P[1], P[2]
    out[0] = area * (q[2] - x * q[0] - y * q[1])
    out[1], out[2], out[3], out[4] = -area * x, -area * y, area, 0.0


@register('bellows')
@dataclass(frozen=True)
class Bellows(Actuator):
    """The pressure u [kPa] in a bellows at (x, y) in the section; y is its growth [L]."""

    body: str = reference('body')
    offset: tuple = vector('m', 2)
    area: float = number('m^2', above=0.0)
    limits: tuple = interval('kPa', default=(0.0, inf))
    rate_limit: float = number('kPa/s', above=0.0, infinite=True, default=inf)

    def validate_against(self, bodies, joints):
        """Yield (field, value, what would be right)."""
        body = bodies[self.body]
        if body is not None and body.type_name != 'pcc':
            yield 'body', self.body, 'a body of type pcc'

    def segments(self, parts):
        """Return what y is the sum of; 1 kPa times 1 L is 1 J."""
        litres = 1e3 * self.area
        return [
            FibreSegment(self.body, Kernel(__name__, 'volume', np.array([litres, *self.offset])))
        ]

    def quantities(self, joints):
        """Return what u and y are."""
        return Quantity('pressure', 'kPa'), Quantity('growth', 'L')
