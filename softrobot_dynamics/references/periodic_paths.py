# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Periodic paths of tips, and periodic postures that hold them.

A robot with more motors than a path needs may end elsewhere than it began. Where that is whole
turns of joints that may go on turning, it is the same place; all else is a jump in the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.dynamics.newton import ACCEPTED_RESIDUAL
from softrobot_dynamics.dynamics.periodic_coordinates import FULL_TURN
from softrobot_dynamics.dynamics.saddle_free_newton import relative_residual
from softrobot_dynamics.dynamics.static_residual import Statics
from softrobot_dynamics.errors import ReferenceJumpError
from softrobot_dynamics.references.inverse_statics import (
    actuation_coordinates,
    hold_points,
    PathPostures,
)

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

# of the distance of joints with limits from their start, in turn
STAY_WEIGHTS = (0.0, 10.0, 1000.0)
MAX_CLOSURE_GAP = 0.01  # of the longest step between neighbours; a smaller gap closes a lap
JUMP_RATIO = 8.0  # of the usual step; longer steps are no smooth motion


def hold_periodic_path(
    model: CompiledModel,
    *,
    bodies: Sequence[str],
    times: Vector,
    points: Array,
    q0: ArrayLike | None = None,
) -> tuple[PathPostures, Vector]:
    """
    Return the Postures of :func:`hold_points` on a closed path, and how far y (m,) drifts a lap.

    The last of the ``points`` (K, P, 3) is the first; the last posture is the first one, but for
    whole turns of joints, which are the drift. It may take a second lap to find such, and the
    preference of joints with limits to stay near q0. Raises as ``hold_points``, or
    ReferenceJumpError where the best lap found leaves a gap, or jumps.
    """
    fault: Any = None  # of the last lap
    start = q0
    for stay in STAY_WEIGHTS:
        for _ in range(2):
            found = hold_points(
                model, bodies=bodies, times=times, points=points, q0=start, stay=stay
            )
            turns = _turns(model, found.q[0], found.u[0], found.q[-1] - found.q[0])
            fault = _jump(model, times, points, found, turns)
            if fault is None:
                end = actuation_coordinates(model, found.q[0] + turns)
                return found, end - found.y[0]
            if fault.time < times[-1]:
                break  # another lap would jump there, too
            start = found.q[-1] - turns
        start = q0
    raise fault


def nearest_turn(model: CompiledModel, q: ArrayLike) -> Vector:
    """Return the initial posture (n,), whole turns of joints nearer to q (n,) if they may turn."""
    return model.q0 + _turns(
        model, model.q0, np.zeros(model.m), checked('q', q, (model.n,)) - model.q0
    )


def _turns(model: CompiledModel, q: Vector, u: Vector, change: Vector) -> Vector:
    """Whole turns (n,) [rad] in a change of q (n,), as far as they change nothing else."""
    limited = np.isfinite(model.q_lower) | np.isfinite(model.q_upper)
    turns = np.where(limited, 0.0, FULL_TURN * np.round(change / FULL_TURN))
    for i in np.flatnonzero(turns):
        if not _same(model, q, q + turns[i] * np.eye(model.n)[i], u):
            turns[i] = 0.0
    return turns


def _same(model: CompiledModel, q: Vector, other: Vector, u: Vector) -> bool:
    """Tell whether two postures differ in nothing but numbers: same forces, same tips."""
    statics, bodies = Statics(model), range(len(model.body_names))
    forces, size = statics.residual(q, u)
    tips = statics.tips(bodies)[0]
    others = statics.residual(other, u)[0]
    apart = np.abs(statics.tips(bodies)[0] - tips).max()
    same = relative_residual(others - forces, size) <= ACCEPTED_RESIDUAL
    return bool(same and apart <= ACCEPTED_RESIDUAL * model.scales.length)


def _jump(
    model: CompiledModel, times: Vector, points: Array, found: PathPostures, turns: Vector
) -> ReferenceJumpError | None:
    """Return the ReferenceJumpError of the first jump, the gap at the end being last, or None."""
    units = model.scales.units
    steps = np.diff(found.q, axis=0) / units
    moved = np.abs(np.diff(points, axis=0)).max(axis=(1, 2))
    away = moved > 1e-3 * moved.max()
    if not away.any():
        return None
    usual = np.median(np.abs(steps[away]).max(axis=1) / moved[away]) * moved.max()
    longest = np.abs(steps).max(axis=1)
    gap = (found.q[-1] - found.q[0] - turns) / units
    if (longest > JUMP_RATIO * usual).any():
        k = int(np.argmax(longest > JUMP_RATIO * usual))
        return _error(model, times[k], steps[k] * units, found.y[k + 1] - found.y[k])
    if np.abs(gap).max() > MAX_CLOSURE_GAP * longest.max():
        return _error(model, times[-1], gap * units, found.y[-1] - found.y[0])
    return None


def _error(model: CompiledModel, time: float, dq: Vector, dy: Vector) -> ReferenceJumpError:
    """Return the ReferenceJumpError of changes of q (n,) and y (m,)."""
    units, ways = model.scales.units, model.scales.outputs.max(axis=1, initial=0.0)
    i, k = np.argmax(np.abs(dq) / units), np.argmax(np.abs(dy) / np.where(ways > 0.0, ways, 1.0))
    names = model.coordinate_names[i], model.actuator_names[k]
    return ReferenceJumpError(float(time), names[0], float(dq[i]), names[1], float(dy[k]))
