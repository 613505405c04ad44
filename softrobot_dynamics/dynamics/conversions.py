# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Convert between space and coordinates: velocities from twists, joint torques from forces.

All vectors are keyword-only, float64, SI units; twists and wrenches have their angular part first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.arguments import body_index, checked
from softrobot_dynamics.dynamics.calls import placement
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.recursion.passes import JOINT_COUNT, JOINT_FIRST, JOINT_SLAB, Robot

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

RANK_TOLERANCE = 1e-9  # of the largest singular value; smaller ones count as zero


class Velocities(NamedTuple):
    """Generalized velocities that fit measured twists, and the residuals."""

    qd: Vector  # (n,)
    residuals: dict[str, Vector]  # {body name: measured twist less that of qd, (6,) [rad/s, m/s]}


def generalized_velocities(
    model: CompiledModel, *, q: ArrayLike, twists: Mapping[str, ArrayLike]
) -> Velocities:
    """
    Return the :class:`Velocities` of a robot at q (n,) whose bodies move with given twists.

    ``twists`` maps body names to (6,): angular velocity [rad/s], then velocity of the tip [m/s],
    both in the tip frame. The sum of the squared residuals is the least there is (rad/s and m/s
    count alike). Raises ArgumentError, which names the coordinates that twists leave undetermined.
    """
    if not isinstance(twists, Mapping) or not twists:
        raise ArgumentError('twists', twists, 'a mapping, not empty, of body names to twists')
    bodies = [body_index(model, name, 'twists') for name in twists]
    values = [checked(f'twists[{name!r}]', twists[name], (6,)) for name in twists]
    placed = placement(model, q)
    J = np.vstack([placed.jacobian(body) for body in bodies])
    _require_seen(model, J, tuple(twists))
    qd: Any = np.linalg.lstsq(J, np.concatenate(values), rcond=None)[0]
    left = np.concatenate(values) - J @ qd
    return Velocities(qd, dict(zip(twists, left.reshape(-1, 6))))


def joint_torques(model: CompiledModel, *, q: ArrayLike, forces: ArrayLike) -> Matrix:
    """
    Wrench (N, 6) with which each joint's drive acts, given generalized forces (n,).

    Row i is the moment [N m], then the force [N], at the distal frame S_J of joint i in its axes,
    with X^T wrench = forces of the joint, where X (6, n_i) is its motion subspace there. That
    fixes the wrench up to what does no work in any motion of the joint, which is zero here: the
    force acts along the joint's pure translations, the moment about its axes of rotation. So a
    revolute joint gets its force as a moment about the axis, a ball joint all of its moment, a
    fixed joint nothing. The force along a joint that others follow is that of its own drive; they
    have none. What a joint transmits besides is in the ``joint_wrenches`` of
    ``inverse_dynamics``. Forces of bodies' coordinates are not used.

    Raises ArgumentError where a joint is singular, so that no wrench has these forces.
    """
    forces, placed = checked('forces', forces, (model.n,)), placement(model, q)
    result = np.zeros((len(model.body_names), 6))
    for i, module in enumerate(model.description.modules):
        m = placed.robot.modules[i]
        own = forces[m[JOINT_FIRST] : m[JOINT_FIRST] + m[JOINT_COUNT]]
        if not module.joint.coordinates():
            own = np.zeros(len(own))  # it follows another, whose drive acts
        subspace = motion_subspace(placed.robot, i)
        result[i] = drive_wrench(subspace, own)
        if np.abs(subspace.T @ result[i] - own).max(initial=0.0) > 1e-8 * np.abs(own).max(
            initial=0.0
        ):
            expected = f'a posture in which {module.joint_name} is not singular'
            raise ArgumentError('q', placed.q, expected)
    return result


def motion_subspace(robot: Robot, body: int) -> Matrix:
    """Motion subspace (6, n_i) of the joint of a body (index): twists of S_J in S_J."""
    m = robot.modules[body]
    n = m[JOINT_COUNT]
    slab = robot.W[m[JOINT_SLAB] :]
    spin, velocity = slab[layout.JACOBIAN : layout.JACOBIAN + 6 * n].reshape(2, n, 3)
    return np.vstack([spin.T, slab[layout.ROTATION : layout.ORIGIN].reshape(3, 3).T @ velocity.T])


def drive_wrench(subspace: Matrix, forces: Vector) -> Vector:
    """Wrench (6,) of least parts with subspace^T wrench = forces, see :func:`joint_torques`."""
    if not len(forces):
        return np.zeros(6)
    turning, moving = subspace[:3], subspace[3:]
    free = _null_space(turning)  # of the coordinates: combinations that do not turn
    shifts = moving @ free
    # a combination that does nothing
    shifts[np.abs(shifts) < RANK_TOLERANCE * np.abs(subspace).max()] = 0.0
    force = _least(shifts.T, free.T @ forces)
    moment = _least(turning.T, forces - moving.T @ force)
    return np.concatenate([moment, force])


def _null_space(A: Matrix) -> Matrix:
    from scipy.linalg import null_space  # late: scipy is slow to import

    return null_space(A, rcond=RANK_TOLERANCE)


def _least(A: Matrix, b: Vector) -> Any:
    """Least x with A x = b, if there is one; else the nearest. Empty equations give zero."""
    return np.linalg.lstsq(A, b, rcond=RANK_TOLERANCE)[0] if A.size else np.zeros(A.shape[1])


def _require_seen(model: CompiledModel, J: Matrix, bodies: tuple[str, ...]) -> None:
    size = np.linalg.norm(J, axis=0)
    hidden = _null_space(J / np.where(size > 0.0, size, 1.0))
    unseen = np.flatnonzero(np.abs(hidden).max(axis=1, initial=0.0) > 1e-6)
    if len(unseen):
        names = ', '.join(model.coordinate_names[j] for j in unseen)
        expected = f'twists that determine every coordinate; these leave {names} undetermined'
        raise ArgumentError('twists', bodies, expected)
