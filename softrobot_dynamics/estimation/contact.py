# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The wrench from outside that explains a generalized force, and whether there is one at all."""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector

_SEEN = 1e-9  # of what is seen best: what is seen less than that is not seen


class Push(NamedTuple):
    """
    A wrench (6,), moment [N m] then force [N], or a force (3,) alone, and how well it is known.

    ``square`` is the normalised square, where nothing pushes at most as chi squared with ``rank``
    degrees of freedom is; ``chance`` the probability of one so large then. What sensors do not
    show is zero in ``value``, and infinite in the ``covariance``.
    """

    value: Vector
    covariance: Matrix
    square: float
    rank: int
    chance: float


def fit_push(J: Matrix, force: Vector, covariance: Matrix, prior: Matrix) -> Push:
    """
    Return the :class:`Push` with the Jacobian J (k, n) of a force (n,) and its covariance.

    The covariance is that after measurements, and ``prior`` the factor (n, n) of that without any.
    What measurements alone say, without what was believed before, is a likelihood of information
    P^-1 - P0^-1, and pulls no longer towards zero. That of J^T w, nothing else being at work, is
    largest at w; by weighted least squares.
    """
    from scipy.special import gammaincc  # late: scipy is slow to import

    inverse, before = np.linalg.inv(covariance), np.linalg.inv(prior @ prior.T)
    information = J @ (inverse - before) @ J.T
    values, vectors = np.linalg.eigh(0.5 * (information + information.T))
    seen = values > _SEEN * max(values.max(), np.finfo(float).tiny)
    along = vectors.T @ (J @ (inverse @ force))
    parts = np.where(seen, along / np.where(seen, values, 1.0), 0.0)
    spread = np.where(seen, 1.0 / np.where(seen, values, 1.0), 0.0)
    P = (vectors * spread) @ vectors.T
    hidden = (vectors[:, ~seen] ** 2).sum(axis=1) > 1e-6
    P[np.ix_(hidden, hidden)] += np.diag(np.full(hidden.sum(), np.inf))
    square, rank = float(parts @ (values * parts)), int(seen.sum())
    chance = float(gammaincc(0.5 * max(rank, 1), 0.5 * square))
    return Push(vectors @ parts, P, square, rank, chance)
