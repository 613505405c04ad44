# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Composite inertia beyond a frame: its inertia, and the matrix B of its velocities.

B = 2 int (p x (. x dp/dt), . x dp/dt) dm takes an angular velocity to a wrench. It is kept as the
matrix to the moment and twice the momentum; like the inertia, in base axes about the last tip.
"""

import numpy as np
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.spatial import (
    between,
    move_inertia,
    read_six,
    rotate,
    rotate_back,
    spin_matrix,
)
from softrobot_dynamics.recursion.passes import (
    BODY_COUNT,
    BODY_FIRST,
    BODY_SLAB,
    JOINT_POSE,
    STATE,
)
from softrobot_dynamics.recursion.twists import last_tip, MOTION

INERTIA, SPIN, MOMENTUM, COMPOSITE = 0, 10, 19, 22  # I; B: to moment, 2 int dp/dt dm


@kernel
def add_composite_inertia(robot, t, i, qd):
    """Add inertia and B of the body of module i to the composite ones beyond its joint."""
    m, W, s, Y = robot.modules[i], robot.W, np.uint32(i * STATE), t.composite[i * COMPOSITE :]
    f, n, pose = m[BODY_SLAB], m[BODY_COUNT], s + JOINT_POSE
    r0, r1, r2 = between(W, last_tip(robot), pose)
    ten = move_inertia(W, pose, (r0, r1, r2), f + layout.inertia_offset(n))
    spin, momentum = spin_matrix(ten, read_six(t.motions, np.uint32(2 * i * MOTION)))
    for c in range(10):
        Y[INERTIA + c] += ten[c]
    for c in range(9):
        Y[SPIN + c] += spin[c]
    for c in range(3):
        Y[MOMENTUM + c] += momentum[c]
    if n > 0:
        _add_inner_motion(robot, t, i, qd)


@kernel
def _add_inner_motion(robot, t, i, qd):
    """Add to B what the matter of the body of module i moves in its frame."""
    m, W, s, Y = robot.modules[i], robot.W, np.uint32(i * STATE), t.composite[i * COMPOSITE :]
    f, n, first, pose = m[BODY_SLAB], m[BODY_COUNT], m[BODY_FIRST], s + JOINT_POSE
    r0, r1, r2 = between(W, last_tip(robot), pose)
    p0 = p1 = p2 = 0.0
    for j in range(n):
        h, rate = f + layout.coupling_offset(n) + 6 * j, 2.0 * qd[first + j]
        p0, p1, p2 = p0 + rate * W[h + 3], p1 + rate * W[h + 4], p2 + rate * W[h + 5]
    p0, p1, p2 = rotate(W, pose, p0, p1, p2)
    Y[MOMENTUM] += p0
    Y[MOMENTUM + 1] += p1
    Y[MOMENTUM + 2] += p2
    D = t.derivatives[t.places[i, 1] + layout.spin_offset(n) :]
    along = p0 * r0 + p1 * r1 + p2 * r2
    p, r = (p0, p1, p2), (r0, r1, r2)
    for row in range(3):  # R D R^T, row by row
        x, y, z = W[pose + 3 * row], W[pose + 3 * row + 1], W[pose + 3 * row + 2]
        u = rotate_back(D, 0, x, y, z)
        v = rotate(W, pose, u[0], u[1], u[2])
        for c in range(3):
            Y[SPIN + 3 * row + c] += v[c] - p[row] * r[c]
        Y[SPIN + 4 * row] += along
