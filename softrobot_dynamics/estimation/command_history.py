# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""History of the commands to a robot."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
import math

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.arguments import TIME_TOLERANCE


class CommandHistory:
    """
    The commands u (m,) over time: each acts from its time [s] on, until the next one.

    The first one counts for the time before it, too. Those that ended more than a ``span`` [s]
    before the last one are forgotten.
    """

    def __init__(self, span: float) -> None:
        self._span = span
        self._times: list[float] = []
        self._values: list[Vector] = []

    def begin(self, u: Vector) -> None:
        """Forget all; u (m,) has been in force for ever."""
        self._times, self._values = [float('-inf')], [u.copy()]

    def add(self, time: float, u: Vector) -> None:
        """Let u (m,) be in force from a time [s] on; one at the same time is replaced."""
        k = bisect_right(self._times, time)
        if k == 0:
            return  # older than what is kept
        if time - self._times[k - 1] < TIME_TOLERANCE:
            self._values[k - 1] = u.copy()
            return
        self._times.insert(k, time)
        self._values.insert(k, u.copy())
        old = bisect_right(self._times, self._times[-1] - self._span) - 1
        if old > 64:  # now and then
            del self._times[:old], self._values[:old]

    def at(self, time: float) -> Vector:
        """Return the command in force at a time [s]."""
        return self._values[max(0, bisect_right(self._times, time + TIME_TOLERANCE) - 1)]

    def coverage(self, start: float, end: float) -> Vector:
        """Return the share (m,) of the time from start to end [s] with known values."""
        k = max(0, bisect_right(self._times, start + TIME_TOLERANCE) - 1)
        ends = [*self._times[k + 1 : bisect_left(self._times, end)], end]
        spans = np.diff([start, *ends])
        share: Vector = spans @ np.isfinite(self._values[k : k + len(ends)]) / (end - start)
        return share

    def between(self, start: float, end: float, longest: float) -> Iterator[tuple[float, Vector]]:
        """
        Yield (until [s], u (m,)) from start to end: in equal parts, of ``longest`` [s] at most.

        Of a part in which the command changes it is the mean, so that no impulse is lost.
        """
        count = max(1, math.ceil((end - start) / longest - 1e-9))
        h = (end - start) / count
        k = max(0, bisect_right(self._times, start + TIME_TOLERANCE) - 1)
        last = len(self._times) - 1
        for i in range(count):
            since, until = start + i * h, start + (i + 1) * h
            if k == last or self._times[k + 1] >= until - TIME_TOLERANCE:
                yield until, self._values[k]
            else:
                impulse = np.zeros(len(self._values[k]))
                while k < last and self._times[k + 1] < until - TIME_TOLERANCE:
                    impulse += (self._times[k + 1] - since) * self._values[k]
                    since, k = self._times[k + 1], k + 1
                yield until, (impulse + (until - since) * self._values[k]) / h
            if k < last and self._times[k + 1] <= until + TIME_TOLERANCE:
                k += 1
