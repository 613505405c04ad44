# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Read arrays from fields of messages by name, and check them; needs no ROS.

A permutation is worked out once and used as long as the names in the messages stay the same, so a
conversion costs a few microseconds. What cannot be used raises MessageError, whose reason begins
with one of `CAUSES`.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from math import hypot
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Integers, Vector
from softrobot_dynamics.errors import ArgumentError, closest, MessageError, shortened
from softrobot_dynamics.estimation.sensors.messages import Message
from softrobot_dynamics.loops.message_contracts import Numbers, Stamped
from softrobot_dynamics.loops.realtime import SECOND

CAUSES = (
    'wrong size',
    'wrong name',
    'not a number',
    'out of range',
    'too fast',
    'contradiction',
    'out of order',
    'from the future',
    'stale',
    'unreadable',
)
MAX_MAGNITUDE = 1e150  # of a number in any unit: squares of larger ones overflow
_MAX_QUOTED_LENGTH = 40  # characters of a name that is unknown


def cause_of(error: MessageError) -> str:
    """Return the one of `CAUSES` that a MessageError is about."""
    return error.reason.partition(':')[0]


def stamp_of(message: Stamped) -> int:
    """Return the stamp of a message's header [ns], 0 if it was not set."""
    stamp = message.header.stamp
    return stamp.sec * SECOND + stamp.nanosec


class NameOrder:
    """
    The position of each of our `names` in the messages of others.

    With ``others``, names that are not ours are ignored as long as all of ours are there: those
    of a gripper beside an arm. ``ignored`` are those of the last message.
    """

    def __init__(self, names: Sequence[str], others: bool = False) -> None:
        self._names, self._others = list(names), others
        self._seen = list(names)
        self._order: Integers | None = None
        self._wrong = ''
        self.ignored: tuple[str, ...] = ()

    def of(self, given: Sequence[str]) -> Integers | None:
        """Return the indices that bring values `given` by name into our order, None for as is."""
        if given != self._seen:
            self._wrong = self._find_wrong(given)  # in words only once: finding them takes time
            self._order = None if self._wrong else self._find(given)
            self._seen = list(given)
            known = set(self._names)
            self.ignored = () if self._wrong else tuple(n for n in given if n not in known)
        if self._wrong:
            raise MessageError(f'wrong name: {self._wrong}')
        return self._order

    def _find_wrong(self, given: Sequence[str]) -> str:
        """Return in words the fault of given names, or ''; similar ones take longest."""
        known, count = set(self._names), Counter(given)
        absent = [n for n in self._names if n not in count]
        strange = [n for n in count if n not in known] if absent or not self._others else []
        unknown = _first(strange, self._unknown)
        twice = _first([n for n in self._names if count[n] > 1], '{!r} is named twice'.format)
        missing = ', '.join(_first(absent))
        return '; '.join([*unknown, *twice, *([f'{missing} missing'] if missing else [])])

    def _unknown(self, name: str) -> str:
        short = shortened(name, _MAX_QUOTED_LENGTH)
        return f'{short!r} is unknown{closest(short, self._names)}'

    def _find(self, given: Sequence[str]) -> Integers | None:
        order = np.array([given.index(name) for name in self._names])
        as_is = len(given) == len(order) and (order == np.arange(len(order))).all()
        return None if as_is else order


def _first(names: Sequence[str], said: Callable[[str], str] = str, most: int = 3) -> list[str]:
    """Return the words ``said`` of the first few names, and the number of the others."""
    rest = [f'and {len(names) - most} more'] if len(names) > most else []
    return [*map(said, names[:most]), *rest]


def read_numbers(
    field: str, values: Numbers, size: int, order: Integers | None = None, *, missing: bool = False
) -> Vector:
    """
    Return the values (size,) of a field of a message; MessageError if they are not numbers.

    With an ``order`` (k,), those at its places, in its order; the others may be anything. Where
    some may be ``missing``, nan is a value, too.
    """
    if len(values) != size:
        raise MessageError(f'wrong size: {field} has {len(values)} values, expected {size}')
    numbers = np.frombuffer(values)
    if order is not None:
        numbers = numbers[order]
    # nan compares false; for a few numbers this takes a tenth of the time of numpy's ways
    if not hypot(*numbers.tolist()) < MAX_MAGNITUDE and not (missing and _known_or_nan(numbers)):
        raise MessageError(
            f'not a number: {field} holds nan, inf or a number beyond {MAX_MAGNITUDE:g}'
        )
    return numbers


def _known_or_nan(numbers: Vector) -> bool:
    """Tell whether all are nan or finite, and not absurd."""
    return bool((np.isnan(numbers) | (abs(numbers) < MAX_MAGNITUDE)).all())


class MeasurementReader(Protocol):
    """Reads the messages of a sensor or a measured effort, and checks their values."""

    def from_message(self, message: Message, /) -> ArrayLike:
        """Return the value in a message."""

    def read(self, value: ArrayLike, /) -> Vector:
        """Return its numbers; ArgumentError."""


def read_measurement(sensor: MeasurementReader, message: Message) -> ArrayLike:
    """
    Return the value of a sensor in a message; MessageError if there is none.

    Also for any other exception of a sensor's code: no message may end the loop that reads it.
    """
    try:
        value = sensor.from_message(message)
        sensor.read(value)
    except ArgumentError as error:
        raise MessageError(f'not a number: {error}') from None
    except MessageError as error:
        if cause_of(error) in CAUSES:
            raise
        raise MessageError(f'unreadable: {error.reason}') from None
    except Exception as error:
        raise MessageError(f'unreadable: {type(error).__name__}: {error}') from error
    return value
