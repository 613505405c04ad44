# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Feed-forward: play given commands, constant or over time, without feedback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.controllers.contract import Command, Controller, register, Settings
from softrobot_dynamics.model.cable_drives import Conversion
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.sampled_data.command import ResponseExtrapolation
    from softrobot_dynamics.controllers.sampled_data.loop_stability import Answer
    from softrobot_dynamics.model.model import CompiledModel


@dataclass(frozen=True)
class FeedForwardSettings(Settings):
    """Settings: the commands, tensions, torques, pressures, positions of drives."""

    command: Array = parameter(
        number('unit of u', default=0.0), 'What is commanded, within the limits', each='actuator'
    )


@register('feed_forward')
class FeedForward(Controller[FeedForwardSettings]):
    """
    Commands of the parameters and of a reference, within limits and rate limits; no feedback.

    A reference says what is added to ``command`` in time, in the units of u: there is no y_d. A
    change of ``command`` steps unless the actuator, or ``limits.rate``, limits its rate.
    """

    Settings, follows = FeedForwardSettings, False

    def __init__(self, model: CompiledModel, **options: Any) -> None:
        super().__init__(model, **options)
        self._added = np.zeros((3, len(self.controlled)))  # by the reference, of the last tick

    def outputs(self, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
        """Return the reference's part of the commands (m,), and its rate."""
        added = np.zeros((2, self.model.m))
        added[:, self.controlled] = self._added[:2]
        return added[0], added[1]

    @staticmethod
    def pushes(settings: FeedForwardSettings) -> Vector:
        """Return the commands (m,) without the part from a reference, not limited."""
        command: Vector = settings.command
        return command

    def law_at_rest(self, extrapolation: ResponseExtrapolation) -> Callable[..., Answer]:
        """Return the law at rest, which is the same, see :meth:`Controller.law_at_rest`."""

        def at_rest(place: Vector, u: Vector, settings: FeedForwardSettings) -> Answer:
            """Return the law without limits at rest at a place."""
            pushes = np.clip(self.pushes(settings), settings.lower, settings.upper)
            conversion = Conversion(self.model)

            def answer(q: Vector, qd: Vector, memory: Vector) -> tuple[Any, Vector]:
                """Return the forces (c,) along outputs, and the memory as it was."""
                efforts = conversion.efforts(q, pushes)
                return (self.model.signs * efforts)[self.controlled], memory

            return answer

        return at_rest

    def compute(self, t: float, q: Vector, qd: Vector) -> Command:
        """Return the :class:`Command`, which does not depend on the state."""
        self.require_state(q, qd)
        terms = self.evaluate(q, qd)
        y, velocity = terms.y - self.model.y0, terms.J @ qd
        self._added, own = self.desired(t), self.controlled
        u = self.settings.feed_forward.copy()
        u[own] = self.settings.command[own] + self._added[0]
        return self.answer(u, y, velocity, np.full_like(self._added, np.nan))
