# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Inverse dynamics as a linear function of the inertia of rigid bodies.

Of each there are ten numbers, as Pinocchio has them: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz, the
moments about the origin of its joint's distal frame S_J, in its axes. With angular velocity w and
acceleration w' of the body, and acceleration a of that origin less gravity, its force and moment
there are [Atkeson, An, Hollerbach 1986, (12)]::

    f = m a + (w' x + w x w x) m c,      n = (m c) x a + I w' + w x I w
"""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.dynamics.arguments import checked, require_finite
from softrobot_dynamics.kernels.layout import slab
from softrobot_dynamics.recursion.frames import point_jacobian
from softrobot_dynamics.recursion.passes import (
    AT_JOINT,
    BODY_COUNT,
    BODY_SLAB,
    FULL,
    JOINT_POSE,
    Robot,
    STATE,
)

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_SLAB_ORDER = [0, 1, 2, 3, 4, 7, 5, 8, 9, 6]  # of a slab's ten numbers
_MOMENT_MATRICES = np.zeros((6, 3, 3))  # of each of the six moments
for _k, (_i, _j) in enumerate([(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]):
    _MOMENT_MATRICES[_k, _i, _j] = _MOMENT_MATRICES[_k, _j, _i] = 1.0


class TorqueRegressor(NamedTuple):
    """
    Inverse dynamics as ``matrix`` @ ``parameters`` + ``rest``.

    ``bodies`` (R,) are the names of the rigid bodies, ten columns of ``matrix`` (n, 10 R) and
    ten of the ``parameters`` (10 R,) each; ``rest`` (n,) are springs, dampers, armatures
    and soft bodies.
    """

    matrix: Matrix
    parameters: Vector
    rest: Vector
    bodies: tuple[str, ...]


def torque_regressor(
    model: CompiledModel, *, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> TorqueRegressor:
    """
    Return the :class:`TorqueRegressor` of ID at q, qd, qdd (n,) each; ArgumentError.

    A rigid body is one without coordinates of its own.
    """
    n = model.n
    q, qd, qdd = checked('q', q, (n,)), checked('qd', qd, (n,)), checked('qdd', qdd, (n,))
    recursion = model.per_thread.recursion(FULL, True)  # with M there are all poses
    recursion(q, qd, qdd)
    require_finite(model, q, recursion.Q)
    robot = recursion.robot
    rigid = [i for i, row in enumerate(robot.modules) if row[BODY_COUNT] == 0]
    columns = [_columns(robot, i, n) for i in rigid]
    numbers = [_numbers(robot, i) for i in rigid]
    matrix = np.hstack([np.zeros((n, 0)), *columns])
    parameters = np.concatenate([np.zeros(0), *numbers])
    names = tuple(model.body_names[i] for i in rigid)
    return TorqueRegressor(matrix, parameters, recursion.Q - matrix @ parameters, names)


def _numbers(robot: Robot, body: int) -> Vector:
    """Return the ten numbers of a rigid body."""
    first = robot.modules[body, BODY_SLAB] + slab(0).inertia
    found: Vector = robot.W[first : first + 10][_SLAB_ORDER]
    return found


def _columns(robot: Robot, body: int, n: int) -> Matrix:
    """Return the generalized forces (n, 10) of a unit of each number."""
    state = robot.W[body * STATE :][:STATE]
    w, dw, a = state[AT_JOINT : AT_JOINT + 9].reshape(3, 3)
    pose = state[JOINT_POSE : JOINT_POSE + 12]
    R, J = pose[:9].reshape(3, 3), np.empty((6, n))
    cached(point_jacobian)(robot, body, False, pose[9:], J.reshape(-1))
    wrench = np.zeros((6, 10))  # moment, then force
    wrench[3:, 0] = a
    wrench[:3, 1:4] = -_cross(a)
    wrench[3:, 1:4] = _cross(dw) + _cross(w) @ _cross(w)
    wrench[:3, 4:] = (_MOMENT_MATRICES @ dw + np.cross(w, _MOMENT_MATRICES @ w)).T
    forces: Matrix = J[:3].T @ (R @ wrench[:3]) + J[3:].T @ (R @ wrench[3:])
    return forces


def _cross(a: Vector) -> Matrix:
    """Return the matrix (3, 3) of a x."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
