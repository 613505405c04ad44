# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Base class of bounds: what the law `task` keeps, as rows least <= J v(T) <= most.

v(T) are the rates of the coordinates when the command of this tick has been held for its period.
A distance h >= 0 is kept by a control barrier function, J v(T) >= -approach h: Ames et al.,
Control barrier functions: theory and applications, European Control Conference 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TYPE_CHECKING

from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.controllers.task_kinds import Configured, TaskContext, TickState
from softrobot_dynamics.schema.fields import integer, number
from softrobot_dynamics.schema.parameters import parameter
from softrobot_dynamics.schema.registry import Registry, required

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

BOUNDS = Registry('bound', 'softrobot_dynamics.controllers.bounds', 'softrobot_dynamics.bounds')
register = BOUNDS.register
ORDERS = 4  # in which bounds are relaxed, at most; those of actuators never are


class BoundRows(NamedTuple):
    """Rows least <= J v(T) <= most of a bound: k of them, filled by its kernel in every tick."""

    J: Matrix  # (k, n)
    least: Vector  # (k,) -inf: none
    most: Vector  # (k,) inf: none


def order(default: int) -> Any:
    """Return the parameter of the order in which bounds are relaxed that contradict each other."""
    words = f'Place in the order in which bounds are relaxed: {ORDERS} first, 1 last, 0: no bound'
    return parameter(integer(at_least=0, at_most=ORDERS, default=default), words)


def approach(default: float) -> Any:
    """Return the parameter of the rate at which a bound may be approached."""
    words = 'Greatest speed towards it, per distance from it; slow actuators need less'
    return parameter(number('1/s', above=0.0, at_most=1e4, default=default), words)


@dataclass(frozen=True)
class Bound(Configured):
    """
    Base of all bounds: subclass it as a frozen dataclass and ``@register`` a name.

    Fields are parameters, set from outside as ``task.<kind>.<field>``; each has a default.
    """

    order: int = order(2)

    @required
    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows for a model and the indices (c,) of controlled actuators."""
        raise NotImplementedError

    @required
    def bind(self, state: TickState, rows: BoundRows, context: TaskContext) -> Entry:
        """Return the Entry of a kernel of (q, qd, t) that fills ``rows``; see :class:`.Task`."""
        raise NotImplementedError
