# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Statistics of a loop, counts and times, for another thread to report."""

from collections import Counter
from typing import Any

import numpy as np
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.message_fields import cause_of, CAUSES, SECOND
from softrobot_dynamics.loops.realtime import now


class Window:
    """The last `size` durations, of which quantiles are wanted now and then."""

    def __init__(self, size: int = 4096) -> None:
        self._values = np.zeros(size, dtype=np.int64)
        self.count = 0  # of all there have been

    def add(self, duration: int) -> None:
        """Add a duration [ns]."""
        self._values[self.count % len(self._values)] = duration
        self.count += 1

    def median(self) -> float | None:
        """Return the median of the last ones [ns], None before the first."""
        count = min(self.count, len(self._values))
        return float(np.median(self._values[:count])) if count else None

    def mean(self) -> float | None:
        """Return the mean of the last ones [ns], None before the first."""
        count = min(self.count, len(self._values))
        return float(self._values[:count].mean()) if count else None

    def report(self) -> str:
        """Return 'p50 / p99 / max' in microseconds, of the last ones."""
        count = min(self.count, len(self._values))
        if not count:
            return 'none'
        places = count // 2, count * 99 // 100, count - 1
        values = np.partition(self._values[:count], places)[list(places)]
        return ' / '.join(f'{value * 1e-3:.0f}' for value in values)


class Throttle:
    """Lets one line a cause through in an interval, and counts those it suppresses."""

    def __init__(self) -> None:
        self._due: dict[object, int] = {}
        self._held: Counter[object] = Counter()

    def passes(self, cause: object, moment: int, interval: int = SECOND) -> int | None:
        """Return how many were held back since the last, None if this one [ns] is, too."""
        if moment < self._due.get(cause, moment):
            self._held[cause] += 1
            return None
        self._due[cause] = moment + interval
        return self._held.pop(cause, 0)


class LoopStatistics:
    """Counts by name and the messages refused by cause; written by one thread, read by any."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.last_refusal = ''
        self._reported: Any = now(), Counter(), Counter()

    def count(self, name: str, number: int = 1) -> None:
        """Add to the count called `name`."""
        self.counts[name] += number

    def refuse(self, error: MessageError) -> None:
        """Count a refused message by the cause of its MessageError."""
        self.refused[cause_of(error)] += 1
        self.last_refusal = error.reason

    def recent(self) -> tuple[float, Any, Any]:
        """Return (seconds, counts, refusals) since the last call."""
        moment, counts, refused = now(), self.counts.copy(), self.refused.copy()
        (since, *before), self._reported = self._reported, (moment, counts, refused)
        return (moment - since) * 1e-9, counts - before[0], refused - before[1]

    def refusals(self) -> dict[str, int]:
        """Return {'refused: cause': number} for every cause."""
        return {f'refused: {cause}': self.refused[cause] for cause in CAUSES}
