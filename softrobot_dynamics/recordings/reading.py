# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Read a record of a node as arrays by name, also one that was cut short; needs no ROS."""

from collections.abc import Sequence
from dataclasses import dataclass
import json
from os import PathLike
from pathlib import Path
import struct
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from softrobot_dynamics.errors import ArgumentError, UnknownNameError

INSTALL_MCAP = "records need mcap: pip install 'softrobot_dynamics[record]', or pip install mcap"
_LENGTH_STRUCT = struct.Struct('<I')
_DAMAGE_ERRORS = OSError, ValueError, TypeError, LookupError, AttributeError, struct.error
"""Exceptions that damaged files raise."""


@dataclass(frozen=True, repr=False)
class Recording:
    """
    One file of T ticks.

    ``recording['q']`` is the array of that name, a row a tick; ``columns`` has all of them: of
    both nodes ``stamp`` (T,) int64 [ns] of the state, ``log_time`` (T,) int64 [ns] on the clock of
    the machine, ``tick`` (T,) int64, which counts all ticks, also those that are not in the file,
    ``t`` (T,) [s], ``q``, ``qd`` (T, n), ``u`` (T, m) and ``mode`` (T,), an index of
    ``facts['modes']``; docs/nodes.md lists the others. What was not known is nan.
    """

    columns: dict[str, NDArray[Any]]
    # node, robot, digest, version, period [s], modes and names, as at its start
    facts: dict[str, Any]
    # of (log time [ns], {name: value}): all at first, then changes; None: nan
    parameters: tuple[tuple[int, dict[str, Any]], ...]
    complete: bool  # False: the node was killed, or the disk full; the rest is there

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self.columns:
            raise UnknownNameError('column', name, tuple(self.columns))
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @property
    def lost(self) -> int:
        """Return the number of ticks missing between the first and the last of the file."""
        return sum(int(step) - 1 for step in np.diff(self.columns.get('tick', ())))

    def __repr__(self) -> str:
        facts = ', '.join(f'{key}={self.facts.get(key)!r}' for key in ('node', 'robot'))
        return f'Recording({facts}, ticks={len(self)}, complete={self.complete})'


def read_recording(path: str | PathLike[str]) -> Recording:
    """
    Return the :class:`Recording` in a file that a node wrote, see its parameter `record`.

    Of one that was cut short all whole chunks, half a second each, are returned. ArgumentError if
    the file cannot be read or is none of ours.
    """
    try:
        from softrobot_dynamics.recordings.mcap_content import read
    except ImportError as error:
        raise ArgumentError(
            'path', str(path), f'an environment with mcap: {INSTALL_MCAP}'
        ) from error
    try:
        return _recording(read(Path(path).expanduser()))
    except _DAMAGE_ERRORS as error:
        words = f'an MCAP file that a node has recorded ({error})'
        raise ArgumentError('path', str(path), words) from error


def _recording(content: Any) -> Recording:
    """Return the Recording in a Content; raise one of _DAMAGE_ERRORS if it is none of ours."""
    if content.facts is None:
        raise ValueError('it has no metadata of this package')
    columns: dict[str, NDArray[Any]] = {}
    for channel, layout in content.columns.items():
        columns |= _columns(content.messages[channel], layout)
    changes = [message for channel in content.notes for message in content.messages[channel]]
    parameters = tuple((moment, json.loads(_text(data))) for moment, *_, data in changes)
    return Recording(columns, content.facts, parameters, content.complete)


def _columns(messages: Sequence[Any], layout: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Return {name: array} of the messages of a topic, which are alike but for their numbers."""
    forms = [(form, tuple(shape)) for form, _, shape in layout.values()]
    kind: dict[str, Any] = {'names': list(layout), 'formats': forms}
    if messages:
        kind['offsets'] = [offset for _, offset, _ in layout.values()]
        kind['itemsize'] = len(messages[0][-1])
    dtype: Any = np.dtype(cast(Any, kind))
    rows = np.frombuffer(b''.join(data for *_, data in messages), dtype=dtype)
    columns = {name: rows[name].copy() for name in layout}
    for k, name in enumerate(('log_time', 'stamp', 'tick')):
        columns[name] = np.array([message[k] for message in messages], dtype=np.int64)
    if not columns['tick'].any():  # of a version that did not count them
        columns['tick'] = np.arange(len(messages), dtype=np.int64)
    return columns


def _text(data: bytes) -> str:
    """Return the text of a std_msgs/String."""
    # after the four bytes that say how it is encoded
    (length,) = _LENGTH_STRUCT.unpack_from(data, 4)
    return bytes(data[8 : 8 + length - 1]).decode()
