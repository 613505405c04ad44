# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The derivative by q of the generalized force J' f of the actuators: second derivatives of y.

All in closed form. Of a length within a body they have a kernel of their own, or its second
derivative along qd, its bias: those along a coordinate, and along two at once, make the whole
matrix. Of a point, dp/dq_k turns with
each coordinate j before k, w_j x dp/dq_k, and both go with how the twists of one part vary.
"""

import math
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Vector
from softrobot_dynamics.compiling.addresses import call
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.spatial import read_six
from softrobot_dynamics.recursion.derivative_backward import product, wrench_at_base
from softrobot_dynamics.recursion.frames import column_jacobian, point_position
from softrobot_dynamics.recursion.mimic_reduction import add_folded
from softrobot_dynamics.recursion.passes import (
    BODY_COLUMN,
    BODY_COUNT,
    JOINT_COLUMN,
    JOINT_COUNT,
    JOINT_POSE,
    PARENT,
    Robot,
    STATE,
    TIP_POSE,
)
from softrobot_dynamics.recursion.transmission import COORDINATE, LINE, POINT
from softrobot_dynamics.recursion.twists import last_tip


class Hessians(NamedTuple):
    """Kernels of second derivatives of lengths, row by row of the segments, and their room."""

    addresses: Integers  # (segments,) 0 where there is none
    numbers: Integers  # (segments,) offsets into P
    P: Vector  # parameters
    out: Vector  # (n n,)
    S: Vector  # scratch


def no_hessians(robot: Robot) -> Hessians:
    """Return the :class:`Hessians` of a robot whose lengths have none."""
    none = np.zeros(len(robot.segments), dtype=np.int64)
    return Hessians(none, none, np.zeros(1), np.zeros(1), np.zeros(1))


@kernel
def fibre_stiffness(robot, hessians, stiffness, x, q, force):
    """
    Fill ``stiffness`` (n, n) with the derivative by q of J' f, of all lengths within bodies.

    ``force`` (m,) along y; ``hessians`` of the segments; ``x`` (2 n,) is room.
    """
    S = robot.S
    stiffness[:] = 0.0
    for i in range(len(robot.segments)):
        row = robot.segments[i]
        first, count, weight = row[3], row[4], force[row[0]]
        if row[1] <= COORDINATE or weight == 0.0:
            continue
        weight *= robot.P[row[2]]
        if hessians.addresses[i] != 0:
            _add_second_derivatives(hessians, i, first, count, weight, q, stiffness)
            continue
        P, out, v, own = robot.P[row[2] + 1 :], S[: count + 2], x[:count], x[count : 2 * count]
        v[:] = 0.0
        for j in range(count):
            v[j] = 1.0
            call(row[5], P, q[first:], v, out, S[count + 2 :])
            own[j] = out[count + 1]
            stiffness[first + j, first + j] += weight * own[j]
            for k in range(j):
                v[k] = 1.0
                call(row[5], P, q[first:], v, out, S[count + 2 :])
                v[k] = 0.0
                value = 0.5 * weight * (out[count + 1] - own[j] - own[k])
                stiffness[first + j, first + k] += value
                stiffness[first + k, first + j] += value
            v[j] = 0.0


@kernel
def _add_second_derivatives(hessians, i, first, count, weight, q, stiffness):
    """Add those of a length of a body's coordinates, by its own kernel."""
    call(
        hessians.addresses[i],
        hessians.P[hessians.numbers[i] :],
        q[first:],
        hessians.out,
        hessians.S,
    )
    for j in range(count):
        for k in range(count):
            stiffness[first + j, first + k] += weight * hessians.out[count * j + k]


@kernel
def add_line_stiffness(robot, t, stiffness, force):
    """Add that of straight lines between bodies, and of points, after the Tangents ``t``."""
    if len(t.stiffness) == 0:
        _add_all(robot, t, stiffness, force)
        return
    t.stiffness[:] = 0.0  # joints follow others
    _add_all(robot, t, t.stiffness, force)
    add_folded(robot.coordinates, t.stiffness, stiffness)


@kernel
def _add_all(robot, t, stiffness, force):
    """Add that of lines and points to ``stiffness`` (n_x, n_x), by columns."""
    for i in range(len(robot.segments)):
        row = robot.segments[i]
        if force[row[0]] == 0.0:
            continue
        if row[1] == LINE:
            _add_line(robot, t, row, force[row[0]], stiffness)
        if row[1] == POINT:
            n, S, numbers = len(stiffness), robot.S, robot.P[row[2] : row[2] + 6]
            p, J, point_force = S[0:3], S[6 : 6 + 6 * n], S[3:6]
            point_position(robot, row[3], True, numbers[0:3], p)
            column_jacobian(robot, row[3], True, p, J)
            for c in range(3):
                point_force[c] = force[row[0]] * numbers[3 + c]
            _add_point(robot, t, (row[3], True), p, J, point_force, stiffness)


@kernel
def _add_line(robot, t, row, force, stiffness):
    """Add the straight line between a point of module A and one of module B."""
    n, S, A, B = len(stiffness), robot.S, row[3], row[4]
    A_tip, B_tip = row[5] >= 2, row[5] % 2 == 1
    r = robot.P[row[2] : row[2] + 7]
    pA, pB, point_force = S[0:3], S[3:6], S[6:9]
    JA, JB = S[12 : 12 + 6 * n], S[12 + 6 * n : 12 + 12 * n]
    point_position(robot, A, A_tip, r[0:3], pA)
    point_position(robot, B, B_tip, r[3:6], pB)
    column_jacobian(robot, A, A_tip, pA, JA)
    column_jacobian(robot, B, B_tip, pB, JB)
    d0, d1, d2 = pB[0] - pA[0], pB[1] - pA[1], pB[2] - pA[2]
    length = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    if length == 0.0:  # it has no direction
        return
    force *= r[6]
    d0, d1, d2 = d0 / length, d1 / length, d2 / length
    for j in range(n):
        x0, x1, x2 = _apart(JA, JB, n, j)
        along = d0 * x0 + d1 * x1 + d2 * x2
        x0, x1, x2 = x0 - along * d0, x1 - along * d1, x2 - along * d2
        for k in range(n):
            y0, y1, y2 = _apart(JA, JB, n, k)
            stiffness[j, k] += force * (x0 * y0 + x1 * y1 + x2 * y2) / length
    point_force[0], point_force[1], point_force[2] = force * d0, force * d1, force * d2
    _add_point(robot, t, (B, B_tip), pB, JB, point_force, stiffness)
    point_force[0], point_force[1], point_force[2] = -force * d0, -force * d1, -force * d2
    _add_point(robot, t, (A, A_tip), pA, JA, point_force, stiffness)


@inlined
def _apart(JA, JB, n, j):
    """Return the derivative of the vector between two points by a coordinate."""
    x, y, z = 3 * n + j, 4 * n + j, 5 * n + j
    return JB[x] - JA[x], JB[y] - JA[y], JB[z] - JA[z]


@kernel
def _add_point(robot, t, frame, p, J, force, stiffness):
    """
    Add the second derivatives of force . p, of a point p (3,) with the Jacobian J (6 n_x,).

    ``frame``: the module it moves with, and whether with its tip.
    """
    modules, W, centre = robot.modules, robot.W, last_tip(robot)
    i, tip = frame
    g0, g1, g2 = force[0], force[1], force[2]
    x, y, z = p[0] - W[centre], p[1] - W[centre + 1], p[2] - W[centre + 2]
    F = y * g2 - z * g1, z * g0 - x * g2, x * g1 - y * g0, g0, g1, g2
    while i < len(modules):
        m, s = modules[i], i * STATE
        if tip:
            part = m[BODY_COUNT], m[BODY_COLUMN], t.places[i, 1]
            _add_part(robot, t, part, s + JOINT_POSE, J, F, stiffness)
        part, i, tip = (m[JOINT_COUNT], m[JOINT_COLUMN], t.places[i, 0]), m[PARENT], True
        _add_part(robot, t, part, i * STATE + TIP_POSE, J, F, stiffness)


@kernel
def _add_part(robot, t, part, base, J, F, stiffness):
    """Add what turns with the coordinates of one part, and how its own twists vary."""
    count, first, derivatives = part
    n, X, force = len(stiffness), t.columns, wrench_at_base(robot, base, F)
    for a in range(count):
        j = first + a
        w0, w1, w2 = X[0, j], X[1, j], X[2, j]
        u0, u1, u2 = w2 * F[4] - w1 * F[5], w0 * F[5] - w2 * F[3], w1 * F[3] - w0 * F[4]
        for k in range(first, n):  # the Jacobian is zero where the point does not see k
            value = u0 * J[3 * n + k] + u1 * J[4 * n + k] + u2 * J[5 * n + k]
            stiffness[j, k] += value
            if k >= first + count:
                stiffness[k, j] += value
        if derivatives > 0:
            for b in range(count):
                D = read_six(t.derivatives, derivatives + 6 * (count * b + a))
                stiffness[j, first + b] += product(D, force)
