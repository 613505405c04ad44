# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Lead tips of bodies along points, for circles, paths and files of points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.contract import OutputMotion, Targets
from softrobot_dynamics.references.inverse_statics import hold_points
from softrobot_dynamics.references.periodic_paths import hold_periodic_path
from softrobot_dynamics.references.piecewise import cubic_spline, spline

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

LAP_SAMPLES = 128  # postures along a lap, and the least along a path


def tip_path(
    model: CompiledModel,
    bodies: Sequence[str],
    times: Sequence[float] | Vector,
    points: ArrayLike,
    periodic: bool = False,
    q0: ArrayLike | None = None,
    samples: int | None = None,
) -> OutputMotion:
    """
    Return the motion of all m outputs, with postures, that leads tips through given points.

    ``bodies`` (P names), ``times`` (K,) [s] increasing from 0, ``points`` (K, P, 3) [m], base
    frame; splines in between. The last point of a periodic path must be the first. The search for
    postures, ``samples`` + 1 in number (default: eight for each point), begins at ``q0`` (n,), by
    default the initial one. Raises ArgumentError, InfeasibleReferenceError, ReferenceJumpError,
    NotConvergedError (see ``postures``, ``periodic_paths``).
    """
    times = checked('times', times, (len(times),))
    if len(times) < 3 or times[0] != 0.0 or not (np.diff(times) > 0.0).all():
        raise ArgumentError('times', times, 'three or more times from 0 on, increasing [s]')
    points = checked('points', points, (len(times), len(bodies), 3))
    if periodic and not np.array_equal(points[0], points[-1]):
        raise ArgumentError('points', points[-1], 'the first point again, as the path is periodic')
    between = cubic_spline(times, points, periodic)
    fine = np.linspace(0.0, times[-1], (samples or max(LAP_SAMPLES, 8 * len(times))) + 1)
    if periodic:
        return lap(model, bodies, fine, np.concatenate([between(fine[:-1]), points[:1]]), q0)
    postures = hold_points(model, bodies=bodies, times=fine, points=between(fine), q0=q0)
    return OutputMotion(spline(fine, postures.y), postures)


def path_targets(
    bodies: Sequence[str], times: ArrayLike, points: Array, periodic: bool
) -> Targets:
    """Return the Targets of :func:`tip_path`, arguments as there."""
    times = np.asarray(times, dtype=float)
    path, end = cubic_spline(times, points, periodic), float(times[-1])

    def at(t: ArrayLike) -> Any:
        return path(np.asarray(t) % end if periodic else np.clip(t, 0.0, end))

    return Targets(tuple(bodies), at, end)


def lap(
    model: CompiledModel, bodies: Sequence[str], times: Vector, points: Array, q0: ArrayLike | None
) -> OutputMotion:
    """Return the periodic motion along a closed path, the last of whose points is the first."""
    postures, drift = hold_periodic_path(model, bodies=bodies, times=times, points=points, q0=q0)
    y = postures.y.copy()
    y[-1] = y[0] + drift
    return OutputMotion(spline(times, y, periodic=True), postures)
