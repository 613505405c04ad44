# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Passive forces of a robot, elastic and damping, as last evaluated."""

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.recursion.passes import (
    BODY_COUNT,
    BODY_FIRST,
    BODY_SLAB,
    JOINT_COUNT,
    JOINT_FIRST,
    JOINT_NUMBERS,
    spring,
)


@kernel
def passive_forces(robot, q, qd, elastic, damping):
    """
    Fill the elastic force s(q) and the damping force d(q, qd), (n,) each, of bodies and joints.

    A forward pass at (q, qd) must have gone before in the same workspace.
    """
    elastic[:], damping[:] = 0.0, 0.0
    for i in range(len(robot.modules)):
        m = robot.modules[i]
        n, first, springs = m[JOINT_COUNT], m[JOINT_FIRST], m[JOINT_NUMBERS]
        for j in range(n):
            own = spring(robot.P, springs, n, j, q[first + j], qd[first + j])
            elastic[first + j] += own[0]
            damping[first + j] += own[1]
        n, first = m[BODY_COUNT], m[BODY_FIRST]
        slab = m[BODY_SLAB] + layout.bias_offset(n) + n
        for j in range(n):
            elastic[first + j] = robot.W[slab + j]
            damping[first + j] = robot.W[slab + n + j]
