# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Where the tips of bodies should be in time, as the parameters `reference.*` say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable, NamedTuple, TYPE_CHECKING

import numpy as np
from scipy.interpolate import CubicSpline, PPoly
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.dynamics.calls import body_index, forward_kinematics
from softrobot_dynamics.references.planning import Circle

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_SAMPLES = 256  # of a path, to find its size
_AT = 1e-9  # [m or rad] a reference as close as this to a point is at it


class Targets(NamedTuple):
    """The points that tips shall follow."""

    bodies: tuple[str, ...]  # names (P,)
    points: Callable[[Any], Array]  # (times (T,) [s]) -> (T, P, 3) [m], base frame
    duration: float  # of the path, or of one turn [s]

    def sizes(self) -> Vector:
        """Return twice the greatest distance from the middle of each path (P,) [m]."""
        points = self.points(np.linspace(0.0, self.duration, _SAMPLES, endpoint=False))
        distances = np.linalg.norm(points - points.mean(axis=0), axis=2)
        return 2.0 * distances.max(axis=0)


def targets_of(values: Mapping[str, Any]) -> Targets | None:
    """Return the Targets of parameter `values`, None where the reference is not about points."""
    kind = values['reference.type']
    prefix = f'reference.{kind}.'
    parts = {name[len(prefix) :]: x for name, x in values.items() if name.startswith(prefix)}
    return {'circle': _circle, 'path': _path}.get(kind, lambda parts: None)(parts)


def tips_at(model: CompiledModel, bodies: Sequence[str], q: Vector) -> Matrix:
    """Return the tips (P, 3) [m] of bodies by name at q (n,), base frame."""
    frames = forward_kinematics(model, q=q)
    return frames[[body_index(model, body) for body in bodies], :3, 3]


def time_along(reference: Any, y_d: Vector, guess: float) -> float | None:
    """
    Return the time [s] near `guess` at which a Reference is at y_d (c,), by Newton's method.

    None if it is not there at all, as while it is being blended in.
    """
    kind = 'periodic' if reference.period else True
    curve = PPoly(reference.coefficients[::-1], reference.breaks, extrapolate=kind)
    rate, t = curve.derivative(), guess
    for _ in range(20):
        laps = (t - reference.breaks[0]) // reference.period if reference.period else 0.0
        gap, slope = y_d - curve(t) - laps * reference.drift, rate(t)
        if np.abs(gap).max() < _AT:
            return float(t)
        t = t + gap @ slope / max(slope @ slope, 1e-30)
    return None


def _circle(parts: Any) -> Targets:
    circle = Circle(**parts)

    def points(times: Any) -> Any:
        return circle.points(2.0 * np.pi * np.asarray(times) / circle.period)[:, None]

    return Targets((circle.body,), points, circle.period)


def _path(parts: Any) -> Targets:
    times, periodic = np.array(parts['times']), parts['periodic']
    rows = np.reshape(parts['points'], (len(times), len(parts['bodies']), 3))
    path = CubicSpline(times, rows, axis=0, bc_type='periodic' if periodic else 'clamped')
    end = times[-1]
    bring_back = (lambda t: t % end) if periodic else (lambda t: np.clip(t, 0.0, end))
    return Targets(tuple(parts['bodies']), lambda t: path(bring_back(np.asarray(t))), float(end))
