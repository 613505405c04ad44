# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Settings of the law `task`: one task and one bound of each kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, cast, TYPE_CHECKING

from softrobot_dynamics.controllers import settings as of_settings
from softrobot_dynamics.controllers.acceleration_law import AccelerationSettings
from softrobot_dynamics.controllers.tasks.contract import Bound, BOUNDS, ControlTask, TASKS

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


@dataclass(frozen=True)
class TaskSettings(AccelerationSettings):
    """Settings: one task and one bound of each kind there is."""

    tasks: tuple[ControlTask, ...] = ()
    bounds: tuple[Bound, ...] = ()

    def validate(self) -> Iterable[tuple[str, object, str]]:
        """Yield what does not fit together, as (name of the field, value, expected)."""
        for each in (*self.tasks, *self.bounds):
            for name, value, expected in each.validate():
                yield f'{each.type_name}.{name}', value, expected

    def examine(self, model: CompiledModel) -> Iterable[tuple[str, object, str]]:
        """Yield what does not fit to a model, likewise."""
        for each in (*self.tasks, *self.bounds):
            for name, value, expected in each.examine(model):
                yield f'{each.type_name}.{name}', value, expected
        led = position_of(self).body or model.body_names[-1]
        for each in self.tasks:
            body = getattr(each, 'body', '')
            if each.type_name == 'orientation' and body not in ('', led):
                yield 'orientation.body', body, f'empty, or {led}, as that of position'

    def tuned_alike(self, other: of_settings.Settings) -> bool:
        """Tell whether all of the law's own parameters are the same, limits aside."""
        if not isinstance(other, TaskSettings):
            return False
        same = of_settings.equal_values
        own = zip((*self.tasks, *self.bounds), (*other.tasks, *other.bounds), strict=True)
        return (
            same(self.delay, other.delay)
            and same(self.observer, other.observer)
            and all(
                type(a) is type(b)
                and all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(cast(Any, a)))
                for a, b in own
            )
        )


def position_of(settings: TaskSettings) -> Any:
    """Return the task by which the tip is led."""
    return next(each for each in settings.tasks if each.type_name == 'position')


def kinds() -> tuple[Any, ...]:
    """Return the classes of all tasks and bounds."""
    return tuple(kind for known in (TASKS, BOUNDS) for kind in map(known.get, known.names()))


def assemble(make: Any, **given: Any) -> Any:
    """Return settings from values by names, those of tasks and bounds with their kinds'."""
    own = {name: value for name, value in given.items() if '.' not in name}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        kind, _, field = name.partition('.')
        if field:
            parts.setdefault(kind, {})[field] = value
    made = [kind(**parts[kind.type_name]) for kind in kinds()]
    tasks = tuple(each for each in made if isinstance(each, ControlTask))
    return make(**own, tasks=tasks, bounds=tuple(x for x in made if isinstance(x, Bound)))
