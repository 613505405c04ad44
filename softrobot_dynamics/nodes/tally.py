# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What a loop counts and times as it goes, for another thread to report."""

from collections import Counter

import numpy as np
from softrobot_dynamics.nodes.messaging.messages import cause_of, CAUSES, SECOND
from softrobot_dynamics.nodes.realtime import now


class Window:
    """The last `size` durations, of which quantiles are wanted now and then."""

    def __init__(self, size=4096):
        self._values = np.zeros(size, dtype=np.int64)
        self.count = 0  # of all there have been

    def add(self, duration):
        """Take in a duration [ns]."""
        self._values[self.count % len(self._values)] = duration
        self.count += 1

    def median(self):
        """Return the median of the last ones [ns], None before the first."""
        count = min(self.count, len(self._values))
        return float(np.median(self._values[:count])) if count else None

    def report(self):
        """Return 'p50 / p99 / max' in microseconds, of the last ones."""
        count = min(self.count, len(self._values))
        if not count:
            return 'none'
        places = count // 2, count * 99 // 100, count - 1
        values = np.partition(self._values[:count], places)[list(places)]
        return ' / '.join(f'{value * 1e-3:.0f}' for value in values)


class Throttle:
    """Lets one line a cause through in an interval, and counts what it holds back."""

    def __init__(self):
        self._due, self._held = {}, Counter()

    def passes(self, cause, moment, interval=SECOND):
        """Return how many were held back since the last, None if this one [ns] is, too."""
        if moment < self._due.get(cause, moment):
            self._held[cause] += 1
            return None
        self._due[cause] = moment + interval
        return self._held.pop(cause, 0)


class Tally:
    """Counts by name and the messages refused by cause; written by one thread, read by any."""

    def __init__(self):
        self.counts = Counter()
        self.refused = Counter()
        self.last_refusal = ''
        self._reported = now(), Counter(), Counter()

    def count(self, name, number=1):
        """Add to the count called `name`."""
        self.counts[name] += number

    def refuse(self, error):
        """Count a refused message by the cause of its MessageError."""
        self.refused[cause_of(error)] += 1
        self.last_refusal = error.reason

    def recent(self):
        """Return (seconds, counts, refusals) since the last call."""
        moment, counts, refused = now(), self.counts.copy(), self.refused.copy()
        (since, *before), self._reported = self._reported, (moment, counts, refused)
        return (moment - since) * 1e-9, counts - before[0], refused - before[1]

    def refusals(self):
        """Return {'refused: cause': number} for every cause."""
        return {f'refused: {cause}': self.refused[cause] for cause in CAUSES}
