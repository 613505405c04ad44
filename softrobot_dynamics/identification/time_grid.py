# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Time grid of a motion: steps in which it is simulated, and intervals of several."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Vector
from softrobot_dynamics.dynamics.arguments import TIME_TOLERANCE
from softrobot_dynamics.identification.motions import Motion


class Steps(NamedTuple):
    """A motion in E steps."""

    lengths: Vector  # (E,) [s]
    row: Integers  # (E,) instant whose command is the last
    first: Integers  # (T,) step that begins at an instant; of the last instant E

    @property
    def starts(self) -> Vector:
        """Times at which each begins (E,), after the first [s]."""
        return np.cumsum(self.lengths) - self.lengths


class TimeGrid(NamedTuple):
    """The same in F intervals of whole steps, which begin at all instants that count."""

    lengths: Vector  # (F,) [s]
    first: Integers  # (F,) step with which each begins
    last: Integers  # (F,) and ends
    instants: Integers  # (I,) those instants
    places: Integers  # (I,) interval that begins at each; of the end F


def steps_of(motion: Motion, longest: float) -> Steps:
    """Cut a motion into steps no longer than so many seconds."""
    gaps = np.diff(motion.times)
    counts = np.maximum(1, np.ceil(gaps / longest - 1e-9)).astype(int)
    return Steps(
        lengths=np.repeat(gaps / counts, counts),
        row=np.repeat(np.arange(len(gaps)), counts),
        first=np.r_[0, np.cumsum(counts)],
    )


def time_grid_of(motion: Motion, steps: Steps, longest: float) -> TimeGrid:
    """Group steps into intervals between instants that count, each no longer than a given time."""
    counts: Any = np.isfinite(motion.measured).any(axis=1)
    counts[motion.starts] = True
    instants, T = np.flatnonzero(counts), np.r_[steps.starts, steps.lengths.sum()]
    marks = np.unique(np.r_[steps.first[instants], len(steps.lengths)])
    first = []
    for begin, end in zip(marks, marks[1:]):
        pieces = max(1, math.ceil((T[end] - T[begin]) / longest - 1e-9))
        inner = np.linspace(T[begin], T[end], pieces + 1)[:-1]
        first.append(np.unique(np.searchsorted(T[begin:end], inner - TIME_TOLERANCE)) + begin)
    begins = np.concatenate(first)
    return TimeGrid(
        lengths=np.diff(T[np.r_[begins, len(steps.lengths)]]),
        first=begins,
        last=np.r_[begins[1:], len(steps.lengths)] - 1,
        instants=instants,
        places=np.searchsorted(begins, steps.first[instants]),
    )
