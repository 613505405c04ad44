# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Limit the force of each contact, by the overlap that it takes of stiff surfaces."""

from __future__ import annotations

from dataclasses import dataclass
import math

from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.controllers.tasks.bounds.gap_bound import GapBound
from softrobot_dynamics.controllers.tasks.contract import register_bound
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter


@register_bound('contact_force')
@dataclass(frozen=True)
class ContactForce(GapBound):
    """
    Surfaces do not press on each other by more than a force.

    By how deep it presses them into each other, which their stiffness says, and the barrier
    functions of `distances`, whose order is to be 0 where the robot is to touch something. What
    pushes back becomes known by the ``observer``.
    """

    most: float = parameter(
        number('N', above=0.0, default=math.nan), 'Greatest force of one contact; not set: any'
    )

    @property
    def kept(self) -> tuple[float, float]:
        """No clearance [m], and the force [N]."""
        return 0.0, self.most

    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows, none without a force."""
        return super().count(model, controlled) if self.most < math.inf else 0
