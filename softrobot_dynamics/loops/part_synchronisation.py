# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Choose one instant for all parts of a state, when each is measured rather than extrapolated.

A part that is extrapolated by its velocities keeps these as they were. For a law with a fast
disturbance observer that is an unknown delay of some states, and from about two periods on its
loop oscillates. So the whole state is taken at the usual time of the oldest part: a part whose
newer states are known is interpolated, and the law, which is given the delay of the state,
predicts all of it with its model (`late, fast ticks` of `benchmarks/driver_zoo.py`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.loops.realtime import SECOND
from softrobot_dynamics.loops.statistics import Window

MAX_STATE_DELAY = SECOND // 20  # [ns] by which whole states are moved back
MAX_DELAY_PERIODS = 50  # the same, as a law has to predict them in each tick
MIN_TICKS = 8  # after which the ages of the parts are known
_AGE_WINDOW = 200  # ticks, of which the median of an age is taken
_UPDATE_TICKS = 64  # from one evaluation of the medians to the next
MAX_EXTRAPOLATION = 1.25  # periods by which a part is extrapolated by its velocities
_HISTORY_SIZE = 256  # states of a part that are kept


class StateHistory:
    """The newest states of one part (k,), and those between and after them."""

    def __init__(self) -> None:
        self._moments: deque[int] = deque(maxlen=_HISTORY_SIZE)
        self._states: deque[tuple[Vector, Vector]] = deque(maxlen=_HISTORY_SIZE)

    def clear(self) -> None:
        """Forget all states, before another motion or another clock."""
        self._moments.clear()
        self._states.clear()

    def add(self, q: Vector, qd: Vector, moment: int) -> None:
        """Add a state, which nobody changes, of a moment [ns]; later ones are dropped."""
        while self._moments and self._moments[-1] >= moment:
            self._moments.pop()
            self._states.pop()
        self._moments.append(moment)
        self._states.append((q, qd))

    def at(self, moment: int) -> tuple[Vector, Vector]:
        """
        Return (q, qd) at a moment [ns], once there is a state.

        By the cubic polynomial through the states before and after it; where there is only one,
        by its velocities.
        """
        moments = self._moments
        if moment >= moments[-1] or moment <= moments[0]:
            k = -1 if moment >= moments[-1] else 0
            q, qd = self._states[k]
            return q + (moment - moments[k]) * 1e-9 * qd, qd
        k = bisect_left(moments, moment)
        (q, qd), (q_end, qd_end) = self._states[k - 1], self._states[k]
        span = moments[k] - moments[k - 1]
        s, T = (moment - moments[k - 1]) / span, span * 1e-9
        gain = q_end - q
        bent = T * (qd + qd_end) - 2.0 * gain
        rest = gain - T * qd - bent
        return q + s * (T * qd + s * (rest + s * bent)), qd + s * (2.0 * rest + 3.0 * s * bent) / T


class PartSynchronisation:
    """
    The ages of the parts of states at the ticks, and the time to which all of them are converted.

    ``period`` [ns] of the ticks; ``predicts``: whether the law makes up for states that are late.
    Attributes: ``windows``, the ages at the last ticks [ns], one Window a part; ``delay`` [ns], by
    how much whole states are older than the ticks: the median age of the oldest part, if that is
    more than :data:`MAX_EXTRAPOLATION` periods. It changes seldom, as the law has to be told:
    jitter and states that are lost do not change a median.
    """

    def __init__(self, parts: int, period: int, predicts: bool) -> None:
        self.windows: Sequence[Window] = [Window(_AGE_WINDOW) for _ in range(parts)]
        self.delay = 0
        self._period, self._most = (
            period,
            min(MAX_STATE_DELAY, MAX_DELAY_PERIODS * period) if predicts else 0,
        )
        self._next = MIN_TICKS

    @property
    def known(self) -> bool:
        """Tell whether there have been enough ticks to choose the moment."""
        return self.windows[0].count >= MIN_TICKS

    def add(self, ages: Sequence[int], least: int) -> None:
        """
        Add the ages [ns] of all parts at a tick.

        The delay is ``least`` [ns] or more, which is that of estimated velocities of the ticks.
        """
        for window, age in zip(self.windows, ages):
            window.add(age)
        if self.windows[0].count >= self._next:
            self._next += _UPDATE_TICKS if self._next >= _UPDATE_TICKS else self._next
            self._choose(least)
        self.delay = max(self.delay, least)

    def _choose(self, least: int) -> None:
        """Choose the delay by the ages so far; changes of less than a period are none."""
        target = min(max(round(each.median() or 0.0) for each in self.windows), self._most)
        extra = target - least
        if self.delay <= least:
            self.delay = target if extra > MAX_EXTRAPOLATION * self._period else least
        elif extra <= self._period:
            self.delay = least
        elif abs(target - self.delay) > self._period:
            self.delay = target
