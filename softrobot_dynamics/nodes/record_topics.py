# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The topics of a record: the standard messages of every tick, and the definitions of their types.

Names and counts are the same from one tick to the next. So a tick is one row of bytes in which
only numbers change, see :class:`MessageTemplate`, and rows are filled without message objects.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from softrobot_dynamics.nodes.messaging.template import MessageTemplate
from std_msgs.msg import Float64, Float64MultiArray, Int32, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

STAMP_FIELD = 'stamp'  # of a topic's template
_ROS_PRIMITIVES = {'double': 'float64', 'float': 'float32', 'boolean': 'bool', 'octet': 'byte'}
_SEPARATOR = '=' * 80


class Topic(NamedTuple):
    """One message of every tick, with its arrays as long as they will be."""

    name: str
    message: JointState | JointTrajectory | Float64 | Float64MultiArray | Int32
    columns: dict[str, str]  # {name of a column: path of the field that holds its numbers}

    def template(self) -> MessageTemplate:
        """Return the template of the message: the columns are its fields, and its stamp."""
        stamp = {STAMP_FIELD: 'header.stamp'} if hasattr(self.message, 'header') else {}
        return MessageTemplate.of(self.message, {**self.columns, **stamp})


def joint_state(name: str, names: Sequence[str], **columns: str) -> Topic:
    """Return the Topic of a JointState: `columns` say which field (position, ...) is which."""
    message = JointState(name=list(names), **_zeros(columns, len(names)))
    return Topic(name, message, {column: field for field, column in columns.items()})


def trajectory_point(name: str, names: Sequence[str], **columns: str) -> Topic:
    """Return the Topic of a JointTrajectory of one point, with `columns` by field of the point."""
    point = JointTrajectoryPoint(**_zeros(columns, len(names)))
    message = JointTrajectory(joint_names=list(names), points=[point])
    return Topic(name, message, {column: f'points.0.{x}' for x, column in columns.items()})


def number(name: str, column: str, whole: bool = False) -> Topic:
    """Return the Topic of a Float64, or of an Int32 for whole ones."""
    return Topic(name, Int32() if whole else Float64(), {column: 'data'})


def numbers(name: str, column: str, size: int) -> Topic:
    """Return the Topic of a Float64MultiArray of ``size`` numbers."""
    return Topic(name, Float64MultiArray(data=array('d', bytes(8 * size))), {column: 'data'})


def _zeros(fields: Iterable[str], size: int) -> dict[str, array[float]]:
    return {field: array('d', bytes(8 * size)) for field in fields}


def text(words: str) -> bytes:
    """Return the bytes of a std_msgs/String."""
    return serialize_message(String(data=words))


def type_name(message_type: type) -> str:
    """Return the name of a message type, as pkg/msg/Type."""
    package, _, _ = message_type.__module__.partition('.')
    return f'{package}/msg/{message_type.__name__}'


def definition(message_type: type) -> str:
    """Return a message type as the text of its .msg file and of those that it needs."""
    waiting: list[Any] = [message_type]
    seen: set[str] = set()
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
            lines.append(f'{_ROS_PRIMITIVES.get(base, base)}{brackets} {field}\n')
            if '/' in base:
                package, _, inner = base.partition('/')
                waiting.append(getattr(import_module(f'{package}.msg'), inner))
        parts.append((f'{_SEPARATOR}\nMSG: {name}\n' if parts else '') + ''.join(lines))
    return ''.join(parts)


def _base(words: str) -> tuple[str, str]:
    """Return (type, brackets) of a field: 'sequence<double>' is ('double', '[]')."""
    if words.startswith('sequence<'):
        base, _, bound = words[len('sequence<') : -1].partition(', ')
        return base, f'[<={bound}]' if bound else '[]'
    base, bracket, count = words.partition('[')
    return base, bracket + count
