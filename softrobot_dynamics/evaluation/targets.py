# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Desired and actual positions of the tips of bodies over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TYPE_CHECKING

import numpy as np
from scipy.interpolate import PPoly
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.calls import body_index, forward_kinematics
from softrobot_dynamics.references.contract import Targets, trajectory
from softrobot_dynamics.references.piecewise import Reference

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_POINT_TOLERANCE = 1e-9  # of the extent of a reference; no farther from a point, it is there


def targets_of(values: Mapping[str, Any]) -> Targets | None:
    """Return the Targets of parameter `values`, None where no point is followed all the time."""
    return None if values.get('phases') else trajectory(values).targets()


def tips_at(model: CompiledModel, bodies: Sequence[str], q: Vector) -> Matrix:
    """Return the tips (P, 3) [m] of bodies by name at q (n,), base frame."""
    frames = forward_kinematics(model, q=q)
    return frames[[body_index(model, body) for body in bodies], :3, 3]


def time_along(reference: Reference, y_d: Vector, guess: float) -> float | None:
    """
    Return the time [s] near `guess` at which a Reference is at y_d (c,), by Newton's method.

    None if it is not there at all, as while it is being blended in, or if y_d is of other outputs
    than the reference is, as of a law that leads a tip.
    """
    if len(y_d) != reference.coefficients.shape[2]:
        return None
    kind = 'periodic' if reference.period else True
    curve = PPoly(reference.coefficients[::-1], reference.breaks, extrapolate=kind)
    rate, t = curve.derivative(), guess
    near = _POINT_TOLERANCE * np.ptp(curve(reference.breaks), axis=0).max(
        initial=0.0
    ) + np.spacing(np.abs(y_d).max())
    for _ in range(20):
        laps = (t - reference.breaks[0]) // reference.period if reference.period else 0.0
        gap, velocity = y_d - curve(t) - laps * reference.drift, rate(t)
        if np.abs(gap).max() <= near:
            return float(t)
        t = t + gap @ velocity / max(velocity @ velocity, 1e-30)
    return None
