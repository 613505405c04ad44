# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Validate the stamps of several sensors that share a clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.message_fields import SECOND
from softrobot_dynamics.loops.sensor_clock import SensorClock

_AHEAD = SECOND // 20  # [ns] that a stamp may be ahead of what others say the time is
_REMEMBERED = 64  # stamps of a sensor, of which none may come twice


class StampValidator:
    """
    Refuses stamps that cannot be, by those of all sensors so far.

    `names` are those of the sensors; what they said of the time counts for `memory` [ns]. `clock`
    is the :class:`SensorClock` of the stamps that were accepted.
    """

    def __init__(self, names: Iterable[str], memory: int) -> None:
        self._names, self._memory = tuple(names), memory
        self.begin()

    def begin(self) -> None:
        """Restart, with no stamp accepted."""
        self.clock = SensorClock()
        self._accepted: dict[str, deque[int]] = {x: deque(maxlen=_REMEMBERED) for x in self._names}

    def check(self, name: str, stamp: int, arrival: int) -> None:
        """Refuse a stamp of a sensor [ns] by MessageError; `arrival` by the steady clock [ns]."""
        if not stamp:
            raise MessageError('stale: it has no stamp')
        if stamp in self._accepted[name]:
            raise MessageError('out of order: its stamp has been received before')
        others_speak = self.clock.updated_since(arrival - self._memory)
        if others_speak and stamp - self.clock.at(arrival) > _AHEAD:
            raise MessageError('from the future: its stamp is ahead of those of the other sensors')

    def accept(self, name: str, stamp: int, arrival: int) -> None:
        """Take in a stamp that passed the check."""
        self.clock.update(stamp, arrival)
        self._accepted[name].append(stamp)
