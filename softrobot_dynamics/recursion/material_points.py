# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Frames and Jacobians of material points in the base frame."""

from typing import NamedTuple

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.addresses import call
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.reductions import BLOCK
from softrobot_dynamics.kernels.spatial import rotate


class Cloud(NamedTuple):
    """Points of a body, the kernel that evaluates them, and its joint frame S_J, base axes."""

    address: int  # of the body's kernel `values`, see programs.point_values
    numbers: Vector  # that it reads
    q: Vector  # (m,), the body's
    values: Vector  # that it fills
    scratch: Vector
    pose: Vector  # (12,) of S_J
    jacobian: Vector  # (6 n,) of S_J, row by row, without the body's columns
    first: int  # of the robot's coordinates that is the body's


@kernel
def place_points(cloud, qd, turn, frames, jacobians, velocities):
    """
    Fill frames (K, 16), Jacobians (K, 6 n) and velocities (K, 3) of points at rates qd (n,).

    Jacobians are in the axes of the base frame, or, if ``turn``, of the points.
    """
    call(cloud.address, cloud.numbers, cloud.q, cloud.values, cloud.scratch)
    size = 9 * (len(cloud.q) + 1) * BLOCK
    for i in range(len(frames)):
        first = i // BLOCK * size
        U = cloud.values[first + i % BLOCK : first + size]
        T, J = frames[i], jacobians[i]
        sizes = _frame(cloud.pose, U, T)
        _columns(cloud, U, T, sizes, J)
        v = velocities[i]
        v[0] = v[1] = v[2] = 0.0
        n = len(qd)
        for j in range(n):
            v[0] += J[3 * n + j] * qd[j]
            v[1] += J[4 * n + j] * qd[j]
            v[2] += J[5 * n + j] * qd[j]
        if turn:
            _turn(n, T, J)


@kernel
def place_frames(cloud, frames):
    """Fill frames (K, 16) of points, as :func:`place_points`; their Jacobians may follow."""
    call(cloud.address, cloud.numbers, cloud.q, cloud.values, cloud.scratch)
    size = 9 * (len(cloud.q) + 1) * BLOCK
    for i in range(len(frames)):
        first = i // BLOCK * size
        _frame(cloud.pose, cloud.values[first + i % BLOCK : first + size], frames[i])


@kernel
def point_columns(cloud, i, T, J):
    """Fill the Jacobian (6 n,) of point i, base axes, after :func:`place_frames` at T (16,)."""
    size = 9 * (len(cloud.q) + 1) * BLOCK
    first = i // BLOCK * size
    U = cloud.values[first + i % BLOCK : first + size]
    _columns(cloud, U, T, _frame(cloud.pose, U, T), J)


@inlined
def _frame(pose, U, T):
    """
    Transform T (16,) by Gram and Schmidt: x along a = dp/dx1, y in its plane with b = dp/dx2.

    Returns |a|, b . x and b . y.
    """
    p0, p1, p2 = rotate(pose, 0, U[0], U[BLOCK], U[2 * BLOCK])
    a0, a1, a2 = rotate(pose, 0, U[3 * BLOCK], U[4 * BLOCK], U[5 * BLOCK])
    b0, b1, b2 = rotate(pose, 0, U[6 * BLOCK], U[7 * BLOCK], U[8 * BLOCK])
    norm = (a0 * a0 + a1 * a1 + a2 * a2) ** 0.5
    x0, x1, x2 = a0 / norm, a1 / norm, a2 / norm
    z0, z1, z2 = x1 * b2 - x2 * b1, x2 * b0 - x0 * b2, x0 * b1 - x1 * b0
    across = (z0 * z0 + z1 * z1 + z2 * z2) ** 0.5
    z0, z1, z2 = z0 / across, z1 / across, z2 / across
    T[0], T[1], T[2], T[3] = x0, z1 * x2 - z2 * x1, z0, p0 + pose[9]
    T[4], T[5], T[6], T[7] = x1, z2 * x0 - z0 * x2, z1, p1 + pose[10]
    T[8], T[9], T[10], T[11] = x2, z0 * x1 - z1 * x0, z2, p2 + pose[11]
    T[12], T[13], T[14], T[15] = 0.0, 0.0, 0.0, 1.0
    return norm, x0 * b0 + x1 * b1 + x2 * b2, across


@inlined
def _columns(cloud, U, T, sizes, J):
    """Jacobian, base axes: columns of S_J moved to the point, and the body's own."""
    pose, joint, m = cloud.pose, cloud.jacobian, len(cloud.q)
    n = len(J) // 6
    r0, r1, r2 = T[3] - pose[9], T[7] - pose[10], T[11] - pose[11]
    for j in range(n):
        w0, w1, w2 = joint[j], joint[n + j], joint[2 * n + j]
        J[j], J[n + j], J[2 * n + j] = w0, w1, w2
        J[3 * n + j] = joint[3 * n + j] + w1 * r2 - w2 * r1
        J[4 * n + j] = joint[4 * n + j] + w2 * r0 - w0 * r2
        J[5 * n + j] = joint[5 * n + j] + w0 * r1 - w1 * r0
    for j in range(m):
        D, k = U[9 * (1 + j) * BLOCK :], cloud.first + j
        a0, a1, a2 = rotate(pose, 0, D[3 * BLOCK], D[4 * BLOCK], D[5 * BLOCK])
        b0, b1, b2 = rotate(pose, 0, D[6 * BLOCK], D[7 * BLOCK], D[8 * BLOCK])
        # a turns about y and z, the plane with b about x
        _, a_y, a_z = _back(T, a0, a1, a2)
        _, _, b_z = _back(T, b0, b1, b2)
        about_y, about_z = -a_z / sizes[0], a_y / sizes[0]
        about_x = (b_z + about_y * sizes[1]) / sizes[2]
        J[k] = T[0] * about_x + T[1] * about_y + T[2] * about_z
        J[n + k] = T[4] * about_x + T[5] * about_y + T[6] * about_z
        J[2 * n + k] = T[8] * about_x + T[9] * about_y + T[10] * about_z
        v0, v1, v2 = rotate(pose, 0, D[0], D[BLOCK], D[2 * BLOCK])
        J[3 * n + k], J[4 * n + k], J[5 * n + k] = v0, v1, v2


@inlined
def _turn(n, T, J):
    """Turn both halves of a Jacobian into the axes of a transform."""
    for j in range(n):
        J[j], J[n + j], J[2 * n + j] = _back(T, J[j], J[n + j], J[2 * n + j])
        k = 3 * n + j
        J[k], J[n + k], J[2 * n + k] = _back(T, J[k], J[n + k], J[2 * n + k])


@inlined
def _back(T, x, y, z):
    """Transposed rotation of a transform, 16 numbers, times a vector."""
    return (
        T[0] * x + T[4] * y + T[8] * z,
        T[1] * x + T[5] * y + T[9] * z,
        T[2] * x + T[6] * y + T[10] * z,
    )
