# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Frames that sensors see or sit in: fixed to the tips of bodies or to their material points.

The kernels here evaluate the robot by the entry they are given, and go on from there. So the
entry of several frames is made step by step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry, run
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.errors import ArgumentError, UnknownNameError
from softrobot_dynamics.kernels.layout import ORIGIN
from softrobot_dynamics.kernels.spatial import rotate
from softrobot_dynamics.model.evaluation import Evaluator
from softrobot_dynamics.model.points import cloud_of
from softrobot_dynamics.recursion.frames import point_jacobian
from softrobot_dynamics.recursion.material_points import Cloud, place_points
from softrobot_dynamics.recursion.passes import JOINT_POSE, STATE, TIP_POSE
from softrobot_dynamics.schema.fields import nested, text, vector
from softrobot_dynamics.schema.poses import flat, Pose

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


@dataclass(frozen=True)
class SensorFrame:
    """Place on a robot: a material point of a body (None: its tip), and a frame mounted there."""

    body: str = text()
    point: tuple[float, float, float] | None = vector('m', 3, default=None)
    mount: Pose = nested(Pose, default=Pose())


class PlacedFrame(NamedTuple):
    """A sensor frame as a kernel places it, in a robot with n coordinates; base frame."""

    body: int  # its index
    mount: Vector  # (12,) rotation and origin of the frame in that of the tip or point
    frame: Vector  # (12,) rotation and origin [m]
    J: Vector  # (6 n,) Jacobian, angular rows first, one after the other


class OfPoint(NamedTuple):
    """Work arrays for the frame at a material point."""

    cloud: Cloud
    frame: Matrix  # (1, 16)
    J: Matrix  # (1, 6 n)
    velocity: Matrix  # (1, 3)
    zero: Vector  # (n,)


class SensorFrames(NamedTuple):
    """K sensor frames: an entry of q and qd that evaluates the robot and fills the others."""

    place_frames: Entry
    frames: Matrix  # (K, 12) rotation and origin [m], base frame
    jacobians: Matrix  # (K, 6 n) angular rows first, in the axes of the base


def bind_frames(
    model: CompiledModel, evaluate: Evaluator, given: Sequence[SensorFrame]
) -> SensorFrames:
    """Return the :class:`SensorFrames`; UnknownNameError, ArgumentError where none is."""
    K, robot, place = len(given), evaluate.robot, evaluate.entry
    frames, jacobians = np.zeros((K, 12)), np.zeros((K, 6 * model.n))
    for k, each in enumerate(given):
        if each.body not in model.body_names:
            raise UnknownNameError('body', each.body, model.body_names)
        body = model.body_names.index(each.body)
        common = {
            'before': place,
            'robot': robot,
            'placed': PlacedFrame(body, flat(each.mount.matrix()), frames[k], jacobians[k]),
        }
        if each.point is None:
            place = entry(place_at_tip, **common)
            continue
        own = OfPoint(
            cloud=cloud_of(model, robot, body, np.array([each.point])),
            frame=np.zeros((1, 16)),
            J=np.zeros((1, 6 * model.n)),
            velocity=np.zeros((1, 3)),
            zero=np.zeros(model.n),
        )
        place = entry(place_at_point, **common, own=own)
    return SensorFrames(place, frames, jacobians)


def require_frames(bound: SensorFrames, given: Sequence[SensorFrame]) -> None:
    """Raise ArgumentError for a point that had no frame when the robot was evaluated last."""
    for each, frame in zip(given, bound.frames):
        if not np.isfinite(frame).all():
            words = 'a point at which the body has a frame'
            raise ArgumentError(f'point of {each.body}', each.point, words)


@kernel
def place_at_tip(before, robot, placed, q, qd):
    """Evaluate at (q, qd), and place a sensor frame in the frame of a tip."""
    run(before, q, qd)
    mount_frame(robot.W, placed.body * STATE + TIP_POSE, placed.mount, placed.frame)
    point_jacobian(robot, placed.body, True, placed.frame[9:], placed.J)


@kernel
def place_at_point(before, robot, placed, own, q, qd):
    """Evaluate at (q, qd), and place a sensor frame in the frame at a material point."""
    run(before, q, qd)
    cloud, T, J, n = own.cloud, own.frame[0], own.J[0], len(own.zero)
    origin = robot.W[placed.body * STATE + JOINT_POSE + ORIGIN :]
    point_jacobian(robot, placed.body, False, origin, cloud.jacobian)
    for j in range(len(cloud.q)):
        cloud.q[j] = q[cloud.first + j]
    place_points(cloud, own.zero, False, own.frame, own.J, own.velocity)
    p0, p1, p2 = T[3], T[7], T[11]
    # as a pose: rotation, then origin
    T[3], T[4], T[5], T[6], T[7], T[8] = T[4], T[5], T[6], T[8], T[9], T[10]
    T[9], T[10], T[11] = p0, p1, p2
    mount_frame(T, 0, placed.mount, placed.frame)
    r0, r1, r2 = placed.frame[9] - p0, placed.frame[10] - p1, placed.frame[11] - p2
    for j in range(n):
        w0, w1, w2 = J[j], J[n + j], J[2 * n + j]
        placed.J[j], placed.J[n + j], placed.J[2 * n + j] = w0, w1, w2
        placed.J[3 * n + j] = J[3 * n + j] + w1 * r2 - w2 * r1
        placed.J[4 * n + j] = J[4 * n + j] + w2 * r0 - w0 * r2
        placed.J[5 * n + j] = J[5 * n + j] + w0 * r1 - w1 * r0


@inlined
def mount_frame(F, f, mount, frame):
    """Fill a frame (12,) with the pose F[f:f+12] times that of the mount."""
    for c in range(3):
        x, y, z = rotate(F, f, mount[c], mount[3 + c], mount[6 + c])
        frame[c], frame[3 + c], frame[6 + c] = x, y, z
    x, y, z = rotate(F, f, mount[9], mount[10], mount[11])
    t = f + ORIGIN
    frame[9], frame[10], frame[11] = x + F[t], y + F[t + 1], z + F[t + 2]
