# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What the compiled law of partial feedback linearization is told, and the arrays it fills."""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.controllers.allocation import allocate_room, Room


class Told(NamedTuple):
    """What the compiled law reads of the :class:`pfbl.Gains`, (m,) each."""

    p: Array
    d: Array
    lower: Array
    upper: Array
    rate: Array
    feed_forward: Array


class Buffers(NamedTuple):
    """Results and scratch of the law; c controlled actuators."""

    u: Vector  # (m,)
    y: Vector  # (m,) relative to q = 0
    velocity: Vector  # (m,)
    unmet: Vector  # (m,)
    desired: Matrix  # (3, c)
    blend: Matrix  # (3, c)
    X: Matrix  # (c, n) J G
    drift: Vector  # (n,) R K v
    S: Matrix  # (c, c) J G J'
    r: Vector  # (c,)
    w: Vector  # (c,) force along y: sign * u
    favoured: Vector  # (c,) of w
    bounds: Matrix  # (2, c)
    room: Room


def allocate_buffers(n: int, m: int, c: int) -> Buffers:
    """Return :class:`Buffers` for n coordinates and m actuators, c of them controlled."""
    return Buffers(
        u=np.zeros(m),
        y=np.zeros(m),
        velocity=np.zeros(m),
        unmet=np.zeros(m),
        desired=np.zeros((3, c)),
        blend=np.zeros((3, c)),
        X=np.zeros((c, n)),
        drift=np.zeros(n),
        S=np.zeros((c, c)),
        r=np.zeros(c),
        w=np.zeros(c),
        favoured=np.zeros(c),
        bounds=np.zeros((2, c)),
        room=allocate_room(c),
    )
