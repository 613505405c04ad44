# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Observability: which coordinates sensors determine at a posture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.estimation.priors import tip_motion
from softrobot_dynamics.estimation.sensors.contract import Observation

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_HORIZON_STEPS = 50
_MAX_DEVIATION = 0.01  # of the reach; a coordinate with a larger one is not observed


class Observability(NamedTuple):
    """
    Observability of the state by sensors, at a posture and within a time.

    ``rank`` of the observability Gramian of (q, qd, force), 3 n numbers: of how many directions
    measurements say more than that the robot is within its reach, no faster than that at its
    pace (see :class:`~softrobot_dynamics.model.scales.Scales`), and pushed as the settings say.
    ``deviations`` (n,) are what remains unknown of each coordinate; ``unobservable`` the names of
    those that by this may move the robot by a hundredth of its reach. Those that stiffness holds
    are not among them, even if nobody measures them.
    """

    rank: int
    deviations: Vector
    unobservable: tuple[str, ...]


def observability(
    model: CompiledModel,
    differentiate: Differentiator,
    sensors: Sequence[tuple[float, Observation]],
    force: Matrix,
    q: Vector,
    u: Vector,
    horizon: float,
) -> Observability:
    """
    Return the :class:`Observability` at q (n,) under u (m,) within a horizon [s].

    ``sensors`` are pairs of a rate [Hz] and an observation, ``force`` the factor (n, n) of the
    covariance of the force from outside, which stays as it is. Raises SingularMassError.
    """
    from scipy.linalg import expm  # late: scipy is slow to import

    n, there = model.n, tip_motion(model, q)
    rest, dt = np.zeros(n), horizon / _HORIZON_STEPS
    change = differentiate.forward(q, rest, u)
    rates = np.zeros((3 * n, 3 * n))
    rates[:n, n : 2 * n] = np.eye(n)
    rates[n : 2 * n] = np.hstack([change.by_q, change.by_qd, np.linalg.inv(differentiate.M)])
    step = expm(dt * rates)
    moved = np.maximum(there.scales, 1e-6 * there.scales.max())
    S = np.zeros((3 * n, 3 * n))
    S[:n, :n] = np.diag(there.reach / moved)
    S[n : 2 * n, n : 2 * n] = model.scales.pace * S[:n, :n]
    S[2 * n :, 2 * n :] = force
    rows = []
    for rate, observation in sensors:
        seen = observation.observed
        observation.observe(q, rest, np.zeros(len(seen.predicted)))
        rows.append(seen.H * (np.sqrt(rate * dt) / observation.noise)[:, None])
    H, gramian, now = np.concatenate(rows), np.zeros((3 * n, 3 * n)), S
    for _ in range(_HORIZON_STEPS):
        now = step @ now
        by_state = H @ now
        gramian += by_state.T @ by_state
    values, vectors = np.linalg.eigh(gramian)
    left = now @ (vectors / np.sqrt(1.0 + np.maximum(values, 0.0)))
    deviations = np.sqrt((left[:n] ** 2).sum(axis=1))
    rough = deviations * there.scales > _MAX_DEVIATION * there.reach
    names = tuple(name for name, each in zip(model.coordinate_names, rough) if each)
    return Observability(int((values > 1.0).sum()), deviations, names)
