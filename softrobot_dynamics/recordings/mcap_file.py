# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Write MCAP files by chunks of serialised messages.

The records are those of the `mcap` library; its own writer takes one message at a time, some
microseconds of Python for each (`benchmarks/costs.py`), all in the way of a loop in the same
process. Whatever ends the process, all but the chunk being written is there: a chunk is handed to
the kernel whole, or taken back.
"""

import os
from os import PathLike
import struct
from typing import Any
import zlib

from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Channel,
    Chunk,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
)
import numpy as np
from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.recordings.mcap_content import MAGIC
import zstandard

# opcode, length, channel, sequence, log and publish time
MESSAGE_HEADER = struct.Struct('<BQHIQQ')
_INDEX_ENTRY = np.dtype([('time', '<i8'), ('offset', '<i8')])


def message_head(channel: int, size: int) -> bytes:
    """Return the header of a message of `size` bytes, its times zero."""
    rest = MESSAGE_HEADER.size - 9  # the length counts what comes after itself
    return MESSAGE_HEADER.pack(Opcode.MESSAGE, rest + size, channel, 0, 0, 0)


class McapFile:
    """A new file at `path`, which must not exist; `library` says who writes it."""

    def __init__(self, path: str | PathLike[str], library: str) -> None:
        self._file = open(path, 'xb', buffering=0)
        self._end = 0
        self._schemas: dict[str, Any] = {}
        self._channels: dict[int, Any] = {}
        self._metadata: list[Any] = []
        self._counts: dict[int, int] = {}
        self._chunks = bytearray()  # of the index, 1 MB in an hour
        self._chunk_count = 0
        self._span: tuple[int, int] | None = None
        self._compress = zstandard.ZstdCompressor(level=1).compress
        self._write(MAGIC + _bytes(Header(profile='ros2', library=library)))

    def add_channel(
        self, topic: str, schema_name: str, schema_text: str, metadata: dict[str, str]
    ) -> int:
        """Add a topic of ROS 2 messages, whose type is a name and a text; return its number."""
        if schema_name not in self._schemas:
            number = len(self._schemas) + 1
            schema = Schema(
                id=number, name=schema_name, encoding='ros2msg', data=schema_text.encode()
            )
            self._schemas[schema_name] = schema
            self._write(_bytes(schema))
        number = len(self._channels) + 1
        channel = Channel(
            id=number,
            topic=topic,
            message_encoding='cdr',
            metadata=metadata,
            schema_id=self._schemas[schema_name].id,
        )
        self._channels[number] = channel
        self._write(_bytes(channel))
        return number

    def add_metadata(self, name: str, values: dict[str, str]) -> None:
        """Add texts by name under one name for all."""
        data = _bytes(Metadata(name=name, metadata=values))
        self._metadata.append(MetadataIndex(offset=self._end, length=len(data), name=name))
        self._write(data)

    def add_chunk(
        self, data: bytes | bytearray | memoryview, places: dict[int, tuple[Integers, Integers]]
    ) -> None:
        """
        Add a chunk of messages.

        `places` says where they are in `data`: {channel: (log times [ns], offsets)}. OSError
        leaves the file as it was before.
        """
        times = np.concatenate([times for times, _ in places.values()])
        facts: dict[str, Any] = {
            'message_start_time': int(times.min()),
            'message_end_time': int(times.max()),
            'compression': 'zstd',
            'uncompressed_size': len(data),
        }
        packed, start = self._compress(data), self._end
        content = bytearray(_bytes(Chunk(data=packed, uncompressed_crc=zlib.crc32(data), **facts)))
        length, offsets = len(content), {}
        for channel, place in places.items():
            offsets[channel] = start + len(content)
            content += _message_index(channel, *place)
        self._write(content)
        self._chunks += _bytes(
            ChunkIndex(
                chunk_start_offset=start,
                chunk_length=length,
                compressed_size=len(packed),
                message_index_offsets=offsets,
                message_index_length=len(content) - length,
                **facts,
            )
        )
        self._count((facts['message_start_time'], facts['message_end_time']), places)

    def _count(self, span: tuple[int, int], places: dict[int, tuple[Integers, Integers]]) -> None:
        self._chunk_count += 1
        before = self._span or span
        self._span = min(before[0], span[0]), max(before[1], span[1])
        for channel, (times, _) in places.items():
            self._counts[channel] = self._counts.get(channel, 0) + len(times)

    def close(self) -> None:
        """Write the summary, by which readers find their way; OSError: there is none."""
        try:
            data = _bytes(DataEnd(0))
            summary = b''.join(
                map(_bytes, [*self._schemas.values(), *self._channels.values(), *self._metadata])
            )
            summary += bytes(self._chunks) + _bytes(self._statistics())
            start = self._end + len(data)
            footer = Footer(summary_start=start, summary_offset_start=0, summary_crc=0)
            self._write(data + summary + _bytes(footer) + MAGIC)
        finally:
            self._file.close()

    def _statistics(self) -> Any:
        """Return the record of statistics at the end of a file."""
        first, last = self._span or (0, 0)
        return Statistics(
            attachment_count=0,
            channel_count=len(self._channels),
            channel_message_counts=self._counts,
            chunk_count=self._chunk_count,
            message_count=sum(self._counts.values()),
            message_end_time=last,
            message_start_time=first,
            metadata_count=len(self._metadata),
            schema_count=len(self._schemas),
        )

    def _write(self, data: bytes | bytearray | memoryview) -> None:
        """Append all of the data, or nothing."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            os.ftruncate(self._file.fileno(), self._end)
            os.lseek(self._file.fileno(), self._end, os.SEEK_SET)
            raise
        self._end += len(data)


def _bytes(record: McapRecord) -> bytes:
    builder = RecordBuilder()
    record.write(builder)
    return builder.end()


def _message_index(channel: int, times: Integers, starts: Integers) -> bytes:
    entries = np.empty(len(times), dtype=_INDEX_ENTRY)
    entries['time'], entries['offset'] = times, starts
    size = entries.nbytes
    return struct.pack('<BQHI', Opcode.MESSAGE_INDEX, 6 + size, channel, size) + entries.tobytes()
