# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Poses of obstacles with a given motion at a time, and the velocity of their surfaces."""

import math
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.jit import inlined, kernel

CENTRE, RATE, AMPLITUDE, FREQUENCY, PHASE, FIRST, LAST = 0, 3, 9, 15, 16, 17, 18
"""Where in a row of ``formulas``; the last two are rows of ``knots``."""


class MovingNodes(NamedTuple):
    """Nodes of obstacles that move, M of them, and their K motions."""

    time: Vector  # (1,) [s]
    formulas: Matrix  # (K, 19) of each motion
    knots: Matrix  # (Q, 13) time, displacement and rotation vector, and their rates
    nodes: Integers  # (M,) rows of the frames of all nodes
    motions: Integers  # (M,) of each of them
    rest: Matrix  # (M, 16) frames where the shapes have them
    motion_of: Integers  # (N,) of every node; -1: it stands still, or is of a body
    frames: Matrix  # (K, 12) filled: rotation, row by row, and displacement of the origin
    twists: Matrix  # (K, 9) filled: angular velocity, velocity of the centre, where that is


def no_motion(count: int) -> MovingNodes:
    """Return :class:`MovingNodes` of so many nodes none of which is given a motion."""
    none = np.zeros(0, dtype=np.int64)
    return MovingNodes(
        time=np.zeros(1),
        formulas=np.zeros((0, 19)),
        knots=np.zeros((0, 13)),
        nodes=none,
        motions=none,
        rest=np.zeros((0, 16)),
        motion_of=np.full(count, -1, dtype=np.int64),
        frames=np.zeros((0, 12)),
        twists=np.zeros((0, 9)),
    )


@kernel
def move_obstacles(moving, frames):
    """Fill the frames (N, 16) of nodes that are given a motion, at the present time."""
    for k in range(len(moving.formulas)):
        _interpolate_motion(moving, k)
    for i in range(len(moving.nodes)):
        R, rest = moving.frames[moving.motions[i]], moving.rest[i]
        T = frames[moving.nodes[i]]
        for a in range(3):
            for b in range(4):
                T[4 * a + b] = (
                    R[3 * a] * rest[b] + R[3 * a + 1] * rest[4 + b] + R[3 * a + 2] * rest[8 + b]
                )
            T[4 * a + 3] += R[9 + a]


@kernel
def _interpolate_motion(moving, k):
    """Fill frame and twist of a motion."""
    row, t = moving.formulas[k], moving.time[0]
    angle = row[FREQUENCY] * t + row[PHASE]
    swing, rate = math.sin(angle) - math.sin(row[PHASE]), row[FREQUENCY] * math.cos(angle)
    R, twist = moving.frames[k], moving.twists[k]
    for j in range(3):  # displacement and its rate
        R[9 + j] = row[RATE + j] * t + row[AMPLITUDE + j] * swing
        twist[3 + j] = row[RATE + j] + row[AMPLITUDE + j] * rate
        # rotation vector and its rate, in place of what is filled later
        R[j] = row[RATE + 3 + j] * t + row[AMPLITUDE + 3 + j] * swing
        twist[j] = row[RATE + 3 + j] + row[AMPLITUDE + 3 + j] * rate
    first, last = int(row[FIRST]), int(row[LAST])
    if last > first:
        _interpolate(moving.knots, first, last, t, R, twist)
    _rotate(R, twist)
    for j in range(3):  # about the centre
        c = row[CENTRE + j]
        twist[6 + j] = c + R[9 + j]
        R[9 + j] += c - R[3 * j] * row[0] - R[3 * j + 1] * row[1] - R[3 * j + 2] * row[2]


@inlined
def _interpolate(knots, first, last, t, R, twist):
    """Add the pose at a time [s], cubic (Hermite) between the knots."""
    i = first
    while i < last - 2 and knots[i + 1, 0] < t:
        i += 1
    a, b = knots[i], knots[i + 1]
    h = b[0] - a[0]
    s = min(1.0, max(0.0, (t - a[0]) / h))
    moves = 1.0 if a[0] <= t <= b[0] else 0.0
    for j in range(6):
        p, q, v, w = a[1 + j], b[1 + j], h * a[7 + j], h * b[7 + j]
        c, d = 3.0 * (q - p) - 2.0 * v - w, 2.0 * (p - q) + v + w
        k = 9 + j if j < 3 else j - 3
        R[k] += p + s * (v + s * (c + s * d))
        twist[(j + 3) % 6] += moves * (v + s * (2.0 * c + 3.0 * s * d)) / h


@inlined
def _rotate(R, twist):
    """Replace a rotation vector in R[:3] by its matrix, and its rate by the angular velocity."""
    x, y, z = R[0], R[1], R[2]
    u, v, w = twist[0], twist[1], twist[2]
    square = x * x + y * y + z * z
    angle = math.sqrt(square)
    if angle > 1e-4:
        a, b = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
        c = (1.0 - a) / square
    else:
        a, b, c = 1.0 - square / 6.0, 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    R[0], R[1], R[2] = 1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y
    R[3], R[4], R[5] = b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x
    R[6], R[7], R[8] = b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y)
    # left Jacobian of the rotation vector: 1 + b [r] + c [r]^2
    along = x * u + y * v + z * w
    twist[0] = u + b * (y * w - z * v) + c * (x * along - square * u)
    twist[1] = v + b * (z * u - x * w) + c * (y * along - square * v)
    twist[2] = w + b * (x * v - y * u) + c * (z * along - square * w)


@inlined
def surface_velocity(moving, node, p):
    """Velocity [m/s] (3 numbers) at a place p (3,) of what a node that is given a motion is of."""
    t = moving.twists[moving.motion_of[node]]
    r0, r1, r2 = p[0] - t[6], p[1] - t[7], p[2] - t[8]
    return (
        t[3] + t[1] * r2 - t[2] * r1,
        t[4] + t[2] * r0 - t[0] * r2,
        t[5] + t[0] * r1 - t[1] * r0,
    )
