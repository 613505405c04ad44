# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Gap, normal and place of a pair of elements, whatever their kinds.

A corner of a solid, or a place on its rim, that is in another solid leaves it by the face that is
towards the centre of the first, unless it is too deep below that; else two solids whose edges are
flush would push each other aside.
"""

import math

from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.recursion.narrow_phase import (
    NO_CONTACT,
    point_in_frame,
    point_plane,
    point_tube,
    segment_box,
    segment_segment,
)
from softrobot_dynamics.recursion.solid_distances import (
    facing_box,
    facing_cylinder,
    facing_hull,
    rim_point,
    segment_cylinder,
    segment_hull,
)

(
    POINT_PLANE,
    POINT_TUBE,
    SEGMENT_SEGMENT,
    SEGMENT_BOX,
    SEGMENT_CYLINDER,
    SEGMENT_HULL,
    SOLID_SOLID,
) = range(7)
KIND, A, A_END, B, B_END, CENTRE, PHASE = range(7)
"""
Where in a row of ``pairs``. Without a phase the first element is a segment with a radius; with
one > 0, a place on the circle about the place of a segment, see :func:`rim_point`. The centre is
the node in the middle of the solid that a corner or a rim is of, or that of the place itself.
"""
RADIUS_A, RADIUS_B, HALF, STIFFNESS, DAMPING, RESTITUTION, FRICTION, EXTENT = (
    0,
    1,
    2,
    5,
    6,
    7,
    8,
    9,
)
ROW, GROUP = HALF, HALF + 1  # of a pair of solids: which of its rows, and which pair
"""
Where in a row of ``numbers``. Three are half the edges of a box, the last of them half the length
of a tube or a cylinder; of a hull, its first face and that behind its last. The extent [m] is how
far the second element reaches from its node.
"""

LOW_END, HIGH_END = -1, -2  # phases of a segment that may lie flat on a face: with both ends

_CYLINDER_END_TOLERANCE = 1e-9  # of its radius: an end that is no farther away touches as well
_RIM_SINE = 0.05  # of a cylinder's angle to what it is on, from which it touches with a rim
_FLAT_SINE = 0.1  # of the angle between a segment and a face, below which it lies flat
_NORMAL_TOLERANCE = 1e-6  # 1 - cos of the angle between two normals that are one
_MAX_FACE_DEPTH = 0.5  # of the detection distance: depth below the face towards the centre


@kernel
def measure(contact, i):
    """Fill gap, normal, segment parameters and point of a pair of a ContactWorkspace."""
    pair, x = contact.pairs[i], contact.v
    for k in range(4):
        T = contact.frames[pair[A + k]]
        x[3 * k], x[3 * k + 1], x[3 * k + 2] = T[3], T[7], T[11]
    phase, r = pair[PHASE], contact.numbers[i, RADIUS_A]
    gap, n0, n1, n2, s, t = _distance(contact, i, 0.0 if phase > 0 else r)
    n, parameters = contact.normal[i], contact.segment_parameters[i]
    n[0], n[1], n[2], parameters[0], parameters[1] = n0, n1, n2, s, t
    if phase > 0:
        # all of its rim is as far, or farther
        if gap - r > contact.detection_distance + 2.0 * contact.margin:
            contact.gap[i] = gap - r
            return
        gap = _measure_rim(contact, i, gap, s, phase)
        r = s = 0.0
    elif phase < 0:
        gap, s = _lie(contact, i, gap, s, phase)
        parameters[0] = s
    if gap < 0.0 and pair[CENTRE] != pair[A]:
        gap = _face_centre(contact, i, gap)
    contact.gap[i] = gap
    if gap < contact.detection_distance:
        p, back = contact.point[i], r + 0.5 * gap
        for k in range(3):
            p[k] = (1.0 - s) * x[k] + s * x[3 + k] - back * n[k]


@kernel
def _measure_rim(contact, i, gap, s, phase):
    """
    Move both ends of the first segment of a pair to a place on its rim; return its gap [m].

    The circle is about the nearest place of the segment, s at that gap; about the segment's end
    if that is as near: of a cylinder on a face the two ends touch it.
    """
    pair, x, r, n = contact.pairs[i], contact.v, contact.numbers[i, RADIUS_A], contact.normal[i]
    T, axis, is_side = contact.frames[pair[A]], contact.v[18:21], pair[A] != pair[A_END]
    for k in range(3):
        axis[k], x[k] = x[k], x[3 + k]
    if is_side and _distance(contact, i, 0.0)[0] <= gap + _CYLINDER_END_TOLERANCE * r:
        s = 1.0
    for k in range(3):
        x[k] = (1.0 - s) * axis[k] + s * x[3 + k]
    axis[0], axis[1], axis[2] = T[2], T[6], T[10]
    rim_point(T, axis, n, r, phase, x[:3], x[3:6])
    for k in range(3):
        x[k] = x[3 + k]
    contact.segment_parameters[i, 0] = s
    rise = axis[0] * n[0] + axis[1] * n[1] + axis[2] * n[2]
    if is_side and gap > 0.0 and (s < 1.0 or abs(rise) < _RIM_SINE):
        return gap - r * math.sqrt(1.0 - min(1.0, rise * rise))
    gap, n[0], n[1], n[2], _, contact.segment_parameters[i, 1] = _distance(contact, i, 0.0)
    return gap


@kernel
def _lie(contact, i, gap, s, phase):
    """
    Return gap and place where a segment that lies flat on a face ends, or the face does.

    ``gap`` and ``s`` are those of the nearest place, which the row of the low end keeps if the
    segment does not lie flat; that of the high end is far then.
    """
    pair, number, x, n = contact.pairs[i], contact.numbers[i], contact.v, contact.normal[i]
    u0, u1, u2 = x[3] - x[0], x[4] - x[1], x[5] - x[2]
    along = n[0] * u0 + n[1] * u1 + n[2] * u2
    low, high = 0.0, 1.0
    if abs(along) > _FLAT_SINE * math.sqrt(u0 * u0 + u1 * u1 + u2 * u2):
        high = -1.0
    elif pair[KIND] == SEGMENT_BOX:
        low, high = _over_box(x, n, contact.frames[pair[B]], number[HALF : HALF + 3])
    else:
        first, last = int(number[HALF]), int(number[HALF + 1])
        low, high = _over_hull(x, n, contact.frames[pair[B]], contact.faces[first:last])
    if low > high:
        return (gap, s) if phase == LOW_END else (NO_CONTACT, s)
    end = low if phase == LOW_END else high
    return gap + (end - s) * along, end


@inlined
def _over_box(x, n, T, half):
    """Return the places between which a segment (6,) is over the face of a box with normal n."""
    low, high, is_face = 0.0, 1.0, False
    for k in range(3):
        e0, e1, e2 = T[k], T[4 + k], T[8 + k]
        up = abs(e0 * n[0] + e1 * n[1] + e2 * n[2])
        if up > 1.0 - _NORMAL_TOLERANCE:
            is_face = True
            continue
        a = e0 * (x[0] - T[3]) + e1 * (x[1] - T[7]) + e2 * (x[2] - T[11])
        u = e0 * (x[3] - x[0]) + e1 * (x[4] - x[1]) + e2 * (x[5] - x[2])
        low, high = _cut(low, high, a - half[k], u)
        low, high = _cut(low, high, -a - half[k], -u)
    return (low, high) if is_face else (0.0, -1.0)


@inlined
def _over_hull(x, n, T, faces):
    """Return the places between which a segment (6,) is over the face of a hull with normal n."""
    low, high, is_face = 0.0, 1.0, False
    n0, n1, n2 = (
        T[0] * n[0] + T[4] * n[1] + T[8] * n[2],
        T[1] * n[0] + T[5] * n[1] + T[9] * n[2],
        T[2] * n[0] + T[6] * n[1] + T[10] * n[2],
    )
    a0, a1, a2 = point_in_frame(T, x[:3])
    b0, b1, b2 = point_in_frame(T, x[3:6])
    top = -NO_CONTACT
    for f in range(len(faces)):
        F = faces[f]
        if F[0] * n0 + F[1] * n1 + F[2] * n2 > 1.0 - _NORMAL_TOLERANCE:
            is_face, top = True, F[3]
    for f in range(len(faces)):
        F = faces[f]
        up = F[0] * n0 + F[1] * n1 + F[2] * n2
        # looked at where the segment is over it
        if is_face and up <= 1.0 - _NORMAL_TOLERANCE and up > -0.5:
            at_a = (
                F[0] * a0 + F[1] * a1 + F[2] * a2 - F[3] - up * (n0 * a0 + n1 * a1 + n2 * a2 - top)
            )
            at_b = (
                F[0] * b0 + F[1] * b1 + F[2] * b2 - F[3] - up * (n0 * b0 + n1 * b1 + n2 * b2 - top)
            )
            low, high = _cut(low, high, at_a, at_b - at_a)
    return (low, high) if is_face else (0.0, -1.0)


@inlined
def _cut(low, high, start, slope):
    """Return what is left of places from low to high where start + s slope is at most 0."""
    if slope > 0.0:
        return low, min(high, -start / slope)
    if slope < 0.0:
        return max(low, -start / slope), high
    return (low, high) if start <= 0.0 else (0.0, -1.0)


@kernel
def _face_centre(contact, i, gap):
    """Return the gap of the first place of a pair to the face towards its centre, or ``gap``."""
    pair, number, x, n = contact.pairs[i], contact.numbers[i], contact.v, contact.normal[i]
    kind, T, C = pair[KIND], contact.frames[pair[B]], contact.frames[pair[CENTRE]]
    half, centre = number[HALF : HALF + 3], x[12:15]
    centre[0], centre[1], centre[2] = C[3], C[7], C[11]
    found, n0, n1, n2 = -NO_CONTACT, 0.0, 0.0, 0.0
    if kind == SEGMENT_BOX:
        found, n0, n1, n2 = facing_box(x[:3], centre, T, half)
    elif kind == SEGMENT_CYLINDER:
        found, n0, n1, n2 = facing_cylinder(x[:3], centre, T, number[RADIUS_B], half[2])
    elif kind == SEGMENT_HULL:
        first, last = int(half[0]), int(half[1])
        found, n0, n1, n2 = facing_hull(x[:3], centre, T, contact.faces, first, last)
    if found < -_MAX_FACE_DEPTH * contact.detection_distance:
        return gap
    n[0], n[1], n[2] = n0, n1, n2
    return found


@kernel
def _distance(contact, i, r):
    """Gap, normal and segment parameters of a pair whose ends are in ``v``; r [m] of the first."""
    pair, number, x = contact.pairs[i], contact.numbers[i], contact.v
    kind, T = pair[KIND], contact.frames[pair[B]]
    half = number[HALF : HALF + 3]
    gap, n0, n1, n2, s, t = NO_CONTACT, 0.0, 0.0, 1.0, 0.0, 0.0
    if kind == POINT_PLANE:
        gap, n0, n1, n2 = point_plane(x[:3], r, T)
    elif kind == POINT_TUBE:
        gap, n0, n1, n2 = point_tube(x[:3], r, T, number[RADIUS_B], half[2])
    elif kind == SEGMENT_SEGMENT:
        gap, n0, n1, n2, s, t = segment_segment(
            x[:3], x[3:6], r, x[6:9], x[9:12], number[RADIUS_B]
        )
    elif kind == SEGMENT_BOX:
        gap, n0, n1, n2, s = segment_box(x[:3], x[3:6], r, T, half)
    elif kind == SEGMENT_CYLINDER:
        gap, n0, n1, n2, s = segment_cylinder(x[:3], x[3:6], r, T, number[RADIUS_B], half[2])
    else:
        first, last = int(half[0]), int(half[1])
        gap, n0, n1, n2, s = segment_hull(
            x[:3], x[3:6], r, T, contact.faces, first, last, x[12:18]
        )
    return gap, n0, n1, n2, s, t
