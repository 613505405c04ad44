# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Time calls in turns in one process, and combine the results of several processes."""

import time
from typing import NamedTuple

import numpy as np

LEAST = 0.05  # [s] a single measurement takes at least so long
TURNS = 9  # measurements of each function, in turns


class Spread(NamedTuple):
    """Values of one figure from several processes."""

    median: float
    low: float
    high: float

    def text(self, unit=1.0, form='.3g'):
        """Return the median and, in brackets, the range, in a unit (1e-6 for microseconds)."""
        numbers = [format(value / unit, form) for value in self]
        return f'{numbers[0]} ({numbers[1]}–{numbers[2]})'


def spread(runs, *keys):
    """Return the :class:`Spread` over the runs of a figure, by its keys in the nested dicts."""
    values = [_at(run, keys) for run in runs]
    return Spread(float(np.median(values)), min(values), max(values))


def ratio(runs, above, below):
    """Return the :class:`Spread` of the ratio of two figures (tuples of keys), run by run."""
    values = [_at(run, above) / _at(run, below) for run in runs]
    return Spread(float(np.median(values)), min(values), max(values))


def in_turns(functions, turns=TURNS, least=LEAST):
    """
    Return the median time [s] of one call of each of several functions, measured in turns.

    ``functions``: {name: (function, calls)}, where one ``function(repeats)`` makes ``repeats``
    times ``calls`` calls; a name's median is over ``turns`` measurements of at least ``least``
    seconds.
    """
    repeats = {name: _enough(function, least) for name, (function, _) in functions.items()}
    times = {name: [] for name in functions}
    for _ in range(turns):
        for name, (function, calls) in functions.items():
            start = time.perf_counter()
            function(repeats[name])
            times[name].append((time.perf_counter() - start) / (repeats[name] * calls))
    return {name: float(np.median(found)) for name, found in times.items()}


def python_loop(function, *arguments):
    """Return what :func:`in_turns` takes for calls of ``function(*arguments)`` from Python."""

    def loop(repeats):
        for _ in range(repeats):
            function(*arguments)

    return loop, 1


def _enough(function, least):
    """Repeats that take the least time; the first call warms up."""
    function(1)
    repeats = 1
    while True:
        start = time.perf_counter()
        function(repeats)
        passed = time.perf_counter() - start
        if passed >= least:
            return repeats
        repeats = max(repeats + 1, int(1.2 * repeats * least / max(passed, 1e-7)))
        repeats = min(repeats, 10**8)


def _at(figures, keys):
    for key in keys:
        figures = figures[key]
    return figures
