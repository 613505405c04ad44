# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Wrenches from outside in an evaluation that a simulator may call.

Each kernel here evaluates the robot by the entry it is given, with poses, and takes the
generalized force J^T w of one wrench from h = ID(q, qd, 0), or adds a payload to h and M. So
entries of several wrenches are made one from the other.
"""

from typing import NamedTuple

from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.layout import ORIGIN
from softrobot_dynamics.kernels.spatial import rotate
from softrobot_dynamics.recursion.frames import point_acceleration, point_jacobian
from softrobot_dynamics.recursion.material_points import Cloud, place_points
from softrobot_dynamics.recursion.passes import JOINT_POSE, STATE, TIP_POSE


class TipLoad(NamedTuple):
    """A wrench at the tip of a body."""

    body: int  # its index
    is_follower: int  # 1: with the tip's frame; 0: it has the axes of the base
    wrench: Vector  # (6,) [N m, N]
    scratch: Vector  # (9,)
    J: Vector  # (6 n,) filled with the Jacobian of the tip


class PointLoad(NamedTuple):
    """A wrench at a material point of a body."""

    body: int  # its index
    is_follower: int  # 1: with the frame at the point; 0: it has the axes of the base
    wrench: Vector  # (6,) [N m, N]
    cloud: Cloud  # of the point
    frame: Matrix  # (1, 16) filled
    J: Matrix  # (1, 6 n) filled
    velocity: Matrix  # (1, 3) filled
    zero: Vector  # (n,) zeros


class Payload(NamedTuple):
    """A point mass at the tip of a body."""

    body: int  # its index
    mass: Vector  # (1,) [kg]
    scratch: Vector  # (9,)
    J: Vector  # (6 n,) filled with the Jacobian of the tip


@kernel
def evaluate_with_force(evaluate, h, force, q, qd):
    """Evaluate at (q, qd), under a generalized ``force`` (n,)."""
    run(evaluate, q, qd)
    for j in range(len(h)):
        h[j] -= force[j]


@kernel
def evaluate_with_tip_wrench(evaluate, robot, h, load, q, qd):
    """Evaluate at (q, qd), under a :class:`TipLoad`."""
    run(evaluate, q, qd)
    W, pose, wrench = robot.W, load.body * STATE + TIP_POSE, load.wrench
    p, w = load.scratch[:3], load.scratch[3:9]
    for k in range(3):
        p[k] = W[pose + ORIGIN + k]
    for k in range(6):
        w[k] = wrench[k]
    if load.is_follower:
        w[0], w[1], w[2] = rotate(W, pose, wrench[0], wrench[1], wrench[2])
        w[3], w[4], w[5] = rotate(W, pose, wrench[3], wrench[4], wrench[5])
    point_jacobian(robot, load.body, True, p, load.J)
    _subtract_wrench(load.J, w, h)


@kernel
def evaluate_with_point_wrench(evaluate, robot, h, load, q, qd):
    """Evaluate at (q, qd), under a :class:`PointLoad`."""
    run(evaluate, q, qd)
    body, cloud = load.body, load.cloud
    origin = robot.W[body * STATE + JOINT_POSE + ORIGIN :]
    point_jacobian(robot, body, False, origin, cloud.jacobian)
    for j in range(len(cloud.q)):
        cloud.q[j] = q[cloud.first + j]
    place_points(cloud, load.zero, load.is_follower != 0, load.frame, load.J, load.velocity)
    _subtract_wrench(load.J[0], load.wrench, h)


@kernel
def evaluate_with_payload(evaluate, robot, h, M, payload, q, qd):
    """
    Evaluate at (q, qd) with a :class:`Payload` m.

    M (n, n) grows by m J^T J, h (n,) by m J^T a, with the acceleration a of the tip, against
    gravity, where qdd is zero.
    """
    run(evaluate, q, qd)
    n, m, body, J = len(h), payload.mass[0], payload.body, payload.J
    origin = body * STATE + TIP_POSE + ORIGIN
    if m == 0.0:
        return
    p, here, a = payload.scratch[:3], payload.scratch[3:6], payload.scratch[6:9]
    for k in range(3):
        p[k], here[k] = robot.W[origin + k], 0.0
    point_acceleration(robot, body, True, here, a)
    point_jacobian(robot, body, True, p, J)
    for k in range(3):
        row = J[(3 + k) * n : (4 + k) * n]
        for i in range(n):
            share = m * row[i]
            h[i] += share * a[k]
            for j in range(n):
                M[i, j] += share * row[j]


@inlined
def _subtract_wrench(J, wrench, h):
    """Take J^T w from h (n,)."""
    n = len(h)
    for k in range(6):
        row, push = J[k * n : (k + 1) * n], wrench[k]
        for j in range(n):
            h[j] -= row[j] * push
