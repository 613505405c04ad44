# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The law output_pd with an adaptive estimate of the payload at a tip."""

from dataclasses import dataclass

import softrobot_dynamics as sd
from softrobot_dynamics.controllers.contract import register
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter

from my_kinds.output_pd import OutputPd, Tuning


@dataclass(frozen=True)
class Adaptation(Tuning):
    """Settings of the adaptation, beside those of output_pd."""

    adaptation: float = parameter(
        number('kg/(J s)', at_least=0.0, default=5.0), 'Mass learned per work on the error'
    )
    heaviest: float = parameter(number('kg', at_least=0.0, default=1.0), 'Largest mass believed')


@register('payload_pd')
class PayloadPd(OutputPd):
    """
    Adds the weight of a mass m at the last body's tip, by dm/dt = a w (e' + 5/s e).

    w is the force along the outputs that holds 1 kg, e the error of the outputs.
    """

    Settings = Adaptation
    payload = 0.0  # [kg]

    def start(self, q, qd, t, u=None):
        """Begin at a state, with no payload known."""
        super().start(q, qd, t, u)
        self.payload = 0.0

    def carried(self, terms, q):
        """Return what holds the robot and the payload that is known."""
        J = sd.jacobian(self.model, q=q, frame='base')[3:]
        lift = -J.T @ self.model.description.gravity
        self.holds = self.along_outputs(terms, lift)
        return super().carried(terms, q) + self.payload * lift

    def compute(self, t, q, qd):
        """Return the command, then learn for the next tick from the errors of this one."""
        found, k, settings = super().compute(t, q, qd), self.controlled, self.settings
        if found.ok and not found.saturated:  # a force that is not there teaches nothing
            error = found.desired[:2] - [found.y[k], found.velocity[k]]
            work = self.holds @ (5.0 * error[0] + error[1])
            learned = self.payload + self.period * settings.adaptation * work
            self.payload = min(max(learned, 0.0), settings.heaviest)
        return found
