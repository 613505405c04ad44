# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A spring and a damper on the outputs, plus gravity and elastic compensation."""

from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.controllers.contract import Controller, register, Settings
from softrobot_dynamics.schema.fields import choice, number
from softrobot_dynamics.schema.parameters import parameter


@dataclass(frozen=True)
class Tuning(Settings):
    """Settings of the law, for c controlled outputs."""

    stiffness: np.ndarray = parameter(
        number('unit of u per unit of y', at_least=0.0, default=100.0),
        'Force on the error of an output',
        each='output',
    )
    damping: np.ndarray = parameter(
        number('unit of u per unit of y, times s', at_least=0.0, default=20.0),
        'Force on its rate',
        each='output',
    )
    carry: str = parameter(
        choice(('weight', 'nothing'), default='weight'),
        'What is held up beside: gravity and springs, or nothing',
    )

    def validate(self):
        """Yield (field, value, what would be right) for what no single field can tell."""
        if self.stiffness.max() > 0.0 and self.damping.max() == 0.0:
            yield 'damping', 0.0, 'a number > 0 beside a stiffness'


@register('output_pd')
class OutputPd(Controller):
    """Forces along the outputs y: K (y_d - y) + D (y_d' - y'), and what carries the weight."""

    Settings = Tuning

    def carried(self, terms, q):
        """Return the generalized force (n,) that holds the robot at rest at q, or nothing."""
        return terms.h if self.settings.carry == 'weight' else 0.0 * terms.h

    def along_outputs(self, terms, force):
        """Return the forces (c,) along the outputs that are nearest to a generalized force."""
        return np.linalg.lstsq(terms.J[self.controlled].T, force, rcond=None)[0]

    def compute(self, t, q, qd):
        """Return the command for the state (q, qd) at time t [s]."""
        k, model, settings = self.controlled, self.model, self.settings
        terms, desired = self.evaluate(q, 0.0 * qd), self.desired(t)
        y, velocity = terms.y - model.y0, terms.J @ qd
        force = settings.stiffness * (desired[0] - y[k])
        force += settings.damping * (desired[1] - velocity[k])
        force += self.along_outputs(terms, self.carried(terms, q))
        u = settings.feed_forward.copy()
        u[k] = model.signs[k] * force
        return self.answer(u, y, velocity, desired)
