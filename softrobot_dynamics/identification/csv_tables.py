# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""CSV files with a line of names."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.errors import ArgumentError, MISSING


class CsvTable:
    """A CSV file: the names in its first line, and the lines below, which are not empty."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with path.expanduser().open(encoding='utf-8-sig', newline='') as file:
                self.names, *self.lines = [row for row in csv.reader(file) if any(row)] or [[]]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise ArgumentError('recording', str(path), f'a CSV file ({error})') from error
        if not self.lines:
            raise ArgumentError('recording', str(path), 'a line of names and lines of numbers')

    def texts(self, name: str) -> list[str]:
        """Return the cells of a column."""
        names = [each.strip() for each in self.names]
        if names.count(name) != 1:
            expected = (
                f'one of the columns of {self._path}, {", ".join(names)}, that is there once'
            )
            raise ArgumentError('column', name, expected)
        k = names.index(name)
        return [row[k].strip() if k < len(row) else '' for row in self.lines]

    def numbers(self, name: str, empty: bool) -> Vector:
        """Return the numbers of a column, NaN for an empty cell if there may be ``empty`` ones."""
        cells = self.texts(name)
        return np.array([self._number(i, name, cell, empty) for i, cell in enumerate(cells)])

    def _number(self, i: int, name: str, cell: str, empty: bool) -> float:
        try:
            value = np.nan if empty and not cell else float(cell)
        except ValueError:
            value = np.inf
        if np.isinf(value) or (np.isnan(value) and not empty):
            place = f'{self._path}, row {i + 1}, column {name}'
            raise ArgumentError(place, cell or MISSING, 'a finite number')
        return value
