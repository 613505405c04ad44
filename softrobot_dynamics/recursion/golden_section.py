# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The place on a segment that is nearest to a convex solid, by golden section."""

from softrobot_dynamics.compiling.jit import inlined, kernel

_RATIO = 0.6180339887498949  # (sqrt(5) - 1) / 2
_STEPS = 40  # of an interval, to 4e-9 of its length


@kernel
def nearest_place(a, u, distance, shape):
    """
    Place s (0 to 1) on the segment a + s u, tuples of three, where a distance is least.

    ``distance(x, y, z, *shape)`` [m] is convex. Where an end is as near it counts; 0 where u is
    zero or not a number.
    """
    if not u[0] * u[0] + u[1] * u[1] + u[2] * u[2] > 0.0:
        return 0.0
    low, high = 0.0, 1.0
    p, q = high - _RATIO, _RATIO
    f, g = _distance_at(p, a, u, distance, shape), _distance_at(q, a, u, distance, shape)
    for _ in range(_STEPS):
        if f < g:
            high, q, g = q, p, f
            p = high - _RATIO * (high - low)
            f = _distance_at(p, a, u, distance, shape)
        else:
            low, p, f = p, q, g
            q = low + _RATIO * (high - low)
            g = _distance_at(q, a, u, distance, shape)
    s = 0.5 * (low + high)
    least = _distance_at(s, a, u, distance, shape)
    if _distance_at(0.0, a, u, distance, shape) <= least:
        return 0.0
    return 1.0 if _distance_at(1.0, a, u, distance, shape) <= least else s


@inlined
def _distance_at(s, a, u, distance, shape):
    """Distance at a place of the segment."""
    return distance(a[0] + s * u[0], a[1] + s * u[1], a[2] + s * u[2], *shape)
