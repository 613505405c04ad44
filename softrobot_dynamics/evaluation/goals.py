# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Goals of a scene: wanted places of objects and tips at the end of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.calls import forward_kinematics
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.evaluation.objects import object_outcome
from softrobot_dynamics.schema.fields import name, number

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


@dataclass(frozen=True, kw_only=True)
class ObjectGoal:
    """An object is lifted by ``rise`` [m] and held, or moved across gravity by ``shift`` [m]."""

    object: str = name()
    rise: float | None = number('m', above=0.0, default=None)
    slip: float = number('m', above=0.0, default=0.005)  # past its holders, at most, if lifted
    shift: float | None = number('m', above=0.0, default=None)

    def lapses(self, model: CompiledModel, q: Matrix, t: Vector) -> Iterator[str]:
        """Yield in words how the goal was missed by a run through q (T, n) at times (T,) [s]."""
        fate = object_outcome(model, _index(model, self.object), q, t)
        if self.rise is not None:
            if fate.rise < self.rise:
                yield f'{self.object} rose by {_mm(fate.rise)}, of at least {_mm(self.rise)}'
            if not fate.holders or fate.lies_on:
                yield f'{self.object} is not held by the robot alone at the end'
            elif not fate.slip <= self.slip:
                yield f'{self.object} slipped by {_mm(fate.slip)}, of at most {_mm(self.slip)}'
        if self.shift is not None and fate.shift < self.shift:
            yield f'{self.object} was moved by {_mm(fate.shift)}, of at least {_mm(self.shift)}'


@dataclass(frozen=True, kw_only=True)
class PassageGoal:
    """The tip of a body passes a tube of the environment, to ``beyond`` [m] behind its end."""

    body: str = name()
    tube: str = name()
    beyond: float = number('m', above=0.0)

    def lapses(self, model: CompiledModel, q: Matrix, t: Vector) -> Iterator[str]:
        """Yield in words how the goal was missed by a run through q (T, n) at times (T,) [s]."""
        way = _passed(model, _index(model, self.body), self.tube, q, t)
        wanted = f'of at least {_mm(self.beyond)}'
        if way is None:
            yield f'the tip of {self.body} did not go through {self.tube}'
        elif way < self.beyond:
            yield f'the tip of {self.body} is {_mm(way)} past the end of {self.tube}, {wanted}'


def missed(
    model: CompiledModel, goals: Sequence[ObjectGoal | PassageGoal], q: Matrix, t: Vector
) -> tuple[str, ...]:
    """
    Return in words the goals that were missed after a run through q (T, n); (): none.

    ``model`` is the robot in its surroundings, ``t`` (T,) [s] the time by which obstacles move.
    ArgumentError for a name that there is not.
    """
    good = np.isfinite(q).all(axis=1)
    if goals and not good.any():
        return ('there is no finite state by which the goal could be checked',)
    return tuple(words for goal in goals for words in goal.lapses(model, q[good], t[good]))


def passages(
    model: CompiledModel, goals: Sequence[ObjectGoal | PassageGoal], q: Matrix, t: Vector
) -> Iterator[str]:
    """Yield a line about each tip that has passed a tube, see :func:`missed`."""
    good = np.isfinite(q).all(axis=1)
    for goal in goals:
        if isinstance(goal, PassageGoal) and good.any():
            way = _passed(model, _index(model, goal.body), goal.tube, q[good], t[good])
            if way is not None and way > 0.0:
                yield f'{goal.body}: tip {_mm(way)} past the end of {goal.tube}'


def _index(model: CompiledModel, body: str) -> int:
    """Return the index of a body or an object; ArgumentError."""
    if body not in model.body_names:
        raise ArgumentError('goal', body, f'one of {", ".join(model.body_names)}')
    return model.body_names.index(body)


def _passed(model: CompiledModel, index: int, tube: str, q: Matrix, t: Vector) -> float | None:
    """
    Return how far [m] the tip of a body is behind the end of a tube after postures (T, n) at t.

    Below 0: still in it. None if it was not in it, one posture after the other, before.
    """
    obstacles = {each.name: each for each in model.description.environment}
    found: Any = obstacles[tube].shape if tube in obstacles else None
    if found is None or found.type_name != 'tube':
        raise ArgumentError('goal', tube, 'the name of a tube of the environment')
    start, end = np.array(found.start), np.array(found.end)
    length = float(np.linalg.norm(end - start))
    axis = (end - start) / length
    tips = np.array([forward_kinematics(model, q=row)[index, :3, 3] for row in q])
    if (motion := obstacles[tube].motion) is not None:  # where they are beside the tube at rest
        moved = np.array([motion.pose(moment) for moment in t])
        tips = np.einsum('tji,tj->ti', moved[:, :3, :3], tips - moved[:, :3, 3])
    tips -= start
    along = tips @ axis
    inside = np.linalg.norm(tips - along[:, None] * axis, axis=1) < found.radius
    within = (along >= 0.0) & (along <= length)
    if along[0] >= 0.0 or not within.any() or not inside[within].all():
        return None
    return float(along[-1] - length)


def _mm(length: float) -> str:
    return f'{1e3 * length:.1f} mm'
