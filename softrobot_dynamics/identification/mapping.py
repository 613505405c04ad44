# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Read postures and motions from tables, by a mapping that gives the meaning of their columns.

    commands:
      tendon_1: {column: tension_1, unit: N}
    markers:
      - {name: tip, body: segment2, point: [0, 0, 0.055], columns: [x, y, z], unit: mm}
    frame: world

Which way tendons slid last, for their friction at rest, is `sliding`: in, out, or by rows.

With a column of times it is a motion: `time: {column: t}`, and `coordinates`, as markers. Tables
are CSV files, or of motions ROS bags.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Complaints, Matrix, Vector
from softrobot_dynamics.dynamics.tendon_friction import SLIDING_SIGNS
from softrobot_dynamics.errors import ArgumentError, DescriptionError, Problem, UnknownNameError
from softrobot_dynamics.identification.bags import Bag, is_bag
from softrobot_dynamics.identification.csv_tables import CsvTable
from softrobot_dynamics.identification.motions import (
    Coordinate,
    held,
    Motion,
    motion,
    START_STATES,
)
from softrobot_dynamics.identification.postures import (
    Marker,
    Postures,
    postures,
    read_ways,
    ROWWISE,
    ways_of,
)
from softrobot_dynamics.schema.fields import choice, items, nested, number, text, vector
from softrobot_dynamics.schema.parsing import custom, parse, Problems
from softrobot_dynamics.schema.units import UNITS, units_of
from softrobot_dynamics.schema.yaml_files import read_yaml

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription

LENGTH_UNITS = 'm', 'cm', 'mm'
TIME_UNITS = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}


@dataclass(frozen=True)
class _Time:
    """The column with the time."""

    column: str = text()
    unit: str = choice(tuple(TIME_UNITS), default='s')


@dataclass(frozen=True)
class _Command:
    """The column with the commands of an actuator."""

    column: str = text()
    unit: str = choice(tuple(UNITS), default='')
    sliding: str = text(default='')  # the column with which way it slid last
    least: float = number('of the command, in its unit', at_least=0.0, default=0.0)


@dataclass(frozen=True)
class _Marker:
    """The columns with the positions of a material point."""

    body: str = text()
    point: tuple[float, float, float] = vector('m', 3)
    columns: tuple[str, ...] = items(text())
    name: str = text(default='')
    unit: str = choice(LENGTH_UNITS, default='m')
    noise: float = number('m', above=0.0, default=1.0)
    deviation: float = number('m', at_least=0.0, default=0.0)

    def validate(self) -> Complaints:
        """Yield faults of the columns."""
        if len(self.columns) != 3:
            yield 'columns', self.columns, 'three names of columns: of x, y and z'


@dataclass(frozen=True)
class _Coordinate:
    """The column with a coordinate of the robot, or of an actuator."""

    name: str = text()
    column: str = text()
    unit: str = choice(tuple(UNITS), default='')
    noise: float = number('of the coordinate', above=0.0, default=1.0)


def _commands(value: object, path: str, problems: Problems) -> Any:
    if not isinstance(value, dict):
        problems.append(Problem(path, value, 'a mapping of actuators to {column, unit}'))
        return {}
    return {str(k): parse(_Command, v, f'{path}.{k}', problems) for k, v in value.items()}


@dataclass(frozen=True)
class Mapping:
    """
    The meaning of a table's columns; an actuator without a column is not commanded.

    With a ``time`` it is of a motion, which begins as ``start`` says: by default at rest, or free
    where something was measured before the first command.
    """

    commands: dict[str, Any] = custom(_commands, expected='a mapping of actuators')
    markers: tuple[Any, ...] = items(nested(_Marker), default=())
    coordinates: tuple[Any, ...] = items(nested(_Coordinate), default=())
    time: Any = nested(_Time, default=None)
    start: str | None = choice(START_STATES, default=None)
    frame: str = choice(('base', 'world'), default='base')
    name: str = text(default='')  # of the column with the postures' names
    sliding: str = choice((*SLIDING_SIGNS, ROWWISE), default='none')

    def validate(self) -> Complaints:
        """Yield contradictory entries."""
        if not (self.markers or self.coordinates):
            yield 'markers', self.markers, 'markers, or of a motion coordinates'
        if self.coordinates and not self.time:
            yield 'coordinates', self.coordinates, 'markers alone, of postures without a time'
        if self.time and self.sliding != 'none':
            yield (
                'sliding',
                self.sliding,
                'nothing: the simulation of a motion finds how tendons slide',
            )
        for name, command in self.commands.items():
            if self.time and command and command.sliding:
                yield f'commands.{name}.sliding', command.sliding, 'nothing, as there is a time'

    def columns(self) -> list[str]:
        """Return the columns of commands, markers and coordinates."""
        single = [*self.commands.values(), *self.coordinates]
        return [each.column for each in single] + [c for m in self.markers for c in m.columns]


def read_mapping(path: str | PathLike[str]) -> Mapping:
    """Return the :class:`Mapping` in a YAML file; DescriptionError with every wrong entry."""
    data, duplicates = read_yaml(Path(path))
    problems = Problems(duplicates)
    mapping: Mapping = parse(Mapping, data, '', problems)
    if problems:
        raise DescriptionError(tuple(problems), str(path))
    return mapping


def read_postures(
    description: RobotDescription, table: str | PathLike[str], mapping: Mapping
) -> Postures:
    """
    Return the :class:`Postures` in a CSV file with a line of names, one posture a row.

    An empty cell of a marker: it was not seen. Raises ArgumentError that names file, line and
    column, UnknownNameError for actuators and bodies that there are not.
    """
    rows = CsvTable(Path(table))
    u = _columns(description, rows, mapping, empty=False)
    markers, positions = _markers(description, rows, mapping)
    names = rows.texts(mapping.name) if mapping.name else ()
    sliding = read_ways(mapping.sliding, u, _least(description, mapping))
    for name, command in mapping.commands.items():
        if command.sliding:
            cells = rows.texts(command.sliding)
            k = description.actuator_names.index(name)
            sliding[:, k] = ways_of(cells, f'{table}, column {command.sliding}')
    return postures(description, u, markers, positions, names, sliding)


def read_motion(
    description: RobotDescription,
    table: str | PathLike[str],
    mapping: Mapping,
    horizon: float | None = None,
) -> Motion:
    """
    Return the :class:`Motion` in a CSV file with a line of names, one instant a row, or in a bag.

    An empty cell of a command: as before; of others: not measured. What was measured before all
    commands of the mapping were there, as while a recorder waits for a controller, is left out:
    nobody knows what acted then. Of a bag, columns are named as
    :mod:`~softrobot_dynamics.identification.bags` says. Each ``horizon`` [s] it starts
    anew. Raises as `read_postures`.
    """
    path = Path(table).expanduser()
    rows = Bag(path, mapping.time.column, mapping.columns()) if is_bag(path) else CsvTable(path)
    t = rows.numbers(mapping.time.column, empty=False) * TIME_UNITS[mapping.time.unit]
    u = _columns(description, rows, mapping, empty=True)
    markers, positions = _markers(description, rows, mapping)
    values = [rows.numbers(c.column, empty=True) * UNITS[c.unit] for c in mapping.coordinates]
    known = np.maximum.accumulate(np.isfinite(u), axis=0).all(axis=1)
    if not known.any():
        expected = f'each given in {path} at least once'
        raise ArgumentError('commands', tuple(mapping.commands), expected)
    first = int(known.argmax())
    made = motion(
        description,
        t[first:] - t[first],
        held(u)[first:],
        markers=markers,
        positions=positions[first:],
        coordinates=[Coordinate(c.name, c.noise) for c in mapping.coordinates],
        values=np.array(values).reshape(-1, len(t)).T[first:],
        start=mapping.start or ('free' if first else 'rest'),
        horizon=horizon,
    )
    return replace(made, skipped=float(t[first] - t[0]))


def _columns(
    description: RobotDescription, rows: CsvTable | Bag, mapping: Mapping, empty: bool
) -> Matrix:
    """Return the commands (P, m); UnknownNameError, ArgumentError."""
    unknown = set(mapping.commands) - set(description.actuator_names)
    if unknown:
        raise UnknownNameError('actuator', min(unknown), description.actuator_names)
    u = np.zeros((len(rows.lines), len(description.actuator_names)))
    for name, command in mapping.commands.items():
        k = description.actuator_names.index(name)
        sent = description.commands[k].unit
        if command.unit and command.unit not in units_of(sent):
            units = ', '.join(units_of(sent))
            raise ArgumentError(f'commands.{name}.unit', command.unit, f'one of {units}')
        u[:, k] = rows.numbers(command.column, empty) * UNITS[command.unit]
    return u


def _least(description: RobotDescription, mapping: Mapping) -> Vector:
    """Return the change (m,) of each command that turns the way in which its tendon slides."""
    least = np.zeros(len(description.actuator_names))
    for name, command in mapping.commands.items():
        least[description.actuator_names.index(name)] = command.least * UNITS[command.unit]
    return least


def _markers(
    description: RobotDescription, rows: CsvTable | Bag, mapping: Mapping
) -> tuple[list[Marker], Array]:
    """Return the markers (K,) and where they were (P, K, 3) [m], base frame."""
    markers = [
        Marker(m.name or f'marker {k + 1}', m.body, m.point, m.noise, m.deviation)
        for k, m in enumerate(mapping.markers)
    ]
    each = np.array([_positions(rows, m) for m in mapping.markers])
    positions = each.reshape(-1, len(rows.lines), 3).transpose(1, 0, 2)
    if mapping.frame == 'world':
        T = description.base.matrix()
        positions = (positions - T[:3, 3]) @ T[:3, :3]
    return markers, positions


def _positions(rows: CsvTable | Bag, marker: _Marker) -> Matrix:
    """Return the positions (P, 3) [m] of a marker."""
    columns = [rows.numbers(name, empty=True) for name in marker.columns]
    return np.stack(columns, axis=1) * UNITS[marker.unit]
