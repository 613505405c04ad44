# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What the compiled law of partial feedback linearization is told, and the arrays it fills."""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.controllers.allocation import allocate_room, Room


class Told(NamedTuple):
    """What the compiled law reads of the :class:`pfbl.Gains`, (m,) each."""

    p: np.ndarray
    d: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    rate: np.ndarray
    feed_forward: np.ndarray


class Buffers(NamedTuple):
    """Results and scratch of the law; c controlled actuators."""

    u: np.ndarray  # (m,)
    y: np.ndarray  # (m,) relative to q = 0
    velocity: np.ndarray  # (m,)
    unmet: np.ndarray  # (m,)
    desired: np.ndarray  # (3, c)
    blend: np.ndarray  # (3, c)
    X: np.ndarray  # (c, n) J G
    drift: np.ndarray  # (n,) R K v
    S: np.ndarray  # (c, c) J G J'
    r: np.ndarray  # (c,)
    w: np.ndarray  # (c,) force along y: sign * u
    favoured: np.ndarray  # (c,) of w
    bounds: np.ndarray  # (2, c)
    room: Room


def allocate_buffers(n, m, c):
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
