# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Layout of a record: the standard messages of every tick, and where numbers stand in their bytes.

Names and counts are the same from one tick to the next. So a tick is one row of bytes in which
only numbers change, and rows are filled by assignment, without any message object. Where the
numbers stand is found by serialising a message with numbers that cannot be mistaken.
"""

from array import array
from collections.abc import Sequence
from importlib import import_module
import struct
from typing import Any, NamedTuple

import numpy as np
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from softrobot_dynamics.nodes.messaging.codec import serialised
from std_msgs.msg import Float64, Int32, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

_STAMP = struct.Struct('<iI')
_STAMP_MARK = (0x5EEDFACE, 0x2C0FFEE5)
_INTEGER_MARK = 0x1DEA5EED
_PRIMITIVES = {'double': 'float64', 'float': 'float32', 'boolean': 'bool', 'octet': 'byte'}
_RULE = '=' * 80


class Topic(NamedTuple):
    """One message of every tick, with its arrays as long as they will be."""

    name: str
    message: Any
    columns: tuple[Any, ...]  # of (the part of the message, its field, name of the column)


class Column(NamedTuple):
    """Numbers of one name in the bytes of a message."""

    form: str  # of numpy: <f8 or <i4
    offset: int
    shape: tuple[int, ...]  # () or (n,)


def joint_state(name: str, names: Sequence[str], **columns: Any) -> Topic:
    """Return the Topic of a JointState: `columns` say which field (position, ...) is which."""
    message = JointState(name=list(names))
    return Topic(name, message, _marked(message, len(names), columns))


def trajectory_point(name: str, names: Sequence[str], **columns: Any) -> Topic:
    """Return the Topic of a JointTrajectory of one point, with `columns` by field of the point."""
    point = JointTrajectoryPoint()
    marked = _marked(point, len(names), columns)
    return Topic(name, JointTrajectory(joint_names=list(names), points=[point]), marked)


def number(name: str, column: str) -> Topic:
    """Return the Topic of a Float64."""
    return _scalar(name, Float64(data=-3.141e59), column)


def whole_number(name: str, column: str) -> Topic:
    """Return the Topic of an Int32."""
    return _scalar(name, Int32(data=_INTEGER_MARK), column)


def _marked(part: Any, size: int, columns: Any) -> Any:
    """Give the fields of a part of a message numbers that stand for themselves."""
    for k, field in enumerate(columns):
        marks = array('d', [-3.141e59 / (1 + k + 8 * i) for i in range(size)])
        setattr(part, field, marks)
    return tuple((part, field, column) for field, column in columns.items())


def _scalar(name: str, message: Any, column: str) -> Topic:
    return Topic(name, message, ((message, 'data', column),))


def layout(topic: Topic) -> tuple[bytes, dict[str, Column], Any]:
    """Return (the bytes of a topic's message, {column: Column}, offset of the stamp or None)."""
    message, stamp = topic.message, None
    if hasattr(message, 'header'):
        message.header.stamp.sec, message.header.stamp.nanosec = _STAMP_MARK
    data = serialised(message)
    if hasattr(message, 'header'):
        stamp = _place(data, _STAMP.pack(*_STAMP_MARK))
    return data, {name: _find(data, getattr(*rest)) for *rest, name in topic.columns}, stamp


def _find(data: bytes, marks: Any) -> Any:
    if isinstance(marks, int):
        return Column('<i4', _place(data, struct.pack('<i', marks)), ())
    if isinstance(marks, float):
        return Column('<f8', _place(data, struct.pack('<d', marks)), ())
    marks = np.array(marks)
    return Column('<f8', _place(data, marks.tobytes()) if len(marks) else 0, marks.shape)


def _place(data: bytes, pattern: bytes) -> int:
    if data.count(pattern) != 1:
        raise ValueError('a number of a message is not where it should be')
    return data.index(pattern)


def text(words: str) -> bytes:
    """Return the bytes of a std_msgs/String."""
    return serialize_message(String(data=words))


def type_name(message_type: Any) -> str:
    """Return the name of a message type, as pkg/msg/Type."""
    package, _, _ = message_type.__module__.partition('.')
    return f'{package}/msg/{message_type.__name__}'


def definition(message_type: Any) -> str:
    """Return a message type as the text of its .msg file and of those that it needs."""
    waiting, seen = [message_type], set()
    parts: list[str] = []
    while waiting:
        kind = waiting.pop(0)
        name = type_name(kind).replace('/msg/', '/')
        if name in seen:
            continue
        seen.add(name)
        lines = []
        for field, words in kind.get_fields_and_field_types().items():
            base, brackets = _base(words)
            lines.append(f'{_PRIMITIVES.get(base, base)}{brackets} {field}\n')
            if '/' in base:
                package, _, inner = base.partition('/')
                waiting.append(getattr(import_module(f'{package}.msg'), inner))
        parts.append((f'{_RULE}\nMSG: {name}\n' if parts else '') + ''.join(lines))
    return ''.join(parts)


def _base(words: str) -> tuple[str, str]:
    """Return (type, brackets) of a field: 'sequence<double>' is ('double', '[]')."""
    if words.startswith('sequence<'):
        base, _, bound = words[len('sequence<') : -1].partition(', ')
        return base, f'[<={bound}]' if bound else '[]'
    base, bracket, count = words.partition('[')
    return base, bracket + count
