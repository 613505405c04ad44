# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The arrays that compiled laws fill: results and scratch."""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.controllers.allocation import allocate_room, Room


class Buffers(NamedTuple):
    """Results and scratch of a law; c controlled actuators."""

    u: Vector  # (m,)
    y: Vector  # (m,) relative to q = 0
    velocity: Vector  # (m,)
    unmet: Vector  # (m,)
    desired: Matrix  # (3, c)
    blend: Matrix  # (3, c)
    X: Matrix  # (c, n) J G
    drift: Vector  # (n,) R K v
    force: Vector  # (n,)
    S: Matrix  # (c, c) J G J'
    r: Vector  # (c,)
    w: Vector  # (c,) force along y: sign * u
    favoured: Vector  # (c,) of w
    bounds: Matrix  # (2, c)
    disturbance: Vector  # (c,) acceleration of y that the model does not know
    expected: Vector  # (c,) what the last command was to bring y'
    before: Vector  # (c,) y' when it was decided on
    asked: Vector  # (1,) time of that [s], NaN: there is none
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
        force=np.zeros(n),
        S=np.zeros((c, c)),
        r=np.zeros(c),
        w=np.zeros(c),
        favoured=np.zeros(c),
        bounds=np.zeros((2, c)),
        disturbance=np.zeros(c),
        expected=np.zeros(c),
        before=np.zeros(c),
        asked=np.full(1, np.nan),
        room=allocate_room(c),
    )
