# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Confidence intervals of fitted parameters from residuals, and unidentifiable directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.identification.fit_parameters import FitParameter

CONFIDENCE_LEVEL = 0.95
MAX_HALF_INTERVAL = 1.0  # in x: a factor of e, or a whole span of the bounds
_SINGULAR_VALUE_TOLERANCE = 1e-5  # of the largest; by differences it cannot be told from zero
# of a direction that the data do not determine, from which x takes part in it
_MIN_COMPONENT = 0.1


@former_names(unseen='unidentifiable')
class Confidence(NamedTuple):
    """
    Confidence intervals of x (p,).

    ``half`` (p,) is half a 95 % interval, NaN where the data do not tell; ``unidentifiable``
    (k, p) are orthonormal directions of x that they do not show.
    """

    half: Vector
    unidentifiable: Matrix


def without(derivatives: Matrix, others: Matrix) -> tuple[Matrix, int]:
    """
    Return derivatives (N, p) projected off those of ``others`` (N, c), and their rank.

    So numbers that had to be fitted as well are accounted for, whether the data show them or not.
    """
    directions, sizes, _ = np.linalg.svd(others, full_matrices=False)
    directions = directions[:, sizes > _SINGULAR_VALUE_TOLERANCE * sizes.max(initial=0.0)]
    return derivatives - directions @ (directions.T @ derivatives), directions.shape[1]


def confidence(
    derivatives: Matrix,
    residuals: Vector,
    scale: float = np.inf,
    spent: int = 0,
    least: float = 0.0,
) -> Confidence:
    """
    Return the :class:`Confidence` of a fit by its derivatives (N, p) and weighted residuals (N,).

    So many other numbers were ``spent`` on the residuals, see :func:`without`.

    Of independent errors of one size, which the residuals tell, at the ``least`` one that is
    given, with Student's t; where the loss is soft_l1 of this ``scale``, as of an M-estimate
    [Huber 1981, Sec. 7.6].
    """
    from scipy.stats import t  # late: scipy is slow to import

    p, N = derivatives.shape[1], len(derivatives) - spent
    if N <= p:
        return Confidence(np.full(p, np.nan), np.eye(p))
    z = (residuals / scale) ** 2
    psi, curvature = residuals / np.sqrt(1.0 + z), np.mean((1.0 + z) ** -1.5)
    deviation = max(least, np.sqrt(psi @ psi / (N - p)) / curvature)
    wide = float(t.ppf(0.5 + 0.5 * CONFIDENCE_LEVEL, N - p))
    _, sizes, directions = np.linalg.svd(derivatives, full_matrices=False)
    hidden = (sizes <= _SINGULAR_VALUE_TOLERANCE * sizes[0]) | (
        wide * deviation > MAX_HALF_INTERVAL * sizes
    )
    shown = directions[~hidden] / sizes[~hidden, None]
    half = wide * deviation * np.sqrt((shown**2).sum(axis=0))
    half[(np.abs(directions[hidden]) > _MIN_COMPONENT).any(axis=0)] = np.nan
    return Confidence(half, directions[hidden])


def direction_in_words(direction: Vector, parameters: Sequence[FitParameter]) -> str:
    """Return in words a direction (p,) of x that the data do not determine."""
    share = direction / direction[np.argmax(np.abs(direction))]
    words = [
        f'{p.name} {10.0 * part:+.2g} %{"" if p.relative else " of its range"}'
        for part, p in zip(share, parameters)
        if abs(part) > _MIN_COMPONENT
    ]
    if len(words) == 1:
        return words[0].rsplit(' ', 1)[0].split(' ')[0]
    return ' with '.join(words)


def design(known: Matrix, candidates: Sequence[Matrix], count: int) -> list[int]:
    """
    Return the candidates that add most information, one after the other (D-optimal, greedy).

    By information matrices: ``known`` (p, p), and derivatives (N, p) of each candidate.
    """
    gains = [derivatives.T @ derivatives for derivatives in candidates]
    least = 1e-9 * max(np.trace(known), *(np.trace(gain) for gain in gains), 1e-300)
    known = known + least * np.eye(len(known))
    chosen: list[int] = []
    for _ in range(min(count, len(gains))):
        values = [
            -np.inf if i in chosen else float(np.linalg.slogdet(known + gain)[1])
            for i, gain in enumerate(gains)
        ]
        chosen.append(int(np.argmax(values)))
        known = known + gains[chosen[-1]]
    return chosen
