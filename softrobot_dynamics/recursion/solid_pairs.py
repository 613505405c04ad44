# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Contact of two solids with flat faces, boxes and convex hulls, at several points at once.

Solids that overlap, or nearly touch, are pushed apart along one normal: the axis on which they
overlap least, of the normals of all faces and the cross products of all edges (the separating axis
theorem; Ericson, Real-Time Collision Detection, 2005, Sec. 5.2.1). The points of contact are the
corners of the polygon in which their projections along this axis overlap: corners of either solid
over the other, and crossings of an edge of one and an edge of the other. One normal for all points
matters where edges are flush: a corner just beyond the edge of a face, taken alone, would be
pushed aside by that edge.

Solids farther apart have the distances of each corner from the other solid, and that of the
nearest edges.
"""

import math
from typing import NamedTuple

from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.recursion.contact_pairs import A, B
from softrobot_dynamics.recursion.narrow_phase import NO_CONTACT, segment_box, segment_segment
from softrobot_dynamics.recursion.solid_distances import segment_hull

MAX_CROSSINGS = 8  # rows of a pair of solids for edges that cross
(
    CORNER,
    CORNER_END,
    PLANE,
    PLANE_END,
    EDGE,
    EDGE_END,
    DIRECTION,
    DIRECTION_END,
    FIRST_FACE,
    LAST_FACE,
) = range(10)
"""
Where in a row of ``spans``: first and last of a solid's corners, planes, edges, directions of
edges, and faces of a hull; a box has none of these.
"""
_SHARED_NORMAL_GAP = 0.05  # of the margin: gap up to which solids have one normal
# of the margin: by how much less an axis must overlap than one preferred to it
_AXIS_PREFERENCE = 0.005
# of the margin: how far a corner may be beyond an edge, and still be over the face
_FACE_TOLERANCE = 0.002
# of the angle between a face and the normal, below which the face is a side
_SIDE_FACE_SINE = 0.05
_END_ON_COSINE = 0.9  # of the angle between an edge and the normal, above which the edge is end-on
_PARALLEL_SINE = 0.02  # of the angle between two edges, below which they cross nowhere


class SolidPairs(NamedTuple):
    """Pairs of solids, G of them; each has rows of a ContactWorkspace, one behind the other."""

    group_of: Integers  # (P,) pair of solids that a row is of, or -1
    groups: Integers  # (G, 3) first row, and both solids
    spans: Integers  # (S, 10) see the names above
    half: Matrix  # (S, 3) [m] half the edges of boxes
    corners: Matrix  # (., 3) [m] of all solids, each in its frame
    planes: Matrix  # (., 4) normals outwards, and heights n . x = d [m]
    edges: Matrix  # (., 6) [m] both ends
    directions: Matrix  # (., 3) directions of edges, those of opposite ones once
    min_distance: Vector  # (G,) [m] that two solids are at least apart
    placed_corners: Matrix  # (2 K, 3) scratch: corners of both solids, base frame
    placed_planes: Matrix  # (2 F, 4) scratch: planes, likewise
    placed_edges: Matrix  # (2 E, 6) scratch: edges, likewise
    axis: Vector  # (3,) scratch: the normal, from the second solid to the first
    scratch: Vector  # (6,) two directions, or a point and a gap


@kernel
def measure_solids(contact, g):
    """Fill gaps, normals and points of all rows of a pair of solids, see :class:`SolidPairs`."""
    solids = contact.solids
    first, a, b = solids.groups[g, 0], solids.groups[g, 1], solids.groups[g, 2]
    s, t = solids.spans[a], solids.spans[b]
    ka, kb = s[CORNER_END] - s[CORNER], t[CORNER_END] - t[CORNER]
    pair = contact.pairs[first]
    node_a, node_b = pair[A], pair[B]
    T, S = contact.frames[node_a], contact.frames[node_b]
    for i in range(first, first + ka + kb + MAX_CROSSINGS):
        contact.gap[i] = NO_CONTACT
        contact.segment_parameters[i, :] = 0.0
    limit = contact.detection_distance + 2.0 * contact.margin
    x, y, z = T[3] - S[3], T[7] - S[7], T[11] - S[11]
    bound = math.sqrt(x * x + y * y + z * z) - contact.extent[node_a] - contact.extent[node_b]
    if bound < limit:
        _place(solids, s, T, 0)
        _place(solids, t, S, 1)
        bound = max(bound, _separate(contact, s, t, T, S))
    solids.min_distance[g] = contact.gap[first] = bound
    if bound >= limit:
        return
    contact.gap[first] = NO_CONTACT
    if bound > _SHARED_NORMAL_GAP * contact.margin or _touch(contact, first, s, t) == 0:
        _measure_apart(contact, first, a, b, T, S)


@inlined
def _place(solids, span, T, side):
    """Place corners, planes and edges of a solid in the frame T (16,), as the one on a side."""
    at = side * (len(solids.placed_corners) // 2)
    for k in range(span[CORNER_END] - span[CORNER]):
        _point(T, solids.corners[span[CORNER] + k], solids.placed_corners[at + k])
    at = side * (len(solids.placed_planes) // 2)
    for k in range(span[PLANE_END] - span[PLANE]):
        plane, placed = solids.planes[span[PLANE] + k], solids.placed_planes[at + k]
        _turn(T, plane, placed)
        placed[3] = plane[3] + placed[0] * T[3] + placed[1] * T[7] + placed[2] * T[11]
    at = side * (len(solids.placed_edges) // 2)
    for k in range(span[EDGE_END] - span[EDGE]):
        edge, placed = solids.edges[span[EDGE] + k], solids.placed_edges[at + k]
        _point(T, edge[:3], placed[:3])
        _point(T, edge[3:], placed[3:])


@inlined
def _turn(T, x, out):
    for k in range(3):
        out[k] = T[4 * k] * x[0] + T[4 * k + 1] * x[1] + T[4 * k + 2] * x[2]


@inlined
def _point(T, x, out):
    _turn(T, x, out)
    out[0] += T[3]
    out[1] += T[7]
    out[2] += T[11]


@inlined
def _height(n, x):
    return n[0] * x[0] + n[1] * x[1] + n[2] * x[2]


@kernel
def _separate(contact, s, t, T, S):
    """Fill the axis on which two placed solids overlap least; return their gap along it [m]."""
    solids, better = contact.solids, _AXIS_PREFERENCE * contact.margin
    points, ka = solids.placed_corners, s[CORNER_END] - s[CORNER]
    half = len(points) // 2
    kb, axis, count = t[CORNER_END] - t[CORNER], solids.axis, len(solids.placed_planes) // 2
    best = -NO_CONTACT
    for side in range(2):  # a face of the first; of the second only if it is better
        span, at, corners = (t, 0, ka) if side else (s, half, kb)
        found, which = -NO_CONTACT, count * side
        for f in range(count * side, count * side + span[PLANE_END] - span[PLANE]):
            plane, least = solids.placed_planes[f], NO_CONTACT
            for k in range(at, at + corners):
                least = min(least, _height(plane, points[k]))
            if least - plane[3] > found:
                found, which = least - plane[3], f
        if found > best + side * better:
            plane, sign, best = solids.placed_planes[which], 2.0 * side - 1.0, found
            axis[0], axis[1], axis[2] = sign * plane[0], sign * plane[1], sign * plane[2]
    limit = best + better  # of crossed edges only if they are better
    u, v = solids.scratch[:3], solids.scratch[3:]
    for i in range(s[DIRECTION], s[DIRECTION_END]):
        _turn(T, solids.directions[i], u)
        for j in range(t[DIRECTION], t[DIRECTION_END]):
            _turn(S, solids.directions[j], v)
            n0, n1 = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2]
            n2 = u[0] * v[1] - u[1] * v[0]
            size = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
            if size < _PARALLEL_SINE:
                continue
            n0, n1, n2 = n0 / size, n1 / size, n2 / size
            low_a, high_a = _extremes(points, 0, ka, n0, n1, n2)
            low_b, high_b = _extremes(points, half, half + kb, n0, n1, n2)
            above, below = low_a - high_b, low_b - high_a
            if max(above, below) > limit:
                limit = best = max(above, below)
                sign = 1.0 if above >= below else -1.0
                axis[0], axis[1], axis[2] = sign * n0, sign * n1, sign * n2
    return best


@inlined
def _extremes(points, first, last, n0, n1, n2):
    """Least and greatest height of corners along a normal."""
    low, high = NO_CONTACT, -NO_CONTACT
    for k in range(first, last):
        x = points[k]
        height = n0 * x[0] + n1 * x[1] + n2 * x[2]
        low, high = min(low, height), max(high, height)
    return low, high


@kernel
def _touch(contact, first, s, t):
    """Fill the rows of a pair of solids with points of contact along the axis; how many."""
    solids = contact.solids
    points, planes, n = solids.placed_corners, solids.placed_planes, solids.axis
    half, count = len(points) // 2, len(planes) // 2
    ka, kb, slack = (
        s[CORNER_END] - s[CORNER],
        t[CORNER_END] - t[CORNER],
        _FACE_TOLERANCE * contact.margin,
    )
    found = 0
    for k in range(ka):
        gap = _over(points[k], n, 1.0, planes, count, count + t[PLANE_END] - t[PLANE], slack)
        found += _fill(contact, first + k, points[k], gap, 1.0)
    for k in range(kb):
        gap = _over(points[half + k], n, -1.0, planes, 0, s[PLANE_END] - s[PLANE], slack)
        found += _fill(contact, first + ka + k, points[half + k], gap, -1.0)
    if s[EDGE] == s[EDGE_END] or t[EDGE] == t[EDGE_END]:
        return found
    low = _extremes(points, 0, ka, n[0], n[1], n[2])[0] + contact.detection_distance
    high = _extremes(points, half, half + kb, n[0], n[1], n[2])[1] - contact.detection_distance
    row, last = first + ka + kb, first + ka + kb + MAX_CROSSINGS
    edges, middle, p = solids.placed_edges, len(solids.placed_edges) // 2, solids.scratch
    for i in range(s[EDGE_END] - s[EDGE]):
        e = edges[i]
        if min(_height(n, e[:3]), _height(n, e[3:])) > low or _is_along(e, n):
            continue
        for j in range(middle, middle + t[EDGE_END] - t[EDGE]):
            f = edges[j]
            if max(_height(n, f[:3]), _height(n, f[3:])) < high or _is_along(f, n):
                continue
            if row < last and _cross(e, f, n, slack, p) and p[3] < contact.detection_distance:
                found += _fill(contact, row, p[:3], p[3], 1.0)
                row += 1
    return found


@inlined
def _is_along(e, n):
    """Tell whether an edge (6,) is looked at along its length from the normal n (3,)."""
    x, y, z = e[3] - e[0], e[4] - e[1], e[5] - e[2]
    along = n[0] * x + n[1] * y + n[2] * z
    return along * along > _END_ON_COSINE * _END_ON_COSINE * (x * x + y * y + z * z)


@inlined
def _over(x, n, sign, planes, first, last, slack):
    """
    Gap [m] of a corner x (3,) along sign n (3,) to a solid; NO_CONTACT if not over it.

    The planes cut the line through x along n down to what is within the solid.
    """
    low, high = -NO_CONTACT, NO_CONTACT
    for f in range(first, last):
        plane = planes[f]
        up, height = sign * _height(plane, n), _height(plane, x) - plane[3]
        if up > _SIDE_FACE_SINE:
            high = min(high, -height / up)
        elif up < -_SIDE_FACE_SINE:
            low = max(low, -height / up)
        elif height > slack:
            return NO_CONTACT
    return -high if low <= high + slack else NO_CONTACT


@inlined
def _fill(contact, i, x, gap, sign):
    """Fill a row with a point x (3,) of its first solid; 1 if it is near, else 0."""
    contact.gap[i] = gap
    if gap >= contact.detection_distance:
        return 0
    n, p, axis = contact.normal[i], contact.point[i], contact.solids.axis
    for k in range(3):
        n[k] = sign * axis[k]
        p[k] = x[k] - 0.5 * gap * n[k]
    return 1


@inlined
def _cross(e, f, n, slack, out):
    """
    Tell whether edges e and f (6,) cross, looked at along n (3,), and not near their ends.

    Fills the place on e and the gap along n from f to e, (4,).
    """
    e0, e1, e2 = e[3] - e[0], e[4] - e[1], e[5] - e[2]
    f0, f1, f2 = f[3] - f[0], f[4] - f[1], f[5] - f[2]
    d0, d1, d2 = f[0] - e[0], f[1] - e[1], f[2] - e[2]
    long_e, long_f = math.sqrt(e0 * e0 + e1 * e1 + e2 * e2), math.sqrt(f0 * f0 + f1 * f1 + f2 * f2)
    across = n[0] * (e1 * f2 - e2 * f1) + n[1] * (e2 * f0 - e0 * f2) + n[2] * (e0 * f1 - e1 * f0)
    if abs(across) < _PARALLEL_SINE * long_e * long_f:
        return False
    s = n[0] * (d1 * f2 - d2 * f1) + n[1] * (d2 * f0 - d0 * f2) + n[2] * (d0 * f1 - d1 * f0)
    t = n[0] * (d1 * e2 - d2 * e1) + n[1] * (d2 * e0 - d0 * e2) + n[2] * (d0 * e1 - d1 * e0)
    s, t = s / across, t / across
    if min(s, 1.0 - s) * long_e < slack or min(t, 1.0 - t) * long_f < slack:
        return False
    out[0], out[1], out[2] = e[0] + s * e0, e[1] + s * e1, e[2] + s * e2
    out[3] = n[0] * (s * e0 - t * f0 - d0) + n[1] * (s * e1 - t * f1 - d1)
    out[3] += n[2] * (s * e2 - t * f2 - d2)
    return True


@kernel
def _measure_apart(contact, first, a, b, T, S):
    """Fill the rows of a pair of solids with distances of corners, and of the nearest edges."""
    solids = contact.solids
    s, t, half = solids.spans[a], solids.spans[b], len(solids.placed_corners) // 2
    ka, kb = s[CORNER_END] - s[CORNER], t[CORNER_END] - t[CORNER]
    for k in range(ka):
        _measure_corner(contact, first + k, solids.placed_corners[k], b, S)
    for k in range(kb):
        _measure_corner(contact, first + ka + k, solids.placed_corners[half + k], a, T)
    edges, middle, i = solids.placed_edges, len(solids.placed_edges) // 2, first + ka + kb
    for e in range(s[EDGE_END] - s[EDGE]):
        for f in range(middle, middle + t[EDGE_END] - t[EDGE]):
            u, v = edges[e], edges[f]
            gap, n0, n1, n2, x, y = segment_segment(u[:3], u[3:], 0.0, v[:3], v[3:], 0.0)
            if gap < contact.gap[i] and 0.0 < x < 1.0 and 0.0 < y < 1.0:
                n, p = contact.normal[i], contact.point[i]
                contact.gap[i], n[0], n[1], n[2] = gap, n0, n1, n2
                for k in range(3):
                    p[k] = (1.0 - x) * u[k] + x * u[3 + k] - 0.5 * gap * n[k]


@inlined
def _measure_corner(contact, i, x, other, T):
    """Fill a row with the distance of a corner x (3,) from another solid, in the frame T (16,)."""
    solids, n, p = contact.solids, contact.normal[i], contact.point[i]
    span = solids.spans[other]
    first, last = span[FIRST_FACE], span[LAST_FACE]
    if last > first:
        gap, n0, n1, n2, _ = segment_hull(
            x, x, 0.0, T, contact.faces, first, last, contact.v[12:18]
        )
    else:
        gap, n0, n1, n2, _ = segment_box(x, x, 0.0, T, solids.half[other])
    contact.gap[i], n[0], n[1], n[2] = gap, n0, n1, n2
    for k in range(3):
        p[k] = x[k] - 0.5 * gap * n[k]
