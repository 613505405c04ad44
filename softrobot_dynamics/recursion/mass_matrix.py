# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The mass matrix by composite rigid body inertias, from the terms of a forward pass."""

import numpy as np
from softrobot_dynamics.compiling.addresses import matrix_at
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.layout import JACOBIAN, ORIGIN
from softrobot_dynamics.kernels.spatial import (
    add_inertia,
    add_within,
    between,
    inertia_times,
    rotate,
)
from softrobot_dynamics.recursion.mimic_reduction import add_folded
from softrobot_dynamics.recursion.passes import (
    BODY_COLUMN,
    BODY_COUNT,
    BODY_SLAB,
    JOINT_COLUMN,
    JOINT_COUNT,
    JOINT_POSE,
    JOINT_SLAB,
    PARENT,
    poses,
    STATE,
    TIP_INERTIA,
    TIP_POSE,
)


@kernel
def mass_matrix(robot, M):
    """
    Mass matrix M (n, n) from the terms of a forward pass, by composite inertia [P, A.6].

    Leaves the :func:`poses`: inertias and wrenches are all in base axes and about one point, so
    that they add up along the tree as they are. That point is the last tip: about the base, the
    small inertia of what is far away would drown in that of its distance.
    """
    W, n, room = robot.W, len(robot.coordinates), (len(robot.modules) + 1) * STATE
    columns, X = matrix_at(W[room:], 6, n), M
    if n > len(M):  # joints follow others
        X = matrix_at(W[room + 6 * n :], n, n)
    _fill(robot, columns, X)
    if n > len(M):
        M[:] = 0.0
        add_folded(robot.coordinates, X, M)


@kernel
def _fill(robot, columns, M):
    """Fill M (n_x, n_x), as if no joint followed another."""
    modules, W, N = robot.modules, robot.W, len(robot.modules)
    centre = np.uint32((N - 1) * STATE + TIP_POSE + ORIGIN)
    poses(robot)
    for i in range(len(M)):
        for j in range(len(M)):
            M[i, j] = 0.0  # branches of a tree do not couple
    for i in range(N - 1, -1, -1):
        m, s = modules[i], np.uint32(i * STATE)
        here, inertia, outer = s + JOINT_POSE, s + TIP_INERTIA, m[PARENT] * STATE
        body = m[BODY_SLAB], m[BODY_COUNT], m[BODY_COLUMN]
        joint = m[JOINT_SLAB], m[JOINT_COUNT], m[JOINT_COLUMN]
        _rows(robot, i, body, here, s + TIP_POSE, centre, columns, M)
        _add_body(W, body, here, inertia, centre, columns, M)
        _rows(robot, i, joint, outer + TIP_POSE, here, centre, columns, M)
        add_within(W, inertia, outer + TIP_INERTIA, 10)
    for i in range(len(M)):
        M[i, i] += robot.armature[i]
        for j in range(i):
            M[i, j] = M[j, i]


@inlined
def _rows(robot, i, part, outer, inner, centre, columns, M):
    """
    Rows of M, from the diagonal on, of the columns of a ``part`` between two poses.

    The column of a coordinate is the wrench that accelerates what is beyond module i's frame by
    it alone; its row, the work along it of its column and of those beyond. ``part``: slab, number
    of columns and the first of them, of a joint or a body.
    """
    f, n, first = part
    below, W, inertia = robot.below, robot.W, np.uint32(i * STATE + TIP_INERTIA)
    t0, t1, t2 = between(W, centre, inner)
    for b in range(n):
        j = np.uint32(n - 1 - b)
        row, k = first + j, f + JACOBIAN + 3 * j
        x = k + 3 * n
        w0, w1, w2 = rotate(W, inner, W[k], W[k + 1], W[k + 2])
        v0, v1, v2 = rotate(W, outer, W[x], W[x + 1], W[x + 2])
        v0, v1, v2 = v0 + t1 * w2 - t2 * w1, v1 + t2 * w0 - t0 * w2, v2 + t0 * w1 - t1 * w0
        wrench = inertia_times(W, inertia, w0, w1, w2, v0, v1, v2)
        for c in range(6):
            columns[c, row] = wrench[c]
        for g in range(below[i], below[i + 1], 2):
            for c in range(max(row, below[g]), below[g + 1]):
                value = w0 * columns[0, c] + w1 * columns[1, c] + w2 * columns[2, c]
                value += v0 * columns[3, c] + v1 * columns[4, c] + v2 * columns[5, c]
                M[row, c] = value


@inlined
def _add_body(W, part, pose, inertia, centre, columns, M):
    """Add a body's own mass block, its coupling to the columns, and its inertia."""
    f, n, first = part
    t = between(W, centre, pose)
    t0, t1, t2 = t
    block = f + layout.mass_offset(n)
    for j in range(n):
        for c in range(n):
            M[first + j, first + c] += W[block + n * j + c]
        h, column = f + layout.coupling_offset(n) + 6 * j, first + j
        m0, m1, m2 = rotate(W, pose, W[h], W[h + 1], W[h + 2])
        f0, f1, f2 = rotate(W, pose, W[h + 3], W[h + 4], W[h + 5])
        columns[0, column] += m0 + t1 * f2 - t2 * f1
        columns[1, column] += m1 + t2 * f0 - t0 * f2
        columns[2, column] += m2 + t0 * f1 - t1 * f0
        columns[3, column] += f0
        columns[4, column] += f1
        columns[5, column] += f2
    add_inertia(W, pose, t, f + layout.inertia_offset(n), inertia)
