# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Frames fixed to the material of bodies: their poses and Jacobians, anywhere in a robot.

At a body's tip the frame is that of the forward pass. At a material point x it follows from the
body's formula p = f(x, q): the origin is p, the axes are those that Gram and Schmidt make of
dp/dx1 and dp/dx2, as [P, (5)-(7)] do for the tip. What computes that is compiled when points of a
type of body are first asked for, and tables of points when these are.
"""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.model.points import cloud_of, pose_of_joint
from softrobot_dynamics.recursion.frames import point_jacobian
from softrobot_dynamics.recursion.material_points import place_points
from softrobot_dynamics.recursion.passes import BODY_COUNT, BODY_FIRST, BODY_SLAB, Robot
from softrobot_dynamics.schema.poses import transform

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

FRAMES = ('body', 'base')  # in whose axes a twist, a wrench or a Jacobian is given


class MaterialPoints(NamedTuple):
    """K material points of a body; an entry is NaN where the body has no frame."""

    positions: Matrix  # (K, 3) [m], base frame
    velocities: Matrix  # (K, 3) [m/s], base frame; zero at rest
    frames: Array  # (K, 4, 4), to the base frame
    jacobians: Array  # (K, 6, n), angular rows first


class Placement(NamedTuple):
    """A robot at q (n,), all poses of which are in its workspace; bodies are given by index."""

    model: CompiledModel  # CompiledModel
    robot: Robot
    q: Array

    def joint(self, body: int) -> tuple[Matrix, Vector]:
        """Rotation (3, 3) and origin (3,) [m], base frame, of the joint frame of a body."""
        pose = self._joint_pose(body)
        return pose[:9].reshape(3, 3), pose[9:]

    def points(
        self, body: int, points: Matrix, qd: Vector | None = None, axes: str = 'base'
    ) -> MaterialPoints:
        """Return the :class:`MaterialPoints` at points x (K, 3) [m], Jacobians in these axes."""
        m, n, count = self.robot.modules[body], self.model.n, len(points)
        first, pose, joint = m[BODY_FIRST], self._joint_pose(body), np.empty(6 * n)
        cached(point_jacobian)(self.robot, body, False, pose[9:], joint)
        own = np.ascontiguousarray(self.q[first : first + m[BODY_COUNT]])
        cloud = cloud_of(self.model, self.robot, body, points)
        cloud = cloud._replace(q=own, jacobian=joint)
        frames, J, velocities = (np.empty((count, size)) for size in (16, 6 * n, 3))
        qd = np.zeros(n) if qd is None else qd
        cached(place_points)(cloud, qd, axes == 'body', frames, J, velocities)
        poses = frames.reshape(-1, 4, 4)
        return MaterialPoints(poses[:, :3, 3].copy(), velocities, poses, J.reshape(-1, 6, n))

    def pose(self, body: int, point: Vector | None = None) -> Matrix:
        """Transform (4, 4) from the frame at a point, None: the tip, to the base frame."""
        if point is not None:
            return self.points(body, np.reshape(point, (1, 3))).frames[0]
        R, t = self.joint(body)
        tip = self.robot.W[self.robot.modules[body][BODY_SLAB] :]
        return transform(R @ tip[:9].reshape(3, 3), R @ tip[9:12] + t)

    def jacobian(self, body: int, point: Vector | None = None, axes: str = 'body') -> Matrix:
        """Jacobian (6, n), angular rows first, of the frame at a point, in these axes."""
        if point is not None:
            return self.points(body, np.reshape(point, (1, 3)), axes=axes).jacobians[0]
        J, pose = np.empty((6, self.model.n)), self.pose(body)
        cached(point_jacobian)(self.robot, body, True, pose[:3, 3].copy(), J.reshape(-1))
        if axes == 'body':
            R = pose[:3, :3]
            J[:3], J[3:] = R.T @ J[:3], R.T @ J[3:]
        return J

    def _joint_pose(self, body: int) -> Vector:
        return pose_of_joint(self.robot, body)
