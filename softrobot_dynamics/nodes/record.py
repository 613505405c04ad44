# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A record of every tick, streamed to an MCAP file twice a second by a thread of its own.

The loop only assigns numbers to the next row of a ring buffer of prepared messages;
see :mod:`.record_topics`. A killed process loses half a second, and an hour takes no more memory
than a minute.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
import json
from os import PathLike
import struct
from threading import Event, Thread
import time
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.loops.realtime import now, SECOND
from softrobot_dynamics.nodes import record_topics
from softrobot_dynamics.nodes.messaging.template import Slot
from softrobot_dynamics.nodes.record_topics import Topic
from softrobot_dynamics.recordings.mcap_content import METADATA_NAME
from softrobot_dynamics.recordings.mcap_file import McapFile, message_head, MESSAGE_HEADER
from std_msgs.msg import String

MessagePlaces: TypeAlias = dict[int, tuple[Integers, Integers]]
"""By number of a channel: log times [ns] and offsets."""

WRITE_PERIOD = 0.5  # [s]
_RING_ROWS = 4096  # what may wait for a disk, 4 s at 1 kHz
_SEQUENCE_OFFSET = struct.calcsize('<BQH')  # [bytes] of a message before its sequence number
_TIMES_OFFSET = struct.calcsize('<BQHI')  # [bytes] before its two times


class Record:
    """
    A new file at `path`, which must not exist yet (OSError), of `topics` in every tick.

    `facts`: {name: what JSON can hold} of the run as a whole; `parameters`: (topic of their
    changes, {name: value} at the start). `failed(what, error)` is called once if the file cannot
    be written any further; `error` is that error, `lost` the number of ticks that are not in it.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        topics: Sequence[Topic],
        facts: dict[str, Any],
        parameters: tuple[str, Mapping[str, Any]],
        failed: Callable[..., object],
    ) -> None:
        from softrobot_dynamics import __version__

        self.path, self.lost = path, 0
        self.error: Exception | None = None
        self._failed = failed
        self._notes: deque[tuple[int, str]] = deque()
        self._to_wall = time.time_ns() - now()
        self._file = McapFile(path, f'softrobot_dynamics {__version__}')
        facts = {'version': __version__, **facts}
        self._file.add_metadata(
            METADATA_NAME, {name: json.dumps(value) for name, value in facts.items()}
        )
        self._notes_channel = self._channel(parameters[0], String, {})
        self._lay_out(topics)
        self._added = self._taken = 0
        self.note(parameters[1])
        self._closed = Event()
        self._thread = Thread(target=self._run, name='record', daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return self._taken  # ticks in the file

    def _channel(self, name: str, message_type: type, columns: Mapping[str, Slot]) -> int:
        texts = record_topics.type_name(message_type), record_topics.definition(message_type)
        return self._file.add_channel(name, *texts, {'columns': json.dumps(columns)})

    def _lay_out(self, topics: Sequence[Topic]) -> None:
        """Make the ring: a row is a message of each topic, ready but for its numbers."""
        fields: dict[str, tuple[str, int, tuple[int, ...]]] = {}
        row = b''
        self._stamps, self._channels = [], []
        for k, topic in enumerate(topics):
            template = topic.template()
            slots, data = template.slots, bytes(template.data)
            columns = {name: slots[name] for name in topic.columns}
            channel = self._channel(topic.name, type(topic.message), columns)
            start = len(row) + MESSAGE_HEADER.size
            fields[f'times {k}'] = '<i8', len(row) + _TIMES_OFFSET, (2,)
            fields[f'sequence {k}'] = '<u4', len(row) + _SEQUENCE_OFFSET, ()
            for name, slot in columns.items():
                fields[name] = slot.form, start + slot.offset, slot.shape
            if record_topics.STAMP_FIELD in slots:
                stamp = slots[record_topics.STAMP_FIELD]
                fields[f'stamp {k}'] = stamp.form, start + stamp.offset, stamp.shape
                self._stamps.append(f'stamp {k}')
            self._channels.append((channel, len(row)))
            row += message_head(channel, len(data)) + data
        self._rows = np.frombuffer(bytearray(row * _RING_ROWS), dtype=_row_type(fields, len(row)))
        names = [name for topic in topics for name in topic.columns]
        self._columns = [self._rows[name] for name in names]
        self._times, self._sequence = self._rows['times 0'], self._rows['sequence 0']

    def add(self, moment: int, stamp: int, *values: Any) -> None:
        """
        Append a tick at `moment` [ns] of the steady clock, about the state with this `stamp` [ns].

        One that finds the ring full is lost: the sequence numbers of the messages leave it out.

        `values`: one number or vector for each column of the topics, in their order.
        """
        if self.error is not None or self._added - self._taken >= _RING_ROWS:
            self.lost += 1
            return
        i = self._added % _RING_ROWS
        self._times[i] = moment, stamp
        self._sequence[i] = self._added + self.lost
        for column, value in zip(self._columns, values):
            column[i] = value
        self._added += 1

    def wait_for_room(self, patience: float = 2.0) -> None:
        """Wait [s] until there is room for a tick: for loops that do not run in real time."""
        end = time.monotonic() + patience
        while self.error is None and self._added - self._taken >= _RING_ROWS:
            if time.monotonic() > end:
                return
            time.sleep(1e-3)

    def note(self, parameters: Mapping[str, Any]) -> None:
        """Append parameters that have changed, {name: value}; nan, not set, becomes null."""
        values = {name: None if value != value else value for name, value in parameters.items()}
        self._notes.append((now() + self._to_wall, json.dumps(values)))

    def close(self) -> None:
        """Write the remaining rows and the file's index, after the last `add`."""
        self._closed.set()
        self._thread.join()
        try:
            self._file.close()
        except OSError as error:
            self._fail(error)

    def _run(self) -> None:
        ended = False
        while not ended and self.error is None:
            ended = self._closed.wait(WRITE_PERIOD)
            try:
                self._write()
            except Exception as error:  # the loop goes on, and the end of a record is said
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        if self.error is None:
            self.lost += self._added - self._taken
            self.error = error
            self._failed(f'the record {self.path} ends here', error)

    def _write(self) -> None:
        """Write all that was added since the last time."""
        added = self._added
        while self._taken < added or self._notes:
            start = self._taken % _RING_ROWS
            rows = self._rows[start : start + min(added - self._taken, _RING_ROWS - start)]
            data, places = self._messages(rows)
            self._file.add_chunk(data, places)
            self._taken += len(rows)

    def _messages(self, rows: NDArray[np.void]) -> tuple[bytes, MessagePlaces]:
        """Return the bytes of rows and notes, and where messages are in them."""
        places: MessagePlaces = {}
        if len(rows):
            self._complete(rows)
            times, starts = rows['times 0'][:, 0].copy(), rows.itemsize * np.arange(len(rows))
            places = {channel: (times, starts + offset) for channel, offset in self._channels}
        data = bytearray(rows.tobytes())
        notes = [self._notes.popleft() for _ in range(len(self._notes))]
        if notes:
            begins = []
            for moment, words in notes:
                begins.append(len(data))
                data += _noted(self._notes_channel, moment, record_topics.text(words))
            places[self._notes_channel] = np.array([m for m, _ in notes]), np.array(begins)
        return bytes(data), places

    def _complete(self, rows: NDArray[np.void]) -> None:
        """Give every message of the rows its times and its stamp."""
        times = rows['times 0']
        times[:, 0] += self._to_wall
        for k in range(1, len(self._channels)):
            rows[f'times {k}'] = times
            rows[f'sequence {k}'] = rows['sequence 0']
        for name in self._stamps:
            stamp = rows[name]
            stamp[:, 0], stamp[:, 1] = np.divmod(times[:, 1], SECOND)


def _row_type(fields: Mapping[str, tuple[str, int, tuple[int, ...]]], size: int) -> np.dtype[Any]:
    return np.dtype(
        {
            'names': list(fields),
            'formats': [(form, shape) for form, _, shape in fields.values()],
            'offsets': [offset for _, offset, _ in fields.values()],
            'itemsize': size,
        }
    )


def _noted(channel: int, moment: int, data: bytes) -> bytes:
    head = bytearray(message_head(channel, len(data)))
    struct.pack_into('<QQ', head, _TIMES_OFFSET, moment, moment)
    return bytes(head) + data
