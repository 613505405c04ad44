# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Compiled rotations by vectors along their axes, as long as their angles."""

import math

from softrobot_dynamics.compiling.jit import kernel

SMALL_ANGLE = 1e-6  # [rad] below which the first terms of the series are exact


@kernel
def turn_matrix(r, start, out):
    """Fill out (9,), row by row, with a rotation ``start`` (9,) after a turn r (3,) [rad]."""
    angle = math.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    a = math.sin(angle) / angle if angle > SMALL_ANGLE else 1.0
    b = (1.0 - math.cos(angle)) / (angle * angle) if angle > SMALL_ANGLE else 0.5
    for j in range(3):
        x, y, z = start[j], start[3 + j], start[6 + j]
        u, v, w = r[1] * z - r[2] * y, r[2] * x - r[0] * z, r[0] * y - r[1] * x
        out[j] = x + a * u + b * (r[1] * w - r[2] * v)
        out[3 + j] = y + a * v + b * (r[2] * u - r[0] * w)
        out[6 + j] = z + a * w + b * (r[0] * v - r[1] * u)


@kernel
def turn_rate(r, rate, out):
    """Fill out (3,) with the angular velocity, base frame, of a turn r (3,) at its rate (3,)."""
    angle = math.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    b = (1.0 - math.cos(angle)) / (angle * angle) if angle > SMALL_ANGLE else 0.5
    c = (angle - math.sin(angle)) / angle**3 if angle > 1e-4 else 1.0 / 6.0
    u = r[1] * rate[2] - r[2] * rate[1]
    v = r[2] * rate[0] - r[0] * rate[2]
    w = r[0] * rate[1] - r[1] * rate[0]
    out[0] = rate[0] + b * u + c * (r[1] * w - r[2] * v)
    out[1] = rate[1] + b * v + c * (r[2] * u - r[0] * w)
    out[2] = rate[2] + b * w + c * (r[0] * v - r[1] * u)


@kernel
def rotation_error(desired, R, out):
    """Fill out (3,) with the turn [rad], base frame, that leads R to ``desired``, (9,) each."""
    x = y = z = trace = 0.0
    for j in range(3):
        x += desired[6 + j] * R[3 + j] - desired[3 + j] * R[6 + j]
        y += desired[j] * R[6 + j] - desired[6 + j] * R[j]
        z += desired[3 + j] * R[j] - desired[j] * R[3 + j]
        trace += desired[j] * R[j] + desired[3 + j] * R[3 + j] + desired[6 + j] * R[6 + j]
    size = math.sqrt(x * x + y * y + z * z)
    share = math.atan2(size, trace - 1.0) / size if size > SMALL_ANGLE else 0.5
    out[0], out[1], out[2] = share * x, share * y, share * z
