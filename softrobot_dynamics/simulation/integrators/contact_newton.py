# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Newton's method for the forces of contact of a step, where sweeps over the pairs are slow.

Sweeps over a stack pass a force on from one body to the next; all forces together are a root of
::

    f = F(u),   u = free + U (f - f0)

with the motions u of all pairs, which forces move by U, and the law F. A friction that holds is no
function of the velocity v_t along the surfaces; so F takes that of the iteration before, as the
method of multipliers does::

    F_t = P(f_t - r v_t)

with the projection P to what the normal force holds. It has the same roots, for any r, and so has
an impact along the normal. U = J R J^T with the response R of the robot, so that a step needs the
solution s (n,) of (1 - J^T F' R J^T') s = J^T (F - f) only, of as many equations as the robot has
coordinates.

The first steps hold the limits of friction at what normal forces before them allow (Tresca's
friction): they go to the one solution of a convex problem. From farther away steps that change
both may come to another solution of Coulomb's law, with much larger forces that jam against each
other.

A step d f is shortened to a share t where it goes too far: to a root of ::

    (U_v df) . (f + t df - F(u + t U df))

which, where F is the gradient of an energy, is where the energy along the step is least.
"""

import math

from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.linalg import solve_general
from softrobot_dynamics.model.contact_blocks import NO_BLOCK
from softrobot_dynamics.recursion.contact_pairs import FRICTION, STIFFNESS
from softrobot_dynamics.simulation.integrators.contact_law import (
    add_response,
    damping,
    is_impact,
    motion,
    motion_by,
)

MAX_ITERATIONS = 25
_MAX_HELD_ITERATIONS = 6  # the first, which hold the limits of friction
_RELEASE_STEP = 1e-2  # of the largest force; after a smaller step these are held no longer
_STEP_TOLERANCE = 1e-6  # of the largest force; a step that changes velocities by less is the last
# the same of steps that do not shrink: friction that moves nothing may grow on
_STALLED_STEP_TOLERANCE = 1e-4
_MIN_SHRINKING = 0.5  # of the step before
_AUGMENTATION = 1e3  # r, times what a force of the pair changes its velocity by
# of the first slope along a step: accepted at its end; and where it is shortened
_SLOPE_FRACTIONS = 0.1, 0.3
_MAX_HALVINGS = 30
# of a row of laws: k, c, r of an impact and the speed at which it parts, r of friction and its
# limit [N], < 0 if none is given
_SPRING, _DAMPING, _STOP, _PARTING_SPEED, _HELD, _LIMIT = range(6)
#  impact and the speed at which it parts, r of friction and its limit [N], < 0 if none is given


@kernel
def solve_together(contact, system):
    """Change the forces of pairs that take part by Newton's method; they may be no solution."""
    found, held = math.inf, _MAX_HELD_ITERATIONS
    for turn in range(MAX_ITERATIONS):
        largest = _linearise(contact, system, turn == 0, turn < held)
        if solve_general(system.matrix, system.unknown) != 0:
            return
        size = _newton_step(system)
        share = _line_search(contact, system)
        if not (share > 0.0 and largest > 0.0):
            return
        _take_step(system, share)
        before, found = found, size / largest
        if turn < held:
            held = turn + 1 if share == 1.0 and found <= _RELEASE_STEP else held
        elif share == 1.0 and found <= (
            _STEP_TOLERANCE if found < _MIN_SHRINKING * before else _STALLED_STEP_TOLERANCE
        ):
            return


@kernel
def _linearise(contact, system, first, held):
    """Fill motions, laws and their slopes, and the equations; return the largest force [N]."""
    A, b, largest = system.matrix, system.unknown, 0.0
    A[:, :] = 0.0
    for j in range(len(A)):
        A[j, j], b[j, 0] = 1.0, 0.0
    for c in range(system.active[0]):
        i = system.active[1 + c]
        u, f, r = system.motion[i], system.force[i], system.step[i]
        u[0], u[1], u[2], u[3] = motion(system, i)
        _fill_law(contact, system, i, first, held)
        f0, f1, f2 = _law(contact, system, i, u[0], u[1], u[2], u[3])
        r[0], r[1], r[2] = f0 - f[0], f1 - f[1], f2 - f[2]
        largest = max(largest, abs(f0), abs(f1), abs(f2))
        _fill_slopes(contact, system, i, f0)
        _add_equations(system, i)
    return largest


@inlined
def _fill_law(contact, system, i, first, held):
    """Fill the numbers of a pair's law, see _SPRING and so on, for the motions as they are."""
    law, own, u, f = system.laws[i], system.self_response[i], system.motion[i], system.force[i, 0]
    law[_SPRING], law[_DAMPING] = contact.numbers[i, STIFFNESS], damping(contact, i)
    law[_STOP] = law[_PARTING_SPEED] = 0.0
    law[_HELD] = _AUGMENTATION / own[4] if own[4] > 0.0 else 0.0
    if first:
        law[_LIMIT] = contact.numbers[i, FRICTION] * max(0.0, f)
    elif not held:
        law[_LIMIT] = -1.0
    if is_impact(contact, i, u[1] - own[1] * f):
        law[_SPRING], met = 0.0, -contact.speed[i]
        if met > contact.min_restitution_speed and u[0] - own[0] * f < 0.0 and own[1] > 0.0:
            law[_STOP], law[_PARTING_SPEED] = _AUGMENTATION / own[1], contact.restitution[i] * met


@inlined
def _law(contact, system, i, gap, v0, v1, v2):
    """Return the forces [N] of a pair along its axes by the law, at a motion."""
    law, f = system.laws[i], system.force[i]
    if law[_STOP] > 0.0:
        pushing = max(0.0, f[0] - law[_STOP] * (v0 - law[_PARTING_SPEED]))
    else:
        pushing = law[_SPRING] * max(0.0, -gap) * max(0.0, 1.0 - law[_DAMPING] * v0)
    f1, f2 = f[1] - law[_HELD] * v1, f[2] - law[_HELD] * v2
    limit, size = law[_LIMIT], math.sqrt(f1 * f1 + f2 * f2)
    if limit < 0.0:
        limit = contact.numbers[i, FRICTION] * pushing
    share = 1.0 if size <= limit else limit / size
    return pushing, share * f1, share * f2


@inlined
def _fill_slopes(contact, system, i, pushing):
    """Fill the slopes (3, 4) of a pair's law by its motion, where its normal force is pushing."""
    law, f, u, S = system.laws[i], system.force[i], system.motion[i], system.slopes[i]
    S[:] = 0.0
    if pushing > 0.0:
        if law[_STOP] > 0.0:
            S[1] = -law[_STOP]
        else:
            S[0] = -law[_SPRING] * (1.0 - law[_DAMPING] * u[1])
            S[1] = law[_SPRING] * law[_DAMPING] * u[0]
    f1, f2 = f[1] - law[_HELD] * u[2], f[2] - law[_HELD] * u[3]
    mu, limit, size = 0.0, law[_LIMIT], math.sqrt(f1 * f1 + f2 * f2)
    if limit < 0.0:
        mu = contact.numbers[i, FRICTION]
        limit = mu * pushing
    if size <= limit:
        S[6] = S[11] = -law[_HELD]
        return
    e1, e2, held = f1 / size, f2 / size, law[_HELD] * limit / size
    S[4], S[5], S[8], S[9] = mu * e1 * S[0], mu * e1 * S[1], mu * e2 * S[0], mu * e2 * S[1]
    S[6], S[7] = -held * e2 * e2, held * e1 * e2
    S[10], S[11] = S[7], -held * e1 * e1


@kernel
def _add_equations(system, i):
    """Add to the equations what a pair has in them."""
    n, r, S, J = len(system.matrix), system.step[i], system.slopes[i], system.J[i]
    for other in range(2):
        k = system.sides[i, other]
        if k == NO_BLOCK:
            continue
        first, last = system.blocks[k, 0], system.blocks[k, 1]
        size, by, by_unit = last - first, system.pair_response[i], system.by_unit
        for j in range(size):
            gap, v0 = by[2 * first + j], by[2 * first + size + j]
            v1, v2 = by[2 * (n + first) + size + j], by[2 * (2 * n + first) + size + j]
            for a in range(3):
                by_unit[a, j] = (
                    S[4 * a] * gap + S[4 * a + 1] * v0 + S[4 * a + 2] * v1 + S[4 * a + 3] * v2
                )
        for side in range(2):
            m = system.sides[i, side]
            if m != NO_BLOCK:
                for p in range(system.blocks[m, 0], system.blocks[m, 1]):
                    row = system.matrix[p, first:last]
                    _subtract(J[p], J[n + p], J[2 * n + p], by_unit, row)
        for p in range(first, last):
            system.unknown[p, 0] += J[p] * r[0] + J[n + p] * r[1] + J[2 * n + p] * r[2]


@inlined
def _subtract(x, y, z, rows, out):
    """Subtract x, y and z times three rows from another one."""
    for j in range(len(out)):
        out[j] -= x * rows[0, j] + y * rows[1, j] + z * rows[2, j]


@kernel
def _newton_step(system):
    """Fill the steps of forces and of the state; return its size [N], see above."""
    n, s, found = len(system.matrix), system.unknown, 0.0
    system.change_step[:] = 0.0
    for c in range(system.active[0]):
        i = system.active[1 + c]
        gap = v0 = v1 = v2 = 0.0
        for side in range(2):
            k = system.sides[i, side]
            if k == NO_BLOCK:
                continue
            first, last = system.blocks[k, 0], system.blocks[k, 1]
            size, by = last - first, system.pair_response[i]
            for j in range(size):
                gap += by[2 * first + j] * s[first + j, 0]
                v0 += by[2 * first + size + j] * s[first + j, 0]
                v1 += by[2 * (n + first) + size + j] * s[first + j, 0]
                v2 += by[2 * (2 * n + first) + size + j] * s[first + j, 0]
        S, d = system.slopes[i], system.step[i]
        for a in range(3):
            d[a] += S[4 * a] * gap + S[4 * a + 1] * v0 + S[4 * a + 2] * v1 + S[4 * a + 3] * v2
        add_response(system, i, d[0], d[1], d[2], system.change_step)
        found = max(found, abs(d[0]))
    for c in range(system.active[0]):
        i = system.active[1 + c]
        pace, own = system.motion_step[i], system.self_response[i]
        pace[0], pace[1], pace[2], pace[3] = motion_by(system, i, system.change_step)
        if own[1] > 0.0:
            found = max(found, abs(pace[1]) / own[1])
        if own[4] > 0.0:
            found = max(found, max(abs(pace[2]), abs(pace[3])) / own[4])
    return found


@kernel
def _line_search(contact, system):
    """Return the share of the step that does not go too far; 0 if it leads nowhere."""
    start, end = _slope(contact, system, 0.0), _slope(contact, system, 1.0)
    if start == 0.0 or abs(end) <= _SLOPE_FRACTIONS[0] * abs(start) or start * end > 0.0:
        return 1.0
    low, high, share = 0.0, 1.0, 0.0
    for _ in range(_MAX_HALVINGS):
        share = 0.5 * (low + high)
        here = _slope(contact, system, share)
        if abs(here) <= _SLOPE_FRACTIONS[1] * abs(start):
            break
        if here * start > 0.0:
            low = share
        else:
            high = share
    return share if math.isfinite(end) else 0.0


@kernel
def _slope(contact, system, share):
    """Return the slope along the step [W], see above, at a share of it."""
    total = 0.0
    for c in range(system.active[0]):
        i = system.active[1 + c]
        u, pace, f, d = system.motion[i], system.motion_step[i], system.force[i], system.step[i]
        f0, f1, f2 = _law(
            contact,
            system,
            i,
            u[0] + share * pace[0],
            u[1] + share * pace[1],
            u[2] + share * pace[2],
            u[3] + share * pace[3],
        )
        total += pace[1] * (f[0] + share * d[0] - f0)
        total += pace[2] * (f[1] + share * d[1] - f1)
        total += pace[3] * (f[2] + share * d[2] - f2)
    return total


@kernel
def _take_step(system, share):
    """Change forces, and the state by them, by a share of the step."""
    for j in range(len(system.change)):
        system.change[j] += share * system.change_step[j]
    for c in range(system.active[0]):
        i = system.active[1 + c]
        for a in range(3):
            system.force[i, a] += share * system.step[i, a]
