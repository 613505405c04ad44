# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What a law that leads a tip itself is told: a point, a pose, a twist, or a path of the tip."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.references.piecewise import Reference


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
"""What comes by messages."""
