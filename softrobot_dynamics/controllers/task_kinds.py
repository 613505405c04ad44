# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What tasks and bounds of the law `task` have in common: the robot in a tick, parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, NamedTuple, TYPE_CHECKING

from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.controllers.tip_course import CourseArrays
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.passes import Robot
from softrobot_dynamics.schema.parameters import Parameter, parameters_of

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

GROUP = 'task'  # begins the names of all parameters


class TickState(NamedTuple):
    """The robot at the state of a tick, for the kernels of tasks and bounds."""

    robot: Robot  # whose workspace has the frames, moving with no acceleration but gravity's
    terms: Terms
    controlled: Integers  # (c,)
    y: Vector  # (m,) relative to q = 0
    velocity: Vector  # (m,)
    desired: Matrix  # (3, c) what the reference says of the controlled outputs
    period: float


class TaskContext(NamedTuple):
    """What a task or a bound may know of its law when it is bound."""

    model: CompiledModel
    controlled: Integers  # (c,)
    home: Vector  # (n,) the posture in which the law began; changes in place
    course: CourseArrays  # of the tip that the law leads


class Configured:
    """What tasks and bounds have in common: frozen dataclasses whose fields are parameters."""

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
