# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Distances from the surroundings, and between parts of the robot."""

from __future__ import annotations

from dataclasses import dataclass

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


@register_bound('distances')
@dataclass(frozen=True)
class Distances(Bound):
    """
    Collision shapes keep clear of the environment, and of parts that they collide with.

    By distances between surfaces, and their control barrier functions. A robot that cannot touch
    anything has no such rows.
    """

    looks_ahead = True
    order: int = order(1)
    clearance: float = parameter(number('m', at_least=0.0, default=0.0), 'Least distance')
    approach: float = approach(5.0)
    reach: float = parameter(
        number('m', above=0.0, default=0.1), 'Distance at which pairs of surfaces are looked at'
    )
    pairs: int = parameter(
        integer(at_least=1, at_most=200, default=12), 'Pairs that are looked at, the nearest'
    )

    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows."""
        return count_gaps(model, self.pairs)

    def bind(self, state: TickState, rows: BoundRows, context: TaskContext) -> Entry:
        """Return the Entry of what fills the rows."""
        given = {'reach': self.reach, 'clearance': self.clearance, 'approach': self.approach}
        return bind_gaps(state, rows, context, **given)
