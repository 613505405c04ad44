# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Bytes of a serialised message that align what follows them, and may hold anything.

In the encoding of DDS (XCDR version 1) a number begins at a multiple of its size, counted from the
end of the head. Fast DDS does not set the bytes that this leaves free, so they differ from one
message to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
import re
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from softrobot_dynamics.nodes.messaging.template import GeneratedMessage

_HEAD = 4  # bytes that say how the rest is encoded
_PLAIN = {b'\0\0', b'\0\1'}  # begin of the head of this encoding: big and little endian
_SIZES = {
    'boolean': 1, 'octet': 1, 'char': 1, 'int8': 1, 'uint8': 1, 'int16': 2, 'uint16': 2,
    'int32': 4, 'uint32': 4, 'float': 4, 'int64': 8, 'uint64': 8, 'double': 8,
}  # fmt: skip
_COUNT = 4  # bytes of the length of a text or a sequence
_SEQUENCE = re.compile(r'sequence<(.+?)(?:, \d+)?>')
_ARRAY = re.compile(r'(.+)\[\d+\]')


def padding(message: GeneratedMessage, data: bytes) -> list[tuple[int, int]]:
    """
    Return where padding begins and ends in the bytes of a message, and what follows the message.

    None is found in what other encodings have, or where the message does not end within the bytes.
    """
    if data[:2] not in _PLAIN:
        return []
    place, found = 0, []
    for alignment, size in _parts(message):
        begin = -(-place // alignment) * alignment
        if begin > place:
            found.append((_HEAD + place, _HEAD + begin))
        place = begin + size
    end = _HEAD + place
    if end > len(data):
        return []
    return [*found, (end, len(data))] if end < len(data) else found


def _parts(message: GeneratedMessage) -> Iterator[tuple[int, int]]:
    """Yield (alignment, size) of the parts of a message, in bytes."""
    for field, kind in message.get_fields_and_field_types().items():
        yield from _parts_of(getattr(message, field), kind)


def _parts_of(value: Any, kind: str) -> Iterator[tuple[int, int]]:
    """Yield (alignment, size) of the parts of a value of a type in the definition of a message."""
    sequence = _SEQUENCE.fullmatch(kind)
    several = sequence or _ARRAY.fullmatch(kind)
    if sequence:
        yield _COUNT, _COUNT
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
        yield _COUNT, _COUNT + len(value.encode()) + 1
    else:
        yield from _parts(value)
