# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Base classes of tasks and bounds: what the law `task` shall do, and what it keeps.

Both are rows in v(T), the rates of the coordinates when the command of this tick has been held for
its period: J v(T) = aim of a task, lower <= J v(T) <= upper of a bound. A distance h >= 0 is kept
by a control barrier function, J v(T) >= -approach h: Ames et al., Control barrier functions:
theory and applications, European Control Conference 2019.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TYPE_CHECKING

from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.controllers.held_command_motion import HeldLinearisation, HeldMotion
from softrobot_dynamics.controllers.tasks.tip_course import CourseArrays
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.passes import Robot
from softrobot_dynamics.schema.fields import integer, number
from softrobot_dynamics.schema.parameters import Parameter, parameter, parameters_of
from softrobot_dynamics.schema.registry import Registry, required

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

TASKS = Registry('task', 'softrobot_dynamics.controllers.tasks.kinds', 'softrobot_dynamics.tasks')
BOUNDS = Registry(
    'bound', 'softrobot_dynamics.controllers.tasks.bounds', 'softrobot_dynamics.bounds'
)
register_task, register_bound = TASKS.register, BOUNDS.register
NO_LIMIT = 1e6  # [rad, m, rad/s, m/s] by default; beyond any motion of a robot
MAX_LEVELS = 9
MAX_RELAXATION_ORDERS = 4  # of bounds; those of actuators are never relaxed
# of rows that are relaxed before all others, without a warning
SILENT_ORDER = MAX_RELAXATION_ORDERS + 1
GROUP = 'task'  # begins the names of all parameters


@former_names(ahead='prediction')
class TickState(NamedTuple):
    """The robot at the state of a tick, for the kernels of tasks and bounds."""

    robot: Robot  # whose workspace has the frames, moving with no acceleration but gravity's
    terms: Terms
    controlled: Integers  # (c,)
    y: Vector  # (m,) relative to q = 0
    velocity: Vector  # (m,)
    desired: Matrix  # (3, c) what the reference says of the controlled outputs
    period: float
    prediction: HeldMotion  # displacement until times ahead; none where no bound ``looks_ahead``


class TaskContext(NamedTuple):
    """Facts of the law that a task or a bound may use when it is bound."""

    model: CompiledModel
    controlled: Integers  # (c,)
    home: Vector  # (n,) the posture in which the law began; changes in place
    course: CourseArrays  # of the tip that the law leads
    linear: HeldLinearisation  # of the law's robot
    tip: str  # the body whose tip the law leads


class Configured:
    """Base of tasks and bounds: frozen dataclasses whose fields are parameters."""

    type_name: ClassVar[str]

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return the :class:`.Parameter` s, by names with the kind: ``position.weight``."""
        found = parameters_of(cls, f'{GROUP}.{cls.type_name}')
        return tuple(p._replace(name=f'{cls.type_name}.{p.name}') for p in found)

    def validate(self) -> Iterable[tuple[str, object, str]]:
        """Yield what does not fit together, as (name of the field, value, expected)."""
        return ()

    def examine(self, model: CompiledModel) -> Iterable[tuple[str, object, str]]:
        """Yield what does not fit to a model, as (name of the field, value, expected)."""
        body = getattr(self, 'body', '')
        if body and body not in model.body_names:
            yield 'body', body, f'one of {", ".join(model.body_names)}'


@former_names(beyond='excess_aim')
class Rows(NamedTuple):
    """Rows J v(T) = aim of a task: k of them, filled by its kernel in every tick."""

    J: Matrix  # (k, n) of a rate of the task by those of the coordinates
    aim: Vector  # (k,) that rate at the end of the period
    level: Integers  # (k,) of each row; 0: it does not count
    excess_aim: Vector  # (k,) part of it that a far error adds (:mod:`~.tasks.runaway`); zeros


def level(default: int) -> Any:
    """Return the parameter of a task's level."""
    words = 'Level: 1 comes before 2, and so on; 0: no such task'
    return parameter(integer(at_least=0, at_most=MAX_LEVELS, default=default), words)


def weight() -> Any:
    """Return the parameter of a task's weight beside others of its level."""
    words = 'Weight beside other tasks of its level'
    return parameter(number('-', above=0.0, at_most=1e6, default=1.0), words)


@dataclass(frozen=True)
class ControlTask(Configured):
    """
    Base of all tasks: subclass it as a frozen dataclass and ``@register`` a name.

    Fields are parameters, set from outside as ``task.<kind>.<field>``; each has a default. All
    tasks have a ``level`` and a ``weight``. Rows are best without units, such that an error of 1
    is large, so that weights compare: a length by the robot's, an angle in rad.
    """

    level: int = level(1)
    weight: float = weight()
    fades: ClassVar[bool] = False
    """True: near a singularity it asks for less, as it would take motion without bound."""

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


@former_names(least='lower', most='upper')
class BoundRows(NamedTuple):
    """
    Rows lower <= J v(T) <= upper of a bound: k of them, filled by its kernel in every tick.

    Rows with a ``when`` above 0 are of the displacement until that time, J (q(t) - q), under the
    command as it is.
    """

    J: Matrix  # (k, n)
    lower: Vector  # (k,) -inf: none
    upper: Vector  # (k,) inf: none
    unit: Vector  # (k,) of what one is exceeded by, beside other bounds of the order; ones
    when: Integers  # (k,) 0: v(T); else a time of ``TickState.prediction``, counted from 1
    # (k,) that of the bound; SILENT_ORDER: relaxed before all others, without a word
    order: Integers


def order(default: int) -> Any:
    """Return the parameter of the order in which bounds are relaxed that contradict each other."""
    words = (
        'Place in the order in which bounds are relaxed:'
        f' {MAX_RELAXATION_ORDERS} first, 1 last, 0: no bound'
    )
    return parameter(integer(at_least=0, at_most=MAX_RELAXATION_ORDERS, default=default), words)


def approach(default: float) -> Any:
    """Return the parameter of the rate at which a bound may be approached."""
    words = 'Greatest speed towards it, per distance from it; slow actuators need less'
    return parameter(number('1/s', above=0.0, at_most=1e4, default=default), words)


def barrier_gain(approach: float, period: float) -> float:
    """
    Return the rate [1/s] at which a bound may be approached, such that no tick oversteps it.

    Of distances h and speeds v <= a h of the ticks before, h falls by T (v + v(T)) / 2 in a period
    T: it stays positive for a T <= 6 - 32^(1/2), about a third.
    """
    return min(float(approach), 1.0 / (3.0 * period))


@dataclass(frozen=True)
class Bound(Configured):
    """
    Base of all bounds: subclass it as a frozen dataclass and ``@register`` a name.

    Fields are parameters, set from outside as ``task.<kind>.<field>``; each has a default.
    """

    order: int = order(2)
    looks_ahead: ClassVar[bool] = False
    """True: its kernel reads ``TickState.prediction``."""

    @required
    def count(self, model: CompiledModel, controlled: Integers) -> int:
        """Return the number of rows for a model and the indices (c,) of controlled actuators."""
        raise NotImplementedError

    @required
    def bind(self, state: TickState, rows: BoundRows, context: TaskContext) -> Entry:
        """Return the Entry of a kernel of (q, qd, t) that fills ``rows``, as of a task."""
        raise NotImplementedError
