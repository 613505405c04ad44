# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Workspace of a tick of the law `task`: arrays of all tasks and bounds, and their entries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, Entry, run_three
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.held_command_motion import (
    allocate_held_motion,
    GRID_SIZE,
    HeldMotion,
)
from softrobot_dynamics.controllers.sampled_data_law import LawWorkspace
from softrobot_dynamics.controllers.tasks.contract import (
    Bound,
    BoundRows,
    ControlTask,
    Rows,
    TaskContext,
    TickState,
)
from softrobot_dynamics.controllers.tasks.runaway import Runaway
from softrobot_dynamics.controllers.tasks.solver.hierarchy import (
    include_later_levels,
    solve_hierarchy,
)
from softrobot_dynamics.controllers.tasks.solver.workspace import (
    allocate_hierarchy,
    HierarchyWorkspace,
)


class TaskWorkspace(NamedTuple):
    """Tasks and bounds of a law, and the arrays that its kernel works in."""

    fill: Entry  # of all rows, by q, qd and the time
    J: Matrix  # (K, n) of tasks
    aim: Vector  # (K,)
    excess_aim: Vector  # (K,) part of ``aim``
    weight: Vector  # (K,)
    bounded: Matrix  # (L - c, n) J of bounds
    lower: Vector  # (L - c,) of bounds, -inf: none
    upper: Vector  # (L - c,) inf: none
    levels: HierarchyWorkspace  # its first c inequalities are those of the actuators
    solve: Entry  # fills w and the iterations with the solution of ``levels``
    include_later: Entry  # by a weight (1,) brings w to where later levels count
    iterations: Vector  # (1,)
    scale: Vector  # (c,) of w
    scaled_solution: Vector  # (c,) w / scale
    v: Vector  # (n,) the rates at the end of the period without a force
    moment: Vector  # (1,) [s]
    when: Integers  # (L - c,) of bounds: 0: v(T), else a time ahead
    prediction: HeldMotion
    runaway: Runaway
    bias_force: Vector  # (n,) h less the other actuators' forces and the observed disturbance


@kernel
def run_in_sequence(first, second, q, qd, t):
    """Run two entries, one after the other."""
    run_three(first, q, qd, t)
    run_three(second, q, qd, t)


def bind_tasks(
    fixed: LawWorkspace,
    context: TaskContext,
    tasks: Iterable[ControlTask],
    bounds: Iterable[Bound],
    runaway: Runaway,
) -> tuple[TaskWorkspace, list[tuple[str, int, int]]]:
    """Return a :class:`TaskWorkspace`, and (kind, first row, end) of all its bounds."""
    own = context.model, context.controlled
    rows, of_tasks = _row_slices([each for each in tasks if each.level > 0], own)
    limits, of_bounds = _row_slices([each for each in bounds if each.order > 0], own)
    looks = any(bound.looks_ahead and place.stop > place.start for bound, place in of_bounds)
    prediction = allocate_held_motion(context.linear, fixed.period, GRID_SIZE if looks else 0)
    work = _allocate(context.model.n, len(context.controlled), rows, limits, prediction, runaway)
    state = TickState(
        robot=fixed.robot,
        terms=fixed.terms,
        controlled=fixed.controlled,
        y=fixed.b.y,
        velocity=fixed.b.velocity,
        desired=fixed.b.desired,
        period=fixed.period,
        prediction=prediction,
    )
    entries = [_bind_task(work, state, context, *each, i + 1) for i, each in enumerate(of_tasks)]
    entries += [_bind_bound(work, state, context, *each) for each in of_bounds]
    fill = EMPTY_ENTRY
    for each in entries:
        fill = _in_sequence(fill, each)
    spans = [(bound.type_name, place.start, place.stop) for bound, place in of_bounds]
    return work._replace(fill=fill), spans


def _row_slices(each: list[Any], own: tuple[Any, Integers]) -> tuple[int, list[tuple[Any, slice]]]:
    """Return (number of rows, tasks or bounds with the places of theirs)."""
    found, first = [], 0
    for one in each:
        count = one.count(*own)
        found.append((one, slice(first, first + count)))
        first += count
    return first, found


def _allocate(
    n: int, c: int, rows: int, limits: int, prediction: HeldMotion, runaway: Runaway
) -> TaskWorkspace:
    """Return a workspace for so many rows of tasks and of bounds, which nothing fills yet."""
    levels = allocate_hierarchy(c, rows, c + limits)
    levels.C[:c] = np.eye(c)
    return TaskWorkspace(
        fill=EMPTY_ENTRY,
        J=np.zeros((rows, n)),
        aim=np.zeros(rows),
        weight=np.ones(rows),
        bounded=np.zeros((limits, n)),
        lower=np.full(limits, -np.inf),
        upper=np.full(limits, np.inf),
        levels=levels,
        solve=entry(solve_hierarchy, p=levels),
        include_later=entry(include_later_levels, p=levels),
        iterations=np.zeros(1),
        scale=np.ones(c),
        scaled_solution=np.zeros(c),
        v=np.zeros(n),
        moment=np.zeros(1),
        when=np.zeros(limits, dtype=np.int64),
        prediction=prediction,
        excess_aim=np.zeros(rows),
        runaway=runaway,
        bias_force=np.zeros(n),
    )


def _bind_task(
    work: TaskWorkspace,
    state: TickState,
    context: TaskContext,
    task: ControlTask,
    place: slice,
    number: int,
) -> Entry:
    """Return the Entry of what fills the rows of a task, the ``number``-th."""
    levels = work.levels
    work.weight[place] = task.weight
    levels.task[place] = number if task.fades else 0
    rows = Rows(
        J=work.J[place],
        aim=work.aim[place],
        level=levels.level[place],
        excess_aim=work.excess_aim[place],
    )
    return task.bind(state, rows, context)


def _bind_bound(
    work: TaskWorkspace, state: TickState, context: TaskContext, bound: Bound, place: slice
) -> Entry:
    """Return the Entry of what fills the rows of a bound, EMPTY_ENTRY without rows."""
    c = len(context.controlled)
    own = slice(c + place.start, c + place.stop)
    work.levels.relaxation_order[own] = bound.order
    rows = BoundRows(
        J=work.bounded[place],
        lower=work.lower[place],
        upper=work.upper[place],
        unit=work.levels.unit[own],
        when=work.when[place],
        order=work.levels.relaxation_order[own],
    )
    return bound.bind(state, rows, context) if place.stop > place.start else EMPTY_ENTRY


def _in_sequence(first: Entry, second: Entry) -> Entry:
    """Return the Entry of two, one after the other."""
    if not (first.address and second.address):
        return first if first.address else second
    return entry(run_in_sequence, first=first, second=second)
