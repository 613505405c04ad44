# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Files of ROS parameters, read without ROS: what a controller would be given by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TYPE_CHECKING

from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import ArgumentError, closest, DescriptionError, Problem
from softrobot_dynamics.nodes.declared_rows import controller_rows, declare_chosen
from softrobot_dynamics.nodes.rows import FOREIGN, Row, Table
from softrobot_dynamics.schema.yaml_files import read_yaml

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription

_NODE, _MARK = 'controller', 'ros__parameters'
_ANY = ('*', '**')  # names of nodes that stand for all


def controller_files(
    robot: str, description: RobotDescription, chosen: str | PathLike[str] | None
) -> tuple[Path, ...]:
    """
    Return the chosen file, or the one shipped for the robot if there is one, as a tuple.

    `robot` is what the robot was called: a shipped name or a path. ArgumentError.
    """
    if chosen is not None:
        if not Path(chosen).is_file():
            raise ArgumentError('--controller', str(chosen), 'a file of controller parameters')
        return (Path(chosen).resolve(),)
    files = shipped('controllers')
    name = robot if robot in files else description.name
    return (files[name],) if name in files else ()


def controller_values(
    description: RobotDescription, files: Iterable[Path]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """
    Return ({name: value} of all of a controller's parameters, unknown names in words).

    What no file gives is as declared; later files count more. DescriptionError with every value
    that cannot be, UnknownNameError for a law or a reference that there is not.
    """
    given: dict[str, Any] = {}
    for file in files:
        given |= _given(file)
    values: dict[str, Any] = {}

    def declare(rows: Iterable[Row]) -> dict[str, Any]:
        values.update(_read(rows, given))
        return values

    declare_chosen(description, declare(controller_rows()), declare)
    unknown = [name for name in given if name not in values and not name.startswith(FOREIGN)]
    return values, tuple(f'{name}{closest(name, values)}' for name in unknown)


def _read(rows: Iterable[Row], given: Mapping[str, Any]) -> dict[str, Any]:
    table = Table(rows)
    return table.read({name: given.get(name, row.default) for name, row in table.rows.items()})


def _given(path: Path) -> dict[str, Any]:
    """Return the parameters by name that a file has for a controller, in whatever namespace."""
    data, problems = read_yaml(path)
    blocks = [block for names, block in _blocks(data) if names and names[-1] in (_NODE, *_ANY)]
    if not problems and not (blocks and all(isinstance(block, dict) for block in blocks)):
        words = f'parameters of a node: {_NODE}: {{{_MARK}: {{...}}}}, or /**: in its place'
        problems = [Problem('file', str(path), words)]
    if problems:
        raise DescriptionError(tuple(problems), str(path))
    return {name: value for block in blocks for name, value in _flat(block)}


def _blocks(data: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield (names of namespaces and node, its parameters)."""
    for key, value in data.items() if isinstance(data, dict) else ():
        if key == _MARK:
            yield names, value
        else:
            yield from _blocks(value, (*names, *filter(None, str(key).split('/'))))


def _flat(block: Mapping[Any, Any], group: str = '') -> Iterator[tuple[str, Any]]:
    for key, value in block.items():
        if isinstance(value, dict):
            yield from _flat(value, f'{group}{key}.')
        else:
            yield f'{group}{key}', value
