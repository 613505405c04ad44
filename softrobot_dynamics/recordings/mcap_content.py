# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Read the messages of an MCAP file by topic, up to its end or to where it was truncated."""

from collections.abc import Iterator
import contextlib
from io import BytesIO
import json
from mmap import ACCESS_READ, mmap
from os import PathLike
import struct
from typing import Any

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, Metadata
from mcap.stream_reader import CRCValidationError, get_chunk_data_stream
from zstandard import ZstdError

METADATA_NAME = 'softrobot_dynamics'  # the metadata of a file that is ours
#: What is raised where a file is damaged.
DAMAGE_ERRORS = ZstdError, CRCValidationError, McapError, struct.error, OverflowError, MemoryError
MAGIC = b'\x89MCAP0\r\n'
_RECORD_HEADER = struct.Struct('<BQ')  # opcode, length
_MESSAGE_HEADER = struct.Struct('<HIQQ')  # channel, sequence, log and publish time


def read(path: str | PathLike[str]) -> 'Content':
    """
    Return the :class:`Content` of a file, of a damaged one the part before the damage.

    OSError or ValueError if it is none of this kind.
    """
    with open(path, 'rb') as file:
        data = memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError('it is not an MCAP file')
    content = Content()
    with contextlib.suppress(*DAMAGE_ERRORS):
        for record in _records(data, len(MAGIC)):
            content.take(*record)
    return content


class Content:
    """
    The content of a file, sorted by topic while it is read.

    `messages`: {number of a topic: [(log time [ns], publish time [ns], sequence number, bytes)]};
    `columns`: {number of a topic: {name: (form, offset, shape)}}; `notes`: numbers of topics
    without columns; `facts`: our metadata, None if there are none; `complete`: the file was ended
    in good order.
    """

    def __init__(self) -> None:
        self.facts: dict[str, Any] | None = None
        self.complete = False
        self.columns: dict[int, dict[str, Any]] = {}  # by number of the channel
        self.messages: dict[int, list[Any]] = {}
        self.notes: list[int] = []

    def take(self, opcode: int, body: memoryview) -> None:
        """Process a record; a chunk with all records in it."""
        if opcode == Opcode.MESSAGE:
            channel, sequence, *times = _MESSAGE_HEADER.unpack_from(body)
            if channel in self.messages:
                self.messages[channel].append((*times, sequence, body[_MESSAGE_HEADER.size :]))
        elif opcode == Opcode.CHUNK:
            stream, size = get_chunk_data_stream(_parsed(Chunk, body), validate_crc=True)
            for inner in _records(memoryview(stream.read(size)), 0):
                self.take(*inner)
        elif opcode == Opcode.CHANNEL:
            self._add_channel(_parsed(Channel, body))
        elif opcode == Opcode.METADATA and (data := _parsed(Metadata, body)).name == METADATA_NAME:
            self.facts = {name: json.loads(text) for name, text in data.metadata.items()}
        elif opcode == Opcode.DATA_END:
            self.complete = True

    def _add_channel(self, channel: Channel) -> None:
        """Add a topic; those of other programs define no columns."""
        layout = channel.metadata.get('columns')
        if layout is None or channel.id in self.messages:
            return
        self.messages[channel.id] = []
        if layout := json.loads(layout):
            self.columns[channel.id] = layout
        else:
            self.notes.append(channel.id)


def _parsed(kind: Any, body: memoryview) -> Any:
    return kind.read(ReadDataStream(BytesIO(body)))


def _records(data: memoryview, start: int) -> Iterator[tuple[int, memoryview]]:
    """Yield (opcode, body) of all records in the bytes that are there as a whole."""
    while start + _RECORD_HEADER.size <= len(data):
        opcode, length = _RECORD_HEADER.unpack_from(data, start)
        start += _RECORD_HEADER.size + length
        if start > len(data):
            return
        yield opcode, data[start - length : start]
