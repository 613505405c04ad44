# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Clock of the sensors: the present time by their stamps, and the validation of stamps."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.message_fields import SECOND

_MIN_CLOCK_RATE = 0.5  # of the steady clock, while the estimated time must wait for it
_MAX_COUNTED_GAP = SECOND // 20  # [ns] that a time without messages counts for
_MAX_STAMP_LEAD = SECOND // 20  # [ns] of a stamp to the time by the other sensors
_STAMP_HISTORY = 64  # stamps of a sensor, of which none may come twice
_PACE_WINDOW = 2 * SECOND  # [ns] in which the pace of stamps is measured
_MAX_PACE_ERROR = 0.1  # relative, as messages wait now and then


class SensorClock:
    """
    The time [ns] on the clock of the sensors' stamps, which need not be this machine's.

    As much ahead of the steady clock as the newest of the messages of the last second were: those
    that were under way for the shortest time. A time without messages hardly counts for that
    second: what was kept waiting in it, as this process was stopped, does not look new after it.
    The time never goes back: where it would, it goes slowly.
    """

    def __init__(self) -> None:
        self._leads: deque[tuple[int, int]] = deque()  # (time heard, stamp - arrival), falling
        self._arrival = 0  # of the last message [ns]
        self._listening_time = 0  # in which there were messages [ns]
        self._last: tuple[int, int] | None = None

    def update(self, stamp: int, arrival: int) -> None:
        """Update by the stamp of a message and its arrival on the steady clock [ns]."""
        ahead = stamp - arrival
        self._listening_time += min(max(0, arrival - self._arrival), _MAX_COUNTED_GAP)
        self._arrival = arrival
        while self._leads and self._leads[-1][1] <= ahead:
            self._leads.pop()
        self._leads.append((self._listening_time, ahead))
        while self._leads[0][0] < self._listening_time - SECOND:
            self._leads.popleft()

    def updated_since(self, moment: int) -> bool:
        """Tell whether a message arrived since a moment of the steady clock [ns]."""
        return bool(self._leads) and self._arrival >= moment

    def age(self, stamp: int, arrival: int) -> int:
        """Return how much longer a message was under way than the fastest one [ns]."""
        return max(0, self._leads[0][1] - (stamp - arrival)) if self._leads else 0

    def at(self, moment: int) -> int:
        """Return the time at a moment of the steady clock [ns], after the first message."""
        time = moment + self._leads[0][1]
        if self._last is not None:
            before, last_time = self._last
            time = max(time, last_time + round(_MIN_CLOCK_RATE * max(0, moment - before)))
        self._last = moment, time
        return time

    def __bool__(self) -> bool:
        return bool(self._leads)


class PaceMonitor:
    """
    The pace of the stamps of sensors beside the clock by which they arrive.

    ``odd`` has the pace of each sensor, by name, that was more than a tenth off twice in a row.
    """

    def __init__(self) -> None:
        self._begun: dict[str, tuple[int, int]] = {}
        self._times: dict[str, int] = {}  # that it was off, in a row
        self.odd: dict[str, float] = {}

    def add(self, name: str, stamp: int, arrival: int) -> bool:
        """Add a stamp of a sensor and its arrival [ns]; return whether its pace is wrong."""
        before = self._begun.setdefault(name, (stamp, arrival))
        if (passed := arrival - before[1]) < _PACE_WINDOW:
            return False
        self._begun[name] = stamp, arrival
        pace = (stamp - before[0]) / passed
        # no sensor that was silent
        off = passed < 2 * _PACE_WINDOW and abs(pace - 1.0) > _MAX_PACE_ERROR
        self._times[name] = self._times.get(name, 0) + 1 if off else 0
        if self._times[name] < 2:
            self.odd = {other: x for other, x in self.odd.items() if other != name}
            return False
        self.odd = {**self.odd, name: pace}
        return True

    def in_words(self, expected: float) -> str:
        """Return in words a deviation from an expected pace, with a remedy, or ''."""
        if not (odd := self.odd):
            return ''
        name, seen = next(iter(odd.items()))
        return (
            f'stamps of {name} advance by {seen * expected:.3g} s per second, but'
            f' `real_time_factor` is {expected:g}, so estimates have wrong times: set it to that'
            ' of the simulation; if they are equal, this machine cannot keep the rates of the'
            ' nodes: lower `rate`, or `real_time_factor` of both'
        )


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
        self._accepted: dict[str, deque[int]] = {
            x: deque(maxlen=_STAMP_HISTORY) for x in self._names
        }

    def check(self, name: str, stamp: int, arrival: int) -> None:
        """Refuse a stamp of a sensor [ns] by MessageError; `arrival` by the steady clock [ns]."""
        if not stamp:
            raise MessageError('stale: it has no stamp')
        if stamp in self._accepted[name]:
            raise MessageError('out of order: its stamp has been received before')
        others_speak = self.clock.updated_since(arrival - self._memory)
        if others_speak and stamp - self.clock.at(arrival) > _MAX_STAMP_LEAD:
            raise MessageError('from the future: its stamp is ahead of those of the other sensors')

    def accept(self, name: str, stamp: int, arrival: int) -> None:
        """Store a stamp that passed the check."""
        self.clock.update(stamp, arrival)
        self._accepted[name].append(stamp)
