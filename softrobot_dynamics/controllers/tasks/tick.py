# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""One tick of the law `task`: rows of all tasks and bounds, and the problem that they make."""

from __future__ import annotations

from collections.abc import Iterable
import math
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry, NOTHING, run, run_three
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.ahead import Ahead, allocate_ahead, look_ahead, TIMES, way_row
from softrobot_dynamics.controllers.commanding import (
    conclude,
    prepare_forces,
    read_outputs,
    take_forces,
)
from softrobot_dynamics.controllers.contract import sample_plan
from softrobot_dynamics.controllers.sampled_data_law import LawWorkspace
from softrobot_dynamics.controllers.tasks.contract import (
    Bound,
    BoundRows,
    ControlTask,
    Rows,
    TaskContext,
    TickState,
)
from softrobot_dynamics.controllers.tasks.levels import (
    allocate_levels,
    LevelsWorkspace,
    solve_levels,
)
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.sums import dot

if TYPE_CHECKING:
    pass


class TaskWorkspace(NamedTuple):
    """Tasks and bounds of a law, and the arrays that its kernel works in."""

    fill: Entry  # of all rows, by q, qd and the time
    J: Matrix  # (K, n) of tasks
    aim: Vector  # (K,)
    weight: Vector  # (K,)
    bounded: Matrix  # (L - c, n) J of bounds
    least: Vector  # (L - c,)
    most: Vector  # (L - c,)
    levels: LevelsWorkspace  # its first c inequalities are those of the actuators
    scale: Vector  # (c,) of w
    found: Vector  # (c,) scaled w
    v: Vector  # (n,) the rates at the end of the period without a force
    moment: Vector  # (1,) [s]
    when: Integers  # (L - c,) of bounds: 0: v(T), else a time ahead
    ahead: Ahead
    push: Vector  # (n,) force that the robot is slowed by, beside the outputs'


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
    if len(work.ahead.way) > 0:
        for i in range(n):
            work.push[i] = b.force[i] - dot(terms.M[i], missed)
        look_ahead(work.ahead, fixed, b.favoured, work.push, qd)
    if work.fill.address != 0:
        run_three(work.fill, q, qd, work.moment)
    for i in range(n):
        work.v[i] = qd[i] - dot(fixed.response[1, i], qd) - dot(fixed.response[0, i], b.force)
        work.v[i] += period * missed[i]
    _set_up(fixed, work)
    saturated = -1
    if solve_levels(work.levels, work.found) >= 0:
        for i in range(c):
            w = work.scale[i] * work.found[i]
            b.w[i] = min(max(w, b.bounds[0, i]), b.bounds[1, i])
        for i in range(c):  # nothing is asked for of single outputs, so nothing is unmet
            b.r[i] = dot(b.H[i], b.w)
        saturated = take_forces(fixed, settings)
    b.asked[0] = t if saturated >= 0 else math.nan
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
    one_period = abs(t - fixed.b.asked[0] - period) < 0.5 * period  # nan: no
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
def _set_up(fixed, work):
    """Fill the problem in levels from all rows: v(T) = v + X' w, w scaled by what it moves."""
    b, levels, c = fixed.b, work.levels, len(fixed.controlled)
    for i in range(c):
        work.scale[i] = 1.0 / math.sqrt(b.H[i, i]) if 0.0 < b.H[i, i] < math.inf else 1.0
        levels.favoured[i] = b.favoured[i] / work.scale[i]
        levels.lower[i] = b.bounds[0, i] / work.scale[i]
        levels.upper[i] = b.bounds[1, i] / work.scale[i]
    for k in range(len(work.aim)):
        row, J = levels.A[k], work.J[k]
        levels.b[k] = work.weight[k] * (work.aim[k] - dot(J, work.v))
        for i in range(c):
            row[i] = work.weight[k] * work.scale[i] * dot(J, b.X[i])
    for k in range(len(work.least)):
        row, J = levels.C[c + k], work.bounded[k]
        levels.lower[c + k], levels.upper[c + k] = work.least[k], work.most[k]
        row[:] = 0.0
        if not (work.least[k] > -math.inf or work.most[k] < math.inf):
            continue
        if work.when[k] > 0:
            at = way_row(work.ahead, work.when[k] - 1, fixed, J, row)
        else:
            at = dot(J, work.v)
            for i in range(c):
                row[i] = dot(J, b.X[i])
        levels.lower[c + k] -= at
        levels.upper[c + k] -= at
        for i in range(c):
            row[i] *= work.scale[i]


@kernel
def in_turn(first, second, q, qd, t):
    """Run two entries, one after the other."""
    run_three(first, q, qd, t)
    run_three(second, q, qd, t)


def bind_tasks(
    fixed: LawWorkspace,
    context: TaskContext,
    tasks: Iterable[ControlTask],
    bounds: Iterable[Bound],
) -> tuple[TaskWorkspace, list[tuple[str, int, int]]]:
    """Return a :class:`TaskWorkspace`, and (kind, first row, end) of all its bounds."""
    model, own, c = context.model, context.controlled, len(context.controlled)
    active: list[Any] = [x for x in tasks if x.level > 0]
    limits: list[Any] = [x for x in bounds if x.order > 0]
    counts, more = ([x.count(model, own) for x in those] for those in (active, limits))
    K, L = sum(counts), sum(more)
    levels = allocate_levels(c, K, c + L)
    levels.C[:c] = np.eye(c)
    J, aim, weight = np.zeros((K, model.n)), np.zeros(K), np.ones(K)
    bounded, least, most = np.zeros((L, model.n)), np.full(L, -np.inf), np.full(L, np.inf)
    looks = any(x.looks_ahead and count for x, count in zip(limits, more))
    ahead = allocate_ahead(context.linear, fixed.period, TIMES if looks else 0)
    when = np.zeros(L, dtype=np.int64)
    state = TickState(
        robot=fixed.robot,
        terms=fixed.terms,
        controlled=fixed.controlled,
        y=fixed.b.y,
        velocity=fixed.b.velocity,
        desired=fixed.b.desired,
        period=fixed.period,
        ahead=ahead,
    )
    fill, spans, first = NOTHING, [], 0
    for task, count in zip(active, counts):
        own_rows = slice(first, first + count)
        weight[own_rows], first = task.weight, first + count
        rows = Rows(J=J[own_rows], aim=aim[own_rows], level=levels.level[own_rows])
        fill = _after(fill, task.bind(state, rows, context))
    first = 0
    for bound, count in zip(limits, more):
        own_rows = slice(first, first + count)
        unit = levels.unit[c + first : c + first + count]
        yields = levels.yields[c + first : c + first + count]
        yields[:] = bound.order
        spans.append((bound.type_name, first, first + count))
        first += count
        given = BoundRows(
            J=bounded[own_rows],
            least=least[own_rows],
            most=most[own_rows],
            unit=unit,
            when=when[own_rows],
            order=yields,
        )
        if count:
            fill = _after(fill, bound.bind(state, given, context))
    work = TaskWorkspace(
        fill=fill,
        J=J,
        aim=aim,
        weight=weight,
        bounded=bounded,
        least=least,
        most=most,
        levels=levels,
        scale=np.ones(c),
        found=np.zeros(c),
        v=np.zeros(model.n),
        moment=np.zeros(1),
        when=when,
        ahead=ahead,
        push=np.zeros(model.n),
    )
    return work, spans


def _after(first: Entry, second: Entry) -> Entry:
    """Return the Entry of two, one after the other."""
    if not (first.address and second.address):
        return first if first.address else second
    return entry(in_turn, first=first, second=second)
