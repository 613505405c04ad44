# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Frames and Jacobians of the nodes of bodies, from which elements of contact are measured.

Nodes are material points, or places that stand still; elements of pairs name them by index. Only
those of pairs that are near get Jacobians.
"""

from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.layout import ORIGIN
from softrobot_dynamics.recursion.frames import point_jacobian
from softrobot_dynamics.recursion.material_points import place_frames, point_columns
from softrobot_dynamics.recursion.passes import JOINT_POSE, STATE


@kernel
def place_nodes(before, nodes, q, qd):
    """Fill the frames of a body's nodes at q (n,), after those ``before``."""
    if before.address != 0:
        run(before, q, qd)
    cloud = nodes.cloud
    for j in range(len(cloud.q)):
        cloud.q[j] = q[cloud.first + j]
    place_frames(cloud, nodes.frames)
    if nodes.turned:
        for i in range(len(nodes.frames)):
            _rotate(nodes.frames[i], nodes.axes[i])


@inlined
def _rotate(T, axes):
    """Rotate a frame T (16,) by axes (9,) in it."""
    for k in range(3):
        x, y, z = T[4 * k], T[4 * k + 1], T[4 * k + 2]
        for j in range(3):
            T[4 * k + j] = x * axes[j] + y * axes[3 + j] + z * axes[6 + j]


@kernel
def differentiate_nodes(before, robot, nodes, q, qd):
    """Fill the Jacobians of a body's nodes that are needed, after those ``before``."""
    if before.address != 0:
        run(before, q, qd)
    cloud, ready = nodes.cloud, False
    for i in range(len(nodes.needed)):
        if nodes.needed[i] == 0.0:
            continue
        if not ready:
            origin = robot.W[nodes.body * STATE + JOINT_POSE + ORIGIN :]
            point_jacobian(robot, nodes.body, False, origin, cloud.jacobian)
            ready = True
        point_columns(cloud, i, nodes.frames[i], nodes.jacobians[i])
        if nodes.turned:  # the columns needed, and left, axes of the material
            _rotate(nodes.frames[i], nodes.axes[i])
