# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Projected Gauss-Seidel sweeps over the contacts of a step: each gets the force of its law.

Changes shrink by about the same factor r in each sweep, so that all to come add up to r / (1 - r)
times the last. Sweeps end when these are nothing: those of all forces, or those of all velocities
at contacts. Among several forces that move the robot alike, as friction at both ends of a capsule
along it, some may go on changing for long, but nothing moves by that. Where so many sweeps are
to come that they are slow, :mod:`.contact_newton` finds all forces together; what it finds is
taken back where that is no solution, so that a step without one has forces that sweeps left, which
gather no energy. Steps are counted as unsettled by the residual of their forces
(:func:`.contact_law.residual`), not by how either method went on.
"""

import math

from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.recursion.contact_pairs import FRICTION
from softrobot_dynamics.simulation.integrators.contact_law import (
    add_response,
    motion,
    normal_force,
    residual,
    restore_forces,
    save_forces,
)
from softrobot_dynamics.simulation.integrators.contact_newton import solve_together

MAX_SWEEPS = 100  # over all contacts
_MIN_SWEEPS = 8  # before which nothing is said of how many are to come
_MAX_DIRECT_SOLVES = 6  # for all forces together, at least _MIN_SWEEPS apart
_DIRECT_SOLVE_SWEEPS = 80  # fewer sweeps take no longer than a direct solve
_CHANGE_TOLERANCE = 1e-10  # of the largest force, in a sweep
_REMAINING_TOLERANCE = 1e-6  # of the largest force, of all changes to come
# the same two, of the largest velocity by the largest force alone
_VELOCITY_TOLERANCES = 1e-12, 1e-8
_MAX_FORCE_CHANGE = 1e-2  # of the largest force; with more, velocities alone do not end the sweeps
_SOLVED_RESIDUAL = 1e-4  # of the largest force; forces with less are kept at once
MAX_RESIDUAL = 1e-2  # of the largest force


@kernel
def sweep(contact, system):
    """Change the forces of pairs that take part until they have their law; 0, or 1 if not."""
    system.change[:] = 0.0
    force_before = motion_before = math.inf
    force_rate = motion_rate = 1.0
    next_try, tries = _MIN_SWEEPS, 0
    for turn in range(MAX_SWEEPS):
        changed, moved, largest = _sweep_once(contact, system)
        force_last, motion_last = force_rate, motion_rate
        force_rate = changed / force_before
        motion_rate = moved / motion_before if turn > 0 else 1.0
        by_force, by_motion = max(force_rate, force_last), max(motion_rate, motion_last)
        force_before, motion_before = changed, moved
        over = _is_over(changed, by_force, largest, _CHANGE_TOLERANCE, _REMAINING_TOLERANCE) or (
            turn > 0
            and changed <= _MAX_FORCE_CHANGE * largest
            and _is_over(
                moved, by_motion, largest, _VELOCITY_TOLERANCES[0], _VELOCITY_TOLERANCES[1]
            )
        )
        if over and residual(contact, system) <= MAX_RESIDUAL:
            return 0
        if tries == _MAX_DIRECT_SOLVES or not (turn + 1 >= next_try or (over and tries == 0)):
            continue
        left = max(0, _DIRECT_SOLVE_SWEEPS - turn)
        if over or not (
            _is_near(changed, by_force, left, largest, _REMAINING_TOLERANCE)
            or _is_near(moved, by_motion, left, largest, _VELOCITY_TOLERANCES[1])
        ):
            if _solve(contact, system) <= _SOLVED_RESIDUAL:
                return 0
            next_try, tries = turn + 1 + _MIN_SWEEPS, tries + 1
    return 0 if _solve(contact, system) <= MAX_RESIDUAL else 1


@kernel
def _solve(contact, system):
    """Solve for all forces together, or leave them as they are; return the residual."""
    before = residual(contact, system)
    save_forces(system)
    solve_together(contact, system)
    after = residual(contact, system)
    if after <= MAX_RESIDUAL and after < before:
        return after
    restore_forces(contact, system)
    return before


@kernel
def _sweep_once(contact, system):
    """Settle each pair; return the largest changes of forces and velocities, and force [N]."""
    changed = moved = largest = 0.0
    for c in range(system.active[0]):
        i = system.active[1 + c]
        by, way = _solve_pair(contact, system, i)
        changed, moved = max(changed, by), max(moved, way)
        f = system.force[i]
        largest = max(largest, abs(f[0]), abs(f[1]), abs(f[2]))
    return changed, moved, largest


@inlined
def _is_near(change, rate, sweeps, largest, settled):
    """Tell whether after so many more sweeps a change that shrinks at a rate is over."""
    return change * rate**sweeps <= settled * largest * (1.0 - rate)


@inlined
def _is_over(change, rate, largest, nothing, settled):
    """Tell whether a change that shrinks at a rate, and all that are to come, are nothing."""
    return change <= nothing * largest or _is_near(change, rate, 1, largest, settled)


@inlined
def _solve_pair(contact, system, i):
    """
    Change the force of a pair to what its law has at the end of the step.

    Returns by how much [N], and how much [N] would change velocities of the pair by as much as
    they have changed since the last sweep came to it.
    """
    f, own, before = system.force[i], system.self_response[i], system.force[i, 0]
    gap, along, v1, v2 = motion(system, i)
    seen, across = system.sweep_velocity[i], own[4]
    way = abs(along - seen[0]) / own[1] if own[1] > 0.0 else 0.0
    if across > 0.0:
        way = max(way, max(abs(v1 - seen[1]), abs(v2 - seen[2])) / across)
    seen[0], seen[1], seen[2] = along, v1, v2
    gap, along = gap - own[0] * before, along - own[1] * before
    pushing = normal_force(contact, i, gap, along, own[0], own[1])
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
        add_response(system, i, change, d1, d2, system.change)
    return max(abs(change), abs(d1), abs(d2)), way
