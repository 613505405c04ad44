# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Periodic instants with an offset."""

from softrobot_dynamics.dynamics.arguments import TIME_TOLERANCE


class PeriodicInstants:
    """
    Instants at ``phase`` [s] from the beginning, and every 1 / ``rate`` [Hz] before and after.

    Time is counted from one to the next, so that rounding never adds up to a cycle.
    """

    def __init__(self, rate: float, phase: float = 0.0) -> None:
        self._every = 1.0 / rate
        self._first = phase % self._every
        if self._every - self._first < TIME_TOLERANCE:
            self._first = 0.0
        self.begin()

    def begin(self) -> None:
        """Restart."""
        self._left = self._first

    def over(self, duration: float) -> list[float]:
        """Let a ``duration`` [s] pass; return the instants in it, its end not included [s]."""
        found = []
        while self._left < duration - TIME_TOLERANCE:
            found.append(max(0.0, self._left))
            self._left += self._every
        self._left -= duration
        return found

    def come(self, period: float) -> bool:
        """Tell whether there was an instant since the last call, a ``period`` [s] ago, or now."""
        come = self._left <= TIME_TOLERANCE
        if come:
            self._left += self._every
        self._left -= period
        return come
