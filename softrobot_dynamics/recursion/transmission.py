# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Actuation coordinates y(q), their Jacobian and bias, of all actuators in one pass.

An actuator's coordinate is a sum of *segments*, rows of the table ``segments`` (., 6)::

    actuator, COORDINATE, numbers, first coordinate, -,           -                y = q_j
    actuator, FIBRE,      numbers, first coordinate, coordinates, kernel           in a body
    actuator, LINE,       numbers, module A,         module B,    in frames: 0-3   straight, A to B
    actuator, POINT,      numbers, module,           -,           -                along the base

``numbers`` are an offset into P. Of a coordinate: 0, or, of a joint that follows another, k and b
of y = k q_j + b. Of a fibre: a factor, then those of the function with the address
``kernel``, which fills a length. Of a line: point A, point B, a factor; the last entry is 2 (A is
in its tip frame) + 1 (B is in its tip frame). Of a point: where it is in its tip frame, and y per
metre along the axes of the base frame.
"""

import math

from softrobot_dynamics.compiling.addresses import call
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.recursion.frames import point_acceleration, point_jacobian, point_position
from softrobot_dynamics.recursion.passes import Robot

POINT, LINE, COORDINATE, FIBRE = -2, -1, 0, 1


def has_lines(robot: Robot) -> bool:
    """Tell whether :func:`add_lines` has something to add."""
    return bool((robot.segments[:, 1] < COORDINATE).any())


@kernel
def transmit(robot, y, J, bias, q, qd):
    """
    Fill y (m,), J = dy/dq (m, n) and bias = (dJ/dt) qd (m,), but for lines and points.

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
            factor, offset = 1.0, 0.0
            if row[2] > 0:
                factor, offset = P[row[2]], P[row[2] + 1]
            y[actuator] += factor * q[first] + offset
            J[actuator, first] += factor
        if kind == FIBRE:
            out, factor = S[: count + 2], P[row[2]]
            call(row[5], P[row[2] + 1 :], q[first:], qd[first:], out, S[count + 2 :])
            y[actuator] += factor * out[0]
            for j in range(count):
                J[actuator, first + j] += factor * out[1 + j]
            bias[actuator] += factor * out[1 + count]


@kernel
def add_lines(robot, y, J, bias, q, qd):
    """
    Add all straight lines between bodies, and points along the base, after :func:`transmit`.

    A forward pass with zero qdd in mode FULL and all poses must have gone before in the same
    workspace.
    """
    for i in range(len(robot.segments)):
        if robot.segments[i, 1] == LINE:
            _add_line(robot, robot.segments[i], y, J, bias, qd)
        if robot.segments[i, 1] == POINT:
            _add_point(robot, robot.segments[i], y, J, bias)


@kernel
def _add_point(robot, row, y, J, bias):
    """Add how far a point of a tip frame is along a direction of the base frame."""
    n, S = J.shape[1], robot.S
    actuator, module, numbers = row[0], row[3], robot.P[row[2] : row[2] + 6]
    r, along = numbers[0:3], numbers[3:6]
    p, a, jacobian = S[0:3], S[3:6], S[6 : 6 + 6 * n]
    point_position(robot, module, True, r, p)
    point_jacobian(robot, module, True, p, jacobian)
    point_acceleration(robot, module, True, r, a)
    for k in range(3):
        y[actuator] += along[k] * p[k]
        bias[actuator] += along[k] * (a[k] + robot.gravity[k])  # see passes.set_base_motion
        for j in range(n):
            J[actuator, j] += along[k] * jacobian[(3 + k) * n + j]


@kernel
def _add_line(robot, row, y, J, bias, qd):
    """Add the straight line between a point of module A and one of module B."""
    n, S = J.shape[1], robot.S
    actuator, A, B = row[0], row[3], row[4]
    A_tip, B_tip = row[5] >= 2, row[5] % 2 == 1
    r, factor = robot.P[row[2] : row[2] + 6], robot.P[row[2] + 6]
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
        J[actuator, j] += factor * along
        rate += along * qd[j]
        v0, v1, v2 = v0 + x0 * qd[j], v1 + x1 * qd[j], v2 + x2 * qd[j]
    y[actuator] += factor * length
    bias[actuator] += factor * (
        d0 * (aB[0] - aA[0])
        + d1 * (aB[1] - aA[1])
        + d2 * (aB[2] - aA[2])
        + (v0 * v0 + v1 * v1 + v2 * v2 - rate * rate) / length
    )
