# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A thin tube that only changes its length."""

from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.bodies.contract import Body, register
from softrobot_dynamics.schema.fields import number


@register('telescope')
@dataclass(frozen=True)
class Telescope(Body):
    """A tube whose points move along it, ever more towards its tip; q = stretch [m]."""

    length: float = number('m', above=0.0)
    radius: float = number('m', above=0.0)
    mass: float = number('kg', above=0.0)
    spring: float = number('N/m', at_least=0.0, default=0.0)

    def coordinates(self):
        """Return the names."""
        return ('stretch',)

    def position(self, x, q, math):
        """Return where point x [m] is."""
        return [x[0], x[1], x[2] + q[0] * x[2] / self.length]

    def material_points(self):
        """Return points (K, 3) [m] and their masses (K,) [kg]: Gauss along, 8 around."""
        height, weight = np.polynomial.legendre.leggauss(4)
        s, around = np.meshgrid(0.5 * self.length * (height + 1.0), np.arange(8) * np.pi / 4)
        points = [self.radius * np.cos(around), self.radius * np.sin(around), s]
        masses = np.tile(0.5 * weight * self.mass / 8, 8)
        return np.stack(points, axis=-1).reshape(-1, 3), masses

    def stiffness(self):
        """Return the stiffness (1, 1) [N/m]."""
        return np.array([[self.spring]])
