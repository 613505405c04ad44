# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Effort measurements of gauges in time, and which of them pass the outlier gate."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.arguments import ROUNDING
from softrobot_dynamics.estimation.commands import CommandHistory
from softrobot_dynamics.estimation.gates import widest


class GatedEffort(NamedTuple):
    """Result of one effort measurement; as in :class:`~.estimates.Innovation`."""

    square: float
    numbers: int
    outliers: int


class _EffortSample(NamedTuple):
    """Values (K,) of a time [s], and those accepted until then."""

    time: float
    values: Vector
    counting: Vector  # in place of commands; NaN: the command counts
    accepted: Vector  # last, whether it counts or not; NaN: none was yet
    since: Vector  # when that was [s]


class EffortMeasurements:
    """
    So many values (K,) of an effort as they come, in any order; ``counting`` has what counts.

    ``noise``, ``change`` and ``gate`` are those of an :class:`~.efforts.Effort`. An outlier counts
    as the value before it. Those after a late measurement are compared with it, so they are gated
    again: what counts does not depend on the order in which they came.
    """

    def __init__(
        self, kept: float, count: int, *, noise: float, change: float | None, gate: float
    ) -> None:
        self.counting, self._kept, self._count = CommandHistory(kept), kept, count
        self._noise, self._change, self._most = noise, change, widest(gate, 1)

    def begin(self) -> None:
        """Forget all: nothing was measured."""
        nothing = np.full(self._count, np.nan)
        self.counting.begin(nothing)
        long_ago = np.full(self._count, -np.inf)
        self._all = [_EffortSample(-np.inf, nothing, nothing, nothing, long_ago)]

    def add(self, time: float, values: Vector) -> GatedEffort:
        """Let values count from a time [s] on; one at the same time is replaced."""
        if self._change is None:
            self.counting.add(time, values)
            return GatedEffort(0.0, int(np.isfinite(values).sum()), 0)
        k = bisect_right(self._all, time, key=_time_of)
        if k == 0:
            return GatedEffort(0.0, 0, 0)  # older than what is kept
        later = self._all[k:]
        del self._all[k - (time - self._all[k - 1].time < ROUNDING) :]
        found = self._gate(self._change, time, values)
        for each in later:
            self._gate(self._change, each.time, each.values)
        self._forget()
        return found

    def _gate(self, change: float, time: float, values: Vector) -> GatedEffort:
        """Accept values that are near those before them, and reject others."""
        _, _, counting, accepted, since = self._all[-1]
        variance = 2.0 * self._noise**2 + (change * (time - since)) ** 2
        squares = (values - accepted) ** 2 / variance  # NaN where there is nothing to compare
        out = squares > self._most
        taken = np.isfinite(values) & ~out
        counting = np.where(out, counting, values)
        accepted, since = np.where(taken, values, accepted), np.where(taken, time, since)
        self._all.append(_EffortSample(time, values, counting, accepted, since))
        self.counting.add(time, counting)
        square = float(np.nansum(squares[taken]))
        return GatedEffort(square, int(taken.sum()), int(out.sum()))

    def _forget(self) -> None:
        """Keep the values with which later ones may still have to be compared."""
        old = bisect_right(self._all, self._all[-1].time - self._kept, key=_time_of) - 1
        if old > 64:  # now and then
            del self._all[:old]


def _time_of(reading: _EffortSample) -> float:
    return reading.time
