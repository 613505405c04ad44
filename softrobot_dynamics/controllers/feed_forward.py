# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Commands as they are told, whatever the robot does."""

from dataclasses import dataclass

from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.controllers.contract import Command, Controller, register, Settings
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter


@dataclass(frozen=True)
class Commands(Settings):
    """What is commanded: tensions, torques, pressures."""

    command: Array = parameter(
        number('unit of u', default=0.0), 'What is commanded, within the limits', each='actuator'
    )


@register('feed_forward')
class FeedForward(Controller):
    """
    The commands of the parameters, within limits and rate limits; nothing is fed back.

    A change steps the command unless the actuator, or ``limits.rate``, limits its rate.
    """

    Settings = Commands

    def compute(self, t: float, q: Vector, qd: Vector) -> Command:
        """Return the :class:`Command` for the state (q, qd) at time t [s]."""
        terms = self.evaluate(q, qd)
        y, velocity = terms.y - self.model.y0, terms.J @ qd
        return self.answer(self.settings.command, y, velocity, self.desired(t))
