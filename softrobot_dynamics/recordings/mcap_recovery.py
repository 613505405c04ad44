# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Recover the whole messages of a truncated MCAP file of ROS 2, as of a killed recorder."""

import contextlib
from os import PathLike

from mcap.opcode import Opcode
from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, Writer
from softrobot_dynamics.recordings.mcap_content import DAMAGE_ERRORS, MAGIC

_HEAD_SIZE = len(MAGIC)
_FOOTER_SIZE = 1 + 8 + 20  # [bytes] of the record before the magic at the end


def is_cut(path: str | PathLike[str]) -> bool:
    """Tell whether a file begins as an MCAP file does, but does not end as one."""
    with open(path, 'rb') as file:
        begins = file.read(_HEAD_SIZE) == MAGIC
        size = file.seek(0, 2)
        if not begins or size < 2 * _HEAD_SIZE + _FOOTER_SIZE:
            return begins
        file.seek(size - _HEAD_SIZE - _FOOTER_SIZE)
        end = file.read()
    return end[0] != Opcode.FOOTER or end[-_HEAD_SIZE:] != MAGIC


def recover(path: str | PathLike[str], target: str | PathLike[str]) -> int | None:
    """
    Write a whole MCAP file with the messages of one that was cut, up to where it was.

    Return when the last of them was recorded [ns], None if there is none. OSError as of files.
    """
    last = None
    schemas: dict[int, int] = {0: 0}
    channels: dict[int, int] = {}
    with open(path, 'rb') as file, open(target, 'wb') as copy:
        writer = Writer(copy, compression=CompressionType.NONE)
        writer.start(profile='ros2')
        with contextlib.suppress(*DAMAGE_ERRORS, EOFError, ValueError):
            for record in StreamReader(file, skip_magic=False, validate_crcs=True).records:
                if isinstance(record, Schema) and record.id not in schemas:
                    schemas[record.id] = writer.register_schema(
                        record.name, record.encoding, record.data
                    )
                elif isinstance(record, Channel) and record.id not in channels:
                    channels[record.id] = writer.register_channel(
                        record.topic,
                        record.message_encoding,
                        schemas.get(record.schema_id, 0),
                        record.metadata,
                    )
                elif isinstance(record, Message) and record.channel_id in channels:
                    writer.add_message(
                        channels[record.channel_id],
                        record.log_time,
                        record.data,
                        record.publish_time,
                        record.sequence,
                    )
                    last = max(last or 0, record.log_time)
        writer.finish()
    return last
