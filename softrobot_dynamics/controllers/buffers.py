# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The arrays that compiled laws fill: results and scratch."""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.controllers.allocation import allocate_workspace, AllocationWorkspace


class Buffers(NamedTuple):
    """Results and scratch of a law; c controlled actuators."""

    u: Vector  # (m,)
    y: Vector  # (m,) relative to q = 0
    velocity: Vector  # (m,)
    unmet: Vector  # (m,)
    desired: Matrix  # (3, c)
    blend: Matrix  # (3, c)
    acceleration: Vector  # (c,) of y that is asked for
    X: Matrix  # (c, n) J G
    drift: Vector  # (n,) R K v
    force: Vector  # (n,)
    H: Matrix  # (c, c) J G J'
    r: Vector  # (c,)
    w: Vector  # (c,) force along y: sign * u
    favoured: Vector  # (c,) of w
    bounds: Matrix  # (2, c)
    memory: Matrix  # (., c) what a law keeps from one tick to the next
    last_answer_time: Vector  # (1,) time of the last answer [s], NaN: there is none
    allocation: AllocationWorkspace


def allocate_buffers(n: int, m: int, c: int, remembered: int = 0) -> Buffers:
    """
    Return :class:`Buffers` for n coordinates and m actuators, c of them controlled.

    ``remembered`` is the number of rows of memory.
    """
    return Buffers(
        u=np.zeros(m),
        y=np.zeros(m),
        velocity=np.zeros(m),
        unmet=np.zeros(m),
        desired=np.zeros((3, c)),
        blend=np.zeros((3, c)),
        acceleration=np.zeros(c),
        X=np.zeros((c, n)),
        drift=np.zeros(n),
        force=np.zeros(n),
        H=np.zeros((c, c)),
        r=np.zeros(c),
        w=np.zeros(c),
        favoured=np.zeros(c),
        bounds=np.zeros((2, c)),
        memory=np.zeros((remembered, c)),
        last_answer_time=np.full(1, np.nan),
        allocation=allocate_workspace(c),
    )
