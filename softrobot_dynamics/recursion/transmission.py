# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Actuation coordinates y(q), their Jacobian and bias, of all actuators in one pass.

An actuator's coordinate is a sum of *segments*, rows of the table ``segments`` (., 6)::

    actuator, COORDINATE, -,       first coordinate, -,           -                y = q_j
    actuator, FIBRE,      numbers, first coordinate, coordinates, kernel           in a body
    actuator, LINE,       numbers, module A,         module B,    in frames: 0-3   straight, A to B

``numbers`` are an offset into P, ``kernel`` is the address of a function that fills a length. A
line's last entry is 2 (A is in its tip frame) + 1 (B is in its tip frame).
"""

import math

from softrobot_dynamics.compiling.addresses import call
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.recursion.frames import point_acceleration, point_jacobian, point_position

LINE, COORDINATE, FIBRE = -1, 0, 1


@kernel
def transmit(robot, y, J, bias, q, qd):
    """
    Fill y (m,), J = dy/dq (m, n) and bias = (dJ/dt) qd (m,), but for straight lines.

    y is relative to nothing: the caller subtracts its value at the reference posture.
    """
    segments, P, S = robot.segments, robot.P, robot.S
    for i in range(len(y)):
        y[i] = bias[i] = 0.0
        for j in range(J.shape[1]):
            J[i, j] = 0.0
    for i in range(len(segments)):
        row = segments[i]
        actuator, kind, first, count = row[0], row[1], row[3], row[4]
        if kind == COORDINATE:
            y[actuator] += q[first]
            J[actuator, first] += 1.0
        if kind == FIBRE:
            out = S[: count + 2]
            call(row[5], P[row[2] :], q[first:], qd[first:], out, S[count + 2 :])
            y[actuator] += out[0]
            for j in range(count):
                J[actuator, first + j] += out[1 + j]
            bias[actuator] += out[1 + count]


@kernel
def add_lines(robot, y, J, bias, q, qd):
    """
    Add all straight lines, after :func:`transmit`.

    A forward pass with zero qdd and all poses must have gone before in the same workspace.
    """
    for i in range(len(robot.segments)):
        if robot.segments[i, 1] == LINE:
            _add_line(robot, robot.segments[i], y, J, bias, qd)


@kernel
def _add_line(robot, row, y, J, bias, qd):
    """Add the straight line between a point of module A and one of module B."""
    n, S = J.shape[1], robot.S
    actuator, A, B = row[0], row[3], row[4]
    A_tip, B_tip = row[5] >= 2, row[5] % 2 == 1
    r = robot.P[row[2] : row[2] + 6]
    pA, pB, aA, aB = S[0:3], S[3:6], S[6:9], S[9:12]
    JA, JB = S[12 : 12 + 6 * n], S[12 + 6 * n : 12 + 12 * n]
    point_position(robot, A, A_tip, r[0:3], pA)
    point_position(robot, B, B_tip, r[3:6], pB)
    point_jacobian(robot, A, A_tip, pA, JA)
    point_jacobian(robot, B, B_tip, pB, JB)
    point_acceleration(robot, A, A_tip, r[0:3], aA)
    point_acceleration(robot, B, B_tip, r[3:6], aB)
    d0, d1, d2 = pB[0] - pA[0], pB[1] - pA[1], pB[2] - pA[2]
    length = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    if length == 0.0:  # its ends meet: the least length there is, so it has no direction
        return
    d0, d1, d2 = d0 / length, d1 / length, d2 / length
    rate = v0 = v1 = v2 = 0.0
    for j in range(n):
        x0 = JB[3 * n + j] - JA[3 * n + j]
        x1 = JB[4 * n + j] - JA[4 * n + j]
        x2 = JB[5 * n + j] - JA[5 * n + j]
        along = d0 * x0 + d1 * x1 + d2 * x2
        J[actuator, j] += along
        rate += along * qd[j]
        v0, v1, v2 = v0 + x0 * qd[j], v1 + x1 * qd[j], v2 + x2 * qd[j]
    y[actuator] += length
    bias[actuator] += (
        d0 * (aB[0] - aA[0])
        + d1 * (aB[1] - aA[1])
        + d2 * (aB[2] - aA[2])
        + (v0 * v0 + v1 * v1 + v2 * v2 - rate * rate) / length
    )
