# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A table of numbers over time, from a CSV file; every mistake with its line and column."""

from __future__ import annotations

from collections.abc import Sequence
import csv
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.errors import ArgumentError, DescriptionError, Problem

MOST = 20  # mistakes that are named
TIME = 't'


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
        k = names.index(TIME)
        problems = _wrong_times(path, [line for line, _ in rows[1:]], numbers[:, k])
    if problems:
        raise DescriptionError(tuple(problems[:MOST]) + _others(path, problems), path)
    rest = [i for i in range(len(names)) if i != k]
    return TimeTable(path, tuple(names[i] for i in rest), numbers[:, k].copy(), numbers[:, rest])


def _place(path: str, line: int, column: str = '') -> str:
    return f'{Path(path).name} line {line}' + (f', column {column}' if column else '')


def _wrong_names(path: str, names: Sequence[str]) -> list[Problem]:
    """Return what is wrong with the first line."""
    problems = []
    if TIME not in names or len(names) < 2:
        problems.append(Problem(_place(path, 1), list(names), 'names, one of them t for the time'))
    for i, name in enumerate(names):
        if not name or name in names[:i]:
            words = 'a name that no other column has'
            problems.append(Problem(_place(path, 1, str(i + 1)), name, words))
    return problems


def _wrong_rows(
    path: str, names: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]]
) -> list[Problem]:
    """Return what is wrong with the lines that follow."""
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
        problems.append(Problem(_place(path, lines[0], TIME), float(times[0]), expected))
    for i in (np.flatnonzero(np.diff(times) <= 0.0) + 1).tolist():
        words = f'a time after {times[i - 1]:g} [s]'
        problems.append(Problem(_place(path, lines[i], TIME), float(times[i]), words))
    return problems


def _others(path: str, problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return what stands for the problems beyond those that are named."""
    count = len(problems) - MOST
    return (Problem(Path(path).name, f'{count} more mistakes', 'none'),) if count > 0 else ()


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
