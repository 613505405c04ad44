# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Plan the closures of a robot: assemble it, and find which directions are independent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, Entry
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.description.closures import (
    Closure,
    ClosureFrame,
    DIRECTIONS,
    ROTATION_COUNT,
)
from softrobot_dynamics.description.modules import BASE
from softrobot_dynamics.errors import ArgumentError, OpenLoopError
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.model.evaluation import Evaluator
from softrobot_dynamics.model.points import cloud_of
from softrobot_dynamics.recursion.closed_motion import CLOSURE_TOLERANCE
from softrobot_dynamics.recursion.closure_frames import (
    FRAME,
    MaterialFrame,
    place_material,
    place_rigid,
    RigidFrame,
)
from softrobot_dynamics.recursion.closures import (
    ALL_ROTATIONS,
    allocate_rows,
    close_rows,
    ClosureRows,
    FREE_ROTATIONS,
    SINGLE_ROTATION,
    SWING_ROTATIONS,
)
from softrobot_dynamics.recursion.passes import BODY_COUNT, BODY_FIRST
from softrobot_dynamics.schema.poses import flat, IDENTITY_POSE, z_onto

_RANK_TOLERANCE = 1e-8  # of the largest singular value of rows [1 per unit of q]
# the same where loops close: to CLOSURE_TOLERANCE, near singular postures too
_SINGULAR_POSTURE_TOLERANCE = 1e-6
_MIN_STIFF_UNIT = 1e-3  # of its unit, for a stiff coordinate
_MAX_NEWTON_STEPS = 200  # to assemble a robot
_MAX_STEP = 0.3  # [units of coordinates]
_PROBE_DISTANCE = 0.05  # [units] from the initial posture, where the rank is evaluated again
# residual [rad, lengths of the robot] of a posture that is taken for closed
CLOSED_TOLERANCE = 1e-6


class ClosurePlan(NamedTuple):
    """The closures of a robot, r rows of which k are independent."""

    turns: Integers  # (C, 2) see softrobot_dynamics.recursion.closures
    rows: Integers  # (r, 2) closure and direction
    names: tuple[str, ...]  # (r,) such as loop/rx
    weights: Vector  # (r,) of residuals: 1, or 1 / length
    units: Vector  # (n,) of coordinates, less where they are stiff
    independent_rows: Integers  # (k,) indices of rows that no others determine
    q0: Vector  # (n,) initial posture, its loops closed
    qd0: Vector  # (n,)
    assembly_displacement: Vector  # (n,) from the description's q0 to that with closed loops

    @property
    def redundant(self) -> tuple[str, ...]:
        """The names of rows that follow from the others."""
        return tuple(name for i, name in enumerate(self.names) if i not in self.independent_rows)


class ClosureEvaluator:
    """All rows of the closures of a model at a state, in arrays of its own; not for kernels."""

    def __init__(self, model: RobotModel, plan: ClosurePlan, rows: Integers) -> None:
        self.evaluate = Evaluator(model)
        self.closures = closures_of(model, self.evaluate, plan, rows)
        self._close = cached(close_rows, closures=self.closures)
        self._rest = np.zeros(model.n)

    def __call__(self, q: Vector, qd: Vector | None = None) -> ClosureRows:
        """Return the :class:`ClosureRows` at q, qd (n,), by default at rest, with all terms."""
        qd = self._rest if qd is None else qd
        self.evaluate(q, qd)
        self._close(q, qd)
        return self.closures


def all_rows(model: RobotModel) -> ClosureEvaluator:
    """Return a new :class:`ClosureEvaluator` of all rows of a model that has closures."""
    return ClosureEvaluator(model, model.closure_plan, model.closure_plan.rows)


def plan_closures(model: RobotModel) -> ClosurePlan:
    """
    Return the :class:`ClosurePlan` of a model with closures.

    Raises OpenLoopError, by the name of a closure, where no posture near the initial one closes
    it, where the loops leave nothing to move, and where the initial posture is singular.
    """
    closures = model.description.closures
    rows = [(c, DIRECTIONS.index(d)) for c, each in enumerate(closures) for d in each.closed]
    lengths = 1.0 / model.scales.length
    plan = ClosurePlan(
        turns=np.array([_turns(each) for each in closures], dtype=np.int64).reshape(-1, 2),
        rows=np.array(rows, dtype=np.int64).reshape(-1, 2),
        names=tuple(f'{closures[c].name}/{DIRECTIONS[k]}' for c, k in rows),
        weights=np.array([1.0 if k < ROTATION_COUNT else lengths for _, k in rows]),
        units=_soft_units(model),
        independent_rows=np.zeros(0, dtype=np.int64),
        q0=model.q0,
        qd0=model.qd0,
        assembly_displacement=np.zeros(model.n),
    )
    evaluator = ClosureEvaluator(model, plan, plan.rows)
    q0 = assembled(model, plan, evaluator, model.q0)
    here, units = _scaled(evaluator(q0), plan), plan.units
    best, best_rank = here, _rank(here)
    free = np.linalg.svd(here)[2][best_rank:]
    for seed in (1, 2):  # near by, where rows that are dependent only at q0 are not
        direction = np.random.default_rng(seed).normal(size=len(free)) @ free
        try:
            q = assembled(model, plan, evaluator, q0 + _PROBE_DISTANCE * units * direction)
        except OpenLoopError:
            continue
        there = _scaled(evaluator(q), plan)
        if (rank := _rank(there)) > best_rank:
            best, best_rank = there, rank
    independent = _independent(best, best_rank)
    if best_rank > (rank := _rank(here, _SINGULAR_POSTURE_TOLERANCE)):
        name = plan.names[_independent(here, rank, independent)]
        words = f'another initial posture: this one is singular, {name} constrains nothing'
        raise OpenLoopError(name.split('/')[0], 0.0, 0.0, words)
    if best_rank == model.n:
        words = f'closures that let the robot move: rank {best_rank} leaves no freedom'
        raise OpenLoopError(', '.join(each.name for each in closures), 0.0, 0.0, words)
    plan = plan._replace(independent_rows=independent, q0=q0, assembly_displacement=q0 - model.q0)
    rates = model.qd0 / units
    qd0 = units * (rates - np.linalg.pinv(here, rcond=_RANK_TOLERANCE) @ (here @ rates))
    return plan._replace(qd0=qd0)


def assembled(
    model: RobotModel, plan: ClosurePlan, evaluator: ClosureEvaluator, q: Vector
) -> Vector:
    """
    Return the posture (n,) near q (n,) where all loops are closed, by Newton's method.

    Each step is the least in units of coordinates, those that are stiff counting more. Raises
    OpenLoopError.
    """
    units, q = plan.units, q.copy()
    e, J, far = _residual(plan, evaluator, q)
    for _ in range(_MAX_NEWTON_STEPS):
        if far <= 0.1 * CLOSURE_TOLERANCE or not np.isfinite(far):
            break
        step = -np.linalg.pinv(J, rcond=_RANK_TOLERANCE) @ e
        step *= min(1.0, _MAX_STEP / max(float(np.abs(step).max()), 1e-300))
        for share in 0.5 ** np.arange(12):
            better = q + share * units * step
            trial = _residual(plan, evaluator, better)
            if trial[2] < far:
                break
        else:
            break
        q, (e, J, far) = better, trial
    if not far <= 10.0 * CLOSURE_TOLERANCE:
        raise open_loop(model, plan, e, 'a posture near the initial one that closes it')
    return q


def open_loop(model: RobotModel, plan: ClosurePlan, e: Vector, expected: str) -> OpenLoopError:
    """Return the error of the closure whose residual is largest of e (r,), weighted."""
    worst = plan.rows[int(np.argmax(np.where(np.isfinite(e), np.abs(e), np.inf))), 0]
    of_worst, turns = plan.rows[:, 0] == worst, plan.rows[:, 1] < ROTATION_COUNT
    gap = float(np.linalg.norm(e[of_worst & ~turns])) * model.scales.length
    angle = float(np.linalg.norm(e[of_worst & turns]))
    return OpenLoopError(model.description.closures[worst].name, gap, angle, expected)


def require_tree(model: RobotModel, what: str) -> None:
    """Raise ArgumentError with the names of the closures, which ``what`` does not support."""
    if model.description.closures:
        names = [each.name for each in model.description.closures]
        words = f'a robot without closures: {what} not supported for closed loops'
        raise ArgumentError('closures', names, words)


def closures_of(
    model: RobotModel, evaluate: Evaluator, plan: ClosurePlan, rows: Integers
) -> ClosureRows:
    """Return :class:`ClosureRows` of a plan, for ``rows``, by the poses of an evaluator."""
    closures = model.description.closures
    frames = np.zeros((2 * len(closures), FRAME))
    jacobians, place = np.zeros((2 * len(closures), 6 * model.n)), EMPTY_ENTRY
    for c, closure in enumerate(closures):
        axes = z_onto(closure.axis) if closure.axis else np.eye(4)
        for k, each in enumerate(closure.frames):
            i = 2 * c + k
            offset = each.pose.matrix() @ axes
            place = _placed(model, evaluate, each, offset, place, frames[i], jacobians[i])
    return allocate_rows(place, frames, jacobians, plan.turns, rows)


def _placed(
    model: RobotModel,
    evaluate: Evaluator,
    given: ClosureFrame,
    offset: Matrix,
    before: Entry,
    frame: Vector,
    J: Vector,
) -> Entry:
    """Return an entry that fills a frame and its Jacobian, after another entry."""
    robot = evaluate.robot
    common = {'before': before, 'robot': robot}
    if given.body == BASE:
        rigid = RigidFrame(len(robot.modules), 1, flat(offset), frame, J)
        return entry(place_rigid, **common, at=rigid)
    body = model.body_names.index(given.body)
    count = int(robot.modules[body, BODY_COUNT])
    if given.point is None:
        return entry(place_rigid, **common, at=RigidFrame(body, 1, flat(offset), frame, J))
    if count == 0:
        moved = offset.copy()
        moved[:3, 3] += given.point
        return entry(place_rigid, **common, at=RigidFrame(body, 0, flat(moved), frame, J))
    point = np.array([given.point], dtype=float)
    first = int(robot.modules[body, BODY_FIRST])
    local = cloud_of(model, robot, body, point)
    local = local._replace(pose=IDENTITY_POSE.copy(), jacobian=np.zeros(6 * count), first=0)
    at = MaterialFrame(
        body=body,
        cloud=cloud_of(model, robot, body, point),
        local_cloud=local,
        units=model.scales.units[first : first + count].copy(),
        offset=flat(offset),
        frame=frame,
        J=J,
        point_frame=np.zeros((1, 16)),
        local_frame=np.zeros((1, 16)),
        local_J=np.zeros(6 * count),
        moving=np.zeros(12),
    )
    return entry(place_material, **common, at=at)


def _turns(closure: Closure) -> tuple[int, int]:
    """Return how many rotations a closure closes, and the axis that this is about."""
    closed = [k for k in range(ROTATION_COUNT) if DIRECTIONS[k] in closure.closed]
    if len(closed) == 1:
        return SINGLE_ROTATION, closed[0]
    if len(closed) == 2:
        return SWING_ROTATIONS, ROTATION_COUNT - sum(closed)  # about the one that is left
    return (ALL_ROTATIONS, 2) if closed else (FREE_ROTATIONS, 2)


def _soft_units(model: RobotModel) -> Vector:
    """Return the changes (n,) of coordinates that loops are closed by: those that cost little."""
    stiff = model.scales.stiff
    softest = stiff[stiff > 0.0].min(initial=np.inf)
    shares = np.sqrt(np.divide(softest, stiff, out=np.ones(model.n), where=stiff > 0.0))
    units: Vector = model.scales.units * np.maximum(shares, _MIN_STIFF_UNIT)
    return units


def _residual(
    plan: ClosurePlan, evaluator: ClosureEvaluator, q: Vector
) -> tuple[Vector, Matrix, float]:
    """Return weighted residual (r,), Jacobian (r, n) by coordinates in units, and its size."""
    rows = evaluator(q)
    e = plan.weights * rows.residual
    return e, _scaled(rows, plan), float(np.linalg.norm(e))


def _scaled(rows: ClosureRows, plan: ClosurePlan) -> Matrix:
    """Return the Jacobian (r, n) of weighted residuals by coordinates in their units."""
    scaled: Matrix = plan.weights[:, None] * rows.J * plan.units
    return scaled


def _rank(J: Matrix, least: float = _RANK_TOLERANCE) -> int:
    """Return the rank of scaled rows, by singular values above ``least`` of the largest."""
    values = np.linalg.svd(J, compute_uv=False)
    return int((values > least * max(float(values.max(initial=0.0)), 1.0)).sum())


def _independent(J: Matrix, rank: int, of: Any = None) -> Any:
    """
    Return which rows (k,) are independent, in order, by elimination with the largest left first.

    With ``of``, some rows, the first of these that is not among as many is returned instead.
    """
    left, chosen = J.copy(), []
    for _ in range(rank):
        sizes = np.linalg.norm(left, axis=1)
        # of rows of like size the first: names of redundant ones do not go by rounding
        best = int(np.flatnonzero(sizes >= (1.0 - 1e-6) * sizes.max())[0])
        chosen.append(best)
        row = left[best] / sizes[best]
        left = left - np.outer(left @ row, row)
    if of is None:
        return np.array(sorted(chosen), dtype=np.int64)
    return next(int(i) for i in of if i not in chosen)
