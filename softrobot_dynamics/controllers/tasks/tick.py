# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""One tick of the law `task`: rows of all tasks and bounds, and the problem that they make."""

from __future__ import annotations

import math
from typing import NamedTuple

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.addresses import run, run_three
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.contract import sample_plan
from softrobot_dynamics.controllers.held_command_motion import (
    displacement_row,
    predict_held_motion,
)
from softrobot_dynamics.controllers.output_commands import (
    conclude,
    prepare_forces,
    read_outputs,
    take_forces,
)
from softrobot_dynamics.controllers.tasks.runaway import watch_tip
from softrobot_dynamics.controllers.tasks.workspace import TaskWorkspace
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.sums import dot


class TaskKernelSettings(NamedTuple):
    """Values that the kernel reads of the settings."""

    lower: Vector
    upper: Vector
    rate: Vector
    feed_forward: Vector
    delay: float
    observer: float
    work: TaskWorkspace


@kernel
def tick(fixed, plan, settings, q, qd, t):
    """One tick, see :class:`.SampledDataLaw`."""
    terms, b, work, period = fixed.terms, fixed.b, settings.work, fixed.period
    n, c = len(qd), len(fixed.controlled)
    run(fixed.evaluate, q, qd)
    read_outputs(fixed, qd)
    sample_plan(plan, t, b.desired, b.blend)
    memory = b.memory.reshape(-1)
    missed, aim = memory[:n], memory[n : 2 * n]
    observe_rates(fixed, settings.observer, missed, aim, qd, t)
    work.moment[0] = t
    copy(terms.h, b.force)
    prepare_forces(fixed, settings, b.force)
    if len(work.prediction.displacement) > 0:
        for i in range(n):
            work.bias_force[i] = b.force[i] - dot(terms.M[i], missed)
        predict_held_motion(work.prediction, fixed, b.favoured, work.bias_force, qd)
    if work.fill.address != 0:
        run_three(work.fill, q, qd, work.moment)
    for i in range(n):
        work.v[i] = qd[i] - dot(fixed.response[1, i], qd) - dot(fixed.response[0, i], b.force)
        work.v[i] += period * missed[i]
    _assemble_problem(fixed, work)
    saturated = -1
    run(work.solve, work.scaled_solution, work.iterations)
    if work.iterations[0] >= 0.0:
        watch_tip(fixed, work, qd)
        if work.runaway.weight[0] > 0.0:
            run(work.include_later, work.runaway.weight, work.scaled_solution)
        for i in range(c):
            w = work.scale[i] * work.scaled_solution[i]
            b.w[i] = min(max(w, b.bounds[0, i]), b.bounds[1, i])
        for i in range(c):  # nothing is asked for of single outputs, so nothing is unmet
            b.r[i] = dot(b.H[i], b.w)
        saturated = take_forces(fixed, settings)
    b.last_answer_time[0] = t if saturated >= 0 else math.nan
    for i in range(n):  # what the model says that the command brings
        aim[i] = work.v[i] - period * missed[i]
    for i in range(c):
        for j in range(n):
            aim[j] += b.w[i] * b.X[i, j]
    return conclude(fixed, settings, q, qd, saturated)


@kernel
def observe_rates(fixed, time, missed, aim, qd, t):
    """
    Bring the accelerations (n,) on that the model misses, by what the last period did not bring.

    As a filter of first order by a ``time`` [s]; 0: there are none.
    """
    period = fixed.period
    one_period = abs(t - fixed.b.last_answer_time[0] - period) < 0.5 * period  # nan: no
    for i in range(len(aim)):
        if time == 0.0:
            missed[i] = 0.0
        elif one_period:
            reached = qd[i]
            if fixed.reached[i] == fixed.reached[i]:
                reached = fixed.reached[i]
            gap = (reached - aim[i]) / period
            if abs(gap) < math.inf:  # once it is no number, it would stay that
                missed[i] += (gap - missed[i]) * period / (time + period)


@kernel
def _assemble_problem(fixed, work):
    """Fill the problem in levels from all rows: v(T) = v + X' w, w scaled by what it moves."""
    b, levels, c = fixed.b, work.levels, len(fixed.controlled)
    for i in range(c):
        work.scale[i] = 1.0 / math.sqrt(b.H[i, i]) if 0.0 < b.H[i, i] < math.inf else 1.0
        levels.favoured[i] = b.favoured[i] / work.scale[i]
        levels.lower[i] = b.bounds[0, i] / work.scale[i]
        levels.upper[i] = b.bounds[1, i] / work.scale[i]
    for i in range(c):
        for j in range(i):
            levels.work[i, j] = work.scale[i] * work.scale[j] * b.H[i, j]
        levels.work[i, i] = 1.0  # that is what the scale makes of it
    for k in range(len(work.aim)):
        row, J = levels.A[k], work.J[k]
        levels.excess_b[k] = work.weight[k] * work.excess_aim[k]
        levels.b[k] = work.weight[k] * (work.aim[k] - dot(J, work.v))
        for i in range(c):
            row[i] = work.weight[k] * work.scale[i] * dot(J, b.X[i])
    for k in range(len(work.lower)):
        row, J = levels.C[c + k], work.bounded[k]
        levels.lower[c + k], levels.upper[c + k] = work.lower[k], work.upper[k]
        row[:] = 0.0
        if not (work.lower[k] > -math.inf or work.upper[k] < math.inf):
            continue
        if work.when[k] > 0:
            at = displacement_row(work.prediction, work.when[k] - 1, fixed, J, row)
        else:
            at = dot(J, work.v)
            for i in range(c):
                row[i] = dot(J, b.X[i])
        levels.lower[c + k] -= at
        levels.upper[c + k] -= at
        for i in range(c):
            row[i] *= work.scale[i]
