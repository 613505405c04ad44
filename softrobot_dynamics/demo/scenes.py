# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Scenes that come with the package: a robot, its surroundings, and the phases of its laws."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import DescriptionError, Problem, UnknownNameError
from softrobot_dynamics.evaluation.goals import ObjectGoal, PassageGoal
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parsing import parse, Problems
from softrobot_dynamics.schema.yaml_files import read_yaml

# of a scene's name
_ROBOT_SUFFIX, _SURROUNDINGS_SUFFIX, _GOAL_SUFFIX = '.robot', '.surroundings', '.goal'


@dataclass(frozen=True)
class _Span:
    """The entry of a file of goals beside these."""

    duration: float = number('s', above=0.0)


class SceneFiles(NamedTuple):
    """The files of a scene."""

    controller: Path  # parameters of the nodes
    surroundings: Path
    robot: Path | None  # None: the parameters name a shipped one
    goal: Path


class SceneGoal(NamedTuple):
    """The duration of a scene, and its goals at the end."""

    duration: float  # [s]
    goals: tuple[ObjectGoal | PassageGoal, ...]


def scene_of(name: str) -> SceneFiles:
    """Return the SceneFiles of a name; UnknownNameError."""
    files = shipped('scenes')
    known = [
        each
        for each in files
        if not each.endswith((_ROBOT_SUFFIX, _SURROUNDINGS_SUFFIX, _GOAL_SUFFIX))
    ]
    if name not in known:
        raise UnknownNameError('scene', name, tuple(known))
    return SceneFiles(
        controller=files[name],
        surroundings=files[name + _SURROUNDINGS_SUFFIX],
        robot=files.get(name + _ROBOT_SUFFIX),
        goal=files[name + _GOAL_SUFFIX],
    )


def goal_of(path: Path) -> SceneGoal:
    """Return the :class:`SceneGoal` of a file; DescriptionError."""
    problems = Problems()
    data, duplicates = read_yaml(path)
    problems.extend(duplicates)
    span = parse(_Span, data, 'goal', problems, ignore=('goals',))
    rows: Any = data.get('goals') if isinstance(data, dict) else None
    if not isinstance(rows, list):
        problems.append(Problem('goals', rows, 'a list'))
        rows = []
    goals = []
    for i, row in enumerate(rows):
        kind = PassageGoal if isinstance(row, dict) and 'tube' in row else ObjectGoal
        goals.append(parse(kind, row, f'goals[{i}]', problems))
    if problems:
        raise DescriptionError(tuple(problems), str(path))
    return SceneGoal(span.duration, tuple(goals))
