# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Frames that closures join: pose, twist and acceleration for qdd = 0, in the axes of the base.

A frame at a tip or on a rigid body is one of the forward pass, moved by a constant pose. At a
material point of a soft body the frame in S_J follows from the body's formula; how its twist
changes along the motion is differenced, by eighth order.
"""

from typing import NamedTuple

from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.layout import ORIGIN
from softrobot_dynamics.kernels.spatial import rotate
from softrobot_dynamics.recursion.finite_differences import FRAME_STEP
from softrobot_dynamics.recursion.frames import point_jacobian
from softrobot_dynamics.recursion.material_points import Cloud, place_frames, point_columns
from softrobot_dynamics.recursion.passes import AT_JOINT, AT_TIP, JOINT_POSE, STATE, TIP_POSE

TWIST, ACCELERATION, FRAME = 12, 18, 24
"""Places in a frame behind rotation and origin: angular and linear velocity, and acceleration."""
DIFFERENCE_WEIGHTS = 4 / 5, -1 / 5, 4 / 105, -1 / 280
"""Of the values on both sides, in a first derivative of eighth order."""


class RigidFrame(NamedTuple):
    """A frame that moves with a tip or a joint frame."""

    module: int  # index, the number of modules for the base
    at_tip: int  # 1: with the tip; 0: with S_J
    offset: Vector  # (12,) pose in that
    frame: Vector  # (FRAME,) filled
    J: Vector  # (6 n,) filled


class MaterialFrame(NamedTuple):
    """A frame at a material point of a soft body."""

    body: int  # index
    cloud: Cloud  # the point
    local_cloud: Cloud  # the same in S_J, with the body's coordinates alone
    units: Vector  # (m,) of these
    offset: Vector  # (12,) pose in the frame at the point
    frame: Vector  # (FRAME,) filled
    J: Vector  # (6 n,) filled
    point_frame: Matrix  # (1, 16) scratch: frame at the point, base frame
    local_frame: Matrix  # (1, 16) scratch: the same in S_J
    local_J: Vector  # (6 m,) scratch: its Jacobian in S_J
    moving: Vector  # (12,) scratch: twist in S_J, and its rate


@kernel
def place_rigid(before, robot, at, q, qd):
    """Fill a rigid frame at (q, qd), after those ``before``."""
    if before.address != 0:
        run(before, q, qd)
    W, s, frame = robot.W, at.module * STATE, at.frame
    pose = s + TIP_POSE if at.at_tip else s + JOINT_POSE
    state = s + AT_TIP if at.at_tip else s + AT_JOINT
    _compose(W, pose, at.offset, frame)
    point_jacobian(robot, at.module, at.at_tip != 0, frame[9:], at.J)
    _twist(at.J, qd, frame)
    w0, w1, w2 = frame[TWIST], frame[TWIST + 1], frame[TWIST + 2]
    e0, e1, e2 = rotate(W, pose, W[state + 3], W[state + 4], W[state + 5])
    a0, a1, a2 = rotate(W, pose, W[state + 6], W[state + 7], W[state + 8])
    t = pose + ORIGIN
    r0, r1, r2 = frame[9] - W[t], frame[10] - W[t + 1], frame[11] - W[t + 2]
    _accelerate(robot.gravity, (w0, w1, w2), (e0, e1, e2), (a0, a1, a2), (r0, r1, r2), frame)


@kernel
def place_material(before, robot, at, q, qd):
    """Fill a frame at a material point at (q, qd), after those ``before``."""
    if before.address != 0:
        run(before, q, qd)
    W, s, frame, cloud = robot.W, at.body * STATE, at.frame, at.cloud
    pose, state = s + JOINT_POSE, s + AT_JOINT
    t, x, T = pose + ORIGIN, at.moving, at.point_frame[0]
    _vary(at, q[cloud.first :], qd[cloud.first :])
    point_jacobian(robot, at.body, False, W[t:], cloud.jacobian)
    for j in range(len(at.units)):
        cloud.q[j] = q[cloud.first + j]
    place_frames(cloud, at.point_frame)
    point_columns(cloud, 0, T, at.J)
    for i in range(3):
        for j in range(3):
            frame[3 * i + j] = T[4 * i + j]
        frame[9 + i] = T[4 * i + 3]
    r0, r1, r2 = frame[9] - W[t], frame[10] - W[t + 1], frame[11] - W[t + 2]
    # w, dw/dt and acceleration of the frame at the point, base axes
    w0, w1, w2 = rotate(W, pose, W[state], W[state + 1], W[state + 2])
    e0, e1, e2 = rotate(W, pose, W[state + 3], W[state + 4], W[state + 5])
    a0, a1, a2 = rotate(W, pose, W[state + 6], W[state + 7], W[state + 8])
    o0, o1, o2 = rotate(W, pose, x[0], x[1], x[2])
    v0, v1, v2 = rotate(W, pose, x[3], x[4], x[5])
    f0, f1, f2 = rotate(W, pose, x[6], x[7], x[8])
    b0, b1, b2 = rotate(W, pose, x[9], x[10], x[11])
    u0 = w1 * r2 - w2 * r1 + 2.0 * v0
    u1 = w2 * r0 - w0 * r2 + 2.0 * v1
    u2 = w0 * r1 - w1 * r0 + 2.0 * v2
    a0 += e1 * r2 - e2 * r1 + w1 * u2 - w2 * u1 + b0
    a1 += e2 * r0 - e0 * r2 + w2 * u0 - w0 * u2 + b1
    a2 += e0 * r1 - e1 * r0 + w0 * u1 - w1 * u0 + b2
    e0 += f0 + w1 * o2 - w2 * o1
    e1 += f1 + w2 * o0 - w0 * o2
    e2 += f2 + w0 * o1 - w1 * o0
    w0, w1, w2 = w0 + o0, w1 + o1, w2 + o2
    # then the constant pose beyond it
    p0, p1, p2 = rotate(frame, 0, at.offset[9], at.offset[10], at.offset[11])
    n = len(at.J) // 6
    for j in range(n):
        g0, g1, g2 = at.J[j], at.J[n + j], at.J[2 * n + j]
        at.J[3 * n + j] += g1 * p2 - g2 * p1
        at.J[4 * n + j] += g2 * p0 - g0 * p2
        at.J[5 * n + j] += g0 * p1 - g1 * p0
    _turn(frame, at.offset)
    frame[9], frame[10], frame[11] = frame[9] + p0, frame[10] + p1, frame[11] + p2
    _twist(at.J, qd, frame)
    _accelerate(robot.gravity, (w0, w1, w2), (e0, e1, e2), (a0, a1, a2), (p0, p1, p2), frame)


@kernel
def _vary(at, q, qd):
    """Fill ``moving`` with the twist of the point in S_J, and its rate, its body at q, qd."""
    x, m, pace = at.moving, len(at.units), 0.0
    for c in range(6, 12):
        x[c] = 0.0
    for j in range(m):
        pace += abs(qd[j]) / at.units[j]
    if pace > 0.0:
        h = FRAME_STEP / pace
        for k in range(1, 5):
            weight = DIFFERENCE_WEIGHTS[k - 1] / h
            _local_twist(at, q, qd, k * h)
            for c in range(6):
                x[6 + c] += weight * x[c]
            _local_twist(at, q, qd, -k * h)
            for c in range(6):
                x[6 + c] -= weight * x[c]
    _local_twist(at, q, qd, 0.0)


@inlined
def _local_twist(at, q, qd, ahead):
    """Fill moving[:6] with the twist of the point in S_J, its body being ``ahead`` [s] of q."""
    local, J, m = at.local_cloud, at.local_J, len(at.units)
    for j in range(m):
        local.q[j] = q[j] + ahead * qd[j]
    place_frames(local, at.local_frame)
    point_columns(local, 0, at.local_frame[0], J)
    for c in range(6):
        total = 0.0
        for j in range(m):
            total += J[c * m + j] * qd[j]
        at.moving[c] = total


@inlined
def _compose(W, pose, offset, frame):
    """Fill the pose of a frame with W[pose:] times the offset (12,)."""
    for i in range(3):
        x, y, z = W[pose + 3 * i], W[pose + 3 * i + 1], W[pose + 3 * i + 2]
        for j in range(3):
            frame[3 * i + j] = x * offset[j] + y * offset[3 + j] + z * offset[6 + j]
        frame[9 + i] = (x * offset[9] + y * offset[10] + z * offset[11]) + W[pose + 9 + i]


@inlined
def _turn(frame, offset):
    """Turn a frame by the rotation of an offset (12,) in it."""
    for i in range(3):
        x, y, z = frame[3 * i], frame[3 * i + 1], frame[3 * i + 2]
        for j in range(3):
            frame[3 * i + j] = x * offset[j] + y * offset[3 + j] + z * offset[6 + j]


@inlined
def _twist(J, qd, frame):
    """Fill the twist of a frame by its Jacobian (6 n,)."""
    n = len(J) // 6
    for c in range(6):
        total = 0.0
        for j in range(n):
            total += J[c * n + j] * qd[j]
        frame[TWIST + c] = total


@inlined
def _accelerate(gravity, w, e, a, r, frame):
    """Fill the acceleration of a frame that is r away from where w, dw/dt and a are those."""
    w0, w1, w2 = w
    e0, e1, e2 = e
    a0, a1, a2 = a
    r0, r1, r2 = r
    u0, u1, u2 = w1 * r2 - w2 * r1, w2 * r0 - w0 * r2, w0 * r1 - w1 * r0
    k = ACCELERATION
    frame[k], frame[k + 1], frame[k + 2] = e0, e1, e2
    # the ground of the forward pass accelerates against gravity
    frame[k + 3] = a0 + e1 * r2 - e2 * r1 + w1 * u2 - w2 * u1 + gravity[0]
    frame[k + 4] = a1 + e2 * r0 - e0 * r2 + w2 * u0 - w0 * u2 + gravity[1]
    frame[k + 5] = a2 + e0 * r1 - e1 * r0 + w0 * u1 - w1 * u0 + gravity[2]
