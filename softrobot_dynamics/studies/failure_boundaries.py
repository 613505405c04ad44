# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Find where along each factor a loop degrades, and where it fails."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.studies.factors import Factor
from softrobot_dynamics.studies.study import Study
from softrobot_dynamics.studies.trial import FAILED, FOLLOWED, STATES

# of the fractions of failures outside and inside, for a boundary to be reported
MIN_SEPARATION = 0.5


class FailureBoundary(NamedTuple):
    """An interval of a factor, outside of which the most goes wrong, and inside the least."""

    factor: Factor
    what: str  # in words
    low: float  # -inf: all below is inside
    high: float  # inf: all above is inside
    outside: float  # share of the runs there with which it goes wrong
    inside: float

    def as_facts(self) -> dict[str, Any]:
        """Return the same for machines: SI units or a factor, None where there is no end."""
        ends = {'below': self.low, 'above': self.high}
        return {
            'what': self.what,
            'factor': self.factor.name,
            **{name: x if isfinite(x) else None for name, x in ends.items()},
            'outside': self.outside,
            'inside': self.inside,
        }

    def in_words(self) -> str:
        """Return where it is, and how clear."""
        below = [f'below {self.factor.in_words(self.low)}'] if self.low > -inf else []
        above = [f'above {self.factor.in_words(self.high)}'] if self.high < inf else []
        there = ' or '.join([*below, *above])
        shares = f'{self.outside:.0%} of the runs there, {self.inside:.0%} of the others'
        return f'{self.what} for {self.factor.name} {there}: {shares}'


def failure_boundaries(study: Study) -> tuple[FailureBoundary, ...]:
    """
    Return the :class:`FailureBoundary` s of a study: where it fails, and where it does not follow.

    One for each factor that decides, by itself, which runs do: the share of the runs that go
    wrong outside exceeds that inside by MIN_SEPARATION at least.
    """
    found: list[FailureBoundary] = []
    for what, wrong in (
        ('fails', study.state == FAILED),
        ('does not follow', study.state != FOLLOWED),
    ):
        for factor, values in zip(study.factors, study.values.T):
            found += _boundary(factor, what, values, wrong)
    return tuple(found)


def _boundary(
    factor: Factor, what: str, values: Vector, wrong: NDArray[np.bool_]
) -> Iterator[FailureBoundary]:
    """Yield the boundary of a factor, if it has a clear one."""
    if not 0 < wrong.sum() < len(wrong):
        return
    levels, group = np.unique(values, return_inverse=True)
    weights = np.where(wrong, -1.0 / wrong.sum(), 1.0 / (~wrong).sum())
    first, last = _heaviest(np.bincount(group, weights).astype(float))
    inside = (values >= levels[first]) & (values <= levels[last])
    if inside.all():
        return
    shares = float(wrong[~inside].mean()), float(wrong[inside].mean())
    if shares[0] - shares[1] >= MIN_SEPARATION:
        yield FailureBoundary(
            factor, what, _between(levels, first), _between(levels, last + 1), *shares
        )


def _heaviest(weights: Vector) -> tuple[int, int]:
    """Return (first, last) of the stretch with the greatest sum, the first of several."""
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    starts = np.minimum.accumulate(sums[:-1])
    last = int(np.argmax(sums[1:] - starts))
    return int(np.argmin(sums[: last + 1])), last


def _between(levels: Vector, k: int) -> float:
    """Return the middle between a level and the one before; beyond the ends inf."""
    if k == 0:
        return -inf
    return inf if k == len(levels) else float(0.5 * (levels[k - 1] + levels[k]))


def counts(study: Study) -> dict[str, int]:
    """Return {state: number of runs}."""
    return {name: int((study.state == state).sum()) for state, name in enumerate(STATES)}
