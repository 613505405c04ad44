# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A package of a user's own: a pressure chamber beside the axis of a `pcc` body."""

from dataclasses import dataclass
from math import inf

import numpy as np
from softrobot_dynamics.actuators.contract import Actuator, FibreSegment, Quantity, register
from softrobot_dynamics.compiling.jit import Kernel, kernel
from softrobot_dynamics.schema.fields import interval, number, reference, vector


@kernel
def chamber(P, q, qd, out, S):
    """Area times the elongation of a line at (x, y), which is linear in q; its gradient, bias."""
    area, x, y = P[0], P[1], P[2]
    out[0] = area * (q[2] - x * q[0] - y * q[1])
    out[1], out[2], out[3], out[4] = -area * x, -area * y, area, 0.0


@register('line_chamber')
@dataclass(frozen=True)
class LineChamber(Actuator):
    """The pressure u [Pa] in a chamber along a line; y is the growth of its volume [m^3]."""

    body: str = reference('body')
    offset: tuple = vector('m', 2)
    area: float = number('m^2', above=0.0)
    limits: tuple = interval('Pa', default=(0.0, inf))
    rate_limit: float = number('Pa/s', above=0, infinite=True, default=inf)

    def validate_against(self, bodies, joints):
        """Nothing: whatever is no `pcc` body has no three coordinates, and is not tried."""
        return ()

    def quantities(self, joints):
        """Return pressure and volume."""
        return Quantity('pressure', 'Pa'), Quantity('volume', 'm^3')

    def segments(self, parts):
        """Return the growth of the volume."""
        numbers = np.array([self.area, *self.offset])
        return [FibreSegment(self.body, Kernel(__name__, 'chamber', numbers))]
