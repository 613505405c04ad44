# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Friction of tendons along their routes, by Euler and Eytelwein's law of the capstan.

A route is a chain of straight *stretches* with lengths l_i(q). Between two of them it turns by an
angle phi, on which the tendon slides towards the base at v = -d/dt of all lengths beyond; there
its tension drops from T to T exp(-mu phi s(v)), with s = v / sqrt(v^2 + SPEED^2) for the sign of
v, which is smooth at rest. (A tendon that pushes rubs as much: it then goes up instead.) The
generalized force is -sum T_i dl_i/dq; without friction it were -T_0 dy/dq. What is between, the
drops times the gradients of the lengths beyond, takes the power sum of drop v >= 0 from the robot
at every state, whatever the route, and is that of the damping matrix sum (drop / v) G^T G.

At rest friction is what is left of the motion before: a tendon that was drawn in last has the
tensions of one that slides towards the base, one that was paid out those of one that slides
towards the tip (:func:`rub_towards`).
"""

import math
from typing import NamedTuple

from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import call, run
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.layout import ORIGIN
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.reductions import BLOCK
from softrobot_dynamics.kernels.spatial import rotate
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.recursion.frames import point_position
from softrobot_dynamics.recursion.passes import JOINT_POSE, Robot, STATE
from softrobot_dynamics.recursion.transmission import add_lines, transmit

SPEED = 1e-4  # [m/s] of sliding: at less friction is viscous, and what it holds creeps
_FULL = 1e4  # [m/s] at which the sign of v is 1 to the last digit
_LEAST = 1e-9  # [m, or of the tangent] below which a stretch points nowhere
TENDON, PIECE, POINT = range(3)  # of a row of ``stretches``: the first of three points


class Capstan(NamedTuple):
    """Routes with friction, I stretches with K points, and what is known of them at a state."""

    robot: Robot  # whose segments are the lengths of stretches; the poses are those of another
    lines: int  # 1: some of them are straight lines between bodies
    y: Vector  # (p,) these lengths [m]
    J: Matrix  # (p, n) their gradients
    bias: Vector  # (p,)
    clouds: Integers  # (., 6) body, kernel, its numbers, first coordinate, points: first, count
    numbers: Vector  # of all clouds
    outputs: Integers  # (., ) rows of values of each cloud's kernel
    values: Vector  # scratch of such a kernel
    scratch: Vector
    anchors: Integers  # (., 3) body, whether in its tip frame, point
    places: Matrix  # (., 3) [m] in these frames
    points: Matrix  # (K, 3) [m], base frame
    stretches: Integers  # (I, 3) tendon, length or -1, first point
    weights: Matrix  # (I, 3) of its points
    mu: Vector  # (m,)
    force: Vector  # (m,) along y that the tendons have at the base: minus their tensions
    G: Matrix  # (I, n) gradient of the lengths of a stretch and all beyond
    sliding: Vector  # (I,) [m/s] towards the base where a stretch begins
    tension: Vector  # (I,) [N]
    resistance: Vector  # (I,) [N s/m] drop over v where a stretch begins
    direction: Matrix  # (2, 3) scratch


@kernel
def rub(evaluate, capstan, h, q, qd):
    """Evaluate at (q, qd), with poses, and take the force of friction from h = ID(q, qd, 0)."""
    run(evaluate, q, qd)
    _rub(capstan, h, q, qd)


@kernel
def rub_along(evaluate, capstan, h, rates, q, qd):
    """Evaluate as :func:`rub`, but with the friction of a robot that moves at ``rates`` (n,)."""
    run(evaluate, q, qd)
    _rub(capstan, h, q, rates)


@kernel
def rub_towards(evaluate, capstan, direction, friction, q, qd):
    """
    Evaluate at (q, qd), and fill ``friction`` (n,) with that of tendons that slide one way each.

    It is what :func:`rub` adds to h. By ``direction`` (m,) all of a tendon slides towards the base
    (1), towards the tip (-1), or does not rub (0), at whatever qd.
    """
    run(evaluate, q, qd)
    friction[:] = 0.0
    _follow_route(capstan, q, qd)
    for i in range(len(capstan.stretches)):
        capstan.sliding[i] = _FULL * direction[capstan.stretches[i, TENDON]]
    _drop(capstan, friction)


@kernel
def resist(follow, capstan, D, damping, q, qd):
    """Fill ``damping`` (n, n) with D, which ``follow`` updates first, and that of friction."""
    if follow.address != 0:
        run(follow, q, qd)
    n = len(D)
    for i in range(n):
        copy(D[i], damping[i])
    for i in range(len(capstan.G)):
        row = capstan.G[i]
        if capstan.resistance[i] > 0.0:
            for j in range(n):
                share = capstan.resistance[i] * row[j]
                for k in range(n):
                    damping[j, k] += share * row[k]


@kernel
def _rub(capstan, h, q, qd):
    """Take the force of friction at (q, qd) from h (n,)."""
    _follow_route(capstan, q, qd)
    _drop(capstan, h)


@kernel
def _follow_route(capstan, q, qd):
    """Fill the lengths of stretches, their points, G and the speeds of sliding."""
    transmit(capstan.robot, capstan.y, capstan.J, capstan.bias, q, qd)
    if capstan.lines:
        add_lines(capstan.robot, capstan.y, capstan.J, capstan.bias, q, qd)
    _place(capstan, q)
    _slide(capstan, qd)


@kernel
def _place(capstan, q):
    """Fill the points, base frame."""
    W, values = capstan.robot.W, capstan.values
    for i in range(len(capstan.clouds)):
        cloud, size = capstan.clouds[i], capstan.outputs[i] * BLOCK
        pose, first = cloud[0] * STATE + JOINT_POSE, cloud[4]
        origin = pose + ORIGIN
        call(cloud[1], capstan.numbers[cloud[2] :], q[cloud[3] :], values, capstan.scratch)
        for k in range(cloud[5]):
            U, p = values[k // BLOCK * size + k % BLOCK :], capstan.points[first + k]
            x, y, z = rotate(W, pose, U[0], U[BLOCK], U[2 * BLOCK])
            p[0], p[1], p[2] = x + W[origin], y + W[origin + 1], z + W[origin + 2]
    for i in range(len(capstan.anchors)):
        anchor = capstan.anchors[i]
        out = capstan.points[anchor[2]]
        point_position(capstan.robot, anchor[0], anchor[1] == 1, capstan.places[i], out)


@kernel
def _slide(capstan, qd):
    """Fill G and the speeds of sliding, from the tips on."""
    stretches, G = capstan.stretches, capstan.G
    last = len(stretches) - 1
    for i in range(last, -1, -1):
        row, piece = G[i], stretches[i, PIECE]
        if i < last and stretches[i + 1, TENDON] == stretches[i, TENDON]:
            copy(G[i + 1], row)
        else:
            row[:] = 0.0
        if piece >= 0:
            for j in range(len(row)):
                row[j] += capstan.J[piece, j]
        capstan.sliding[i] = -dot(row, qd)


@kernel
def _drop(capstan, h):
    """Fill tensions and resistances, from the base on, and take the force from h (n,)."""
    a, b, stretches = capstan.direction[0], capstan.direction[1], capstan.stretches
    tendon, T, known = -1, 0.0, False
    for i in range(len(stretches)):
        capstan.resistance[i] = 0.0
        if stretches[i, TENDON] != tendon:
            tendon, known = stretches[i, TENDON], False
            T = -capstan.force[tendon]
        if _point(capstan, i, b):
            if known:
                x = capstan.mu[tendon] * _angle(a, b)
                drop, capstan.resistance[i] = _rubbed(T, x, capstan.sliding[i])
                T -= drop
                for j in range(len(h)):
                    h[j] -= drop * capstan.G[i, j]
            copy(b, a)
            known = True
        capstan.tension[i] = T


@inlined
def _point(capstan, i, out):
    """Fill ``out`` (3,) with where stretch i points to; returns whether it does."""
    first, w, size = capstan.stretches[i, POINT], capstan.weights[i], 0.0
    for k in range(3):
        out[k] = 0.0
        for j in range(3):
            out[k] += w[j] * capstan.points[first + j, k]
        size += out[k] * out[k]
    return size > _LEAST * _LEAST


@inlined
def _angle(a, b):
    """Angle [rad] between two directions, in [0, pi]."""
    x = a[1] * b[2] - a[2] * b[1]
    y = a[2] * b[0] - a[0] * b[2]
    z = a[0] * b[1] - a[1] * b[0]
    along = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return math.atan2(math.sqrt(x * x + y * y + z * z), along)


@inlined
def _rubbed(T, x, v):
    """Drop of tension [N] by an exponent of x at full sliding, at v [m/s]; and drop over v."""
    speed = math.sqrt(v * v + SPEED * SPEED)
    exponent = x * v / speed * (1.0 if T >= 0.0 else -1.0)
    share = -math.expm1(-exponent) / exponent if exponent != 0.0 else 1.0
    resistance = abs(T) * x * share / speed
    return resistance * v, resistance
