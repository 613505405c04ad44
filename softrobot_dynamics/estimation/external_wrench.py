# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Estimate the external wrench, and its point, that explain a generalized force."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.dynamics.calls import frame
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.estimation.contact_places import (
    EQUAL_SCORE_RATIO,
    MaterialPoint,
    nearest_alike,
)

if TYPE_CHECKING:
    from softrobot_dynamics.dynamics.contacts import NearPoint
    from softrobot_dynamics.model.model import CompiledModel

_OBSERVABILITY_TOLERANCE = 1e-9  # of what is observed best; with less a direction is unobserved
_MIN_SCORE_GAIN = 9.0  # of ``square``: 3 sigma, for an explanation without a known shape


@former_names(chance='probability')
class Push(NamedTuple):
    """
    A wrench (6,), moment [N m] then force [N], or a force (3,) alone, and how well it is known.

    ``square`` is, where nothing pushes, as chi squared with ``rank`` degrees of freedom is, and
    ``probability`` that of one so large then, by noise alone, at one look. What sensors do
    not show is zero in ``value``, and infinite in the ``covariance``.
    """

    value: Vector
    covariance: Matrix
    square: float
    rank: int
    probability: float


@former_names(push='wrench', other='touched_shape')
class Contact(NamedTuple):
    """A place on a robot, and the force (3,) there that explains most, in the axes of the base."""

    body: str
    point: Vector | None  # (3,) [m] the material point, None: the body's tip
    position: Vector  # (3,) [m] where that is, base frame
    wrench: Push
    touched_shape: str | None = None  # of the surroundings that it touches there, if known


def fit_push(
    J: Matrix, force: Vector, covariance: Matrix, prior: Matrix, still: Matrix, length: float
) -> Push:
    """
    Return the :class:`Push` with the Jacobian J (k, n) of a force (n,) and its covariance.

    Moments and forces are compared by the robot's ``length`` [m].
    The covariance P is that after measurements, ``prior`` the factor (n, n) of P0, that without
    any, and ``still`` (n, n) the covariance N of the estimated force where none acts. The
    likelihood of the measurements alone, without the prior, has the information P^-1 - P0^-1, and
    pulls no longer towards zero. That of J^T w, nothing else being at work, is largest at w; by
    weighted least squares.

    Whether there is any push is another question, of noise alone. A force f appears in the
    estimate as M f, M = 1 - P P0^-1, so J^T w is told from noise best by b = J M^T N^-1 force:
    without a push a number of covariance V = J M^T N^-1 M J^T, and b^T V^-1 b chi squared.
    """
    from scipy.special import gammaincc  # late: scipy is slow to import

    units = np.repeat([length, 1.0], 3)[-len(J) :]  # of the wrench
    J = units[:, None] * J
    inverse, before = np.linalg.inv(covariance), np.linalg.inv(prior @ prior.T)
    information = J @ (inverse - before) @ J.T
    values, vectors = np.linalg.eigh(0.5 * (information + information.T))
    seen = values > _OBSERVABILITY_TOLERANCE * max(values.max(), np.finfo(float).tiny)
    along = vectors.T @ (J @ (inverse @ force))
    parts = np.where(seen, along / np.where(seen, values, 1.0), 0.0)
    spread = np.where(seen, 1.0 / np.where(seen, values, 1.0), 0.0)
    P = (vectors * spread) @ vectors.T
    hidden = (vectors[:, ~seen] ** 2).sum(axis=1) > 1e-6
    P[np.ix_(hidden, hidden)] += np.diag(np.full(hidden.sum(), np.inf))
    shown = np.linalg.solve(
        still + _OBSERVABILITY_TOLERANCE * covariance, (J - J @ before @ covariance).T
    )
    square, rank = _square(shown @ vectors[:, seen], force, still)
    probability = float(gammaincc(0.5 * max(rank, 1), 0.5 * square))
    return Push(units * (vectors @ parts), np.outer(units, units) * P, square, rank, probability)


def _square(weights: Matrix, force: Vector, still: Matrix) -> tuple[float, int]:
    """Return the normalised square of a force (n,) weighted by (n, r), and its rank."""
    values, vectors = np.linalg.eigh(weights.T @ still @ weights)
    seen = values > _OBSERVABILITY_TOLERANCE * max(values.max(initial=0.0), np.finfo(float).tiny)
    along = (vectors.T @ (weights.T @ force))[seen]
    return float(along @ (along / values[seen])), int(seen.sum())


def find_contact(
    model: CompiledModel,
    x: Vector,
    wrench_at: Callable[..., Push],
    places: Sequence[MaterialPoint],
    near_points: Sequence[NearPoint] = (),
) -> Contact:
    """
    Return the :class:`Contact` of a state x (q first), by ``wrench_at`` each of some places.

    ``near_points`` to shapes of the surroundings come first: another place is told only if it
    explains the force better by 3 sigma. Among near points that explain it as well as the best
    one, to 1 % and 3 sigma, that with the smallest gap is told: along a body of few coordinates a
    force does the same at many places.
    """
    if not len(places) and not len(near_points):
        raise ArgumentError('places', places, 'at least one')
    found = [(body, point, None, wrench_at(body, point=point)) for body, point in places]
    known = [
        (p.body, p.point, p.near_shape, wrench_at(p.body, point=p.point)) for p in near_points
    ]
    if known:
        most = max(_score(each[3]) for each in known)
        margin = min(_MIN_SCORE_GAIN, EQUAL_SCORE_RATIO * max(most, 0.0))
        known = [known[nearest_alike([_score(each[3]) for each in known], near_points, margin)]]
    body, point, shape, wrench = max(
        [*known, *found],
        key=lambda each: _score(each[3]) + _MIN_SCORE_GAIN * (each[2] is not None),
    )
    there: Any = None if point is None else checked('point', point, (3,))
    position = frame(model, q=x[: model.n], body=body, point=there)[:3, 3]
    return Contact(body, there, position, wrench, shape)


def _score(push: Push) -> float:
    """Return by how much a push explains more than noise would with its freedom."""
    return push.square - push.rank
