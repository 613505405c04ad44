# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A lying figure of eight for a tip."""

from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.references.contract import register, Targets, Trajectory
from softrobot_dynamics.references.tips import tip_path
from softrobot_dynamics.schema.fields import number, text, vector
from softrobot_dynamics.schema.parameters import parameter


@register('eight')
@dataclass(frozen=True)
class Eight(Trajectory):
    """Beside the centre x = w sin(a), y = w/2 sin(2 a), once in a period."""

    body: str = parameter(text(default='tip'), 'Body whose tip draws it')
    center: tuple = parameter(vector('m', 3, default=(0.0, 0.0, 0.13)), 'Centre, base frame')
    width: float = parameter(number('m', above=0.0, at_most=1.0, default=0.01), 'Half its width')
    period: float = parameter(number('s', at_least=0.1, default=3.0), 'Time of one lap')

    def at(self, times):
        """Return where the tip shall be (T, 1, 3) [m] at times (T,) [s]."""
        a = 2.0 * np.pi * np.asarray(times) / self.period
        x, y = self.width * np.sin(a), 0.5 * self.width * np.sin(2.0 * a)
        return (np.stack([x, y, 0.0 * a], axis=-1) + self.center)[:, None]

    def plan(self, model, controlled, q):
        """Return the motion of the controlled outputs, and the postures that do it."""
        times = np.linspace(0.0, self.period, 33)
        points = self.at(times)
        points[-1] = points[0]
        return tip_path(model, [self.body], times, points, periodic=True).of(controlled)

    def targets(self):
        """Return whose tips, where at which time, and how long a lap takes."""
        return Targets((self.body,), self.at, self.period)
