# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Read from texts and files how a plant differs from its model; :mod:`.variation` applies it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from softrobot_dynamics.description.add_surroundings import surround
from softrobot_dynamics.description.robot import load_robot, RobotDescription
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.description.variation import vary
from softrobot_dynamics.errors import ArgumentError, DescriptionError, Problem
from softrobot_dynamics.schema.yaml_files import read_yaml

_YAML = '.yaml', '.yml'
SURROUNDINGS = 'surroundings'  # begins a text of plant_of that names a file of them


def plant_of(description: RobotDescription, texts: Sequence[str]) -> RobotDescription:
    """
    Return the robot that texts make of one: changes as :func:`read_changes` has them, or another.

    One text may be a robot file or a shipped name: that robot takes its place, with the changes.
    Another may be surroundings=FILE, with what :func:`surround` adds before the changes.
    Raises what ``load_robot``, ``read_changes`` and :func:`.vary` do.
    """
    robots = [text for text in texts if _names_a_robot(text.strip())]
    if len(robots) > 1:
        raise ArgumentError('plant', robots[1], f'one robot at most, beside {robots[0]}')
    for text in robots:
        description = load_robot(text.strip())
    around = [text for text in texts if text.partition('=')[0].strip() == SURROUNDINGS]
    for text in around:
        description = surround(description, text.partition('=')[2].strip())
    others = [text for text in texts if text not in robots and text not in around]
    return vary(description, read_changes(others))


def _names_a_robot(text: str) -> bool:
    """Tell whether a text is a shipped name, or the path of a robot file."""
    if text in shipped('robots'):
        return True
    if '=' in text or Path(text).suffix not in _YAML:
        return False
    data, problems = read_yaml(Path(text))
    return not problems and isinstance(data, dict) and 'bodies' in data


def read_changes(texts: Sequence[str]) -> dict[str, Any]:
    """
    Return the changes that texts give, for :func:`.vary`; later ones count.

    A text is FIELD=CHANGE, or the path of a YAML file with a mapping of such, in which mappings
    may stand for names with dots. Raises ArgumentError, and DescriptionError of a file.
    """
    changes: dict[str, Any] = {}
    for text in texts:
        field, equals, change = (part.strip() for part in text.partition('='))
        if not equals and Path(field).suffix in _YAML:
            changes.update(_in_file(Path(field)))
        elif field and equals and change:
            changes[field] = change
        else:
            expected = (
                'FIELD=CHANGE, as in young_modulus=×0.8 or segment1.mass=1.2, or a YAML file'
            )
            raise ArgumentError('plant', text, expected)
    return changes


def _in_file(path: Path) -> dict[str, Any]:
    """Return the changes in a YAML file; DescriptionError."""
    data, problems = read_yaml(path)
    if not problems and not isinstance(data, dict):
        problems = [Problem('', data, 'a mapping of fields to numbers, or to factors as ×1.2')]
    if problems:
        raise DescriptionError(tuple(problems), str(path))
    return dict(_flat(data, ()))


def _flat(mapping: dict[Any, Any], names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the fields in a mapping of mappings, by names with dots."""
    for name, value in mapping.items():
        path = (*names, str(name))
        if isinstance(value, dict):
            yield from _flat(value, path)
        else:
            yield '.'.join(path), value
