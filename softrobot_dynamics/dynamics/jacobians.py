# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives by the state of the Jacobian of a frame on a body, of its bias, and of loads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.compiling.addresses import run_three
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.dynamics.arguments import (
    body_index,
    checked,
    checked_point,
    require_finite,
    require_frame,
)
from softrobot_dynamics.dynamics.point_twists import point_twists, PointTwists
from softrobot_dynamics.dynamics.wrenches import Load
from softrobot_dynamics.recursion.derivative_passes import (
    allocate_tangents,
    DerivativeArrays,
    tangent_entries,
)
from softrobot_dynamics.recursion.mimic_reduction import folded
from softrobot_dynamics.recursion.passes import (
    BODY_COLUMN,
    BODY_COUNT,
    BODY_FIRST,
    JOINT_COLUMN,
    JOINT_COUNT,
    JOINT_FIRST,
    JOINT_POSE,
    PARENT,
    Robot,
    STATE,
    TIP_POSE,
)
from softrobot_dynamics.recursion.twists import MOTION, RATE, SECOND, TWIST

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class _ChainElement(NamedTuple):
    """A joint or a body between the ground and the frame."""

    columns: slice  # its columns, see softrobot_dynamics.recursion.passes
    first: int  # its first coordinate
    # (k, k, 6) of its twists, by the first index; None: they are constant
    derivatives: Array | None
    base: int  # where the pose of its base is in the workspace


class _Frame(NamedTuple):
    """A frame whose Jacobian is differentiated: in the axes of the base, about the last tip."""

    pose: tuple[Matrix, Vector]  # rotation, and origin [m], of the frame in the base
    motion: Matrix  # (2, 6) its twist and the derivative of that, gravity in it
    twists: Array  # (3, 6, n_x) those of the columns, and their derivatives by time
    parts: list[_ChainElement]  # from the frame to the ground


class JacobianDerivatives(NamedTuple):
    """The Jacobian J of a frame, in its axes, angular rows first, and its derivatives."""

    jacobian: Matrix  # (6, n) J
    by_q: Array  # (6, n, n) dJ/dq, the last index being that of q
    bias: Vector  # (6,) (dJ/dt) qd [rad/s^2, m/s^2]
    bias_by_q: Matrix  # (6, n)
    bias_by_qd: Matrix  # (6, n)


def jacobian_derivatives(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike,
    body: str | None = None,
    point: ArrayLike | None = None,
) -> JacobianDerivatives:
    """
    Return the :class:`JacobianDerivatives` of a frame on a body at q, qd (n,).

    It is that of the tip or at a material point x (3,) [m], as in
    :func:`~softrobot_dynamics.dynamics.calls.jacobian`. With the twists S_k of the coordinates
    before the frame, X from the axes of the base to its own, and V its twist, ::

        dJ_k/dq_j = X (dS_k/dq_j - S_j x S_k),   d(bias)/dq_k = X (d2S_k/dt2 + dS_k/dt x V)

    At a point, derivatives by the coordinates of the body itself are finite differences, good to
    1e-10 of the largest entry. Raises ArgumentError.
    """
    q, qd = checked('q', q, (model.n,)), checked('qd', qd, (model.n,))
    index, point, robot = body_index(model, body), checked_point(point), model.evaluator().robot
    t = allocate_tangents(robot, model.derivatives())
    cached(run_three, 'VECTOR, VECTOR, VECTOR', entry=tangent_entries(robot, t).whole)(
        q, qd, np.zeros(model.n)
    )
    require_finite(model, q, t.by_state)
    frame = _frame(model, robot, t, index, point, q, qd)
    (S, rate, second), (V, A) = frame.twists, frame.motion
    second[3:] += np.cross(robot.gravity, S[:3], axisb=0).T  # the ground does not accelerate
    A[3:] += robot.gravity
    X, (J, by_q) = _into_frame(robot, *frame.pose), _own_axes(robot, frame)
    return JacobianDerivatives(
        jacobian=J,
        by_q=by_q,
        bias=X @ A,
        bias_by_q=X @ folded(robot, second + _bracket(rate, V[:, None])),
        bias_by_qd=np.einsum('akj,k->aj', by_q, qd) + np.einsum('ajk,k->aj', by_q, qd),
    )


def load_stiffness(
    model: CompiledModel, robot: Robot, t: DerivativeArrays, q: Vector, loads: Sequence[Load]
) -> Matrix:
    """
    Return the derivative (n, n) by q of the generalized force of loads on a robot at q.

    ID has just been differentiated there, with the workspace of the robot and these tangents. In
    the axes of a body a dead load turns against it: dw/dq_k = -(J_k)_w x w, of moment and force
    each.
    """
    K = np.zeros((model.n, model.n))
    for index, wrench in loads:
        frame = _frame(model, robot, t, index, wrench.point, q, np.zeros(model.n))
        (J, by_q), w = _own_axes(robot, frame), wrench.value.reshape(2, 3)
        if wrench.frame == 'base':
            w = w @ frame.pose[0]
            K -= J.T @ np.cross(J[:3], w[:, :, None], axisa=0, axisb=1, axisc=1).reshape(6, -1)
        K += np.einsum('a,akj->kj', w.ravel(), by_q)
    return K


def _frame(
    model: CompiledModel,
    robot: Robot,
    t: DerivativeArrays,
    index: int,
    point: Vector | None,
    q: Vector,
    qd: Vector,
) -> _Frame:
    """Return the frame at a material point of a body, None: its tip; ArgumentError."""
    tip = _tip(robot, t, index)
    if point is None:
        return tip
    columns, first, *_ = tip.parts[0]
    body_slice = slice(first, first + columns.stop - columns.start)
    there = point_twists(model, robot, index, point, q[body_slice], qd[body_slice])
    require_frame(point, there.frame)
    return _at_point(robot, t, index, tip, there, qd[body_slice])


def _own_axes(robot: Robot, frame: _Frame) -> tuple[Matrix, Array]:
    """Return the Jacobian (6, n) of a frame in its axes, and its derivative (6, n, n) by q."""
    X, S = _into_frame(robot, *frame.pose), frame.twists[0]
    by_q = folded(robot, folded(robot, _changes(robot, frame.parts, S)).swapaxes(1, 2))
    return X @ folded(robot, S), np.einsum('ab,bkj->akj', X, by_q.swapaxes(1, 2))


def _tip(robot: Robot, t: DerivativeArrays, index: int) -> _Frame:
    """Return the tip frame of a body."""
    parts, twists = _parts(robot, t, index), np.zeros((3, 6, t.columns.shape[1]))
    for row, found in zip((TWIST, RATE, SECOND), twists):
        for part in parts:
            found[:, part.columns] = t.columns[row : row + 6, part.columns]
    return _Frame(_pose(robot, index * STATE + TIP_POSE), _motion(t, 2 * index + 1), twists, parts)


def _at_point(
    robot: Robot, t: DerivativeArrays, index: int, tip: _Frame, point: PointTwists, qd: Vector
) -> _Frame:
    """Return the frame at a material point in place of the tip; ``qd`` (k,) of its body."""
    columns, first, _, base = tip.parts[0]
    motion, (S, rate, second) = _motion(t, 2 * index), tip.twists
    V, A = motion[:, :, None]
    by_time = _moved(robot, base, np.einsum('kjc,k->jc', point.derivatives, qd)).T
    S[:, columns] = _moved(robot, base, point.twists).T
    rate[:, columns] = _bracket(V, S[:, columns]) + by_time
    second[:, columns] = _bracket(A, S[:, columns]) + _bracket(V, rate[:, columns] + by_time)
    second[:, columns] += _moved(robot, base, point.second).T
    motion += S[:, columns] @ qd, rate[:, columns] @ qd
    R, origin = _pose(robot, base)
    pose = R @ point.frame[:3, :3], origin + R @ point.frame[:3, 3]
    return _Frame(
        pose,
        motion,
        tip.twists,
        [_ChainElement(columns, first, point.derivatives, base), *tip.parts[1:]],
    )


def _parts(robot: Robot, t: DerivativeArrays, index: int) -> list[_ChainElement]:
    """Return the parts from a tip to the ground."""
    parts = []
    while index < len(robot.modules):
        m = [int(value) for value in robot.modules[index]]
        joint, body = (int(place) for place in t.places[index])
        columns = slice(m[BODY_COLUMN], m[BODY_COLUMN] + m[BODY_COUNT])
        base = index * STATE + JOINT_POSE
        derivatives = _derivatives(t, body, m[BODY_COUNT])
        parts.append(_ChainElement(columns, m[BODY_FIRST], derivatives, base))
        columns, index = slice(m[JOINT_COLUMN], m[JOINT_COLUMN] + m[JOINT_COUNT]), m[PARENT]
        derivatives, base = _derivatives(t, joint, m[JOINT_COUNT]), index * STATE + TIP_POSE
        parts.append(_ChainElement(columns, m[JOINT_FIRST], derivatives, base))
    return parts


def _derivatives(t: DerivativeArrays, place: int, count: int) -> Array | None:
    """Return the derivatives of the twists of a part, None if it has none."""
    if not place:
        return None
    return t.derivatives[place : place + 6 * count * count].reshape(count, count, 6)


def _motion(t: DerivativeArrays, frame: int) -> Matrix:
    """Return the twist of a frame and its derivative (2, 6), a copy."""
    return t.motions[frame * MOTION : (frame + 1) * MOTION].reshape(2, 6).copy()


def _changes(robot: Robot, parts: list[_ChainElement], S: Matrix) -> Array:
    """Return dS_k/dx_j - S_j x S_k at [:, k, j], (6, n_x, n_x): zero where j comes before k."""
    place = np.full(S.shape[1], -1)  # among the parts; -1: not between the ground and the frame
    for i, part in enumerate(parts):
        place[part.columns] = i
    changed = (place <= place[:, None]) & (place >= 0)
    changes = np.where(changed, _bracket(S[:, :, None], S[:, None]), 0.0)
    for columns, _, derivatives, base in parts:
        if derivatives is not None:
            changes[:, columns, columns] += _moved(robot, base, derivatives).transpose(2, 1, 0)
    return changes


def _moved(robot: Robot, pose: int, twists: Array) -> Array:
    """Twists (., ., 6) at a frame in its axes, in those of the base about the last tip."""
    R, origin = _pose(robot, pose)
    angular, linear = twists[..., :3] @ R.T, twists[..., 3:] @ R.T
    return np.concatenate([angular, linear + np.cross(origin - _centre(robot), angular)], axis=-1)


def _into_frame(robot: Robot, R: Matrix, origin: Vector) -> Matrix:
    """X (6, 6) that takes twists in base axes about the last tip to a frame's own."""
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


def _bracket(a: Array, b: Array) -> Array:
    """Return a x b of twists (6, ...)."""
    turned, moved = np.cross(a[:3], b[:3], axis=0), np.cross(a[:3], b[3:], axis=0)
    return np.concatenate([turned, moved + np.cross(a[3:], b[:3], axis=0)])
