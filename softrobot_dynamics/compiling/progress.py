# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Report the progress of compilation: how many kernels are compiled, and how long the rest takes.

Nothing is reported while all kernels are found in the cache. The time left is that of this machine
under its present load: kernels that this process has just compiled tell how long one takes, by its
:mod:`~softrobot_dynamics.compiling.effort`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
import contextlib
from contextvars import ContextVar
import time

_REPORT_PERIOD = 5.0  # [s]
# effort of the first kernel of a process besides its own: numba starts
_FIRST_KERNEL_EFFORT = 3500.0


class _Listener:
    """Functions that are told of lines, and of the share that is compiled."""

    def __init__(
        self, say: Callable[[str], object], bar: Callable[[float], object] | None
    ) -> None:
        self.say, self.bar = say, bar


class _CompilationPace:
    """The pace of this process: efforts, and the times [s] that they took."""

    def __init__(self) -> None:
        self._own, self._all = (0.0, 0.0), (0.0, 0.0)  # of its own kernels; of all together

    def note(self, effort: float, seconds: float) -> None:
        """Take in the effort of a kernel that this process has compiled, and its time [s]."""
        self._own = self._sum(self._own, effort, seconds)

    def note_all(self, effort: float, seconds: float) -> None:
        """Take in the effort of one process for kernels that are done, and their time [s]."""
        self._all = self._sum(self._all, effort, seconds)

    def time_of(self, effort: float) -> float | None:
        """Return how long an effort takes one process [s]; None before the first kernel."""
        known, seconds = self._all if self._all[0] else self._own  # others may have less time
        return seconds / known * effort if known else None

    def _sum(
        self, before: tuple[float, float], effort: float, seconds: float
    ) -> tuple[float, float]:
        return before[0] + effort if before[0] else _FIRST_KERNEL_EFFORT + effort, before[
            1
        ] + seconds


_LISTENER: ContextVar[_Listener | None] = ContextVar('listener', default=None)
_PACE = _CompilationPace()


@contextlib.contextmanager
def reporting(
    say: Callable[[str], object], bar: Callable[[float], object] | None = None
) -> Iterator[None]:
    """
    Report compilation within this context.

    ``say`` is called with a line when compilation begins and goes on, ``bar`` with the share that
    is compiled, from 0 to 1, after every kernel.
    """
    token = _LISTENER.set(_Listener(say, bar))
    try:
        yield
    finally:
        _LISTENER.reset(token)


class CompilationProgress:
    """
    Reports the progress of kernels that a number of ``processes`` compile together.

    ``efforts`` are those of the kernels, by name.
    """

    def __init__(self, efforts: Mapping[str, float], processes: int) -> None:
        self._listener, self._efforts, self._processes = _LISTENER.get(), efforts, processes
        self._begin = self._last = time.monotonic()
        if efforts:
            words = f'compiling {in_words(len(efforts))} for this machine'
            seconds = _PACE.time_of(self._whole())
            if seconds is not None:
                words += f', about {seconds:.0f} s'
            self._tell(f'{words}; later starts find them', 0.0)

    def advance(self, name: str, seconds: float | None, left: Collection[str]) -> None:
        """
        Count one more compiled kernel, and report if the last line is some time ago.

        ``seconds`` is how long this process compiled it, None if another one did; ``left`` names
        those that nobody has compiled yet.
        """
        if seconds is not None:
            _PACE.note(self._efforts[name], seconds)
        rest, now = sum(self._efforts[each] for each in left), time.monotonic()
        share = 1.0 - rest / sum(self._efforts.values())
        if not left:
            _PACE.note_all(self._whole(), now - self._begin)
        whole, words = _PACE.time_of(self._whole()), ''
        if left and whole is not None and now >= self._last + _REPORT_PERIOD:
            count, self._last = len(self._efforts), now
            # no less than half of the largest one, which may be in work
            share_left = max(self._efforts[each] for each in left) / 2 / self._whole()
            rest = max(self._begin + whole - now, whole * share_left)
            words = f'compiled {count - len(left)} of {count} kernels, about {rest:.0f} s left'
        self._tell(words, share)

    def _tell(self, words: str, share: float) -> None:
        """Tell the listener a line, unless it is empty, and the share that is compiled."""
        if self._listener and words:
            self._listener.say(words)
        if self._listener and self._listener.bar:
            self._listener.bar(share)

    def _whole(self) -> float:
        """Return the effort of the process that has most: no kernel is shared among them."""
        efforts = self._efforts.values()
        return max(sum(efforts) / self._processes, max(efforts))


def in_words(count: int) -> str:
    """Return a number of kernels in words."""
    return '1 kernel' if count == 1 else f'{count} kernels'
