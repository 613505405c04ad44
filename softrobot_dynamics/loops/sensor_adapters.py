# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Read the values of sensors from the messages of drivers, and write such; see `message_sources`.

A body or marker that a driver has lost is no measurement, and no fault: drivers leave it out, or
send zeros, nan, an identity, or the last numbers again. All of these give no value here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
import math
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.errors import ArgumentError, MessageError
from softrobot_dynamics.estimation.sensors.contract import Sensor
from softrobot_dynamics.estimation.sensors.message_layouts import Item, SHARED_TOPICS
from softrobot_dynamics.estimation.sensors.message_sources import (
    ARRIVAL,
    MessageSource,
    POSE,
    SHARED,
)
from softrobot_dynamics.estimation.sensors.messages import Message, MessageFields, quaternion
from softrobot_dynamics.loops.message_fields import read_measurement
from softrobot_dynamics.loops.realtime import now, SECOND
from softrobot_dynamics.loops.sensor_clock import SensorClock
from softrobot_dynamics.schema.poses import transform
from softrobot_dynamics.schema.quaternions import read_orientation

_IDENTITY_TOLERANCE = 1e-12  # of an orientation
_UNASSIGNED_COST = 1e6  # in squares of the largest distance


class StampedValue(NamedTuple):
    """A value of a sensor in a message, and its stamp [ns] by the clock of the loop."""

    stamp: int
    value: ArrayLike | None  # None: the message has none for this sensor


NO_VALUE = StampedValue(0, None)


class SensorAdapter:
    """Reads the messages of a sensor, which are those of a ``source``."""

    def __init__(self, sensor: Sensor, source: MessageSource) -> None:
        self._sensor, self._source = sensor, source
        self._delay = round(SECOND * sensor.delay)
        # other kinds than poses and points read their own messages
        self._items = _ItemReader(sensor, source) if sensor.content else None
        self._clock = None if source.clock == SHARED else _DriverClock(source.clock)
        self.shared = source.type in SHARED_TOPICS

    def read(
        self, message: Message, arrival: int, predict: Callable[[str, int], Array]
    ) -> StampedValue:
        """
        Return the measurement in a message that came at an `arrival` [ns, steady clock].

        ``predict(sensor name, time [ns])`` returns the value that is expected then, for markers
        that come in any order. MessageError for a message that is not as the settings say, and for
        whatever else goes wrong: no message may end the loop that reads it.
        """
        if self._items is None:
            stamp = self._stamp(message.header, arrival)
            return StampedValue(stamp, read_measurement(self._sensor, message))
        try:
            return self._read_items(self._items, message, arrival, predict)
        except MessageError:
            raise
        except ArgumentError as error:
            raise MessageError(f'not a number: {error}') from None
        except Exception as error:
            raise MessageError(f'unreadable: {type(error).__name__}: {error}') from error

    def _read_items(
        self,
        items: _ItemReader,
        message: Message,
        arrival: int,
        predict: Callable[[str, int], Array],
    ) -> StampedValue:
        found = items.select(message)
        if found is None:
            return NO_VALUE
        header, value = found
        expected = self._source.frame_id
        if expected and header.frame_id != expected:
            words = f'wrong name: frame_id is {header.frame_id!r}, expected {expected!r}'
            raise MessageError(words)
        stamp = self._stamp(header, arrival)
        if items.assigns:
            awaited = predict(self._sensor.name, stamp - self._delay)
            value = assigned(value, awaited, self._source.assign_within or 0.0)
            if np.isnan(value).all():
                return NO_VALUE
        self._sensor.read(value)
        return StampedValue(stamp, value)

    def _stamp(self, header: Message, arrival: int) -> int:
        stamp = header.stamp.sec * SECOND + header.stamp.nanosec
        return stamp if self._clock is None else self._clock.convert(stamp, arrival)


class _DriverClock:
    """Converts stamps of a clock of its own to the system clock of this machine."""

    def __init__(self, kind: str) -> None:
        self._stamped = kind != ARRIVAL
        self._clock, self._last = SensorClock(), 0

    def convert(self, stamp: int, arrival: int) -> int:
        """Return the stamp [ns] of a message that came at an arrival [ns]; MessageError."""
        age = 0
        if self._stamped:
            if not stamp:
                raise MessageError('stale: it has no stamp')
            if stamp == self._last:
                raise MessageError('out of order: its stamp has been received before')
            self._last = stamp
            self._clock.update(stamp, arrival)
            age = self._clock.age(stamp, arrival)
        return arrival - age + time.time_ns() - now()


class _ItemReader:
    """The bodies or markers of one sensor in messages, brought to the base frame."""

    def __init__(self, sensor: Sensor, source: MessageSource) -> None:
        self._source = source
        self._layout, self._pose = source.layout(sensor.message_type), sensor.content == POSE
        self._count, self._before = sensor.tracked, np.zeros((0, 0))
        self.assigns = source.assign_within is not None
        if self.assigns:
            import_module('scipy.optimize')  # here: it is slow to import, and a loop would wait
        T = source.origin.matrix()
        self._R, self._origin = T[:3, :3], T[:3, 3]

    def select(self, message: Message) -> tuple[Any, Array] | None:
        """
        Return (header, value) of a message: a pose (4, 4), or points (K, 3), nan: not seen.

        Points that are to be assigned are all there are. None if nothing is seen.
        """
        items = self._select(list(self._layout.read(message)))
        if not items:
            return None
        there = [each is not None and self._seen(each) for each in items]
        numbers = np.array([_numbers(each) if each else [math.nan] * 7 for each in items])
        if np.isinf(numbers).any():
            raise MessageError('not a number: a position or orientation is infinite')
        fresh = self._fresh(numbers) & np.array(there, dtype=bool)
        if not fresh.any():
            return None
        first = next(each for each, good in zip(items, fresh) if each is not None and good)
        if self._pose:
            R = self._R @ read_orientation(first.orientation)
            return first.header, transform(R, self._place(np.array(first.position)))
        places = numbers[:, :3].copy()
        places[~fresh] = math.nan
        if self.assigns:
            places = places[fresh]
        return first.header, self._place(places)

    def _select(self, items: list[Item]) -> Sequence[Item | None]:
        """Return the items of this sensor in its order, None where one is not there."""
        source, count = self._source, len(items)
        if source.size is not None and count != source.size:
            raise MessageError(f'wrong size: {count} in the message, expected {source.size}')
        if source.names:
            found = {each.name: each for each in items}
            return [found.get(name) for name in source.names]
        if source.indices:
            if count <= max(source.indices):
                words = f'{count} in the message, expected more than {max(source.indices)}'
                raise MessageError(f'wrong size: {words}')
            return [items[k] for k in source.indices]
        if not self.assigns and count != self._count:
            raise MessageError(f'wrong size: {count} in the message, expected {self._count}')
        return items

    def _seen(self, item: Item) -> bool:
        """Tell whether an item is one that was seen: not zero, not nan, no identity at zero."""
        turn = item.orientation if self._pose else None
        if turn is not None:
            vector = turn.x, turn.y, turn.z
            if any(map(math.isnan, (*vector, turn.w))) or not any((*vector, turn.w)):
                return False
            if any(abs(x) > _IDENTITY_TOLERANCE for x in vector):
                return not any(map(math.isnan, item.position))
        return any(item.position) and not any(map(math.isnan, item.position))

    def _fresh(self, numbers: Matrix) -> Array:
        """Tell which rows (K, 7) are not exactly those of the message before."""
        before, self._before = self._before, numbers
        if self._source.repeats or before.shape != numbers.shape:
            return np.ones(len(numbers), dtype=bool)
        same = ((numbers == before) | (np.isnan(numbers) & np.isnan(before))).all(axis=1)
        if self.assigns:
            return np.full(len(numbers), not same.all())
        return ~same

    def _place(self, places: Array) -> Array:
        """Return positions (..., 3) of the driver in the base [m]."""
        found: Array = self._source.scale * places @ self._R.T + self._origin
        return found


def assigned(points: Matrix, predicted: Matrix, within: float) -> Matrix:
    """
    Return the points (M, 3) in the order of the predicted ones (K, 3), nan where none is near.

    The sum of squared distances is the least of all assignments; a pair further apart than
    ``within`` [m] is none.
    """
    from scipy.optimize import linear_sum_assignment  # late: only unordered markers need it

    apart = np.linalg.norm(predicted[:, None] - points[None], axis=-1)
    near = apart <= within
    rows, columns = linear_sum_assignment(np.where(near, apart**2, _UNASSIGNED_COST * within**2))
    found = np.full(predicted.shape, math.nan)
    for row, column in zip(rows, columns):
        if near[row, column]:
            found[row] = points[column]
    return found


def _numbers(item: Item) -> list[float]:
    turn = item.orientation
    values = (turn.x, turn.y, turn.z, turn.w) if turn is not None else (0.0,) * 4
    return [*item.position, *values]


def adapter_of(sensor: object) -> SensorAdapter | None:
    """Return the adapter of a sensor that has a ``message``, None for any other."""
    if not isinstance(sensor, Sensor) or sensor.message is None:
        return None
    return SensorAdapter(sensor, sensor.message)


#: An item of another body: name, position, orientation.
_OTHER_ITEM: tuple[str, Vector, MessageFields] = (
    '',
    np.full(3, np.nan),
    {'w': 1.0, 'x': 0.0, 'y': 0.0, 'z': 0.0},
)


def driver_fields(sensor: Any, value: Array, stamp: int) -> MessageFields:
    """
    Return the fields of a driver's message of a value, with its stamp [ns].

    ``sensor`` has a ``message`` and a ``content``: the inverse of what
    :class:`SensorAdapter` reads. Other items of a message that is read by
    indices are nan; a marker that is nan is left out, unless it is found by its place.
    """
    source = sensor.message
    layout, T = source.layout(sensor.message_type), source.origin.matrix()
    frames = value[None] if sensor.content == POSE else _frames(value)
    R = T[:3, :3].T
    placed = [
        (R @ (frame[:3, 3] - T[:3, 3]) / source.scale, quaternion(R @ frame[:3, :3]))
        for frame in frames
    ]
    header = {
        'stamp': {'sec': stamp // SECOND, 'nanosec': stamp % SECOND},
        'frame_id': source.frame_id or 'world',
    }
    return layout.write(_items(source, placed), header)


def _items(
    source: MessageSource, placed: list[tuple[Vector, MessageFields]]
) -> list[tuple[str, Vector, MessageFields]]:
    """Return (name, position, orientation) of all items in the order of the message."""
    if source.indices:
        items = [_OTHER_ITEM] * (source.size or max(source.indices) + 1)
        for k, each in zip(source.indices, placed):
            items[k] = ('', *each)
        return items
    names = source.names or ('',) * len(placed)
    left = bool(source.names) or source.assign_within is not None
    every = [(name, *each) for name, each in zip(names, placed)]
    return [each for each in every if not (left and np.isnan(each[1]).any())]


def _frames(places: Array) -> Array:
    """Return points (K, 3) as frames (K, 4, 4) with the axes of the base."""
    frames = np.tile(np.eye(4), (len(places), 1, 1))
    frames[:, :3, 3] = places
    return frames
