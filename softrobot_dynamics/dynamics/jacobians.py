# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of the Jacobian of a tip frame, and of its bias, by the state."""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.compiling.addresses import run_three
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.dynamics.arguments import body_index, checked, require_finite
from softrobot_dynamics.recursion.passes import (
    BODY_COUNT,
    BODY_FIRST,
    JOINT_COUNT,
    JOINT_FIRST,
    JOINT_POSE,
    PARENT,
    Robot,
    STATE,
    TIP_POSE,
)
from softrobot_dynamics.recursion.tangents import allocate_tangents, tangent_entries, Tangents
from softrobot_dynamics.recursion.twists import MOTION, RATE, SECOND, TWIST

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


Part = tuple[int, int, int, int]


class JacobianDerivatives(NamedTuple):
    """The Jacobian J of a tip frame, in its axes, angular rows first, and what it does."""

    jacobian: Matrix  # (6, n) J
    by_q: Array  # (6, n, n) dJ/dq, the last index being that of q
    bias: Vector  # (6,) (dJ/dt) qd [rad/s^2, m/s^2]
    bias_by_q: Matrix  # (6, n)
    bias_by_qd: Matrix  # (6, n)


def jacobian_derivatives(
    model: CompiledModel, *, q: ArrayLike, qd: ArrayLike, body: str | None = None
) -> JacobianDerivatives:
    """
    Return the :class:`JacobianDerivatives` of the tip frame of a body at q, qd (n,).

    With the twists S_k of the coordinates before the tip, X from the axes of the base to those of
    the frame, and V the frame's own twist, ::

        dJ_k/dq_j = X (dS_k/dq_j - S_j x S_k),   d(bias)/dq_k = X (d2S_k/dt2 + dS_k/dt x V)

    ``body`` as in :func:`~softrobot_dynamics.dynamics.calls.jacobian`; ArgumentError.
    """
    q, qd = checked('q', q, (model.n,)), checked('qd', qd, (model.n,))
    index, robot = body_index(model, body), model.evaluator().robot
    t = allocate_tangents(model, robot)
    cached(run_three, entry=tangent_entries(robot, t)[1])(q, qd, np.zeros(model.n))
    require_finite(model, q, t.by_state)
    parts = _parts(robot, t, index)
    before = np.concatenate([np.arange(first, first + count) for first, count, _, _ in parts])
    S, rate, second = np.zeros((3, 6, model.n))
    for row, found in ((TWIST, S), (RATE, rate), (SECOND, second)):
        found[:, before] = t.columns[row : row + 6, before]
    second[3:] += np.cross(robot.gravity, S[:3], axisb=0).T  # the ground does not accelerate
    X, own = _into_frame(robot, index), slice((2 * index + 1) * MOTION, None)
    V, A = t.motions[own][:6], t.motions[own][6:12].copy()
    A[3:] += robot.gravity
    J, by_q = X @ S, np.einsum('ab,bkj->akj', X, _changes(robot, parts, t, S))
    return JacobianDerivatives(
        jacobian=J,
        by_q=by_q,
        bias=X @ A,
        bias_by_q=X @ (second + _bracket(rate, V[:, None])),
        bias_by_qd=np.einsum('akj,k->aj', by_q, qd) + np.einsum('ajk,k->aj', by_q, qd),
    )


def _parts(robot: Robot, t: Tangents, index: int) -> list[Part]:
    """Return (first coordinate, count, slopes, pose of the base) from the tip to the ground."""
    found = []
    while index < len(robot.modules):
        m = [int(value) for value in robot.modules[index]]
        joint, body = (int(place) for place in t.places[index])
        before = m[PARENT] * STATE + TIP_POSE
        found.append((m[BODY_FIRST], m[BODY_COUNT], body, index * STATE + JOINT_POSE))
        found.append((m[JOINT_FIRST], m[JOINT_COUNT], joint, before))
        index = m[PARENT]
    return found


def _changes(robot: Robot, parts: list[Part], t: Tangents, S: Matrix) -> Array:
    """Return dS_k/dq_j - S_j x S_k at [:, k, j], (6, n, n): zero where j comes before k."""
    n = S.shape[1]
    found, beyond = np.zeros((6, n, n)), np.zeros(n, dtype=bool)
    for first, count, slopes, pose in parts:
        own = np.arange(first, first + count)
        beyond[own] = True
        for k in own:
            found[:, k, beyond] = _bracket(S[:, k, None], S[:, beyond])
        if slopes:
            twists = t.slopes[slopes : slopes + 6 * count * count].reshape(count, count, 6)
            found[:, own[:, None], own] += _moved(robot, pose, twists).transpose(2, 1, 0)
    return found


def _moved(robot: Robot, pose: int, twists: Array) -> Array:
    """Twists (., ., 6) at a frame in its axes, in those of the base about the last tip."""
    R, origin = _pose(robot, pose)
    angular, linear = twists[..., :3] @ R.T, twists[..., 3:] @ R.T
    return np.concatenate([angular, linear + np.cross(origin - _centre(robot), angular)], axis=-1)


def _into_frame(robot: Robot, index: int) -> Matrix:
    """X (6, 6) that takes twists in base axes about the last tip to those of a tip in its axes."""
    R, origin = _pose(robot, index * STATE + TIP_POSE)
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = R.T
    X[3:, :3] = R.T @ np.cross(np.eye(3), _centre(robot) - origin)
    return X


def _pose(robot: Robot, at: int) -> tuple[Matrix, Vector]:
    """Rotation (3, 3) and origin (3,) [m] of a frame in the base."""
    return robot.W[at : at + 9].reshape(3, 3), robot.W[at + 9 : at + 12]


def _centre(robot: Robot) -> Vector:
    """Origin (3,) [m] of the last tip: the point that all twists are about."""
    return _pose(robot, (len(robot.modules) - 1) * STATE + TIP_POSE)[1]


def _bracket(a: Matrix, b: Matrix) -> Matrix:
    """Columns a x b of twists (6, .)."""
    turned, moved = np.cross(a[:3], b[:3], axis=0), np.cross(a[:3], b[3:], axis=0)
    return np.concatenate([turned, moved + np.cross(a[3:], b[:3], axis=0)])
