# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Projected Gauss-Seidel sweeps over the contacts of a step: each gets the force of its law.

Changes shrink by about the same factor r in each sweep, so that all to come add up to r / (1 - r)
times the last. Sweeps end when these are nothing: those of all forces, or those of all velocities
at contacts. Among several forces that move the robot alike, as friction at both ends of a capsule
along it, some may go on changing for long, but nothing moves by that. Steps are counted as
unsettled where, after the last sweep, forces still change much, or contacts have moved in the
second half of all sweeps.
"""

import math

from softrobot_dynamics.compiling.jit import inlined, kernel, summing
from softrobot_dynamics.model.contact_blocks import NOWHERE
from softrobot_dynamics.recursion.contact_pairs import DAMPING, FRICTION, REBOUND, STIFFNESS

SWEEPS = 100  # over all contacts, at most
_NOTHING = 1e-7  # of the largest force: change in a sweep that is none
_SETTLED = 1e-6  # of the largest force: all changes to come that are none
_STILL = 1e-9, 1e-8  # the same of the largest velocity by the largest force alone
UNSETTLED = 1e-2  # of the largest force: change in the last sweep that is too much; and of the
#  largest velocity by a force alone: change in the second half of all sweeps


@kernel
def sweep(contact, system):
    """Change the forces of pairs that take part until they have their law; 0, or 1 if not."""
    system.change[:] = 0.0
    changed = largest = 0.0
    force_before = motion_before = math.inf
    force_last = motion_last = 1.0
    for turn in range(SWEEPS):
        changed = moved = largest = 0.0
        for c in range(system.active[0]):
            i = system.active[1 + c]
            if turn == SWEEPS // 2:
                _keep_velocity(system, i)
            by, way = _settle(contact, system, i)
            changed, moved = max(changed, by), max(moved, way)
            f = system.force[i]
            largest = max(largest, abs(f[0]), abs(f[1]), abs(f[2]))
        force_rate = changed / force_before
        motion_rate = moved / motion_before if turn > 0 else 1.0
        if _is_over(changed, max(force_rate, force_last), largest, _NOTHING, _SETTLED):
            return 0
        still = _is_over(moved, max(motion_rate, motion_last), largest, _STILL[0], _STILL[1])
        if still and turn > 0 and changed <= UNSETTLED * largest:
            return 0
        force_before, force_last = changed, force_rate
        motion_before, motion_last = moved, motion_rate
    return 1 if changed > UNSETTLED * largest else _still_moves(system)


@inlined
def _is_over(change, rate, largest, nothing, settled):
    """Tell whether a change that shrinks at a rate, and all that are to come, are nothing."""
    if change <= nothing * largest:
        return True
    return change * rate <= settled * largest * (1.0 - rate)


@kernel
def _keep_velocity(system, i):
    """Keep the velocity of a pair as it is now."""
    kept = system.kept[i]
    _, kept[0], kept[1], kept[2] = _motion(system, i)


@kernel
def _still_moves(system):
    """Return 1 if the velocity of a pair has changed since it was kept, else 0."""
    moved = by_force = 0.0
    for c in range(system.active[0]):
        i = system.active[1 + c]
        f, own, kept = system.force[i], system.own[i], system.kept[i]
        _, v0, v1, v2 = _motion(system, i)
        moved = max(moved, abs(v0 - kept[0]), abs(v1 - kept[1]), abs(v2 - kept[2]))
        by_force = max(by_force, own[1] * abs(f[0]), own[4] * max(abs(f[1]), abs(f[2])))
    return 1 if moved > UNSETTLED * by_force else 0


@inlined
def _settle(contact, system, i):
    """
    Change the force of a pair to what its law has at the end of the step.

    Returns by how much [N], and how much [N] would change velocities of the pair by as much as
    they have changed since the last sweep came to it.
    """
    f, own, before = system.force[i], system.own[i], system.force[i, 0]
    gap, along, v1, v2 = _motion(system, i)
    seen, across = system.seen[i], own[4]
    way = abs(along - seen[0]) / own[1] if own[1] > 0.0 else 0.0
    if across > 0.0:
        way = max(way, max(abs(v1 - seen[1]), abs(v2 - seen[2])) / across)
    seen[0], seen[1], seen[2] = along, v1, v2
    gap, along = gap - own[0] * before, along - own[1] * before
    pushing = _normal_force(contact, i, gap, along, own[0], own[1])
    change = pushing - before
    limit = contact.numbers[i, FRICTION] * pushing
    f1, f2 = f[1], f[2]
    if across > 0.0:
        f1 -= (v1 + own[2] * change) / across
        f2 -= (v2 + own[3] * change) / across
    size = math.sqrt(f1 * f1 + f2 * f2)
    share = 1.0 if size <= limit else limit / size
    f1, f2 = share * f1, share * f2
    d1, d2 = f1 - f[1], f2 - f[2]
    f[0], f[1], f[2] = pushing, f1, f2
    if change != 0.0 or d1 != 0.0 or d2 != 0.0:
        _follow(system, i, change, d1, d2)
    return max(abs(change), abs(d1), abs(d2)), way


@inlined
def _motion(system, i):
    """Gap and velocity along the axes of a pair, as changes of forces have them so far."""
    free, n = system.free[i], len(system.response)
    gap, v0, v1, v2 = free[0], free[1], free[2], free[3]
    for side in range(2):
        k = system.sides[i, side]
        if k != NOWHERE:
            first, last = system.blocks[k, 0], system.blocks[k, 1]
            J, c = system.J[i], system.change[2 * first : 2 * last]
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
def _follow(system, i, d0, d1, d2):
    """Change what follows from forces of a pair that change by so much along its axes."""
    n = len(system.response)
    for side in range(2):
        k = system.sides[i, side]
        if k != NOWHERE:
            first, last = 2 * system.blocks[k, 0], 2 * system.blocks[k, 1]
            by, c = system.by[i], system.change[first:last]
            x, y = by[first:last], by[2 * n + first : 2 * n + last]
            z = by[4 * n + first : 4 * n + last]
            for j in range(len(c)):
                c[j] += d0 * x[j] + d1 * y[j] + d2 * z[j]


@inlined
def _normal_force(contact, i, gap, speed, a, w):
    """
    Return the normal force [N] of a pair with these gap [m] and speed [m/s] apart without it.

    It changes them by a and w for each N.
    """
    number, e, met = contact.numbers[i], contact.restitution[i], -contact.speed[i]
    if contact.onset[i] == 0.0 and e > 0.0 and max(met, -speed) > contact.slow:
        if met <= contact.slow:
            return 0.0  # another impact has sent it here: its own is that of the next step
        return max(0.0, (e * met - speed) / w) if gap < 0.0 else 0.0
    k, c = number[STIFFNESS], number[DAMPING]
    if number[REBOUND] >= 0.0:
        c = contact.dissipation / max(contact.onset[i], met, contact.slow)
    depth, rest = -gap, 1.0 - c * speed
    if depth <= 0.0 or rest <= 0.0:
        return 0.0
    both = 1.0 + k * (depth * c * w + rest * a)
    root = both * both - 4.0 * k * k * a * c * w * depth * rest
    return 2.0 * k * depth * rest / (both + math.sqrt(max(root, 0.0)))
