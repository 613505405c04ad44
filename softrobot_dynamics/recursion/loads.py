# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Wrenches from outside in an evaluation that a simulator may call.

Each kernel here evaluates the robot by the entry it is given, with poses, and takes the
generalized force J^T w of one wrench from h = ID(q, qd, 0), or adds a payload to h and M. So
entries of several wrenches are made one from the other.
"""

from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.layout import ORIGIN
from softrobot_dynamics.kernels.spatial import rotate
from softrobot_dynamics.recursion.frames import point_acceleration, point_jacobian
from softrobot_dynamics.recursion.material_points import place_points
from softrobot_dynamics.recursion.passes import JOINT_POSE, STATE, TIP_POSE


@kernel
def load_tip(evaluate, robot, h, body, turns, wrench, scratch, J, q, qd):
    """
    Evaluate at (q, qd), under a ``wrench`` (6,) at the tip of a body, given by index.

    It ``turns`` with the tip's frame or has the axes of the base. ``scratch`` (9,), J (6 n,).
    """
    run(evaluate, q, qd)
    W, pose = robot.W, body * STATE + TIP_POSE
    p, w = scratch[:3], scratch[3:9]
    for k in range(3):
        p[k] = W[pose + ORIGIN + k]
    for k in range(6):
        w[k] = wrench[k]
    if turns:
        w[0], w[1], w[2] = rotate(W, pose, wrench[0], wrench[1], wrench[2])
        w[3], w[4], w[5] = rotate(W, pose, wrench[3], wrench[4], wrench[5])
    point_jacobian(robot, body, True, p, J)
    _relieve(J, w, h)


@kernel
def load_point(evaluate, robot, h, body, turns, wrench, cloud, frame, J, velocity, zero, q, qd):
    """
    Evaluate at (q, qd), under a ``wrench`` (6,) at the one material point of a Cloud.

    Filled: ``frame`` (1, 16), ``J`` (1, 6 n), ``velocity`` (1, 3). ``zero`` (n,) are zeros.
    """
    run(evaluate, q, qd)
    origin = robot.W[body * STATE + JOINT_POSE + ORIGIN :]
    point_jacobian(robot, body, False, origin, cloud.jacobian)
    for j in range(len(cloud.q)):
        cloud.q[j] = q[cloud.first + j]
    place_points(cloud, zero, turns, frame, J, velocity)
    _relieve(J[0], wrench, h)


@kernel
def carry(evaluate, robot, h, M, body, mass, scratch, J, q, qd):
    """
    Evaluate at (q, qd) with a point ``mass`` (1,) [kg] at the tip of a body, given by index.

    M (n, n) grows by m J^T J, h (n,) by m J^T a, with the acceleration a of the tip, against
    gravity, where qdd is zero. ``scratch`` (9,), J (6 n,).
    """
    run(evaluate, q, qd)
    n, m, origin = len(h), mass[0], body * STATE + TIP_POSE + ORIGIN
    if m == 0.0:
        return
    p, here, a = scratch[:3], scratch[3:6], scratch[6:9]
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
def _relieve(J, wrench, h):
    """Take J^T w from h (n,)."""
    n = len(h)
    for k in range(6):
        row, push = J[k * n : (k + 1) * n], wrench[k]
        for j in range(n):
            h[j] -= row[j] * push
