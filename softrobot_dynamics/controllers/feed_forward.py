# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Commands as they are told, whatever the robot does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.controllers.contract import Command, Controller, register, Settings
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.held.command import Lines
    from softrobot_dynamics.controllers.held.loop import Answer


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

    Nor is anything followed: there is no y_d.
    A change steps the command unless the actuator, or ``limits.rate``, limits its rate.
    """

    Settings, follows = Commands, False

    @staticmethod
    def pushes(settings: Any) -> Vector:
        """Return the commands (m,), as far as limits let them."""
        return np.clip(settings.command, settings.lower, settings.upper)

    def beside(self, lines: Lines) -> Callable[..., Answer]:
        """Return what does the same at rest as ever, see :meth:`Controller.beside`."""

        def at_rest(place: Vector, u: Vector, settings: Any) -> Answer:
            w = (self.model.signs * self.pushes(settings))[self.controlled]
            return lambda q, qd, memory: (w, memory)

        return at_rest

    def compute(self, t: float, q: Vector, qd: Vector) -> Command:
        """Return the :class:`Command` for the state (q, qd) at time t [s]."""
        terms = self.evaluate(q, qd)
        y, velocity = terms.y - self.model.y0, terms.J @ qd
        nothing = np.full((3, len(self.controlled)), np.nan)
        return self.answer(self.settings.command, y, velocity, nothing)
