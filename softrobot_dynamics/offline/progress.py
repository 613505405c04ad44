# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Progress of a run in simulated time."""

from collections.abc import Callable
import sys
import time
from typing import TypeAlias

from softrobot_dynamics.dynamics.arguments import TIME_TOLERANCE

Progress: TypeAlias = Callable[[float, float], object]
"""Function that is called with the time reached and the duration [s]."""

_REPORT_PERIOD = 0.5  # [s]


class ProgressReporter:
    """Reports the progress of a run now and then, by default on stderr."""

    def __init__(self, progress: Progress | None, duration: float) -> None:
        self._report = progress or (_write if sys.stderr.isatty() else None)
        self._duration, self._next = duration, time.monotonic() + _REPORT_PERIOD
        self._written = False

    def __call__(self, t: float) -> None:
        """Report the progress if it is time to; at the end, if it was reported before."""
        if self._report is None:
            return
        done = t >= self._duration * (1.0 - TIME_TOLERANCE)
        if time.monotonic() >= self._next or (done and self._written):
            self._report(t, self._duration)
            self._written, self._next = True, time.monotonic() + _REPORT_PERIOD


def _write(t: float, duration: float) -> None:
    """Write a line over the last one."""
    end = '\n' if t >= duration * (1.0 - TIME_TOLERANCE) else ''
    sys.stderr.write(f'\rclosed loop: {t:.1f} of {duration:g} s{end}')
    sys.stderr.flush()
