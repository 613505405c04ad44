# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Read files of ROS parameters without ROS, as a controller would be given them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TYPE_CHECKING

from softrobot_dynamics.configuration.declared_parameters import (
    controller_rows,
    declare_chosen,
    sensor_rows,
    SIMULATION,
)
from softrobot_dynamics.configuration.parameter_descriptions import (
    closest_name,
    misplaced,
    of_ros,
    ParameterSpec,
    ParameterTable,
)
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import ArgumentError, DescriptionError, Problem
from softrobot_dynamics.schema.yaml_files import read_yaml

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription

_NODE, _PARAMETERS_KEY = 'controller', 'ros__parameters'
_FILE_PARAMETERS = {'robot'}  # values that name a file, so that two texts may mean the same
_WILDCARDS = ('*', '**')  # names of nodes that stand for all


class FlagOrFile(NamedTuple):
    """One parameter that a flag and a file may both give: the flag goes before the file."""

    value: Any  # None: neither gives it
    remark: str = ''  # in words, that the file gives another value, '' if it does not


def chosen(name: str, flag: object, said: str, files: Iterable[Path]) -> FlagOrFile:
    """
    Return the :class:`FlagOrFile` of a controller's parameter that a flag or files may give.

    `flag`: what the flag gives, None for nothing; `said`: the flag in words, as '--rate 500'.
    DescriptionError for a value in a file that cannot be.
    """
    given = _given_by(files)
    if name not in given:
        return FlagOrFile(flag)
    value = _read([row for row in controller_rows() if row.name == name], given)[name]
    if flag is None or _same(name, value, flag):
        return FlagOrFile(value if flag is None else flag)
    return FlagOrFile(
        flag, f'{name}: {value} in the parameter file is not used: {said} takes precedence'
    )


def robot_remark(robot: str | PathLike[str], files: Iterable[Path]) -> tuple[str, ...]:
    """Return a remark, in words, if files name another robot than the one that is asked for."""
    remark = chosen('robot', str(robot), str(robot), files).remark
    return (remark,) if remark else ()


def unused(files: Iterable[Path], own: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield, in words, the parameters in files that others, `own` by node and name, go before."""
    files = tuple(files)
    first = _given_by(files)
    for node, values in own.items():
        given = _given_by(files, node)
        for name, value in values.items():
            repeated = node != _NODE and name in first and given.get(name) == first[name]
            if name in given and not repeated and not _same(name, given[name], value):
                words = f'{name}: {given[name]} of the {node} in the parameter file is not used'
                yield f'{words}: {value} takes precedence'


def _same(name: str, one: object, other: object) -> bool:
    """Tell whether two values of a parameter mean the same."""
    if name in _FILE_PARAMETERS:
        names = shipped('robots')
        one, other = (Path(names.get(str(x), str(x))).expanduser().resolve() for x in (one, other))
    return bool(one == other)


def controller_files(
    robot: str, description: RobotDescription, chosen: str | PathLike[str] | None
) -> tuple[Path, ...]:
    """
    Return the chosen file, or the one shipped for the robot if there is one, as a tuple.

    `robot` is what the robot was called: a shipped name or a path. ArgumentError.
    """
    if chosen is not None:
        return (controller_file(chosen),)
    files = shipped('controllers')
    name = robot if robot in files else description.name
    return (files[name],) if name in files else ()


def controller_file(chosen: str | PathLike[str]) -> Path:
    """Return the path of a chosen file; ArgumentError if there is none."""
    if not Path(chosen).is_file():
        raise ArgumentError('--controller', str(chosen), 'a file of controller parameters')
    return Path(chosen).resolve()


def controller_values(
    description: RobotDescription, files: Iterable[Path]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """
    Return ({name: value} of all of a controller's parameters, unknown names in words).

    What no file gives is as declared; later files count more. DescriptionError with every value
    that cannot be, UnknownNameError for a law or a reference that there is not.
    """
    given = _given_by(files)
    values: dict[str, Any] = {}
    rows_read: list[ParameterSpec] = []

    def declare(rows: Iterable[ParameterSpec]) -> dict[str, Any]:
        """Read the values of more rows, and return all so far."""
        rows_read.extend(rows)
        values.update(_read(rows, given))
        return values

    declare_chosen(description, declare(controller_rows()), declare)
    unknown = [name for name in given if name not in values and not of_ros(name)]
    if problems := misplaced(unknown, rows_read):
        raise DescriptionError(tuple(problems), 'parameters')
    return values, tuple(f'{name}{closest_name(name, values)}' for name in unknown)


def simulation_values(description: RobotDescription, files: Iterable[Path]) -> dict[str, Any]:
    """
    Return {name: value} of the parameters that files give the simulated robot, and no others.

    DescriptionError with every value that cannot be.
    """
    given = _given_by(files, 'simulation')
    rows = [row for row in (*SIMULATION, *sensor_rows(description)) if row.name in given]
    return _read(rows, given)


def _read(rows: Iterable[ParameterSpec], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of rows: those that are given, else the defaults."""
    table = ParameterTable(rows)
    return table.read({name: given.get(name, row.default) for name, row in table.rows.items()})


def _given_by(files: Iterable[Path], node: str = _NODE) -> dict[str, Any]:
    """Return the parameters by name that files have for a node; later files count more."""
    given: dict[str, Any] = {}
    for file in files:
        given |= parameters_of(file, node, needed=node == _NODE)  # it is one for a controller
    return given


def parameters_of(path: Path, node: str, *, needed: bool = False) -> dict[str, Any]:
    """
    Return the parameters by name that a file has for a node, in whatever namespace.

    DescriptionError for what is no file of parameters, and for one without any for `node` if they
    are `needed`.
    """
    data, problems = read_yaml(path)
    blocks = [
        block for names, block in _blocks(data) if names and names[-1] in (node, *_WILDCARDS)
    ]
    missing = needed and not blocks
    if not problems and (missing or not all(isinstance(block, dict) for block in blocks)):
        words = (
            f'parameters of a node: {node}: {{{_PARAMETERS_KEY}: {{...}}}}, or /**: in its place'
        )
        problems = [Problem('file', str(path), words)]
    if problems:
        raise DescriptionError(tuple(problems), str(path))
    return {name: value for block in blocks for name, value in _flat(block)}


def _blocks(data: object, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield (names of namespaces and node, its parameters)."""
    for key, value in data.items() if isinstance(data, dict) else ():
        if key == _PARAMETERS_KEY:
            yield names, value
        else:
            yield from _blocks(value, (*names, *filter(None, str(key).split('/'))))


def _flat(block: Mapping[Any, Any], group: str = '') -> Iterator[tuple[str, Any]]:
    """Yield (name with dots, value) of nested parameters."""
    for key, value in block.items():
        if isinstance(value, dict):
            yield from _flat(value, f'{group}{key}.')
        else:
            yield f'{group}{key}', value
