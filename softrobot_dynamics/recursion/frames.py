# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Jacobians and accelerations of frames, from terms and poses in the workspace."""

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.layout import JACOBIAN, ORIGIN
from softrobot_dynamics.kernels.spatial import rotate
from softrobot_dynamics.recursion.passes import (
    AT_JOINT,
    AT_TIP,
    BODY_COLUMN,
    BODY_COUNT,
    BODY_FIRST,
    BODY_SLAB,
    JOINT_COLUMN,
    JOINT_COUNT,
    JOINT_FIRST,
    JOINT_POSE,
    JOINT_SLAB,
    PARENT,
    STATE,
    TIP_POSE,
)


@kernel
def point_position(robot, module, at_tip, r, p):
    """Position p (3,) [m], base frame, of the point r (3,) [m] of a joint frame or tip."""
    W, pose = robot.W, module * STATE + (TIP_POSE if at_tip else JOINT_POSE)
    x, y, z = rotate(W, pose, r[0], r[1], r[2])
    t = pose + ORIGIN
    p[0], p[1], p[2] = x + W[t], y + W[t + 1], z + W[t + 2]


@kernel
def point_acceleration(robot, module, at_tip, r, a):
    """Acceleration a (3,) [m/s^2], base frame, of a point given as in :func:`point_position`."""
    W, s = robot.W, module * STATE
    pose, state = s + (TIP_POSE if at_tip else JOINT_POSE), s + (AT_TIP if at_tip else AT_JOINT)
    w0, w1, w2, d0, d1, d2 = (
        W[state],
        W[state + 1],
        W[state + 2],
        W[state + 3],
        W[state + 4],
        W[state + 5],
    )
    u0, u1, u2 = w1 * r[2] - w2 * r[1], w2 * r[0] - w0 * r[2], w0 * r[1] - w1 * r[0]
    a[0], a[1], a[2] = rotate(
        W,
        pose,
        W[state + 6] + d1 * r[2] - d2 * r[1] + w1 * u2 - w2 * u1,
        W[state + 7] + d2 * r[0] - d0 * r[2] + w2 * u0 - w0 * u2,
        W[state + 8] + d0 * r[1] - d1 * r[0] + w0 * u1 - w1 * u0,
    )


@kernel
def point_jacobian(robot, module, at_tip, p, J):
    """
    Jacobian, base frame, angular rows first, of a point at p (3,) [m], base frame.

    The point moves with a joint frame or a tip. J (6 n,) receives the rows one after the other;
    columns the point does not depend on are zero.
    """
    _fill(robot, module, at_tip, p, JOINT_FIRST, BODY_FIRST, J)


@kernel
def column_jacobian(robot, module, at_tip, p, J):
    """Jacobian J (6 n_x,) as :func:`point_jacobian`, by columns in place of coordinates."""
    _fill(robot, module, at_tip, p, JOINT_COLUMN, BODY_COLUMN, J)


@kernel
def _fill(robot, module, at_tip, p, joint_first, body_first, J):
    """Fill J, the places in it of a module's parts being entries of its row."""
    modules, W = robot.modules, robot.W
    for i in range(len(J)):
        J[i] = 0.0
    i, tip = module, at_tip
    while i < len(modules):
        m, s = modules[i], i * STATE
        if tip:
            _columns(
                W, m[BODY_SLAB], m[BODY_COUNT], m[body_first], s + TIP_POSE, s + JOINT_POSE, p, J
            )
        i = m[PARENT]
        outer = i * STATE + TIP_POSE
        _columns(W, m[JOINT_SLAB], m[JOINT_COUNT], m[joint_first], s + JOINT_POSE, outer, p, J)
        tip = True


@kernel
def _columns(W, f, n, first, pose, outer, p, J):
    """Add the columns of one frame's coordinates; ``outer`` is the outer frame's pose."""
    t = pose + ORIGIN
    r0, r1, r2 = p[0] - W[t], p[1] - W[t + 1], p[2] - W[t + 2]
    row = len(J) // 6
    for j in range(n):
        k = f + JACOBIAN + 3 * j
        x = k + 3 * n
        w0, w1, w2 = rotate(W, pose, W[k], W[k + 1], W[k + 2])
        v0, v1, v2 = rotate(W, outer, W[x], W[x + 1], W[x + 2])
        c = first + j
        J[c] += w0
        J[row + c] += w1
        J[2 * row + c] += w2
        J[3 * row + c] += v0 + w1 * r2 - w2 * r1
        J[4 * row + c] += v1 + w2 * r0 - w0 * r2
        J[5 * row + c] += v2 + w0 * r1 - w1 * r0
