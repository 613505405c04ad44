# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Contact in steps of equal length: forces that fulfil their law at the end of the step.

A contact is stiffer than a step is long, so that a force of its beginning, or its middle, would
gather energy. So a step is made under the forces of the step before; then all forces f of contact,
constant over the step, are changed until the gaps d and speeds v at its end have them by the law
of :mod:`softrobot_dynamics.recursion.contact`. Changes of forces move the robot as a linear one,
as :mod:`.exponential_step` has it, with its stiffness and damping::

    d = d* + J X df,   v = v* + J V df,   f_n = k max(0, -d) max(0, 1 - c v_n)

Normal forces are the roots of a quadratic equation each, given all others; friction stops all
sliding that forces up to m f_n can stop, and opposes the rest: there is no creep. Sweeps over all
contacts (projected Gauss and Seidel) end when nothing changes any more. Surfaces that meet and
have a restitution e part at e times the speed of approach at once (Moreau, 1988).
"""

import math

from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.recursion.contact import (
    DAMPING,
    find_contacts,
    FRICTION,
    REBOUND,
    STIFFNESS,
)
from softrobot_dynamics.simulation.integrators.exponential_step import respond

SWEEPS = 100  # over all contacts, at most
_SETTLED = 1e-7  # change of a force in a sweep, of the largest: nothing changes any more


@kernel
def begin_contact(contact, h, q, qd):
    """
    Find what is near at (q, qd), after an evaluation there, and apply the forces that last.

    Those that have been applied before, h = ID(q, qd, 0) has in it.
    """
    find_contacts(contact, q, qd, len(contact.applied))
    apply_lasting(contact, h)


@kernel
def apply_lasting(contact, h):
    """Apply the forces that last, of contacts that were found, in place of those before."""
    n = len(contact.applied)
    for j in range(n):
        h[j] += contact.applied[j]
        contact.applied[j] = 0.0
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        f = contact.pushes[i]
        if contact.gap[i] >= contact.reach:
            f[:] = 0.0
        keeps = f[0] != 0.0 or f[1] != 0.0 or f[2] != 0.0
        if not keeps:
            contact.lasting[i] = 0.0
        if contact.lasting[i] == 0.0:
            f[:] = 0.0
        else:
            J = contact.J[i]
            for j in range(n):
                contact.applied[j] += J[j] * f[0] + J[n + j] * f[1] + J[2 * n + j] * f[2]
        contact.lasting[i] = 1.0 if keeps else 0.0
    for j in range(n):
        h[j] -= contact.applied[j]


@kernel
def end_contact(contact, K, b, q, span):
    """Change the state b.q, b.qd after a step of span[0] [s] from q (n,) by contact."""
    n, h, active = len(contact.applied), span[0], False
    change = contact.change
    change[:] = 0.0
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        contact.force[i] = 0.0
        if contact.gap[i] >= contact.reach:
            continue
        gap = _gap(contact, i, q, b, n)
        if gap < 0.0 or contact.lasting[i] != 0.0:
            active, contact.force[i] = True, 1.0  # it takes part
            for k in range(3):
                column = contact.J[i, k * n : (k + 1) * n]
                x, v = contact.by_q[i, k * n :], contact.by_qd[i, k * n :]
                respond(K, h, column, x, v, b)
    if not active:
        return
    for _ in range(SWEEPS):
        changed, largest = 0.0, 0.0
        for c in range(contact.candidates[0]):
            i = contact.candidates[1 + c]
            if contact.force[i] != 0.0:
                changed = max(changed, _settle(contact, i, q, b, n))
                f = contact.pushes[i]
                largest = max(largest, abs(f[0]), abs(f[1]), abs(f[2]))
        if changed <= _SETTLED * largest:
            break
    for j in range(n):
        b.q[j] += change[0, j]
        b.qd[j] += change[1, j]
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        if contact.force[i] != 0.0:
            N, f = contact.normal[i], contact.pushes[i]
            contact.force[i] = max(0.0, dot(N, f))
            if contact.force[i] > 0.0 and contact.onset[i] == 0.0:
                contact.onset[i] = max(-contact.speed[i], contact.slow)


@inlined
def _gap(contact, i, q, b, n):
    """Gap [m] of a pair at the end of the step, as changes of forces have it so far."""
    J, N, gap = contact.J[i], contact.normal[i], contact.gap[i]
    for j in range(n):
        moved = b.q[j] - q[j] + contact.change[0, j]
        gap += (N[0] * J[j] + N[1] * J[n + j] + N[2] * J[2 * n + j]) * moved
    return gap


@kernel
def _settle(contact, i, q, b, n):
    """Change the force of a pair to what its law has at the end of the step; by how much [N]."""
    J, N, f, x, y = (
        contact.J[i],
        contact.normal[i],
        contact.pushes[i],
        contact.by_q[i],
        contact.by_qd[i],
    )
    a = w = whole = 0.0  # what normal forces do to gap and speed; forces along all axes, to speeds
    for k in range(3):
        for m in range(3):
            by_x, by_v = 0.0, 0.0
            for j in range(n):
                by_x += J[k * n + j] * x[m * n + j]
                by_v += J[k * n + j] * y[m * n + j]
            a += N[k] * by_x * N[m]
            w += N[k] * by_v * N[m]
            if k == m:
                whole += by_v
    before, v = dot(f, N), contact.sliding[i]
    along = _velocity(contact, i, b, n)
    gap = _gap(contact, i, q, b, n)
    pushing = _normal_force(contact, i, gap - a * before, along - w * before, a, w)
    for k in range(3):
        _change(contact, i, k, (pushing - before) * N[k], n)
    changed = abs(pushing - before)
    limit = contact.numbers[i, FRICTION] * pushing
    if limit == 0.0 and before == 0.0:
        return changed
    along = _velocity(contact, i, b, n)
    t, across = contact.friction[i], 0.5 * (whole - w)
    size, pushing = 0.0, dot(f, N)
    for k in range(3):
        t[k] = f[k] - pushing * N[k]
        if across > 0.0:
            t[k] -= (v[k] - along * N[k]) / across
        size += t[k] * t[k]
    size = math.sqrt(size)
    share = 1.0 if size <= limit else limit / size
    for k in range(3):
        t[k] *= share
        df = t[k] - (f[k] - pushing * N[k])
        changed = max(changed, abs(df))
        _change(contact, i, k, df, n)
    return changed


@inlined
def _velocity(contact, i, b, n):
    """Fill the relative velocity of a pair at the end of the step; return that apart [m/s]."""
    J, v, N = contact.J[i], contact.sliding[i], contact.normal[i]
    for k in range(3):
        v[k] = 0.0
        for j in range(n):
            v[k] += J[k * n + j] * (b.qd[j] + contact.change[1, j])
    return v[0] * N[0] + v[1] * N[1] + v[2] * N[2]


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


@inlined
def _change(contact, i, k, df, n):
    """Change a component of the force of a pair, and what follows from it."""
    contact.pushes[i, k] += df
    for j in range(n):
        contact.change[0, j] += contact.by_q[i, k * n + j] * df
        contact.change[1, j] += contact.by_qd[i, k * n + j] * df
