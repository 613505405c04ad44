# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Encode and decode messages, in a tenth of the time while only their numbers change.

A :class:`MessageTemplate` says where the numbers of the last message lie. What else has changed is
noticed by comparing all the other bytes; such a message goes the ordinary way.
"""

from __future__ import annotations

from array import array
from typing import Any, TypeAlias

from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.nodes.messaging.message_sizes import most_bytes, require_size
from softrobot_dynamics.nodes.messaging.template import (
    find,
    GeneratedMessage,
    MessageTemplate,
    serialised,
    STAMP_STRUCT,
)
from softrobot_dynamics.nodes.messaging.trajectory_bytes import read_trajectory
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

#: The arrays of doubles of the types that have a short way; of a trajectory of one point.
_ARRAY_FIELDS = {
    JointState: ('position', 'velocity', 'effort'),
    Float64MultiArray: ('data',),
    JointTrajectory: ('points.0.positions', 'points.0.velocities', 'points.0.effort'),
}
_Short: TypeAlias = 'JointState | Float64MultiArray | JointTrajectory'
_STAMP_FIELD = 'stamp'  # of a template


class _Layout(MessageTemplate):
    """The template of a message, with its stamp and its arrays of doubles as fields."""

    def __init__(self, message: _Short, data: bytes) -> None:
        names = _ARRAY_FIELDS[type(message)]
        fields = {name: name for name in names}
        if hasattr(message, 'header'):
            fields[_STAMP_FIELD] = 'header.stamp'
        super().__init__(message, data, fields)
        slots = self.slots
        self.stamp = slots[_STAMP_FIELD].offset if _STAMP_FIELD in slots else None
        self.arrays = [(name, *slots[name].bounds) for name in names if slots[name].shape != (0,)]


def _find_layout(message: _Short, data: bytes) -> _Layout | None:
    """Return the layout of a message's bytes, None if it is not certain."""
    try:
        return _Layout(message, data)
    except MessageError:
        return None


class Decoder:
    """The messages of one topic from their bytes, of so many entries of ours."""

    def __init__(self, message_type: type, entries: int = 0) -> None:
        self._type, self._most = message_type, most_bytes(message_type, entries)
        self._message: Any = None  # that of the layout, used again and again
        self._layout: _Layout | None = None

    def decode(self, data: bytes) -> Any:
        """Return the message, an object that may change with the next call; MessageError."""
        layout = self._layout
        if layout is None or not layout.matches(data):
            layout = self._decode_anew(data)
            if layout is None:
                return self._message
        message = self._message
        if layout.stamp is not None:
            stamp = message.header.stamp
            stamp.sec, stamp.nanosec = STAMP_STRUCT.unpack_from(data, layout.stamp)
        for field, begin, end in layout.arrays:
            setattr(message, field, array('d', data[begin:end]))
        return message

    def _decode_anew(self, data: bytes) -> _Layout | None:
        """Make a new message; return the layout by which its numbers are to be read, if any."""
        require_size(len(data), self._most)
        if self._type is JointTrajectory:
            self._message = read_trajectory(data)
            return None
        layout = None
        try:
            message = deserialize_message(data, self._type)
            if self._type in _ARRAY_FIELDS:
                layout = _find_layout(message, data)
                if layout is None:  # which leaves numbers that are not those of the bytes
                    message = deserialize_message(data, self._type)
        except Exception as error:  # of whatever kind the middleware raises
            raise MessageError(f'unreadable: {error}') from error
        self._message, self._layout = message, layout
        return layout


class Encoder:
    """One message object, whose numbers alone change, as bytes for `Publisher.publish`."""

    def __init__(self, message: _Short) -> None:
        self._message, paths = message, _ARRAY_FIELDS[type(message)]
        self._fields = [find(message, path) for path in paths]  # (the part that has it, name)
        self._layout: _Layout | None = None
        self._arrays: list[tuple[GeneratedMessage, str, int, int]] = []
        self._counts: list[int] | None = None

    def encode(self) -> bytes:
        """Return the message as it is now."""
        message = self._message
        counts = [len(getattr(part, name)) for part, name in self._fields]
        if counts != self._counts:
            self._find_places(counts)
        layout = self._layout
        if layout is None:
            return serialize_message(message)
        numbers = layout.data
        if layout.stamp is not None:
            stamp = message.header.stamp
            STAMP_STRUCT.pack_into(numbers, layout.stamp, stamp.sec, stamp.nanosec)
        for part, name, begin, end in self._arrays:
            numbers[begin:end] = getattr(part, name).tobytes()
        return bytes(numbers)

    def _find_places(self, counts: list[int]) -> None:
        """Find where the numbers lie in the bytes of a message with so many."""
        data = serialised(self._message)
        copy = deserialize_message(data, type(self._message))
        self._layout, self._counts = _find_layout(copy, data), counts
        arrays = self._layout.arrays if self._layout is not None else ()
        parts = dict(zip(_ARRAY_FIELDS[type(self._message)], self._fields))
        self._arrays = [(*parts[path], begin, end) for path, begin, end in arrays]
