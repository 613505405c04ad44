# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Topics of commands u (m,), whole on one topic or in parts on several, at both ends.

Parts are those of `configuration.command_parts`. Each is converted to its unit; a whole command is
read and written by a reader and a writer of :mod:`.command_messages` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from builtin_interfaces.msg import Time
import numpy as np
from rclpy.node import Node
from softrobot_dynamics.annotations import Integers, Vector
from softrobot_dynamics.configuration.command_parts import CommandPart, TRAJECTORY
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.contracts import CommandSource
from softrobot_dynamics.nodes.messaging.command_messages import (
    CommandArrayReader,
    CommandArrayWriter,
    CommandReader,
    CommandTrajectoryReader,
    CommandTrajectoryWriter,
    CommandWriter,
)
from softrobot_dynamics.nodes.messaging.inbox import Inbox
from softrobot_dynamics.nodes.messaging.parts_inbox import PartsInbox
from softrobot_dynamics.nodes.messaging.qos import NEWEST_QOS

#: By the types of `configuration.command_parts`.
_READERS: dict[str, Any] = {
    'joint_state': CommandReader,
    'multi_array': CommandArrayReader,
    TRAJECTORY: CommandTrajectoryReader,
}
_WRITERS: dict[str, Any] = {
    'joint_state': CommandWriter,
    'multi_array': CommandArrayWriter,
    TRAJECTORY: CommandTrajectoryWriter,
}
#: Of commands on one topic, as readers name them and as the controller does.
_SUBSCRIBED = {'joint_state': 'joint_commands', 'multi_array': 'controller/commands'}
_PUBLISHED = {'joint_state': 'joint_commands', 'multi_array': '~/commands'}


def publishing_topic(part: CommandPart) -> str:
    """Return the topic on which the controller publishes a part."""
    return part.topic or _PUBLISHED[part.type]


def subscribed_topic(part: CommandPart) -> str:
    """Return the topic on which others hear a part."""
    return part.topic or _SUBSCRIBED[part.type]


class MessageWriter(Protocol):
    """Writes commands u (k,) as messages of one type, always in the same object."""

    @property
    def message_type(self) -> type:
        """The type of the messages."""

    @property
    def message(self) -> Any:
        """The message as it is now."""

    def write(self, u: Vector, stamp: Time, /) -> Any:
        """Return the message with the commands and perhaps a stamp, until the next call."""


def writer_of(part: CommandPart) -> MessageWriter:
    """Return the writer of u (m,) as the messages of a part."""
    given = {'horizon': part.horizon} if part.type == TRAJECTORY else {}
    writer: MessageWriter = _WRITERS[part.type](part.names, part.fields, **given)
    return PartWriter(writer, part) if part.name else writer


def carries_stamp(part: CommandPart) -> bool:
    """Tell whether the messages of a part carry the stamp of the state that they answer."""
    return part.type == 'joint_state'


class PartWriter:
    """The commands of a part, in its unit, by the `writer` of its type."""

    def __init__(self, writer: MessageWriter, part: CommandPart) -> None:
        self.message, self.message_type = writer.message, writer.message_type
        self._write, self._indices = writer.write, np.array(part.indices)
        self._values, self._sizes = np.empty(len(part.indices)), _sizes(part)

    def write(self, u: Vector, stamp: Time) -> Any:
        """Return the message with its commands of u (m,), until the next call."""
        values = u.take(self._indices, out=self._values, mode='clip')
        if self._sizes is not None:
            values /= self._sizes
        return self._write(values, stamp)


class PartsReader:
    """
    Reads (part, message) of a :class:`.PartsInbox` as (its commands (k,), stamp [ns]).

    `part` is that of the last message read; `names` are the parts', and `places` says where their
    commands are in u (m,).
    """

    def __init__(self, parts: Sequence[CommandPart]) -> None:
        self.part, self.names = 0, tuple(part.name for part in parts)
        self.places: tuple[Integers, ...] = tuple(np.array(part.indices) for part in parts)
        self._readers = [_READERS[part.type](part.names, part.fields) for part in parts]
        self._sizes = [_sizes(part) for part in parts]

    def read(self, addressed: tuple[int, Any]) -> tuple[Vector, int]:
        """Return (commands, stamp of the state answered, 0 if not said); or MessageError."""
        self.part, message = addressed
        try:
            values, stamp = self._readers[self.part].read(message)
        except MessageError as error:
            raise MessageError(f'{error.reason} ({self.names[self.part]})') from None
        sizes = self._sizes[self.part]
        return (values if sizes is None else values * sizes), stamp


def _sizes(part: CommandPart) -> Vector | None:
    """Return the sizes (k,) of the unit of a part, None for SI units."""
    return None if set(part.sizes) <= {1.0} else np.array(part.sizes)


def subscribe_to_commands(node: Node, parts: Sequence[CommandPart]) -> tuple[Any, CommandSource]:
    """Return (inbox, reader) of commands in parts."""
    kinds = [_READERS[part.type].message_type for part in parts]
    topics = [
        (kind, subscribed_topic(part), len(part.indices))
        for kind, part in zip(kinds, parts, strict=True)
    ]
    if parts[0].name:
        return PartsInbox(node, topics, NEWEST_QOS), PartsReader(parts)
    (part,), ((kind, topic, count),) = parts, topics
    inbox = Inbox(node, kind, topic, NEWEST_QOS, count)
    return inbox, _READERS[part.type](part.names, part.fields)
