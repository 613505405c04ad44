# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Report the progress of compilation: how many kernels are compiled, and how long the rest takes.

Nothing is reported while all kernels are found in the cache. The time left is that of this machine
under its present load: kernels that this process has compiled tell how long one takes, by its
:mod:`~softrobot_dynamics.compiling.compile_cost`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
import contextlib
from contextvars import ContextVar
import time

_REPORT_PERIOD = 5.0  # [s]
_START_COST = 14000.0  # of a process before its first kernel: numba is imported


class _Listener:
    """Functions that are told of lines, and of the share that is compiled."""

    def __init__(
        self, say: Callable[[str], object], bar: Callable[[float], object] | None
    ) -> None:
        self.say, self.bar = say, bar


class _CompilationPace:
    """The pace of this process: costs of kernels that it has compiled, and their time [s]."""

    def __init__(self) -> None:
        self._cost = self._seconds = 0.0

    def note(self, cost: float, seconds: float) -> None:
        """Take in the cost of a kernel that this process has compiled, and its time [s]."""
        self._cost += cost if self._cost else _START_COST + cost
        self._seconds += seconds

    def time_of(self, cost: float) -> float | None:
        """Return how long a cost takes one process [s]; None before the first kernel."""
        return self._seconds / self._cost * cost if self._cost else None


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

    ``costs`` are those of the kernels, by name.
    """

    def __init__(self, costs: Mapping[str, float], processes: int) -> None:
        self._listener, self._costs, self._processes = _LISTENER.get(), costs, processes
        self._last = time.monotonic()
        if costs:
            helpers = processes - 1
            share = (sum(costs.values()) + helpers * _START_COST) / processes
            seconds = _PACE.time_of(max(share, *costs.values()))
            words = f'compiling {in_words(len(costs))} for this machine'
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
            _PACE.note(self._costs[name], seconds)
        costs, now = [self._costs[each] for each in left], time.monotonic()
        rest, words = _PACE.time_of(self._remaining(costs)), ''
        if left and rest is not None and now >= self._last + _REPORT_PERIOD:
            count, self._last = len(self._costs), now
            words = f'compiled {count - len(left)} of {count} kernels, '
            words += f'about {max(rest, 1.0):.0f} s left'
        self._tell(words, 1.0 - sum(costs) / sum(self._costs.values()))

    def _remaining(self, costs: list[float]) -> float:
        """Return the cost of the process that has most, from those of kernels that are left."""
        largest_first = sorted(costs, reverse=True)
        helpers = self._processes - 1
        begun = [cost / 2 for cost in largest_first[:helpers]]  # on average half is done
        waiting = largest_first[helpers:]  # of which this process begins the first now
        share = (sum(begun) + sum(waiting)) / self._processes
        return max([share, *begun[:1], *waiting[:1]])

    def _tell(self, words: str, share: float) -> None:
        """Tell the listener a line, unless it is empty, and the share that is compiled."""
        if self._listener and words:
            self._listener.say(words)
        if self._listener and self._listener.bar:
            self._listener.bar(share)


def in_words(count: int) -> str:
    """Return a number of kernels in words."""
    return '1 kernel' if count == 1 else f'{count} kernels'
