# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Report the progress of compilation: how many kernels are compiled, and how long the rest takes.

Nothing is reported while all kernels are found in the cache. The time left is extrapolated from
the kernels that this machine has just compiled.
"""

from collections.abc import Callable, Iterator
import contextlib
from contextvars import ContextVar
import time

_EVERY = 5.0  # [s] between two reports
_SAY: ContextVar[Callable[[str], object] | None] = ContextVar('say', default=None)


@contextlib.contextmanager
def reporting(say: Callable[[str], object]) -> Iterator[None]:
    """Within this context ``say`` is called with a line when compilation begins and goes on."""
    token = _SAY.set(say)
    try:
        yield
    finally:
        _SAY.reset(token)


class CompilationProgress:
    """Reports the progress of kernels (their number is ``count``) that are compiled together."""

    def __init__(self, count: int) -> None:
        self._say, self._count, self._done = _SAY.get(), count, 0
        self._begin = self._last = time.monotonic()
        if self._say and count:
            self._say(f'compiling {in_words(count)} for this machine; later starts find them')

    def advance(self) -> None:
        """Count one more compiled kernel, and report if the last report is some time ago."""
        self._done += 1
        now, left = time.monotonic(), self._count - self._done
        if self._say and left > 0 and now >= self._last + _EVERY:
            rest = (now - self._begin) / self._done * left
            self._say(f'compiled {self._done} of {self._count} kernels, about {rest:.0f} s left')
            self._last = now


def in_words(count: int) -> str:
    """Return a number of kernels in words."""
    return '1 kernel' if count == 1 else f'{count} kernels'
