# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Distances of segments with a radius from cylinders with flat ends and from convex hulls.

As in :mod:`.narrow_phase`, each function returns the gap [m] between two surfaces, < 0 where they
overlap, the normal (3 numbers) from the second to the first, and the place of the nearest point
on the segment (0 to 1). Of a segment whose axis is within a solid the gap is that of the place
that is least deep below the nearest face. Ericson, Real-Time Collision Detection, 2005, Sec. 5.1.

A hull is F triangles, rows of ``faces`` from ``first`` to ``last``, each a plane n . x = d and
three corners, right-handed about n: :data:`FACE_SIZE` numbers n (3), d, and the corners (9).
"""

import math

from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.recursion.constants import TINY
from softrobot_dynamics.recursion.golden_section import nearest_place
from softrobot_dynamics.recursion.narrow_phase import NO_CONTACT, point_in_frame, segment_segment

FACE_SIZE = 13  # numbers of a face
_MAX_CUTS = 64  # of an interval by straight lines; far more than are needed
# relative, of distances: of places that are as near the one nearer to the end counts
_TIE_TOLERANCE = 1e-9


@kernel
def segment_cylinder(a, b, r, T, radius, half):
    """
    Gap, normal and place between a capsule a to b (3,) and a cylinder about the z axis of T (16,).

    ``half`` is half its length [m]. The distance from a cylinder is convex along the segment.
    """
    a0, a1, a2 = point_in_frame(T, a)
    b0, b1, b2 = point_in_frame(T, b)
    u0, u1, u2 = b0 - a0, b1 - a1, b2 - a2
    s = nearest_place((a0, a1, a2), (u0, u1, u2), cylinder_distance, (radius, half))
    x, y, z = a0 + s * u0, a1 + s * u1, a2 + s * u2
    gap, n0, n1, n2 = _cylinder_normal(x, y, z, radius, half)
    n0, n1, n2 = _turned(T, n0, n1, n2)
    return gap - r, n0, n1, n2, s


@kernel
def cylinder_distance(x, y, z, radius, half):
    """Signed distance [m] of a point from a cylinder about z, < 0 inside."""
    d, e = math.sqrt(x * x + y * y) - radius, abs(z) - half
    inside = min(0.0, max(d, e))
    d, e = max(d, 0.0), max(e, 0.0)
    return math.sqrt(d * d + e * e) + inside


@inlined
def _cylinder_normal(x, y, z, radius, half):
    """Signed distance of a point from a cylinder, and its gradient."""
    off, up = math.sqrt(x * x + y * y), math.copysign(1.0, z)
    d, e = off - radius, abs(z) - half
    c0, c1 = (x / off, y / off) if off > TINY else (1.0, 0.0)
    if max(d, e) <= 0.0:
        if d >= e:
            return d, c0, c1, 0.0
        return e, 0.0, 0.0, up
    d, e = max(d, 0.0), max(e, 0.0)
    whole = math.sqrt(d * d + e * e)
    return whole, c0 * d / whole, c1 * d / whole, up * e / whole


@kernel
def segment_hull(a, b, r, T, faces, first, last, ends):
    """
    Gap, normal and place between a capsule a to b (3,) and a convex hull in the frame T (16,).

    ``ends`` (6,) is scratch.
    """
    a0, a1, a2 = point_in_frame(T, a)
    b0, b1, b2 = point_in_frame(T, b)
    ends[0], ends[1], ends[2], ends[3], ends[4], ends[5] = a0, a1, a2, b0, b1, b2
    gap, face, s = _least_plane(ends, faces, first, last)
    n0, n1, n2 = faces[face, 0], faces[face, 1], faces[face, 2]
    if gap > 0.0:
        gap, n0, n1, n2, s = _nearest(ends, faces, first, last)
    n0, n1, n2 = _turned(T, n0, n1, n2)
    return gap - r, n0, n1, n2, s


@kernel
def _least_plane(ends, faces, first, last):
    """
    Where on a segment (6,) the highest of all planes of a hull is least: value, face, place.

    Their maximum is convex and straight in pieces: two pieces, one that falls and one that rises,
    are cut until nothing is higher where they meet.
    """
    low, high = 0.0, 1.0
    of_low, falls, at_low = _highest_plane(ends, 0.0, faces, first, last)
    if falls >= 0.0:
        return of_low, at_low, 0.0
    of_high, rises, at_high = _highest_plane(ends, 1.0, faces, first, last)
    if rises <= 0.0:
        return of_high, at_high, 1.0
    for _ in range(_MAX_CUTS):
        s = (of_high - of_low + falls * low - rises * high) / (falls - rises)
        s = min(high, max(low, s))
        value, slope, face = _highest_plane(ends, s, faces, first, last)
        if value <= of_low + falls * (s - low) + 1e-14 * abs(of_low) or s == low or s == high:
            return value, face, s
        if slope < 0.0:
            low, of_low, falls = s, value, slope
        else:
            high, of_high, rises = s, value, slope
    return value, face, s


@inlined
def _highest_plane(ends, s, faces, first, last):
    """Greatest height [m] above all planes at a place of a segment, its slope, and the face."""
    u0, u1, u2 = ends[3] - ends[0], ends[4] - ends[1], ends[5] - ends[2]
    x, y, z = ends[0] + s * u0, ends[1] + s * u1, ends[2] + s * u2
    top, best = -NO_CONTACT, first
    for f in range(first, last):
        F = faces[f]
        height = F[0] * x + F[1] * y + F[2] * z - F[3]
        if height > top:
            top, best = height, f
    F = faces[best]
    return top, F[0] * u0 + F[1] * u1 + F[2] * u2, best


@kernel
def _nearest(ends, faces, first, last):
    """Distance, normal and place of a segment (6,) outside of a hull, over all its triangles."""
    a, b = ends[:3], ends[3:6]
    point = a[0] == b[0] and a[1] == b[1] and a[2] == b[2]
    least, n0, n1, n2, place = NO_CONTACT, 0.0, 0.0, 1.0, 0.0
    for f in range(first, last):
        F = faces[f]
        at_a = F[0] * a[0] + F[1] * a[1] + F[2] * a[2] - F[3]
        at_b = F[0] * b[0] + F[1] * b[1] + F[2] * b[2] - F[3]
        if max(at_a, at_b) <= 0.0 or min(at_a, at_b) >= least:
            continue
        if 0.0 < at_a < least and _above(a, F):
            least, n0, n1, n2, place = at_a, F[0], F[1], F[2], 0.0
        if 0.0 < at_b < least and not point and _above(b, F):
            least, n0, n1, n2, place = at_b, F[0], F[1], F[2], 1.0
        for k in range(3):
            start, end = 4 + 3 * k, 4 + 3 * ((k + 1) % 3)
            d, m0, m1, m2, s, _ = segment_segment(
                a, b, 0.0, F[start : start + 3], F[end : end + 3], 0.0
            )
            if d < least * (1.0 - _TIE_TOLERANCE) or (
                d < least * (1.0 + _TIE_TOLERANCE) and s > place
            ):
                least, n0, n1, n2, place = d, m0, m1, m2, s
    return least, n0, n1, n2, place


@inlined
def _above(x, F):
    """Tell whether a point x (3,) is above the inside of a face, along its normal."""
    for k in range(3):
        start, end = 4 + 3 * k, 4 + 3 * ((k + 1) % 3)
        e0, e1, e2 = F[end] - F[start], F[end + 1] - F[start + 1], F[end + 2] - F[start + 2]
        d0, d1, d2 = x[0] - F[start], x[1] - F[start + 1], x[2] - F[start + 2]
        c0, c1, c2 = e1 * d2 - e2 * d1, e2 * d0 - e0 * d2, e0 * d1 - e1 * d0
        if c0 * F[0] + c1 * F[1] + c2 * F[2] < 0.0:
            return False
    return True


@kernel
def facing_box(x, c, T, half):
    """Gap and normal of a point x (3,) to the face of a box that is most towards c (3,)."""
    x0, x1, x2 = point_in_frame(T, x)
    c0, c1, c2 = point_in_frame(T, c)
    d0, d1, d2 = abs(c0) - half[0], abs(c1) - half[1], abs(c2) - half[2]
    if d0 >= d1 and d0 >= d2:
        k, gap, sign = 0, -half[0], math.copysign(1.0, c0)
        gap += sign * x0
    elif d1 >= d2:
        k, gap, sign = 1, -half[1], math.copysign(1.0, c1)
        gap += sign * x1
    else:
        k, gap, sign = 2, -half[2], math.copysign(1.0, c2)
        gap += sign * x2
    return gap, sign * T[k], sign * T[4 + k], sign * T[8 + k]


@kernel
def facing_cylinder(x, c, T, radius, half):
    """Gap and normal of a point x (3,) to side or end of a cylinder, what is towards c (3,)."""
    x0, x1, x2 = point_in_frame(T, x)
    c0, c1, c2 = point_in_frame(T, c)
    n0, n1, n2 = 0.0, 0.0, math.copysign(1.0, c2)
    gap = n2 * x2 - half
    if math.sqrt(c0 * c0 + c1 * c1) - radius > abs(c2) - half:
        off = max(math.sqrt(x0 * x0 + x1 * x1), TINY)
        gap, n0, n1, n2 = off - radius, x0 / off, x1 / off, 0.0
    n0, n1, n2 = _turned(T, n0, n1, n2)
    return gap, n0, n1, n2


@kernel
def facing_hull(x, c, T, faces, first, last):
    """Gap and normal of a point x (3,) to the face of a hull that c (3,) is most above."""
    x0, x1, x2 = point_in_frame(T, x)
    c0, c1, c2 = point_in_frame(T, c)
    top, best = -NO_CONTACT, first
    for f in range(first, last):
        F = faces[f]
        height = F[0] * c0 + F[1] * c1 + F[2] * c2 - F[3]
        if height > top:
            top, best = height, f
    F = faces[best]
    n0, n1, n2 = _turned(T, F[0], F[1], F[2])
    return F[0] * x0 + F[1] * x1 + F[2] * x2 - F[3], n0, n1, n2


@kernel
def rim_point(T, axis, n, radius, phase, at, x):
    """
    Fill x (3,) with a place on a circle of ``radius`` [m] about ``at`` (3,), across an ``axis``.

    Phase 1 is the place that is farthest against the normal n (3,), 2 and 3 those a third of a
    turn from it. Where n is along the axis it is that along the x axis of the frame T (16,).
    """
    u0, u1, u2 = axis[0], axis[1], axis[2]
    along = n[0] * u0 + n[1] * u1 + n[2] * u2
    d0, d1, d2 = along * u0 - n[0], along * u1 - n[1], along * u2 - n[2]
    size = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    if size < 1e-9:
        d0, d1, d2 = T[0], T[4], T[8]
    else:
        d0, d1, d2 = d0 / size, d1 / size, d2 / size
    c, s = 1.0, 0.0
    if phase > 1:
        c, s = -0.5, (0.8660254037844386 if phase == 2 else -0.8660254037844386)
    x[0] = at[0] + radius * (c * d0 + s * (u1 * d2 - u2 * d1))
    x[1] = at[1] + radius * (c * d1 + s * (u2 * d0 - u0 * d2))
    x[2] = at[2] + radius * (c * d2 + s * (u0 * d1 - u1 * d0))


@inlined
def _turned(T, x, y, z):
    """Turn a direction by the frame T (16,)."""
    return (
        T[0] * x + T[1] * y + T[2] * z,
        T[4] * x + T[5] * y + T[6] * z,
        T[8] * x + T[9] * y + T[10] * z,
    )
