# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Add surroundings to the description of a robot."""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from softrobot_dynamics.description.modules import BASE
from softrobot_dynamics.description.robot import RobotDescription
from softrobot_dynamics.description.surroundings import KEYS, read_surroundings, unknown_groups
from softrobot_dynamics.errors import DescriptionError, Problem
from softrobot_dynamics.schema.parsing import Problems
from softrobot_dynamics.schema.yaml_files import read_yaml


def surround(
    robot: RobotDescription,
    given: str | PathLike[str] | Mapping[str, Any],
    *,
    objects: bool = True,
) -> RobotDescription:
    """
    Return a description with the ``environment`` and ``objects`` of a YAML file or mapping added.

    Places are in the base frame. Without ``objects`` the environment alone is added.
    DescriptionError holds every wrong entry.
    """
    problems, source = Problems(), 'surroundings'
    data: Any = given
    if isinstance(given, (str, PathLike)):
        data, duplicates = read_yaml(Path(given))
        problems.extend(duplicates)
        source, problems.folder = str(given), Path(given).parent
    if isinstance(data, dict):
        for key in data:
            if key not in KEYS:
                words = f'one of the fields {", ".join(KEYS)}'
                problems.append(Problem(str(key), data[key], words))
        taken = [*robot.body_names, *(o.name for o in robot.environment), BASE]
        found = read_surroundings(data, taken, problems)
    else:
        problems.append(Problem('file', data, f'a mapping of {", ".join(KEYS)}'))
    if problems:
        raise DescriptionError(tuple(problems), source)
    modules = *robot.modules, *found.objects
    environment = *robot.environment, *found.environment
    problems.extend(unknown_groups(modules, environment))
    if problems:
        raise DescriptionError(tuple(problems), source)
    if not objects:
        return replace(robot, environment=environment)
    return replace(
        robot, modules=modules, environment=environment, start=(*robot.start, *found.start)
    )
