# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Go to given outputs and stay there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.references.contract import GROUP, OutputMotion, register, Trajectory
from softrobot_dynamics.references.piecewise import constant, Indices
from softrobot_dynamics.schema.fields import vector
from softrobot_dynamics.schema.parameters import parameter

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


@register('setpoint')
@dataclass(frozen=True)
class SetPoint(Trajectory):
    """Outputs y, one for each controlled actuator."""

    takes_long = False

    setpoint: tuple[float, ...] = parameter(
        vector('m or rad', default=()),
        'Actuation coordinates y to go to, one for each controlled actuator',
        group=GROUP,
    )

    def plan(self, model: CompiledModel, controlled: Indices, q: Vector) -> OutputMotion:
        """Return the standing reference; ArgumentError unless there is one y for each."""
        return OutputMotion(
            constant(checked('reference.setpoint', self.setpoint, (len(controlled),)))
        )
