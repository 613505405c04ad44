# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Material points of a body as kernels place them."""

from __future__ import annotations

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.binding import address
from softrobot_dynamics.kernels.reductions import BLOCK
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.recursion.material_points import Cloud
from softrobot_dynamics.recursion.passes import BODY_COUNT, BODY_FIRST, JOINT_POSE, Robot, STATE


def cloud_of(model: RobotModel, robot: Robot, body: int, points: Matrix) -> Cloud:
    """
    Return the Cloud of material points x (K, 3) [m] of a body, by index, with room of its own.

    Its ``q`` and ``jacobian`` are to be filled before the points are placed.
    """
    kernel, m = model.points_kernel(body, points.tobytes()), robot.modules[body]
    count = int(m[BODY_COUNT])
    return Cloud(
        address=address(kernel.module, kernel.function, 'P, q, V, S'),
        numbers=kernel.parameters,
        q=np.zeros(count),
        values=np.zeros(-(-len(points) // BLOCK) * 9 * (1 + count) * BLOCK),
        scratch=np.zeros(kernel.scratch),
        pose=pose_of_joint(robot, body),
        jacobian=np.zeros(6 * model.n),
        first=int(m[BODY_FIRST]),
    )


def pose_of_joint(robot: Robot, body: int) -> Vector:
    """Return the pose (12,) of the joint frame of a body, in a robot's workspace."""
    first = body * STATE + JOINT_POSE
    return robot.W[first : first + 12]
