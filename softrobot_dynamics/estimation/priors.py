# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Prior covariance of a robot before anything is measured, whatever units its coordinates have."""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.calls import placement
from softrobot_dynamics.estimation.settings import Disturbance, Initial

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_LEVER_RATIO = 0.1  # of the reach: how far a radian moves what turns about its own axis
_MIN_FORCE_RATIO = 1e-3  # of the force on what a coordinate moves

_MIN_MOTION_RATIO = 0.05  # of what a coordinate moves of its own body, at first


class TipMotion(NamedTuple):
    """Motion of a robot at a posture: Jacobians of tips, angular then linear rows, base axes."""

    reach: float  # [m] from the base to the farthest tip; of its matter, where no tip is away
    jacobians: Matrix  # (6 N, n)
    scales: Vector  # (n,) how far a unit of each coordinate moves the tips [m]
    own_scales: Vector  # (n,) about the same of the body that it bends, or of the joint's [m]


def tip_motion(model: CompiledModel, q: Vector) -> TipMotion:
    """Return the :class:`TipMotion` of a robot at q (n,)."""
    placed, bodies = placement(model, q), range(len(model.body_names))
    far = max(float(np.linalg.norm(placed.pose(body)[:3, 3])) for body in bodies)
    reach = far or model.scales.length  # of a wheel, whose tip is in its axis
    jacobians = np.concatenate([placed.jacobian(body, axes='base') for body in bodies])
    turns, ways = jacobians.reshape(-1, 2, 3, model.n).transpose(1, 0, 2, 3)
    squares = ((_LEVER_RATIO * reach * turns) ** 2 + ways**2).sum(axis=1)
    scales = np.sqrt(squares.max(axis=0))
    return TipMotion(reach, jacobians, scales, reach / model.scales.units)


def force_factor(motion: TipMotion, settings: Disturbance) -> Matrix:
    """
    Return the lower factor (n, n) of the covariance of the force from outside.

    Forces and moments at the tips, and the least along each coordinate: of one that moves no tip
    at this posture, as the higher modes of a straight rod, by what it moves of its own body.
    """
    n = len(motion.scales)
    weights = np.repeat([settings.moment, settings.force], 3)[:, None]
    rows = (motion.jacobians.reshape(-1, 6, n) * weights).reshape(-1, n)
    moved = np.maximum(motion.scales, motion.own_scales)
    least = np.maximum(_MIN_FORCE_RATIO * settings.force * moved, np.finfo(float).tiny ** 0.25)
    return np.linalg.cholesky(rows.T @ rows + np.diag(least**2))


def initial_factor(motion: TipMotion, settings: Initial, force: Matrix, shares: Vector) -> Matrix:
    """
    Return S (N, N) at the beginning, P = S S^T of (q, qd, force, shares).

    A coordinate that hardly moves a tip, as the swelling of a hollow body, is limited by what it
    moves of its own body: it would have a deviation beyond all shapes.
    """
    n, k = len(motion.scales), len(shares)
    moved = np.maximum(motion.scales, _MIN_MOTION_RATIO * motion.own_scales)
    S = np.zeros((3 * n + k, 3 * n + k))
    S[:n, :n] = np.diag(settings.position / moved)
    S[n : 2 * n, n : 2 * n] = np.diag(settings.velocity / moved)
    S[2 * n : 3 * n, 2 * n : 3 * n] = force
    S[3 * n :, 3 * n :] = np.diag(shares)
    return S
