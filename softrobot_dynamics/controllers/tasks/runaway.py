# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Slow a robot that gets fast because limits keep its tip from following.

Where limits leave much of what a tip is asked for unmet, as out of its reach, commands near those
without limits (:mod:`~.tasks.tempering`) push the robot for as long as the error lasts, and what
would slow it belongs to later levels. It is running away when limits leave more than ``SHARE`` of
the tip's request unmet while a coordinate is faster than ``FAST`` times the bandwidth of the tip's
task, beyond what the tip's course explains. Then levels after those of the tip come to count
beside its own (:func:`.temper`), and its errors count as ``NEAR`` of the robot's length at most,
until the robot is slow and limits leave less than ``MET`` of the request unmet. Without
later levels nothing slows it.

The request is the change of the tip's velocity in a period; what is unmet is counted without the
weight of later levels.
"""

from __future__ import annotations

from collections.abc import Iterable
import math
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.tasks.tip_course import CourseArrays, NONE
from softrobot_dynamics.kernels.sums import dot

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

SHARE = 0.3  # of the tip's request: limits that leave more of it unmet keep it from following
MET = 0.1  # of it: limits that leave less of it unmet let the tip follow
FAST = 0.3  # of the tip's bandwidth: faster coordinates, in their units, are fast
NEAR = 0.05  # of the robot's length: greatest error of the tip that counts while it is slowed
ONSET = 0.5  # of the tip's own time, 1 / bandwidth: until later levels have their full weight
RELEASE = 5.0  # of that time: until they have none


class Runaway(NamedTuple):
    """State of a tip that may not follow, kept from tick to tick."""

    weight: Vector  # (1,) of later levels beside the tip's own, 0 to 1
    unmet: Vector  # (1,) share of the tip's request that limits left unmet in the last tick
    bandwidth: Vector  # (1,) [1/s] of the tip's task
    course: CourseArrays
    length: float  # [m] of the robot
    units: Vector  # (n,) of its coordinates


def allocate_runaway(model: CompiledModel, course: CourseArrays) -> Runaway:
    """Return the :class:`Runaway` of a robot whose tip is led along a course, at its beginning."""
    weight, unmet, bandwidth = np.zeros((3, 1))
    scales = model.scales
    return Runaway(weight, unmet, bandwidth, course, scales.length, scales.units)


def bandwidth(tasks: Iterable[Any]) -> float:
    """Return the greatest bandwidth [1/s] of tasks that lead a tip, by their gains."""
    leading = [task for task in tasks if task.fades and task.level > 0]
    gains = [(getattr(task, 'p', 0.0), getattr(task, 'd', 0.0)) for task in leading]
    return max((math.sqrt(p) if p > 0.0 else d for p, d in gains), default=0.0)


@kernel
def watch_tip(fixed, work, qd):
    """Bring weight and unmet share of ``work.runaway`` on by what limits leave of the request."""
    runaway, period = work.runaway, fixed.period
    runaway.unmet[0] = _unmet_share(work, qd)
    allowed, now, ahead = _allowed(runaway), 0.0, 0.0
    for i in range(len(qd)):
        rate = work.v[i]
        for k in range(len(work.scale)):
            rate += work.scale[k] * work.levels.limited[k] * fixed.b.X[k, i]
        now = max(now, abs(qd[i]) / runaway.units[i])
        ahead = max(ahead, abs(rate) / runaway.units[i])
    blocked, fast = runaway.unmet[0] > SHARE, now > allowed
    weight, step = runaway.weight[0], period * runaway.bandwidth[0]
    if blocked and (fast or weight > 0.0):
        weight = min(1.0, weight + step / ONSET)
    elif runaway.unmet[0] < MET and not fast:
        weight = max(0.0, weight - step / RELEASE)
    if blocked and ahead > allowed:
        weight = max(weight, min(1.0, ahead / allowed - 1.0))
    runaway.weight[0] = weight


@kernel
def _unmet_share(work, qd):
    """Return the share of the request of all tips that limits leave unmet, 0 without one."""
    levels, unmet, asked = work.levels, 0.0, 0.0
    for k in range(len(levels.task)):
        if levels.task[k] == 0 or levels.level[k] == 0:
            continue
        A, J = levels.A[k], work.J[k]
        free = dot(A, levels.free)
        request = free + work.weight[k] * (dot(J, work.v) - dot(J, qd))
        unmet += (free - dot(A, levels.limited)) ** 2
        asked += request * request
    return min(1.0, math.sqrt(unmet / asked)) if unmet > 0.0 and asked > 0.0 else 0.0


@kernel
def _allowed(runaway):
    """Return the greatest rate of coordinates in their units that is not fast [1/s]."""
    rate, mode, course = runaway.course.out[1], runaway.course.mode, 0.0
    if mode[0] != NONE:
        course += math.sqrt(dot(rate[:3], rate[:3])) / runaway.length
    if mode[1] != NONE:
        course += math.sqrt(dot(rate[3:], rate[3:]))
    return FAST * runaway.bandwidth[0] + course
