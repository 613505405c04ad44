# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Keep coordinates within their ranges, by barrier functions of first order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.annotations import Array, Integers
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.tasks.contract import (
    approach,
    barrier_gain,
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


@kernel
def keep_coordinates(rows, lower, upper, approach, q, qd, t):
    """Fill -approach (q - lower) <= q'(T) <= approach (upper - q) (n,)."""
    for i in range(len(lower)):
        rows.lower[i] = approach * (lower[i] - q[i])
        rows.upper[i] = approach * (upper[i] - q[i])


@register_bound('coordinates')
@dataclass(frozen=True)
class Coordinates(Bound):
    """Coordinates stay within the limits of the robot file's joints, or narrower ones."""

    order: int = order(1)
    lower: Array = parameter(
        number('rad or m', default=-NO_LIMIT),
        'Least value, where it is above that of the robot file',
        each='coordinate',
    )
    upper: Array = parameter(
        number('rad or m', default=NO_LIMIT),
        'Greatest value, where it is below that of the robot file',
        each='coordinate',
    )
    approach: float = approach(10.0)

    def validate(self) -> Iterable[tuple[str, object, str]]:
        """Yield what does not fit together, as (name of the field, value, expected)."""
        if (np.asarray(self.lower) > np.asarray(self.upper)).any():
            yield 'lower', list(self.lower), 'numbers not above those of upper'

    def examine(self, model: CompiledModel) -> Iterable[tuple[str, object, str]]:
        """Yield what does not fit to a model, as (name of the field, value, expected)."""
        for i, name in enumerate(model.coordinate_names):
            low, high = model.q_lower[i], model.q_upper[i]
            words = f'the range of {name} in the robot file, {low:g} to {high:g}'
            if self.lower[i] > high:
                yield 'lower', self.lower[i], f'a number within or below {words}'
            if self.upper[i] < low:
                yield 'upper', self.upper[i], f'a number within or above {words}'

    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows."""
        return model.n

    def bind(self, state: TickState, rows: BoundRows, context: TaskContext) -> Entry:
        """Return the Entry of what fills the rows."""
        model = context.model
        rows.J[:], rows.unit[:] = np.eye(model.n), model.scales.units
        return entry(
            keep_coordinates,
            rows=rows,
            lower=np.maximum(model.q_lower, self.lower),
            upper=np.minimum(model.q_upper, self.upper),
            approach=barrier_gain(self.approach, state.period),
        )
