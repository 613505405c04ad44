# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Limit the speed of each coordinate; the rows are constant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.annotations import Array, Integers
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, Entry
from softrobot_dynamics.controllers.tasks.contract import (
    Bound,
    BoundRows,
    NO_LIMIT,
    order,
    register_bound,
    TaskContext,
    TickState,
)
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter


@register_bound('speeds')
@dataclass(frozen=True)
class Speeds(Bound):
    """Coordinates change no faster than the robot file's joints may, or slower."""

    order: int = order(2)
    most: Array = parameter(
        number('rad/s or m/s', above=0.0, default=NO_LIMIT),
        'Greatest speed, where it is below that of the robot file',
        each='coordinate',
    )

    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows."""
        return model.n

    def bind(self, state: TickState, rows: BoundRows, context: TaskContext) -> Entry:
        """Fill the rows, which stay as they are."""
        max_speed = np.minimum(context.model.qd_limit, self.most)
        rows.unit[:] = context.model.scales.units
        rows.J[:], rows.lower[:], rows.upper[:] = np.eye(context.model.n), -max_speed, max_speed
        return EMPTY_ENTRY
