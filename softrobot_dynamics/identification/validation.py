# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Cross-validation: the error of a fit on postures that were left out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.identification.confidence import CONFIDENCE_LEVEL
from softrobot_dynamics.identification.fitting import fitted, Identification, of_markers, rms_of
from softrobot_dynamics.identification.least_squares import predictor_of
from softrobot_dynamics.identification.motions import Motion

MIN_GROUPS = 3  # of postures to leave out


@former_names(off='all_residuals', counts='sample_counts')
class Validation(NamedTuple):
    """
    Each posture, or all of one name, predicted by a fit of others.

    ``residuals`` (P, K, 3) [m], measured less predicted, and their ``rms`` [m]; ``x`` (F, p) of
    the fits; ``intervals`` (p, 2), 95 % of the parameters by the jackknife: they hold where errors
    of what is left out together depend on each other, as those of a model do. ``all_residuals``
    (P, C) are those of all that was measured; ``squares`` (F,) [m^2] are means of each group that
    was left out, ``sample_counts`` (F,) numbers of measured values in it. Of a motion, blocks of
    time are left out: it is simulated across them from where it starts.
    """

    residuals: Array
    rms: float
    x: Matrix
    intervals: Matrix
    all_residuals: Matrix
    squares: Vector
    sample_counts: Vector


def cross_validate(
    found: Identification,
    *,
    loss: str = 'soft_l1',
    folds: int | None = None,
    progress: Callable[[str], object] | None = None,
) -> Validation:
    """
    Return the :class:`Validation` of a fit, leaving out one name after the other.

    Postures of one name, as those of one motion, are left out together, since they resemble each
    other. With ``folds`` names are dealt out in turn to so many groups, each left out as a whole:
    fewer fits. Raises ArgumentError for less than 3 names, or folds.
    """
    from scipy.stats import t  # late: scipy is slow to import

    data, parameters = found.data, found.parameters
    groups = _groups(data.names, folds)
    residuals, x = np.empty_like(data.measured), np.empty((len(groups), len(found.x)))
    for i, group in enumerate(groups):
        if progress:
            progress(f'without {_names_of(data.names, group)}, {i + 1} of {len(groups)}')
        others = data.only(sorted(set(range(len(data))) - set(group)))
        trial = fitted(parameters, others, [found.x], loss)
        x[i], alone = trial.x, data.only(group)
        points = predictor_of(parameters, alone).points(np.r_[trial.x, trial.states])
        missed = alone.measured - points.reshape(alone.measured.shape)
        residuals[group] = missed[group] if isinstance(data, Motion) else missed  # it goes on
    count = len(groups)
    spread = np.sqrt((count - 1) / count * ((x - x.mean(axis=0)) ** 2).sum(axis=0))
    half = float(t.ppf(0.5 + 0.5 * CONFIDENCE_LEVEL, count - 1)) * spread
    ends = np.stack([found.x - half, found.x + half], axis=1)
    values = [sorted(map(p.value, pair)) for p, pair in zip(parameters.each, ends)]
    squares = np.array([rms_of(data, residuals[group]) ** 2 for group in groups])
    counts = np.array([np.isfinite(residuals[group]).sum() for group in groups], dtype=float)
    rms = rms_of(data, residuals)
    markers = of_markers(data, residuals)
    return Validation(markers, rms, x, np.array(values), residuals, squares, counts)


def _groups(names: Sequence[str], folds: int | None) -> list[list[int]]:
    """Return the rows that are left out together."""
    distinct = list(dict.fromkeys(names))
    if len(distinct) < MIN_GROUPS:
        raise ArgumentError(
            'postures', len(distinct), f'at least {MIN_GROUPS} names, to leave out one'
        )
    count = len(distinct) if folds is None else folds
    if not isinstance(count, int) or not MIN_GROUPS <= count <= len(distinct):
        raise ArgumentError('folds', folds, f'a whole number from {MIN_GROUPS} to {len(distinct)}')
    turn = {name: k % count for k, name in enumerate(distinct)}
    return [[row for row, n in enumerate(names) if turn[n] == k] for k in range(count)]


def _names_of(names: Sequence[str], group: Sequence[int]) -> str:
    """Return in words the group that is left out."""
    distinct = list(dict.fromkeys(names[row] for row in group))
    return f'posture {distinct[0]}' + (f' and {len(distinct) - 1} more' * (len(distinct) > 1))
