# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Distances of primitives: segments with a radius, boxes, planes and tubes, in closed form.

Each function returns the gap [m] between two surfaces, < 0 where they overlap, the normal (3
numbers) from the second to the first, and where on its segment the nearest point is (0 to 1) for
each that is one. Ericson, Real-Time Collision Detection, 2005, Sec. 5.1.
"""

import math

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.recursion.constants import TINY
from softrobot_dynamics.recursion.golden_section import nearest_place

NO_CONTACT = 1e300  # [m] gap where two primitives cannot touch


@kernel
def point_plane(x, r, T):
    """Gap and normal between a sphere of radius r [m] at x (3,) and the plane z = 0 of T (16,)."""
    n0, n1, n2 = T[2], T[6], T[10]
    gap = n0 * (x[0] - T[3]) + n1 * (x[1] - T[7]) + n2 * (x[2] - T[11]) - r
    return gap, n0, n1, n2


@kernel
def point_tube(x, r, T, radius, half):
    """Gap and normal between a sphere and the inside of a tube along z of T (16,)."""
    d0, d1, d2 = x[0] - T[3], x[1] - T[7], x[2] - T[11]
    z = d0 * T[2] + d1 * T[6] + d2 * T[10]
    if abs(z) > half:
        return NO_CONTACT, T[0], T[4], T[8]
    d0, d1, d2 = d0 - z * T[2], d1 - z * T[6], d2 - z * T[10]
    off = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    if off < TINY:
        return radius - r, T[0], T[4], T[8]
    return radius - r - off, -d0 / off, -d1 / off, -d2 / off


@kernel
def segment_segment(a, b, ra, c, d, rc):
    """Gap, normal and places between the capsules a to b and c to d, (3,) each, radii [m]."""
    u0, u1, u2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    v0, v1, v2 = d[0] - c[0], d[1] - c[1], d[2] - c[2]
    w0, w1, w2 = a[0] - c[0], a[1] - c[1], a[2] - c[2]
    uu, vv = u0 * u0 + u1 * u1 + u2 * u2, v0 * v0 + v1 * v1 + v2 * v2
    uv = u0 * v0 + u1 * v1 + u2 * v2
    uw, vw = u0 * w0 + u1 * w1 + u2 * w2, v0 * w0 + v1 * w1 + v2 * w2
    s, across = 0.0, uu * vv - uv * uv
    if across > 1e-14 * uu * vv:
        s = min(1.0, max(0.0, (uv * vw - uw * vv) / across))
    elif uu > 0.0:  # parallel: the middle of what is side by side
        low, high = -uw / uu, (uv - uw) / uu
        low, high = max(0.0, min(low, high)), min(1.0, max(low, high))
        s = min(1.0, max(0.0, 0.5 * (low + high)))
    t = min(1.0, max(0.0, (uv * s + vw) / vv)) if vv > 0.0 else 0.0
    if uu > 0.0:
        s = min(1.0, max(0.0, (uv * t - uw) / uu))
    n0, n1, n2 = w0 + s * u0 - t * v0, w1 + s * u1 - t * v1, w2 + s * u2 - t * v2
    distance = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    if distance < TINY:
        n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
        length = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if length < TINY:
            return -ra - rc, 0.0, 0.0, 1.0, s, t
        return -ra - rc, n0 / length, n1 / length, n2 / length, s, t
    return distance - ra - rc, n0 / distance, n1 / distance, n2 / distance, s, t


@kernel
def segment_box(a, b, r, T, half):
    """
    Gap, normal and place between a capsule a to b (3,) and a box with the axes and origin of T.

    ``half`` (3,) are half its edges [m]. The distance from a box is convex along the segment.
    """
    a0, a1, a2 = point_in_frame(T, a)
    b0, b1, b2 = point_in_frame(T, b)
    u0, u1, u2 = b0 - a0, b1 - a1, b2 - a2
    s = nearest_place((a0, a1, a2), (u0, u1, u2), box_distance, (half,))
    x, y, z = a0 + s * u0, a1 + s * u1, a2 + s * u2
    gap, n0, n1, n2 = _box_normal(x, y, z, half)
    return (
        gap - r,
        T[0] * n0 + T[1] * n1 + T[2] * n2,
        T[4] * n0 + T[5] * n1 + T[6] * n2,
        T[8] * n0 + T[9] * n1 + T[10] * n2,
        s,
    )


@kernel
def box_distance(x, y, z, half):
    """Signed distance [m] of a point from a box about the origin, < 0 inside."""
    d0, d1, d2 = abs(x) - half[0], abs(y) - half[1], abs(z) - half[2]
    inside = min(0.0, max(d0, d1, d2))
    d0, d1, d2 = max(d0, 0.0), max(d1, 0.0), max(d2, 0.0)
    return math.sqrt(d0 * d0 + d1 * d1 + d2 * d2) + inside


@kernel
def _box_normal(x, y, z, half):
    """Signed distance of a point from a box, and its gradient."""
    d0, d1, d2 = abs(x) - half[0], abs(y) - half[1], abs(z) - half[2]
    s0, s1, s2 = math.copysign(1.0, x), math.copysign(1.0, y), math.copysign(1.0, z)
    if max(d0, d1, d2) <= 0.0:
        if d0 >= d1 and d0 >= d2:
            return d0, s0, 0.0, 0.0
        if d1 >= d2:
            return d1, 0.0, s1, 0.0
        return d2, 0.0, 0.0, s2
    d0, d1, d2 = max(d0, 0.0), max(d1, 0.0), max(d2, 0.0)
    d = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    return d, s0 * d0 / d, s1 * d1 / d, s2 * d2 / d


@kernel
def point_in_frame(T, x):
    """Coordinates of a place x (3,) in the frame T (16,)."""
    d0, d1, d2 = x[0] - T[3], x[1] - T[7], x[2] - T[11]
    return (
        T[0] * d0 + T[4] * d1 + T[8] * d2,
        T[1] * d0 + T[5] * d1 + T[9] * d2,
        T[2] * d0 + T[6] * d1 + T[10] * d2,
    )
