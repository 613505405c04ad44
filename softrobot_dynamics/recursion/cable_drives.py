# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Cables that motors hold: springs of the tension T = max(0, T_0 + k (p u + l(q) - l(0))).

u is the position that a motor is told, in its unit. What acts is -sum T dl/dq. An actuator has one
cable, and its effort is the tension; or two, one drawn in as the other is paid out, and its effort
is the difference e = T_1 - T_2 along half the difference of their lengths: what is left then is
common to both, -(T_1 + T_2) d((l_1 + l_2) / 2)/dq, and depends on u only if one of them is slack.
Actuators without cables are left alone: their effort is u.
"""

from typing import NamedTuple

from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.recursion.passes import Robot
from softrobot_dynamics.recursion.transmission import add_lines, transmit

FIRST, COUNT = 0, 1  # of a row of ``cables``


class CableDrives(NamedTuple):
    """The cables of a robot, s of all m actuators, and their lengths and tensions at a state."""

    robot: Robot  # whose segments are the lengths of cables; the poses are those of another
    lines: int  # 1: some of them are straight lines between bodies
    cables: Integers  # (m, 2) first cable and number of them, 0 to 2, of each actuator
    transmission: Vector  # (s,) [m] that is drawn in per unit of u
    stiffness: Vector  # (s,) k [N/m]
    pretension: Vector  # (s,) T_0 [N]
    rest_length: Vector  # (s,) l(0) [m]
    lower: Vector  # (m,) limits of the efforts that laws may ask for
    upper: Vector  # (m,)
    l: Vector  # noqa: E741  (s,) lengths [m]
    J: Matrix  # (s, n) their gradients
    bias: Vector  # (s,)
    passive_tension: Vector  # (s,) [N] at u = 0, negative where a cable is slack then
    tension: Vector  # (s,) [N], likewise; nan where u is not known


@kernel
def measure(drives, q, qd):
    """Fill lengths and Jacobians of all cables, after an evaluation at (q, qd) with poses."""
    transmit(drives.robot, drives.l, drives.J, drives.bias, q, qd)
    if drives.lines:
        add_lines(drives.robot, drives.l, drives.J, drives.bias, q, qd)
    for i in range(len(drives.l)):
        stretch = drives.l[i] - drives.rest_length[i]
        drives.passive_tension[i] = drives.pretension[i] + drives.stiffness[i] * stretch


@kernel
def update_tensions(drives, u):
    """Fill the tensions under u (m,), after :func:`measure`."""
    for k in range(len(drives.cables)):
        first = drives.cables[k, FIRST]
        for i in range(first, first + drives.cables[k, COUNT]):
            by_command = drives.stiffness[i] * drives.transmission[i]
            drives.tension[i] = drives.passive_tension[i] + by_command * u[k]


@kernel
def effort_of(drives, k, u):
    """Effort of actuator k under the command u, after :func:`measure`."""
    first, count = drives.cables[k, FIRST], drives.cables[k, COUNT]
    if count == 0:
        return u
    effort, sign = 0.0, 1.0
    for i in range(first, first + count):
        by_command = drives.stiffness[i] * drives.transmission[i]
        effort += sign * max(drives.passive_tension[i] + by_command * u, 0.0)
        sign = -sign
    return effort


@kernel
def command_of(drives, k, effort):
    """
    Command of actuator k for an effort, after :func:`measure`.

    None is where one cable just becomes slack; where two are slack, where both are as much. What
    cannot be, less than none of one cable, is as if it could push.
    """
    first, count = drives.cables[k, FIRST], drives.cables[k, COUNT]
    if count == 0:
        return effort
    derivative = drives.stiffness[first] * drives.transmission[first]
    tension = drives.passive_tension[first]
    if count == 1:
        return (effort - tension) / derivative
    other = first + 1
    back = drives.stiffness[other] * drives.transmission[other]
    opposite = drives.passive_tension[other]
    u = (effort - tension + opposite) / (derivative - back)
    if effort > 0.0 and opposite + back * u < 0.0:
        return (effort - tension) / derivative
    if effort < 0.0 and tension + derivative * u < 0.0:
        return (-effort - opposite) / back
    return u


@kernel
def convert(drives, values, to_efforts):
    """Make efforts of commands (m,), or commands of efforts, in place."""
    for k in range(len(values)):
        if to_efforts:
            values[k] = effort_of(drives, k, values[k])
        else:
            values[k] = command_of(drives, k, values[k])


@kernel
def effort_bounds(drives, k, low, high):
    """Least and most effort of actuator k for commands from low to high, within its own limits."""
    first, count = drives.cables[k, FIRST], drives.cables[k, COUNT]
    if count == 0:
        return low, high
    lower, upper = drives.lower[k], drives.upper[k]
    if count == 1:
        derivative = drives.stiffness[first] * drives.transmission[first]
        tension = drives.passive_tension[first]
        a, b = tension + derivative * low, tension + derivative * high
    else:
        a, b = effort_of(drives, k, low), effort_of(drives, k, high)
    return min(max(min(a, b), lower), upper), min(max(max(a, b), lower), upper)


@kernel
def add_tensions(drives, h):
    """Add the pull of all cables to h (n,), a force that they act against."""
    for i in range(len(drives.tension)):
        if drives.tension[i] > 0.0:
            for j in range(len(h)):
                h[j] += drives.tension[i] * drives.J[i, j]


@kernel
def add_common(drives, h):
    """Add the common pull of two cables on one motor to h (n,)."""
    for k in range(len(drives.cables)):
        if drives.cables[k, COUNT] == 2:
            i = drives.cables[k, FIRST]
            both = max(drives.tension[i], 0.0) + max(drives.tension[i + 1], 0.0)
            if both > 0.0:
                for j in range(len(h)):
                    h[j] += 0.5 * both * (drives.J[i, j] + drives.J[i + 1, j])


@kernel
def add_stiffness(drives, ahead, qd, K):
    """
    Add the stiffness of all cables to K (n, n) that are under tension, or will be.

    They will be if they become so within ``ahead`` [s], as the robot moves now. The part that
    comes of the tension, as gradients change, is left out.
    """
    n = len(K)
    for i in range(len(drives.tension)):
        row, k = drives.J[i], drives.stiffness[i]
        if drives.tension[i] > 0.0 or drives.tension[i] + ahead * k * dot(row, qd) > 0.0:
            for a in range(n):
                for b in range(n):
                    K[a, b] += k * row[a] * row[b]


@kernel
def hold(evaluate, drives, command, h, force, output_forces, q, qd):
    """
    Evaluate at (q, qd), and let cables pull at h = ID(q, qd, 0) under the ``command`` (m,).

    ``output_forces`` (m,) become the ``force`` (m,) along y; of those with a cable, that of it.
    """
    run(evaluate, q, qd)
    measure(drives, q, qd)
    update_tensions(drives, command)
    add_tensions(drives, h)
    copy(force, output_forces)
    for k in range(len(output_forces)):
        if drives.cables[k, COUNT] == 1:
            output_forces[k] = -max(drives.tension[drives.cables[k, FIRST]], 0.0)


@kernel
def hold_common(evaluate, drives, command, h, q, qd):
    """Evaluate as :func:`hold`, but let pull at h only what no effort is."""
    run(evaluate, q, qd)
    measure(drives, q, qd)
    update_tensions(drives, command)
    add_common(drives, h)


@kernel
def cable_drive_stiffness(follow, drives, ahead, K, stiffness, q, qd):
    """Fill ``stiffness`` (n, n) with K, which ``follow`` updates first, and that of cables."""
    if follow.address != 0:
        run(follow, q, qd)
    for i in range(len(K)):
        copy(K[i], stiffness[i])
    add_stiffness(drives, ahead, qd, stiffness)


@kernel
def add_cable_stiffness(fibres, cables, drives, of_tension, pull, out, q, force):
    """
    Fill ``out`` (n, n) with the derivative by q of the force of actuators and cables at q.

    ``fibres`` fills it with that of the ``force`` (m,) along y, ``cables`` fills ``of_tension``
    (n, n) with that of ``pull`` (s,) along all cables, whose tensions are known. Both only of
    lengths within bodies.
    """
    run(fibres, q, force)
    for i in range(len(pull)):
        pull[i] = -max(drives.tension[i], 0.0)
    run(cables, q, pull)
    n = len(out)
    for a in range(n):
        for b in range(n):
            out[a, b] += of_tension[a, b]
    for i in range(len(pull)):
        if drives.tension[i] > 0.0:
            row, k = drives.J[i], drives.stiffness[i]
            for a in range(n):
                for b in range(n):
                    out[a, b] -= k * row[a] * row[b]


@kernel
def subtract_by_command(drives, first, force, q, qd):
    """
    Subtract from a force (n, k) the change of the pull of taut cables by a unit of each command.

    Its columns from ``first`` on are the derivatives by commands (m,), whose tensions are known at
    (q, qd). An entry, as few robots have cables.
    """
    for k in range(len(drives.cables)):
        begin = drives.cables[k, FIRST]
        for i in range(begin, begin + drives.cables[k, COUNT]):
            if drives.tension[i] > 0.0:
                pull = drives.stiffness[i] * drives.transmission[i]
                for j in range(len(force)):
                    force[j, first + k] -= pull * drives.J[i, j]
