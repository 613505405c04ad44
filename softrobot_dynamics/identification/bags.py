# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
ROS bags as tables: a row for each time at which messages came, a column for each of their numbers.

A column is named by topic and field, as '/joint_commands effort.t1' or '/camera pose.position.x'.
What follows a list is a place in it, from 0, or one of the names that the message has beside it.

A folder without metadata.yaml, as a recorder that was killed leaves it, is read by its files. An
MCAP file that was cut is read up to there, with a warning that says when that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
import re
from tempfile import TemporaryDirectory
from typing import Any, cast
import warnings

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.errors import ArgumentError

INSTALL_ROSBAGS = "an environment with rosbags: pip install 'softrobot_dynamics[bags]'"
SUFFIXES = '.mcap', '.db3', '.bag'
METADATA = 'metadata.yaml'
TIME_SOURCES = 'stamp', 'received'  # that in the header of a message, and when it was recorded
_NAME_FIELDS = 'name', 'joint_names'


def is_bag(path: Path) -> bool:
    """Tell whether a path leads to a bag, a folder or a file."""
    return path.suffix in SUFFIXES or (path / METADATA).is_file() or bool(_files_in(path))


def _files_in(folder: Path) -> list[Path]:
    """Return the files of a bag that is a folder, one after the other as they were split."""
    if not folder.is_dir():
        return []
    found = [file for file in folder.iterdir() if file.suffix in SUFFIXES]
    return sorted(found, key=lambda file: [int(n) for n in re.findall('[0-9]+', file.stem)])


@contextmanager
def _readable(path: Path) -> Iterator[list[Path]]:
    """Yield paths of a bag that rosbags can read; one without metadata or an end is completed."""
    files = [path] if path.is_file() else _files_in(path)
    cut = []
    if any(file.suffix == '.mcap' for file in files):
        from softrobot_dynamics.recordings.mcap_recovery import is_cut

        cut = [file for file in files if file.suffix == '.mcap' and is_cut(file)]
    if not cut:
        yield files if files and not (path / METADATA).is_file() else [path]
        return
    with TemporaryDirectory() as folder:
        yield [
            file if file not in cut else _recovered(file, Path(folder, f'{i}.mcap'))
            for i, file in enumerate(files)
        ]


def _recovered(file: Path, target: Path) -> Path:
    """Write the whole messages of a truncated file, and warn until when they are."""
    from softrobot_dynamics.recordings.mcap_recovery import recover

    last = recover(file, target)
    until = 'no chunk of messages is whole' if last is None else f'it is read up to {last} ns'
    warnings.warn(f'{file} is cut: {until}', RuntimeWarning, stacklevel=2)
    return target


class Bag:
    """
    A bag of which some columns are wanted, read as a table is.

    ``clock`` is 'stamp' or 'received', the name of the column of times [s] since the first row.
    Attributes: ``lines``, the rows' times [ns]. Raises ArgumentError that names what is not there.
    """

    def __init__(self, path: Path, clock: str, columns: Iterable[str]) -> None:
        self._path, self._clock = path, clock
        if clock not in TIME_SOURCES:
            raise ArgumentError('time.column', clock, f'of a bag one of {", ".join(TIME_SOURCES)}')
        self._fields = {column: self._field(column) for column in columns}
        seen = self._read({topic for topic, _ in self._fields.values()})
        self._cells: dict[str, dict[int, float]] = {column: {} for column in self._fields}
        for column, (topic, field) in self._fields.items():
            for time, message in seen[topic]:
                if (value := self._number(column, message, field)) is not None:
                    self._cells[column][time] = value
            if not self._cells[column]:
                raise ArgumentError('column', column, f'a field of the messages on {topic}')
        self.lines = sorted({time for cells in self._cells.values() for time in cells})

    def numbers(self, name: str, empty: bool) -> Vector:
        """Return the numbers of a column, NaN in rows without it."""
        del empty  # a row has hardly ever all
        if name == self._clock:
            return 1e-9 * (np.array(self.lines) - self.lines[0])
        cells = self._cells[name]
        return np.array([cells.get(time, np.nan) for time in self.lines])

    def _field(self, column: str) -> tuple[str, str]:
        topic, _, field = column.strip().partition(' ')
        if not field.strip():
            expected = "of a bag a topic and a field, as '/camera pose.position.x'"
            raise ArgumentError('column', column, expected)
        return topic, field.strip()

    def _read(self, topics: set[str]) -> dict[str, list[tuple[int, Any]]]:
        """Return messages with their times [ns] by topic."""
        try:
            from rosbags.highlevel import AnyReader
            from rosbags.typesys import get_typestore, Stores
        except ImportError:
            raise ArgumentError('recording', str(self._path), INSTALL_ROSBAGS) from None
        found: dict[str, list[tuple[int, Any]]] = {topic: [] for topic in topics}
        known = get_typestore(Stores.LATEST)  # for bags that do not say what messages are
        try:
            with (
                _readable(self._path.expanduser()) as paths,
                AnyReader(paths, default_typestore=known) as reader,
            ):
                there = {each.topic: each for each in reader.connections}
                for topic in topics - set(there):
                    words = f'one of {", ".join(sorted(there))}'
                    raise ArgumentError(f'topic in {self._path}', topic, words)
                wanted = [each for each in reader.connections if each.topic in topics]
                for connection, received, data in reader.messages(connections=wanted):
                    message: Any = reader.deserialize(data, connection.msgtype)
                    found[connection.topic].append((self._time(message, received), message))
        except ArgumentError:
            raise
        except Exception as error:  # damaged bytes: formats, compressions and messages have theirs
            raise ArgumentError('recording', str(self._path), f'a bag ({error})') from error
        return found

    def _time(self, message: object, received: int) -> int:
        if self._clock == 'received':
            return received
        try:
            stamp = cast(Any, message).header.stamp
        except AttributeError:
            expected = f"'received', as a {type(message).__name__} has no stamp"
            raise ArgumentError('time.column', self._clock, expected) from None
        return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)

    def _number(self, column: str, message: object, field: str) -> float | None:
        """Return the value of a field of a message; None: there is none, as of a missing joint."""
        value: Any = message
        rest = field
        while rest:
            if hasattr(value, '__len__'):
                return self._place(column, message, value, rest)
            step, _, rest = rest.partition('.')
            if not hasattr(value, step):
                kind = type(value).__name__
                raise ArgumentError('column', column, f'a field of {kind}, which has no {step}')
            value = getattr(value, step)
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ArgumentError('column', column, 'a field that is a number') from None
        return number if np.isfinite(number) else None

    def _place(
        self, column: str, message: object, values: Sequence[Any], rest: str
    ) -> float | None:
        """Return the entry of a list by a name, or by an index."""
        for names in _NAME_FIELDS:
            listed = list(getattr(message, names, ()))
            if rest in listed:
                k = listed.index(rest)
                return float(values[k]) if k < len(values) else None
        place, _, below = rest.partition('.')
        if not place.isdecimal() or int(place) >= len(values):
            return None
        value = values[int(place)]
        return self._number(column, value, below) if below else float(value)
