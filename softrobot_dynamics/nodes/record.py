# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A record of every tick, kept in memory while the loop runs and written to a file at the end."""

import os
from pathlib import Path

import numpy as np
from softrobot_dynamics.errors import ArgumentError

_ROWS = 8192  # of a chunk: a new one is a short allocation, never a copy of what is there


def prepare(path):
    """Make the folder that a record goes to; ArgumentError if it cannot be; '' is no record."""
    folder = Path(path).expanduser().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        raise ArgumentError('record', path, 'a file in a folder that can be written to')


class Record:
    """
    Columns by name, each with a number of values in every row.

    `columns` maps names to sizes; 0 stands for one value, kept as a vector of rows.
    """

    def __init__(self, columns):
        self._columns = dict(columns)
        widths = [max(1, size) for size in self._columns.values()]
        ends = np.cumsum(widths)
        self._slices = [slice(end - width, end) for width, end in zip(widths, ends)]
        self._width = int(ends[-1])
        self._chunks = []
        self._row = _ROWS

    def __len__(self):
        return max(0, len(self._chunks) - 1) * _ROWS + self._row * bool(self._chunks)

    def add(self, *values):
        """Append a row: one value or vector for each column, in their order."""
        if self._row == _ROWS:
            self._chunks.append(np.empty((_ROWS, self._width)))
            self._row = 0
        row = self._chunks[-1][self._row]
        for part, value in zip(self._slices, values):
            row[part] = value
        self._row += 1

    def columns(self):
        """Return {name: (rows,) or (rows, size) array}."""
        rows = np.concatenate(self._chunks or [np.empty((0, self._width))])[: len(self)]
        return {
            name: rows[:, part] if size else rows[:, part.start]
            for (name, size), part in zip(self._columns.items(), self._slices)
        }

    def save(self, path, **more):
        """Write the columns and `more` arrays to the .npz file `path`, whole or not at all."""
        path = Path(path).expanduser()
        draft = path.with_name(path.name + '.part')
        with open(draft, 'wb') as file:
            np.savez(file, **self.columns(), **more)
        draft.replace(path)
