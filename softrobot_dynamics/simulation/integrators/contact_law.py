# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A pair of a :class:`.contact_response.ContactSystem`: how it moves, and the law of its force.

Motions are gap [m] and velocities [m/s] along the pair's axes: normal, and two tangents.
"""

import math

from softrobot_dynamics.compiling.jit import inlined, summing
from softrobot_dynamics.model.contact_blocks import NOWHERE
from softrobot_dynamics.recursion.contact_pairs import DAMPING, REBOUND, STIFFNESS


@inlined
def motion(system, i):
    """Gap and velocity along the axes of a pair, as changes of forces have them so far."""
    free = system.free[i]
    gap, v0, v1, v2 = motion_by(system, i, system.change)
    return free[0] + gap, free[1] + v0, free[2] + v1, free[3] + v2


@inlined
def motion_by(system, i, change):
    """Motion of a pair by a change (2 n,) of the state: for each block of its q, then its qd."""
    n = len(system.J[i]) // 3
    gap = v0 = v1 = v2 = 0.0
    for side in range(2):
        k = system.sides[i, side]
        if k != NOWHERE:
            first, last = system.blocks[k, 0], system.blocks[k, 1]
            J, c = system.J[i], change[2 * first : 2 * last]
            x, y = J[first:last], J[n + first : n + last]
            z = J[2 * n + first : 2 * n + last]
            a, b, d, e = _moved(x, y, z, c[: last - first], c[last - first :])
            gap, v0, v1, v2 = gap + a, v0 + b, v1 + d, v2 + e
    return gap, v0, v1, v2


@summing
def _moved(x, y, z, q, qd):
    """Displacement along x (m,), and velocities along x, y and z, by q and qd (m,)."""
    gap = v0 = v1 = v2 = 0.0
    for j in range(len(q)):
        gap += x[j] * q[j]
        v0 += x[j] * qd[j]
        v1 += y[j] * qd[j]
        v2 += z[j] * qd[j]
    return gap, v0, v1, v2


@inlined
def follow(system, i, d0, d1, d2, change):
    """Add to a change (2 n,) what follows from forces of a pair along its axes."""
    n = len(system.J[i]) // 3
    for side in range(2):
        k = system.sides[i, side]
        if k != NOWHERE:
            first, last = 2 * system.blocks[k, 0], 2 * system.blocks[k, 1]
            by, c = system.by[i], change[first:last]
            x, y = by[first:last], by[2 * n + first : 2 * n + last]
            z = by[4 * n + first : 4 * n + last]
            for j in range(len(c)):
                c[j] += d0 * x[j] + d1 * y[j] + d2 * z[j]


@inlined
def is_impact(contact, i, speed):
    """Tell whether a pair with a restitution meets in this step; ``speed`` without its force."""
    if contact.onset[i] != 0.0 or contact.restitution[i] <= 0.0:
        return False
    return max(-contact.speed[i], -speed) > contact.slow


@inlined
def damping(contact, i):
    """Return c [s/m] of a pair in a step."""
    number = contact.numbers[i]
    if number[REBOUND] < 0.0:
        return number[DAMPING]
    return contact.dissipation / max(contact.onset[i], -contact.speed[i], contact.slow)


@inlined
def normal_force(contact, i, gap, speed, a, w):
    """
    Return the normal force [N] of a pair with these gap [m] and speed [m/s] apart without it.

    It changes them by a and w for each N.
    """
    if is_impact(contact, i, speed):
        met = -contact.speed[i]
        if met <= contact.slow:
            return 0.0  # another impact has sent it here: its own is that of the next step
        return max(0.0, (contact.restitution[i] * met - speed) / w) if gap < 0.0 else 0.0
    k, c = contact.numbers[i, STIFFNESS], damping(contact, i)
    depth, rest = -gap, 1.0 - c * speed
    if depth <= 0.0 or rest <= 0.0:
        return 0.0
    both = 1.0 + k * (depth * c * w + rest * a)
    root = both * both - 4.0 * k * k * a * c * w * depth * rest
    return 2.0 * k * depth * rest / (both + math.sqrt(max(root, 0.0)))
