# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Follow a CSV file: outputs, or points of tips, over time; each mistake with its place."""

from __future__ import annotations

from collections.abc import Sequence
import csv
from dataclasses import dataclass
import math
from pathlib import Path
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Complaints, Matrix, Vector
from softrobot_dynamics.errors import ArgumentError, closest, DescriptionError, Problem
from softrobot_dynamics.references.contract import OutputMotion, register, Targets, Trajectory
from softrobot_dynamics.references.periodic_paths import nearest_turn
from softrobot_dynamics.references.piecewise import Indices, spline
from softrobot_dynamics.references.tips import LAP_SAMPLES, path_targets, tip_path
from softrobot_dynamics.schema.fields import file, flag
from softrobot_dynamics.schema.parameters import parameter

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

MAX_SAMPLES = 1024  # postures along the path of tips, unless there are more points


@register('file')
@dataclass(frozen=True)
class File(Trajectory):
    """
    A CSV file with a column ``t`` [s], and columns of outputs by the names of the actuators.

    Or of points of tips: ``BODY.x``, ``BODY.y``, ``BODY.z`` [m], base frame. Cubic splines in
    between, at rest at both ends. The file is read when it is planned.
    """

    path: str = parameter(
        file(expected='a CSV file', default=''),
        'CSV file with a column t and one for each controlled actuator or tip',
    )
    periodic: bool = parameter(
        flag(default=False), 'Repeat the file: its last line is its first, at a later time'
    )

    def validate(self) -> Complaints:
        """Yield missing fields."""
        if not self.path:
            yield 'path', self.path, 'the path of a CSV file'

    def plan(self, model: CompiledModel, controlled: Indices, q: Vector) -> OutputMotion:
        """
        Return the motion; q (n,) is where the search for postures of tips begins.

        Raises DescriptionError with the lines and columns that are wrong, and what ``tips`` does.
        """
        table = self._read()
        if _is_about_tips(table):
            bodies, points = _tips(table)
            count = max(LAP_SAMPLES, min(8 * len(points), MAX_SAMPLES), len(points))
            start = nearest_turn(model, q)
            path = tip_path(model, bodies, table.times, points, self.periodic, start, count)
            return path.of(controlled)
        columns = _places(table, [model.actuator_names[i] for i in controlled])
        return OutputMotion(spline(table.times, table.values[:, columns], self.periodic))

    def targets(self) -> Targets | None:
        """Return where the tips shall be, if the file is about tips."""
        table = self._read()
        if not _is_about_tips(table):
            return None
        bodies, points = _tips(table)
        return path_targets(bodies, table.times, points, self.periodic)

    def _read(self) -> TimeTable:
        table = read_table('reference.file.path', self.path)
        if self.periodic and not np.array_equal(table.values[0], table.values[-1]):
            words = 'one whose last line is its first but for the time, as it is periodic'
            raise ArgumentError('reference.file.path', self.path, words)
        return table


def _is_about_tips(table: TimeTable) -> bool:
    return any('.' in name for name in table.names)


def _tips(table: TimeTable) -> tuple[list[str], Array]:
    """Return the names of bodies (P), and the points (K, P, 3) [m] of their tips."""
    bodies = list(dict.fromkeys(name.partition('.')[0] for name in table.names))
    names = [f'{body}.{axis}' for body in bodies for axis in 'xyz']
    return bodies, table.values[:, _places(table, names)].reshape(-1, len(bodies), 3)


def _places(table: TimeTable, names: Sequence[str]) -> list[int]:
    """Return where the columns of given names are; DescriptionError for others, and if missing."""
    problems = [
        Problem(table.at(1, name), name, f't or one of {", ".join(names)}{closest(name, names)}')
        for name in table.names
        if name not in names
    ]
    missing = [name for name in names if name not in table.names]
    if missing:
        problems.append(Problem(table.at(1), list(table.names), f'also {", ".join(missing)}'))
    if problems:
        raise DescriptionError(tuple(problems), table.path)
    return [table.names.index(name) for name in names]


MAX_PROBLEMS = 20  # that are named
TIME_COLUMN = 't'


class TimeTable(NamedTuple):
    """Numbers by time and name."""

    path: str
    names: tuple[str, ...]  # of the columns (C,) beside that of the times
    times: Vector  # (K,) [s], from 0 on, increasing
    values: Matrix  # (K, C), finite

    def at(self, line: int, column: str = '') -> str:
        """Return in words where something stands."""
        return _place(self.path, line, column)


def read_table(argument: str, path: str) -> TimeTable:
    """
    Return the Table in a CSV file: names in the first line, one of them ``t``; two lines or more.

    Empty lines do not count. Raises ArgumentError, about ``argument``, for a file that cannot be
    read, and DescriptionError for what stands in it.
    """
    try:
        with open(Path(path).expanduser(), newline='', encoding='utf-8-sig') as file:
            reader = csv.reader(file, skipinitialspace=True)
            rows = [(reader.line_num, row) for row in reader if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ArgumentError(argument, path, f'a CSV file that can be read ({error})') from error
    names = [name.strip() for name in rows[0][1]] if rows else []
    problems = _wrong_names(path, names) or _wrong_rows(path, names, rows[1:])
    if not problems:
        numbers = np.array([[float(text) for text in row] for _, row in rows[1:]])
        k = names.index(TIME_COLUMN)
        problems = _wrong_times(path, [line for line, _ in rows[1:]], numbers[:, k])
    if problems:
        raise DescriptionError(tuple(problems[:MAX_PROBLEMS]) + _others(path, problems), path)
    rest = [i for i in range(len(names)) if i != k]
    return TimeTable(path, tuple(names[i] for i in rest), numbers[:, k].copy(), numbers[:, rest])


def _place(path: str, line: int, column: str = '') -> str:
    return f'{Path(path).name} line {line}' + (f', column {column}' if column else '')


def _wrong_names(path: str, names: Sequence[str]) -> list[Problem]:
    """Return the faults of the first line."""
    problems = []
    if TIME_COLUMN not in names or len(names) < 2:
        problems.append(Problem(_place(path, 1), list(names), 'names, one of them t for the time'))
    for i, name in enumerate(names):
        if not name or name in names[:i]:
            words = 'a name that no other column has'
            problems.append(Problem(_place(path, 1, str(i + 1)), name, words))
    return problems


def _wrong_rows(
    path: str, names: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]]
) -> list[Problem]:
    """Return the faults of the lines that follow."""
    problems = []
    for line, row in rows:
        if len(row) != len(names):
            words = f'{len(names)} numbers, not {len(row)}'
            problems.append(Problem(_place(path, line), ', '.join(row), words))
            continue
        for name, text in zip(names, row):
            if not _is_number(text):
                problems.append(Problem(_place(path, line, name), text, 'a finite number'))
    if len(rows) < 2:
        problems.append(Problem(Path(path).name, f'{len(rows)} lines of numbers', 'two or more'))
    return problems


def _wrong_times(path: str, lines: Sequence[int], times: Vector) -> list[Problem]:
    """Return problems for times that do not begin at 0 and rise."""
    problems = []
    if times[0] != 0.0:
        expected = '0, where the time begins'
        problems.append(Problem(_place(path, lines[0], TIME_COLUMN), float(times[0]), expected))
    for i in (np.flatnonzero(np.diff(times) <= 0.0) + 1).tolist():
        words = f'a time after {times[i - 1]:g} [s]'
        problems.append(Problem(_place(path, lines[i], TIME_COLUMN), float(times[i]), words))
    return problems


def _others(path: str, problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return a problem that counts those beyond the named ones."""
    count = len(problems) - MAX_PROBLEMS
    return (Problem(Path(path).name, f'{count} more mistakes', 'none'),) if count > 0 else ()


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
