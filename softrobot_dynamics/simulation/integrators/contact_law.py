# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A pair of a :class:`.contact_response.ContactSystem`: how it moves, and the law of its force.

Motions are gap [m] and velocities [m/s] along the pair's axes: normal, and two tangents.

Whether forces have their law is told by :func:`residual`, from these forces alone. Without
friction and damping f / k is the depth, which forces lessen by a positive semidefinite matrix; so
the error of all forces, as a sum of squares over k, is at most that of what they miss their law
by, however slowly a method comes to it. Changes in a sweep are no such bound.
"""

import math

from softrobot_dynamics.compiling.jit import inlined, kernel, summing
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.model.contact_blocks import NO_BLOCK
from softrobot_dynamics.recursion.contact_pairs import DAMPING, FRICTION, RESTITUTION, STIFFNESS

_GAP_ROUNDING = 1e-12  # of the detection distance, and of speeds


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
        if k != NO_BLOCK:
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
def add_response(system, i, d0, d1, d2, change):
    """Add to a change (2 n,) what follows from forces of a pair along its axes."""
    n = len(system.J[i]) // 3
    for side in range(2):
        k = system.sides[i, side]
        if k != NO_BLOCK:
            first, last = 2 * system.blocks[k, 0], 2 * system.blocks[k, 1]
            by, c = system.pair_response[i], change[first:last]
            x, y = by[first:last], by[2 * n + first : 2 * n + last]
            z = by[4 * n + first : 4 * n + last]
            for j in range(len(c)):
                c[j] += d0 * x[j] + d1 * y[j] + d2 * z[j]


@inlined
def is_impact(contact, i, speed):
    """Tell whether a pair with a restitution meets in this step; ``speed`` without its force."""
    if contact.onset[i] != 0.0 or contact.restitution[i] <= 0.0:
        return False
    return max(-contact.speed[i], -speed) > contact.min_restitution_speed


@inlined
def damping(contact, i):
    """Return c [s/m] of a pair in a step."""
    number = contact.numbers[i]
    if number[RESTITUTION] < 0.0:
        return max(number[DAMPING], contact.min_damping[i])
    speed = max(contact.onset[i], -contact.speed[i], contact.min_restitution_speed)
    return contact.dissipation / speed


@inlined
def normal_force(contact, i, gap, speed, a, w):
    """
    Return the normal force [N] of a pair with these gap [m] and speed [m/s] apart without it.

    It changes them by a and w for each N.
    """
    if is_impact(contact, i, speed):
        met = -contact.speed[i]
        if met <= contact.min_restitution_speed:
            return 0.0  # another impact has sent it here: its own is that of the next step
        return max(0.0, (contact.restitution[i] * met - speed) / w) if gap < 0.0 else 0.0
    k, c = contact.numbers[i, STIFFNESS], damping(contact, i)
    depth, rest = -gap, 1.0 - c * speed
    if depth <= 0.0 or rest <= 0.0:
        return 0.0
    both = 1.0 + k * (depth * c * w + rest * a)
    root = both * both - 4.0 * k * k * a * c * w * depth * rest
    return 2.0 * k * depth * rest / (both + math.sqrt(max(root, 0.0)))


@kernel
def move_by_forces(contact, system):
    """Fill the change of the state with what follows from all changes of forces in the step."""
    system.change[:] = 0.0
    for c in range(system.active[0]):
        i = system.active[1 + c]
        f, axes, begun = system.force[i], system.axes[i], contact.pushes[i]
        d0 = f[0] - dot(axes[:3], begun)
        d1 = f[1] - dot(axes[3:6], begun)
        d2 = f[2] - dot(axes[6:], begun)
        add_response(system, i, d0, d1, d2, system.change)


@kernel
def save_forces(system):
    """Save all forces of pairs that take part, for :func:`restore_forces`."""
    for c in range(system.active[0]):
        i = system.active[1 + c]
        copy(system.force[i], system.saved_force[i])


@kernel
def restore_forces(contact, system):
    """Take the forces that were saved, and the change of the state that follows from them."""
    for c in range(system.active[0]):
        i = system.active[1 + c]
        copy(system.saved_force[i], system.force[i])
    move_by_forces(contact, system)


@kernel
def residual(contact, system):
    """
    Return by how much forces miss their law at most, of the largest force; 0 without forces.

    A normal force misses that of its gap and speed, one of an impact that with which its pair
    parts as it should; that of a pair which another impact sends here may be 0 as well, as its own
    is that of the next step. Friction f misses the force nearest to f less the one that would stop
    all sliding, of those that the normal force allows: 0 where it holds, and where it is at its
    limit and against the velocity (maximum dissipation). The change of the state is filled anew,
    from the forces alone. Returns inf if any is not finite.
    """
    move_by_forces(contact, system)
    missed = largest = 0.0
    for c in range(system.active[0]):
        i = system.active[1 + c]
        f, own = system.force[i], system.self_response[i]
        gap, v0, v1, v2 = motion(system, i)
        meets, rounding = -contact.speed[i] > contact.min_restitution_speed, 0.0
        if meets and is_impact(contact, i, v0 - own[1] * f[0]):
            pushing = normal_force(
                contact, i, gap - own[0] * f[0], v0 - own[1] * f[0], own[0], own[1]
            )
            off = abs(pushing - f[0])
        else:
            k, depth = contact.numbers[i, STIFFNESS], max(0.0, -gap)
            lost = damping(contact, i) * v0
            rest = max(0.0, 1.0 - lost)
            pushing = k * rest * depth
            rounding = _GAP_ROUNDING * k * (rest * contact.detection_distance + depth * abs(lost))
            off = max(0.0, abs(pushing - f[0]) - rounding)
            if not meets and contact.onset[i] == 0.0 and contact.restitution[i] > 0.0:
                off = min(off, f[0])
        f1, f2 = f[1], f[2]
        if own[4] > 0.0:
            f1, f2 = f1 - v1 / own[4], f2 - v2 / own[4]
        limit, size = contact.numbers[i, FRICTION] * f[0], math.sqrt(f1 * f1 + f2 * f2)
        share = 1.0 if size <= limit else limit / size
        across = math.sqrt((share * f1 - f[1]) ** 2 + (share * f2 - f[2]) ** 2)
        off = max(off, across - contact.numbers[i, FRICTION] * rounding)
        if not math.isfinite(off + f[0] + f1 + f2):
            return math.inf
        missed, largest = max(missed, off), max(largest, f[0], pushing)
    return missed / largest if missed > 0.0 else 0.0
