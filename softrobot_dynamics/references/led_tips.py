# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Orders for a law that leads a tip itself: a point, a pose, a twist, or a path of the tip."""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING, TypeAlias

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.arguments import body_index
from softrobot_dynamics.references.piecewise import Reference, spline

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel
    from softrobot_dynamics.references.contract import Trajectory

PATH_SAMPLES = 513  # points of the path of a tip that a law leads


class TipTarget(NamedTuple):
    """A tip comes to rest at a point or a pose, base frame."""

    body: str
    point: Vector  # (3,) [m]
    rotation: Matrix | None  # (3, 3) of the tip's axes; None: whatever comes
    time: float  # [s] on the way, at least
    speed: float  # [m/s] at most


class TipTwist(NamedTuple):
    """A tip moves on by a twist, and comes to rest if none follows in time."""

    body: str
    linear: Vector  # (3,) [m/s], base frame
    angular: Vector  # (3,) [rad/s], base frame
    patience: float  # [s] after which the twist counts as zero


class LedReference(NamedTuple):
    """A reference of outputs, and the path of the tip that it leads."""

    outputs: Reference
    body: str
    path: Reference  # of three coordinates [m], base frame


TipOrder: TypeAlias = TipTarget | TipTwist
"""Orders that come by messages."""


def with_tip_path(
    model: CompiledModel, reference: Reference | None, wanted: Trajectory, body: str
) -> Reference | LedReference | None:
    """Return the reference of outputs, with the path of the tip of a ``body`` that it leads."""
    targets = wanted.targets() if body and reference is not None else None
    if targets is None or reference is None:
        return reference
    own = body_index(model, body)
    led = [i for i, name in enumerate(targets.bodies) if body_index(model, name) == own]
    if not led:
        return reference
    times = np.linspace(0.0, targets.duration, PATH_SAMPLES)
    points = targets.points(times)[:, led[0]].copy()
    periodic = reference.period > 0.0
    if periodic:
        points[-1] = points[0]
    return LedReference(reference, body, spline(times, points, periodic=periodic))
