# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Slow a robot that gets fast because limits keep its tip from following.

Where limits leave much of what a tip is asked for unmet, as out of its reach, commands near those
without limits (:mod:`~.solver.weighted_projection`) push the robot for as long as the error lasts,
and what would slow it belongs to later levels. It is running away when limits leave more than
``BLOCKED_FRACTION`` of the tip's request unmet while a coordinate is faster than
``FAST_COORDINATE_RATIO`` times the bandwidth of the tip's task, beyond what the tip's course
explains. Then levels after those of the tip come to count beside its own
(:func:`.project_onto_bounds`), and its errors count as ``MAX_ERROR_WHILE_SLOWED`` of the robot's
length at most, until the robot is slow and limits leave less than ``RECOVERED_FRACTION`` of the
request unmet. Without later levels nothing slows it.

A light part may get fast within a single period: a turntable, turned by a motor that is made for
more, when the other actuators of its arm meet their limits. So what the command of a tick would
bring counts in that very tick: later levels have their full weight at the latest where the robot
would be twice as fast as is allowed.

A robot at rest does not run away, and yet its tip may be stalled: for ``STALL_TIME`` what limits,
a singularity or levels before it leave of the request is that for an error of more than
``STALL_ERROR``, and the tip moves so slowly that it would need long for this error. Nothing is
done about it; the law's warning tells.

The request is the change of the tip's velocity in a period. What is unmet, and what a command
would bring, is counted without the weight of later levels.
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

# of the tip's request; limits that leave more of it unmet keep it from following
BLOCKED_FRACTION = 0.3
RECOVERED_FRACTION = 0.1  # of the same; limits that leave less of it unmet let the tip follow
# of the tip's bandwidth; coordinates beyond it, in their units, are fast
FAST_COORDINATE_RATIO = 0.3
MAX_ERROR_WHILE_SLOWED = 0.05  # of the robot's length, of the tip
ONSET_TIME = 0.5  # [1 / bandwidth of the tip] until later levels have their full weight
RELEASE_TIME = 5.0  # [the same] until they have none
STALL_ERROR = 0.01  # of the robot's length, or rad; a tip that is closer to its target has arrived
STALL_RATE = 0.1  # of the tip's bandwidth; a stalled tip reduces its error at a lower rate
STALL_TIME = 5.0  # [1 / bandwidth of the tip] until a tip that does not follow is stalled


class Runaway(NamedTuple):
    """State of a tip that may not follow, kept from tick to tick."""

    weight: Vector  # (1,) of later levels beside the tip's own, 0 to 1
    unmet: Vector  # (1,) share of the tip's request that limits left unmet in the last tick
    stalled: Vector  # (1,) [1 / bandwidth] for how long the tip has not come closer
    bandwidth: Vector  # (1,) [1/s] of the tip's task
    course: CourseArrays
    length: float  # [m] of the robot
    units: Vector  # (n,) of its coordinates


def allocate_runaway(model: CompiledModel, course: CourseArrays) -> Runaway:
    """Return the :class:`Runaway` of a robot whose tip is led along a course, at its beginning."""
    weight, unmet, stalled, bandwidth = np.zeros((4, 1))
    scales = model.scales
    return Runaway(weight, unmet, stalled, bandwidth, course, scales.length, scales.units)


def describe_tip(runaway: Runaway) -> str:
    """Return words on a tip that cannot follow: the robot is slowed for it, or it is stalled."""
    stalled, blocked = runaway.stalled[0] > STALL_TIME, runaway.unmet[0] > BLOCKED_FRACTION
    if blocked and (stalled or runaway.weight[0] > 0.0):
        return f'tip cannot follow: limits leave {runaway.unmet[0]:.0%} of its request unmet'
    if stalled:
        return 'tip cannot follow: out of reach, near a singularity, or held by other tasks'
    return ''


def bandwidth(tasks: Iterable[Any]) -> float:
    """Return the greatest bandwidth [1/s] of tasks that lead a tip, by their gains."""
    leading = [task for task in tasks if task.fades and task.level > 0]
    gains = [(getattr(task, 'p', 0.0), getattr(task, 'd', 0.0)) for task in leading]
    return max((math.sqrt(p) if p > 0.0 else d for p, d in gains), default=0.0)


@kernel
def watch_tip(fixed, work, qd):
    """Bring ``work.runaway`` on, when a tick has its solution."""
    runaway, step = work.runaway, fixed.period * work.runaway.bandwidth[0]
    unmet = runaway.unmet[0] = _unmet_share(work, qd)
    runaway.stalled[0] = runaway.stalled[0] + step if _is_stalled(fixed, work, qd) else 0.0
    weight, allowed, fastest = runaway.weight[0], _allowed_speed(runaway), 0.0
    for i in range(len(qd)):
        fastest = max(fastest, abs(qd[i]) / runaway.units[i])
    if unmet > BLOCKED_FRACTION:
        if fastest > allowed or weight > 0.0:
            weight = min(1.0, weight + step / ONSET_TIME)
        excess_speed = _predicted_speed(fixed, work) - allowed
        if excess_speed > 0.0:
            weight = max(weight, excess_speed / allowed if excess_speed < allowed else 1.0)
    elif unmet < RECOVERED_FRACTION and not fastest > allowed:
        weight = max(0.0, weight - step / RELEASE_TIME)
    runaway.weight[0] = weight


@kernel
def _predicted_speed(fixed, work):
    """Return the fastest coordinate's rate, in its unit, that the solution brings [1/s]."""
    fastest = 0.0
    for i in range(len(work.v)):
        rate = work.v[i]
        for k in range(len(work.scale)):
            rate += work.scale[k] * work.levels.limited[k] * fixed.b.X[k, i]
        fastest = max(fastest, abs(rate) / work.runaway.units[i])
    return fastest


@kernel
def _unmet_share(work, qd):
    """Return the share of the request of all tips that limits leave unmet, 0 without one."""
    levels, unmet, requested = work.levels, 0.0, 0.0
    for k in range(len(levels.task)):
        if levels.task[k] == 0 or levels.level[k] == 0:
            continue
        A, J = levels.A[k], work.J[k]
        free = dot(A, levels.free)
        request = free + work.weight[k] * (dot(J, work.v) - dot(J, qd))
        unmet += (free - dot(A, levels.limited)) ** 2
        requested += request * request
    return min(1.0, math.sqrt(unmet / requested)) if unmet > 0.0 and requested > 0.0 else 0.0


@kernel
def _is_stalled(fixed, work, qd):
    """Tell whether the solution leaves tips far from what is asked for, while they hardly move."""
    levels, bandwidth, left, speed = work.levels, work.runaway.bandwidth[0], 0.0, 0.0
    for k in range(len(levels.task)):
        if levels.task[k] > 0 and levels.level[k] > 0 and work.weight[k] > 0.0:
            left += ((levels.b[k] - dot(levels.A[k], levels.limited)) / work.weight[k]) ** 2
            speed += dot(work.J[k], qd) ** 2
    left, speed = math.sqrt(left), math.sqrt(speed)
    # at rest an error asks for bandwidth^2 times as much acceleration
    far = left > STALL_ERROR * bandwidth * bandwidth * fixed.period
    return far and speed * bandwidth * fixed.period < STALL_RATE * left


@kernel
def _allowed_speed(runaway):
    """Return the rate of coordinates, in their units, above which they are fast [1/s]."""
    rate, mode, course = runaway.course.sample[1], runaway.course.mode, 0.0
    if mode[0] != NONE:
        course += math.sqrt(dot(rate[:3], rate[:3])) / runaway.length
    if mode[1] != NONE:
        course += math.sqrt(dot(rate[3:], rate[3:]))
    return FAST_COORDINATE_RATIO * runaway.bandwidth[0] + course
