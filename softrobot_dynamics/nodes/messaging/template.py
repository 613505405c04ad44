# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Templates of serialised messages in which only numbers change, with the offsets of these.

From one message of a loop to the next, names, counts and frames stay the same. So the numbers are
written and read where they lie, without making message objects.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
import contextlib
from itertools import count, islice
import math
import re
from struct import Struct
from typing import Any, NamedTuple, Protocol, TYPE_CHECKING

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from softrobot_dynamics.annotations import Array
from softrobot_dynamics.errors import MessageError

if TYPE_CHECKING:
    from builtin_interfaces.msg import Time

STAMP_STRUCT = Struct('=iI')  # of a builtin_interfaces/Time: seconds, nanoseconds
_ENCAPSULATION_SIZE = 4  # [bytes] of the header that says how the rest is encoded
_CDR_ENCODINGS = {b'\0\0', b'\0\1'}  # begin of the header: big and little endian
_SIZES = {
    'boolean': 1, 'octet': 1, 'char': 1, 'int8': 1, 'uint8': 1, 'int16': 2, 'uint16': 2,
    'int32': 4, 'uint32': 4, 'float': 4, 'int64': 8, 'uint64': 8, 'double': 8,
}  # fmt: skip
_LENGTH_SIZE = 4  # [bytes] of the length of a text or a sequence
_SEQUENCE = re.compile(r'sequence<(.+?)(?:, \d+)?>')
_ARRAY = re.compile(r'(.+)\[\d+\]')
#: Codes of the module `array` by the type of a field in the definition of a message.
_ARRAY_CODES = {'double': 'd', 'float': 'f', 'int32': 'i', 'uint32': 'i'}
_DTYPES = {code: np.dtype(code).str for code in _ARRAY_CODES.values()}
#: Numbers that occur nowhere else, and fractions of them.
_MARK_NUMBERS = {'d': -3.141e59, 'f': -1.5e30}
_FIRST_MARK_INTEGER = 0x1DEA5EED  # and the next ones


class GeneratedMessage(Protocol):
    """A message of a type that ROS generates from its definition."""

    @classmethod
    def get_fields_and_field_types(cls) -> dict[str, str]:
        """Return {name: type} of its fields, in the order of their bytes."""


class Slot(NamedTuple):
    """Place and format of the numbers of a field in the bytes of a message."""

    form: str  # of numpy, in the byte order of this machine: <f8, <f4, <i4
    offset: int
    shape: tuple[int, ...]  # (), (n,); (2,) a stamp, (4,) a colour, (n, 3) points

    @property
    def bounds(self) -> tuple[int, int]:
        """Return where they begin, and where they end."""
        return self.offset, self.offset + int(self.form[-1]) * math.prod(self.shape)


class MessageTemplate:
    """
    A message as bytes in which the numbers of some fields are replaced in place.

    It is made of a message, its bytes, and ``fields``: {name: path}, a path like ``header.stamp``
    or ``markers.0.points``. A field is a number, an array of numbers, a message of numbers of one
    type (a stamp, a colour), or a list of such messages (points). To find their places, every
    number of the message is replaced by a value of its own, which stays in it, and the message
    serialised again. MessageError where a place is not certain, as other bytes look the same.
    """

    def __init__(self, message: GeneratedMessage, data: bytes, fields: Mapping[str, str]) -> None:
        numbers = count()
        marks = {name: _mark(*find(message, path), numbers) for name, path in fields.items()}
        marked = serialize_message(message)[: len(data)]  # more would be unused
        if len(marked) < len(data) or marked[:_ENCAPSULATION_SIZE] != data[:_ENCAPSULATION_SIZE]:
            raise MessageError('contradiction: bytes that differ from those that ROS encodes here')
        self.data, self._length = bytearray(data), len(data)
        self.slots = {
            name: Slot(_DTYPES[values.typecode], _place(marked, name, values), shape)
            for name, (values, shape) in marks.items()
        }
        gaps = padding(message, data)
        places = sorted([*gaps, *(slot.bounds for slot in self.slots.values())])
        begins, ends = [0, *(end for _, end in places)], [*(x for x, _ in places), len(data)]
        self._constant = [(x, y, data[x:y]) for x, y in zip(begins, ends) if y > x]

    @classmethod
    def of(cls, message: GeneratedMessage, fields: Mapping[str, str]) -> MessageTemplate:
        """Return the template of a message, which stays as it is; MessageError."""
        data = serialised(message)
        return cls(deserialize_message(data, type(message)), data, fields)

    def matches(self, data: bytes) -> bool:
        """Tell whether bytes differ from the template in nothing but its fields and padding."""
        if len(data) != self._length:
            return False
        for begin, end, constant in self._constant:
            if data[begin:end] != constant:
                return False
        return True

    def view(self, name: str) -> Array:
        """Return the numbers of a field, of the slot's shape, in the memory of `data`."""
        form, offset, shape = self.slots[name]
        return np.ndarray(shape, form, self.data, offset)

    def write_stamp(self, name: str, stamp: Time) -> None:
        """Write a stamp message into a field that is one."""
        STAMP_STRUCT.pack_into(self.data, self.slots[name].offset, stamp.sec, stamp.nanosec)


def serialised(message: GeneratedMessage) -> bytes:
    """Return the bytes of a message, without those that Fast DDS reserves and leaves unused."""
    data = serialize_message(message)
    with contextlib.suppress(Exception):  # of whatever kind, as soon as one is missing
        while deserialize_message(data[:-1], type(message)) == message:
            data = data[:-1]
    return data


def padding(message: GeneratedMessage, data: bytes) -> list[tuple[int, int]]:
    """
    Return where padding begins and ends in the bytes of a message, and what follows the message.

    In the encoding of DDS (XCDR version 1) a number begins at a multiple of its size, counted from
    the end of the head. Fast DDS does not set the bytes that this leaves free, so they differ from
    one message to the next. None are found in other encodings, in messages with wide strings, nor
    where the message does not end within the bytes.
    """
    if data[:2] not in _CDR_ENCODINGS:
        return []
    place, found = 0, []
    try:
        parts = list(_parts(message))
    except LookupError:
        return []
    for alignment, size in parts:
        begin = -(-place // alignment) * alignment
        if begin > place:
            found.append((_ENCAPSULATION_SIZE + place, _ENCAPSULATION_SIZE + begin))
        place = begin + size
    end = _ENCAPSULATION_SIZE + place
    if end > len(data):
        return []
    return [*found, (end, len(data))] if end < len(data) else found


def _parts(message: GeneratedMessage) -> Iterator[tuple[int, int]]:
    """Yield (alignment, size) of the parts of a message, in bytes."""
    for field, kind in message.get_fields_and_field_types().items():
        yield from _parts_of(getattr(message, field), kind)


def _parts_of(value: Any, kind: str) -> Iterator[tuple[int, int]]:
    """
    Yield (alignment, size) of the parts of a value of a type in the definition of a message.

    Raises LookupError for types of no known size, as wide strings.
    """
    sequence = _SEQUENCE.fullmatch(kind)
    several = sequence or _ARRAY.fullmatch(kind)
    if sequence:
        yield _LENGTH_SIZE, _LENGTH_SIZE
    if several and several[1] in _SIZES:
        if len(value):
            size = _SIZES[several[1]]
            yield size, size * len(value)
    elif several:
        for each in value:
            yield from _parts_of(each, several[1])
    elif kind in _SIZES:
        yield _SIZES[kind], _SIZES[kind]
    elif kind.startswith('string'):
        yield _LENGTH_SIZE, _LENGTH_SIZE + len(value.encode()) + 1
    elif hasattr(value, 'get_fields_and_field_types'):
        yield from _parts(value)
    else:
        raise LookupError(kind)


def find(message: GeneratedMessage, path: str) -> tuple[GeneratedMessage, str]:
    """Return (the part of a message that has the field at the end of a path, its name)."""
    part: Any = message
    *steps, field = path.split('.')
    for step in steps:
        part = part[int(step)] if step.isdecimal() else getattr(part, step)
    return part, field


def _place(data: bytes, name: str, values: array[Any]) -> int:
    """Return where the values of a field begin, 0 if there are none; MessageError."""
    pattern = values.tobytes()
    if pattern and (found := data.count(pattern)) != 1:
        words = f'the numbers of {name} are found {found} times in a message, expected once'
        raise MessageError(f'contradiction: {words}')
    return data.index(pattern)


def _mark(
    part: GeneratedMessage, field: str, numbers: Iterator[int]
) -> tuple[array[Any], tuple[int, ...]]:
    """Give every number of a field a value of its own; return them in a row, and their shape."""
    value = getattr(part, field)
    if isinstance(value, array):
        marks = _marks(value.typecode, len(value), numbers)
        setattr(part, field, marks)
        return marks, (len(marks),)
    if isinstance(value, list):
        rows = [_mark_all(each, numbers) for each in value]
        return _joined(rows), (len(rows), len(rows[0]))
    if hasattr(value, 'get_fields_and_field_types'):
        marks = _mark_all(value, numbers)
        return marks, (len(marks),)
    marks = _marks(_ARRAY_CODES[part.get_fields_and_field_types()[field]], 1, numbers)
    setattr(part, field, marks[0])
    return marks, ()


def _mark_all(part: GeneratedMessage, numbers: Iterator[int]) -> array[Any]:
    """Give every number of a message, all of one type, a value of its own; return them."""
    fields = part.get_fields_and_field_types()
    return _joined([_mark(part, field, numbers)[0] for field in fields])


def _joined(rows: Sequence[array[Any]]) -> array[Any]:
    joined = rows[0][:]
    for row in rows[1:]:
        joined.extend(row)
    return joined


def _marks(code: str, size: int, numbers: Iterator[int]) -> array[Any]:
    """Return values (size,) that differ from those of all other numbers."""
    if code == 'i':
        return array(code, [_FIRST_MARK_INTEGER + k for k in islice(numbers, size)])
    largest = _MARK_NUMBERS[code]
    return array(code, [largest / (1 + k) for k in islice(numbers, size)])
