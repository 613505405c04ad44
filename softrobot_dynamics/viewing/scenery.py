# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A moment that a view shows."""

from typing import NamedTuple

from softrobot_dynamics.annotations import Vector


class Scenery(NamedTuple):
    """A robot in a posture, and the moment by which obstacles are where they are."""

    q: Vector  # (n,)
    u: Vector | None = None  # (m,) commands, None: not known
    time: float = 0.0  # [s] by which obstacles move
