# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Progress of a run in simulated time."""

from collections.abc import Callable
import sys
import time
from typing import TypeAlias

from softrobot_dynamics.dynamics.arguments import ROUNDING

Progress: TypeAlias = Callable[[float, float], object]
"""Function that is called with the time reached and the duration [s]."""

_EVERY = 0.5  # [s] between two words


class ProgressReporter:
    """Tells now and then how far a run has come; on stderr unless told otherwise."""

    def __init__(self, progress: Progress | None, duration: float) -> None:
        self._report = progress or (_write if sys.stderr.isatty() else None)
        self._duration, self._next = duration, time.monotonic() + _EVERY
        self._written = False

    def __call__(self, t: float) -> None:
        """Tell if it is time to; at the end, if anything was told."""
        if self._report is None:
            return
        done = t >= self._duration * (1.0 - ROUNDING)
        if time.monotonic() >= self._next or (done and self._written):
            self._report(t, self._duration)
            self._written, self._next = True, time.monotonic() + _EVERY


def _write(t: float, duration: float) -> None:
    """Write a line over the last one."""
    end = '\n' if t >= duration * (1.0 - ROUNDING) else ''
    sys.stderr.write(f'\rclosed loop: {t:.1f} of {duration:g} s{end}')
    sys.stderr.flush()
