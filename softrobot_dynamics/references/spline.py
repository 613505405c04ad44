# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Lead outputs through values at given times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Complaints, Vector
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.contract import OutputMotion, register, Trajectory
from softrobot_dynamics.references.piecewise import Indices, spline
from softrobot_dynamics.schema.fields import choice, flag, vector
from softrobot_dynamics.schema.parameters import parameter

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


@register('spline')
@dataclass(frozen=True)
class Spline(Trajectory):
    """The c controlled outputs pass K values each, at given times; at rest at both ends."""

    times: tuple[float, ...] = parameter(vector('s', default=()), 'Times of the values, from 0 on')
    values: tuple[float, ...] = parameter(
        vector('m or rad', default=()),
        'y of every controlled actuator at the first time, then at the second, and so on',
    )
    interpolation: str = parameter(
        choice(('cubic', 'quintic'), default='cubic'),
        'Form of the spline; a quintic one has no jump of the acceleration at its ends either',
    )
    periodic: bool = parameter(
        flag(default=False), 'Repeat the values: the last are the first again'
    )

    def validate(self) -> Complaints:
        """Yield impossible times."""
        least = 3 if self.periodic else 2
        steps = np.diff(self.times)
        if len(self.times) < least or self.times[0] != 0.0 or not (steps > 0.0).all():
            yield 'times', self.times, f'{least} or more times from 0 on, increasing [s]'

    def plan(self, model: CompiledModel, controlled: Indices, q: Vector) -> OutputMotion:
        """Return the spline; ArgumentError unless there are K values for each output."""
        shape = len(self.times), len(controlled)
        name = 'reference.spline.values'
        y = checked(name, self.values, (int(np.prod(shape)),)).reshape(shape)
        if self.periodic and not np.array_equal(y[0], y[-1]):
            words = f'the first ones again, {y[0].tolist()}, as it is periodic'
            raise ArgumentError(name, y[-1], words)
        return OutputMotion(spline(self.times, y, self.periodic, self.interpolation == 'quintic'))
