# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What a fit is worth on postures that it has not seen, and which parameters are worth fitting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.identification.confidence import LEVEL
from softrobot_dynamics.identification.fitting import fitted, Identification, rms
from softrobot_dynamics.identification.postures import Postures
from softrobot_dynamics.identification.prediction import Predictor

WORTH = 0.02  # share by which another parameter must lower the error on postures not seen


class Validation(NamedTuple):
    """
    Each posture predicted by a fit of all others.

    ``residuals`` (P, K, 3) [m], measured less predicted, and their ``rms`` [m]; ``x`` (P, p) of
    the fits; ``intervals`` (p, 2), 95 % of the parameters by the jackknife: they hold where errors
    of one posture's markers depend on each other, as those of a model do.
    """

    residuals: Array
    rms: float
    x: Matrix
    intervals: Matrix


def cross_validate(
    found: Identification,
    *,
    loss: str = 'soft_l1',
    progress: Callable[[str], object] | None = None,
) -> Validation:
    """Return the :class:`Validation` of a fit; ArgumentError for less than 3 postures."""
    from scipy.stats import t  # late: scipy is slow to import

    data, parameters = found.postures, found.parameters
    count = len(data)
    if count < 3:
        raise ArgumentError('postures', count, 'at least 3, to leave out one')
    residuals, x = np.empty_like(data.positions), np.empty((count, len(found.x)))
    for i in range(count):
        if progress:
            progress(f'without posture {data.names[i]}, {i + 1} of {count}')
        others = data.only([k for k in range(count) if k != i])
        x[i] = fitted(parameters, others, [found.x], loss).x
        alone = data.only([i])
        residuals[i] = (alone.positions - Predictor(parameters, alone).points(x[i]))[0]
    spread = np.sqrt((count - 1) / count * ((x - x.mean(axis=0)) ** 2).sum(axis=0))
    half = float(t.ppf(0.5 + 0.5 * LEVEL, count - 1)) * spread
    ends = np.stack([found.x - half, found.x + half], axis=1)
    values = [sorted(map(p.value, pair)) for p, pair in zip(parameters.each, ends)]
    return Validation(residuals, rms(residuals), x, np.array(values))


class Choice(NamedTuple):
    """Parameters in the order in which they were taken, and the error [m] up to each."""

    names: tuple[str, ...]
    errors: tuple[float, ...]  # on postures not seen; the first is that of the robot file


def choose(
    found: Identification,
    *,
    loss: str = 'soft_l1',
    progress: Callable[[str], object] | None = None,
) -> Choice:
    """
    Return which of the parameters of a fit lower the error on postures that it has not seen.

    They are taken one by one, each time the one that lowers it most, by leaving out one posture,
    until none lowers it by two parts in a hundred.
    """
    chosen: list[str] = []
    errors = [rms(found.before)]
    names = list(found.parameters.names)
    while len(chosen) < len(names):
        trials = {
            name: _error(found.postures, found, [*chosen, name], loss, progress)
            for name in names
            if name not in chosen
        }
        best = min(trials, key=lambda name: trials[name])
        if not trials[best] < (1.0 - WORTH) * errors[-1]:
            break
        chosen.append(best)
        errors.append(trials[best])
    return Choice(tuple(chosen), tuple(errors))


def _error(
    postures: Postures,
    found: Identification,
    names: Sequence[str],
    loss: str,
    progress: Callable[[str], object] | None,
) -> float:
    """Return the error [m] of these parameters on postures not seen."""
    parameters = found.parameters.only(names)
    trial = fitted(parameters, postures, [parameters.start], loss)
    error = cross_validate(trial, loss=loss).rms
    if progress:
        progress(f'{", ".join(names)}: {1e3 * error:.3g} mm on postures not seen')
    return error
