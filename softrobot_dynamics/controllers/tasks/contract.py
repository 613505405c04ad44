# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Base class of tasks: what the law `task` shall do, as rows J v(T) = aim.

v(T) are the rates of the coordinates when the command of this tick has been held for its period.
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

TASKS = Registry('task', 'softrobot_dynamics.controllers.tasks', 'softrobot_dynamics.tasks')
register = TASKS.register
LEVELS = 9  # at most


class Rows(NamedTuple):
    """Rows J v(T) = aim of a task: k of them, filled by its kernel in every tick."""

    J: Matrix  # (k, n) of a rate of the task by those of the coordinates
    aim: Vector  # (k,) that rate at the end of the period
    level: Integers  # (k,) of each row; 0: it does not count


def level(default: int) -> Any:
    """Return the parameter of a task's level."""
    words = 'Level: 1 comes before 2, and so on; 0: no such task'
    return parameter(integer(at_least=0, at_most=LEVELS, default=default), words)


def weight() -> Any:
    """Return the parameter of a task's weight beside others of its level."""
    words = 'Weight beside other tasks of its level'
    return parameter(number('-', above=0.0, at_most=1e6, default=1.0), words)


@dataclass(frozen=True)
class Task(Configured):
    """
    Base of all tasks: subclass it as a frozen dataclass and ``@register`` a name.

    Fields are parameters, set from outside as ``task.<kind>.<field>``; each has a default. All
    tasks have a ``level`` and a ``weight``. Rows are best without units, such that an error of 1
    is large, so that weights compare: a length by the robot's, an angle in rad.
    """

    level: int = level(1)
    weight: float = weight()

    @required
    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows for a model and the indices (c,) of controlled actuators."""
        raise NotImplementedError

    @required
    def bind(self, state: TickState, rows: Rows, context: TaskContext) -> Entry:
        """
        Return the Entry of a kernel of (q, qd, t) that fills ``rows`` for a ``state``.

        q, qd and t (1,), the time [s], are arrays whose lengths the kernel does not know. What it
        reads beside them is given to ``entry``, see
        :func:`softrobot_dynamics.compiling.binding.entry`.
        """
        raise NotImplementedError
