# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Forces of contact."""

from __future__ import annotations

from dataclasses import dataclass
import math

from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.controllers.tasks.contract import (
    approach,
    Bound,
    BoundRows,
    order,
    register_bound,
    TaskContext,
    TickState,
)
from softrobot_dynamics.controllers.tasks.gaps import bind_gaps, count_gaps
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.schema.fields import integer, number
from softrobot_dynamics.schema.parameters import parameter


@register_bound('contact_force')
@dataclass(frozen=True)
class ContactForce(Bound):
    """
    Surfaces do not press on each other by more than a force.

    By how deep it presses them into each other, which their stiffness says, and the barrier
    functions of `distances`, whose order is to be 0 where the robot is to touch something. What
    pushes back becomes known by the ``observer``.
    """

    looks_ahead = True
    order: int = order(1)
    most: float = parameter(
        number('N', above=0.0, default=math.nan), 'Greatest force of one contact; not set: any'
    )
    approach: float = approach(5.0)
    reach: float = parameter(
        number('m', above=0.0, default=0.1), 'Distance at which pairs of surfaces are looked at'
    )
    pairs: int = parameter(
        integer(at_least=1, at_most=200, default=12), 'Pairs that are looked at, the nearest'
    )

    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows."""
        return count_gaps(model, self.pairs) if self.most < math.inf else 0

    def bind(self, state: TickState, rows: BoundRows, context: TaskContext) -> Entry:
        """Return the Entry of what fills the rows."""
        given = {'reach': self.reach, 'give': self.most, 'approach': self.approach}
        return bind_gaps(state, rows, context, **given)
