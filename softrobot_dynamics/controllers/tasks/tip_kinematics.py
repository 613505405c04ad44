# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The tip of a body in a tick: its place, velocity and acceleration, for tasks and bounds."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.tasks.contract import TaskContext
from softrobot_dynamics.controllers.tasks.tip_course import CourseArrays
from softrobot_dynamics.kernels.spatial import rotate
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.recursion.frames import point_acceleration, point_jacobian, point_position
from softrobot_dynamics.recursion.passes import AT_TIP, STATE, TIP_POSE

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class TipKinematics(NamedTuple):
    """A tip in the base frame, filled by :func:`measure_tip`."""

    body: int  # its index
    origin: Vector  # (3,) zeros
    point: Vector  # (3,) [m]
    J: Vector  # (6 n,) Jacobian row by row, angular rows first
    bias: Vector  # (6,) (dJ/dt) qd


def allocate_tip(model: CompiledModel, body: str) -> TipKinematics:
    """Return the :class:`TipKinematics` of a body by name, '': the last one."""
    names = model.body_names
    zeros = {'origin': np.zeros(3), 'point': np.zeros(3), 'bias': np.zeros(6)}
    return TipKinematics(body=names.index(body or names[-1]), J=np.zeros(6 * model.n), **zeros)


class TipTracking(NamedTuple):
    """Numbers of a task that leads a tip along its course."""

    tip: TipKinematics
    course: CourseArrays
    level: int
    scale: float  # of its rows
    p: float  # [1/s^2]
    d: float  # [1/s]
    far_threshold: float  # [m] or [rad]: errors beyond are far, see :mod:`~.tasks.runaway`
    error: Vector  # (3,) scratch


def tip_tracking(
    task: Any, context: TaskContext, scale: float, far_threshold: float
) -> TipTracking:
    """Return the :class:`TipTracking` of a task with ``level``, ``p``, ``d`` for the law's tip."""
    tip, numbers = allocate_tip(context.model, context.tip), (scale, float(task.p), float(task.d))
    return TipTracking(tip, context.course, int(task.level), *numbers, far_threshold, np.zeros(3))


@kernel
def measure_tip(robot, tip):
    """Fill a :class:`TipKinematics` after an evaluation with poses and no acceleration."""
    point_position(robot, tip.body, True, tip.origin, tip.point)
    point_jacobian(robot, tip.body, True, tip.point, tip.J)
    point_acceleration(robot, tip.body, True, tip.origin, tip.bias[3:])
    W, s = robot.W, tip.body * STATE
    turn = s + AT_TIP + 3
    tip.bias[0], tip.bias[1], tip.bias[2] = rotate(
        W, s + TIP_POSE, W[turn], W[turn + 1], W[turn + 2]
    )
    for k in range(3):
        tip.bias[3 + k] += robot.gravity[k]


@kernel
def excess_fraction(error, threshold):
    """Return the share of an error (3,) by which it is longer than a threshold."""
    length = math.sqrt(dot(error, error))
    return 1.0 - threshold / length if length > threshold else 0.0
