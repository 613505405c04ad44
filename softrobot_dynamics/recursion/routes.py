# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Turning angles along the routes of tendons, and gradients of the lengths beyond, at a posture.

A route is a chain of *parts* from base to tip: straight lines and *panels* of curves through
bodies. It is looked at in *stations*: the corner where a part begins, on which the tendon turns
by an angle, and then, along a panel, its Gauss points, each with its share of the angle by which
the curve turns. There r' and r'' follow from the places of the panel's points by collocation
(:func:`~softrobot_dynamics.kernels.quadrature.collocation`), and the gradient of |r'| from how
these places move. All of it converges as fast as polynomials approach the curve, but where the
curvature along a panel goes through zero: there as the square of the distance of points.
"""

import math
from typing import NamedTuple

from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import call
from softrobot_dynamics.compiling.jit import inlined, kernel, reduction
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.reductions import BLOCK
from softrobot_dynamics.kernels.spatial import rotate
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.recursion.frames import point_position
from softrobot_dynamics.recursion.passes import JOINT_POSE, Robot, STATE
from softrobot_dynamics.recursion.transmission import add_lines, transmit

TENDON, STATION, NODES, PLACE, SOURCE, RULE = range(6)
"""
Columns of ``parts``: its first station; its Gauss points, 0 of a line; of a line its first point
and the row of its length, or -1; of a panel its first point in the cloud, the cloud and where its
matrices begin in ``rules``: weights (N,), integrals from 0 of what has the weights in it already
(N, N), first derivatives (N + 2, N), second ones (N, N).
"""
_MIN_LENGTH_SQUARED = 1e-300  # [m^2] in place of zero, where a curve is squeezed to a point

BODY, KERNEL, NUMBERS, FIRST, COUNT, VALUES = range(6)
"""Columns of ``clouds``: the module, its kernel, offset of numbers, coordinates, and of values."""


class Routes(NamedTuple):
    """E parts in I stations, and their turning angles and lengths at a posture."""

    robot: Robot  # whose segments are the lengths of lines; the poses are those of another
    lines: int  # 1: there are some between bodies
    y: Vector  # (p,) these lengths [m]
    J: Matrix  # (p, n) their gradients
    bias: Vector  # (p,)
    clouds: Integers  # (., 6) material points of a body each
    numbers: Vector  # of all clouds
    values: Vector  # of all clouds: places and how they move, see ``programs.point_values``
    scratch: Vector
    anchors: Integers  # (., 2) body and whether in its tip frame, two of each line
    places: Matrix  # (., 3) [m] in these frames
    points: Matrix  # (., 3) [m] in the base frame
    parts: Integers  # (E, 6)
    rules: Vector  # matrices of panels
    panel: Vector  # (3 N (1 + n),) places of a panel's points, and how they move
    stretch: Matrix  # (N, n) gradient of |r'| along a panel
    beyond: Vector  # (n,) gradient of the lengths beyond a station
    ends: Matrix  # (E, 6) [m] direction at the start of each part, and at its end, base frame
    min_length: Vector  # (E,) [m] below which a part is a point, and points nowhere
    wrap_angle: Vector  # (I,) [rad] of each station
    G: Matrix  # (I, n) gradient of the lengths beyond each station


@kernel
def follow_routes(routes, q, qd):
    """Fill the directions, turns and gradients at q, after a forward pass with all poses."""
    transmit(routes.robot, routes.y, routes.J, routes.bias, q, qd)
    if routes.lines:
        add_lines(routes.robot, routes.y, routes.J, routes.bias, q, qd)
    for i in range(len(routes.clouds)):
        cloud = routes.clouds[i]
        values = routes.values[cloud[VALUES] :]
        numbers, own = routes.numbers[cloud[NUMBERS] :], q[cloud[FIRST] :]
        call(cloud[KERNEL], numbers, own, values, routes.scratch)
    for i in range(len(routes.anchors)):
        anchor = routes.anchors[i]
        point_position(routes.robot, anchor[0], anchor[1] == 1, routes.places[i], routes.points[i])
    _accumulate(routes)
    _turn_corners(routes)


@kernel
def _accumulate(routes):
    """Fill directions, turns along panels, and gradients, from the tips on."""
    parts, beyond, last = routes.parts, routes.beyond, -1
    for e in range(len(parts) - 1, -1, -1):
        part = parts[e]
        if part[TENDON] != last:
            last = part[TENDON]
            beyond[:] = 0.0
        if part[NODES] > 0:
            _fill_panel(routes, part, routes.ends[e])
            _add_panel(routes, part)
        else:
            _fill_line(routes, part, routes.ends[e])
        copy(beyond, routes.G[part[STATION]])


@kernel
def _fill_line(routes, part, ends):
    """Fill the direction of a line, and add the gradient of its length to those beyond."""
    first = part[PLACE]
    for k in range(3):
        ends[k] = ends[3 + k] = routes.points[first + 1, k] - routes.points[first, k]
    if part[SOURCE] >= 0:
        for j in range(len(routes.beyond)):
            routes.beyond[j] += routes.J[part[SOURCE], j]


@kernel
def _fill_panel(routes, part, ends):
    """Fill the turns along a panel, the gradients of its stretch, and its directions."""
    N, rule, first = part[NODES], part[RULE], part[STATION] + 1
    cloud, weights = routes.clouds[part[SOURCE]], routes.rules[rule : rule + N]
    derivatives = routes.rules[rule + N + N * N :]
    hessians = derivatives[(N + 2) * N :]
    places = routes.panel[: 3 * N * (1 + cloud[COUNT])]
    _copy_panel(routes, part, cloud, places)
    for i in range(N):
        row = derivatives[i * N : (i + 1) * N]
        u0, u1, u2 = _combined(places, row, 0)
        v0, v1, v2 = _combined(places, hessians[i * N : (i + 1) * N], 0)
        square = max(u0 * u0 + u1 * u1 + u2 * u2, _MIN_LENGTH_SQUARED)
        a, b, c = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
        routes.wrap_angle[first + i] = weights[i] * math.sqrt(a * a + b * b + c * c) / square
        speed = math.sqrt(square)
        for j in range(cloud[COUNT]):
            a, b, c = _combined(places, row, 3 * (1 + j))
            routes.stretch[i, j] = (u0 * a + u1 * b + u2 * c) / speed
    W, pose = routes.robot.W, cloud[BODY] * STATE + JOINT_POSE
    for k in range(2):
        u0, u1, u2 = _combined(places, derivatives[(N + k) * N : (N + k + 1) * N], 0)
        ends[3 * k], ends[3 * k + 1], ends[3 * k + 2] = rotate(W, pose, u0, u1, u2)


@kernel
def _copy_panel(routes, part, cloud, places):
    """Copy where a panel's points are, and how they move, into rows of N each."""
    N, size = part[NODES], 9 * (1 + cloud[COUNT]) * BLOCK
    values = routes.values[cloud[VALUES] :]
    for k in range(N):
        start = (part[PLACE] + k) // BLOCK * size + (part[PLACE] + k) % BLOCK
        for j in range(1 + cloud[COUNT]):
            for c in range(3):
                places[(3 * j + c) * N + k] = values[start + (9 * j + c) * BLOCK]


@reduction
def _combined(places, row, which):
    """Sum of a ``row`` of factors times three rows of a panel, from row ``which`` on."""
    N = len(row)
    a = places[which * N : (which + 1) * N]
    b = places[(which + 1) * N : (which + 2) * N]
    c = places[(which + 2) * N : (which + 3) * N]
    x = y = z = 0.0
    for k in range(N):
        x += row[k] * a[k]
        y += row[k] * b[k]
        z += row[k] * c[k]
    return x, y, z


@kernel
def _add_panel(routes, part):
    """Fill the gradients of the lengths beyond each point of a panel, and add that of it all."""
    N, rule, station = part[NODES], part[RULE], part[STATION] + 1
    cloud, weights = routes.clouds[part[SOURCE]], routes.rules[rule : rule + N]
    before = routes.rules[rule + N : rule + N + N * N]
    for i in range(N):
        row = routes.G[station + i]
        copy(routes.beyond, row)
        for k in range(N):
            share = weights[k] * (1.0 - before[i * N + k])
            for j in range(cloud[COUNT]):
                row[cloud[FIRST] + j] += share * routes.stretch[k, j]
    for k in range(N):
        for j in range(cloud[COUNT]):
            routes.beyond[cloud[FIRST] + j] += weights[k] * routes.stretch[k, j]


@kernel
def _turn_corners(routes):
    """Fill the angles at the beginnings of parts; at a tendon's own there is none."""
    parts, ends, last = routes.parts, routes.ends, -1
    for e in range(len(parts)):
        routes.wrap_angle[parts[e, STATION]] = 0.0
        if dot(ends[e, :3], ends[e, :3]) <= routes.min_length[e] ** 2:
            continue
        if last >= 0 and parts[last, TENDON] == parts[e, TENDON]:
            routes.wrap_angle[parts[e, STATION]] = _angle(ends[last, 3:], ends[e, :3])
        last = e


@inlined
def _angle(a, b):
    """Angle [rad] between two directions, in [0, pi]."""
    x = a[1] * b[2] - a[2] * b[1]
    y = a[2] * b[0] - a[0] * b[2]
    z = a[0] * b[1] - a[1] * b[0]
    along = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return math.atan2(math.sqrt(x * x + y * y + z * z), along)
