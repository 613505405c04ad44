# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Stops of joints in an evaluation: where they are met, and coordinates that rest at one.

A coordinate that rests gets so much inertia that it does not move: all others then move as if it
were fixed, in whatever integrator.
"""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import kernel


class Stops(NamedTuple):
    """Position limits of coordinates, and which of them are met in a step."""

    lower: Vector  # (n,) -inf where there is none
    upper: Vector  # (n,) inf where there is none
    stop_inertia: Vector  # (n,) inertia added to what rests at a stop, 0 elsewhere
    stop_met: Vector  # (1,) set to 1 by an evaluation at a stop or beyond


def allocate_stops(lower: Vector, upper: Vector) -> Stops:
    """Return :class:`Stops` of position limits (n,), nothing held, nothing met."""
    return Stops(lower, upper, np.zeros(len(lower)), np.zeros(1))


@kernel
def watch_stops(evaluate, stops, M, q, qd):
    """Evaluate at (q, qd); note whether a stop is met, and add inertia to held coordinates."""
    run(evaluate, q, qd)
    for i in range(len(stops.lower)):
        if q[i] <= stops.lower[i] or q[i] >= stops.upper[i]:
            stops.stop_met[0] = 1.0
        if stops.stop_inertia[i] != 0.0:
            M[i, i] += stops.stop_inertia[i]


@kernel
def save_state(stops, clock, saved, q, qd):
    """Fill ``saved`` (2 n + .,) with q, qd (n,) and the arrays of one number of a ``clock``."""
    n = len(stops.lower)
    for i in range(n):
        saved[i], saved[n + i] = q[i], qd[i]
    for k in range(len(clock)):
        saved[2 * n + k] = clock[k][0]
    stops.stop_met[0] = 0.0


@kernel
def met(stops, q):
    """Tell whether a stop was met since :func:`save_state`, or is now at q (n,)."""
    return stops.stop_met[0] != 0.0 or reached(stops, q)


@kernel
def reached(stops, q):
    """Tell whether a coordinate of q (n,) is at a stop or beyond."""
    for i in range(len(stops.lower)):
        if q[i] <= stops.lower[i] or q[i] >= stops.upper[i]:
            return True
    return False
