# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Contact in steps of equal length: forces that fulfil their law at the end of the step.

A contact is stiffer than a step is long, so that a force of its beginning, or its middle, would
gather energy. So a step is made under the forces of the step before; then all forces f of contact,
constant over the step, are changed until the gaps d and speeds v at its end have them by the law
of :mod:`~softrobot_dynamics.recursion.contact_forces`. Changes of forces move the robot as a
linear one, as :mod:`.exponential_step` has it, with its stiffness and damping::

    d = d* + J X df,   v = v* + J V df,   f_n = k max(0, -d) max(0, 1 - c v_n)

Normal forces are the roots of a quadratic equation each, given all others; friction stops all
sliding that forces up to m f_n can stop, and opposes the rest: there is no creep. Sweeps over all
contacts (:mod:`.contact_gauss_seidel`) end when nothing changes any more.
Surfaces that meet and have a restitution e part at e times the speed of approach at once (Moreau,
1988). Those that come so fast that they overlap before they are near have a spring that no work
has wound up: their c is large enough for them to part no faster than they came.
"""

import math

from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.model.contact_blocks import NO_BLOCK
from softrobot_dynamics.recursion.contact_kinematics import find_contacts
from softrobot_dynamics.simulation.integrators.contact_gauss_seidel import sweep
from softrobot_dynamics.simulation.integrators.contact_response import respond

_MAX_APPROACH = 0.5  # of the detection distance, in a step; a faster body may be past it before


@kernel
def begin_contact(contact, h, q, qd):
    """
    Find what is near at (q, qd), after an evaluation there, and apply the forces that last.

    Those that have been applied before, h = ID(q, qd, 0) has in it.
    """
    find_contacts(contact, q, qd)
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
        if contact.gap[i] >= contact.detection_distance:
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
def end_contact(contact, system, K, D, b, q, span):
    """Change the state b.q, b.qd after a step of span[0] [s] from q (n,) by contact."""
    h = span[0]
    contact.moving.time[0] += h
    _take_part(contact, system, q, h, b)
    if system.active[0] == 0:
        return
    respond(system, K, D, h, b)
    contact.unsettled[0] += sweep(contact, system)
    for k in range(len(system.blocks)):
        first, last = system.blocks[k, 0], system.blocks[k, 1]
        for j in range(first, last):
            b.q[j] += system.change[first + j]
            b.qd[j] += system.change[last + j]
    for c in range(system.active[0]):
        i = system.active[1 + c]
        f, axes = system.force[i], system.axes[i]
        for k in range(3):
            contact.pushes[i, k] = f[0] * axes[k] + f[1] * axes[3 + k] + f[2] * axes[6 + k]
        contact.force[i] = f[0]
        if f[0] > 0.0 and contact.onset[i] == 0.0:
            contact.onset[i] = max(-contact.speed[i], contact.min_restitution_speed)


@kernel
def _take_part(contact, system, q, h, b):
    """List the pairs that take part in a step of h [s] from q (n,), and fill their rows."""
    n, active = len(b.q), 0
    system.blocks[:, 2] = 0
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        contact.force[i] = 0.0
        if contact.gap[i] >= contact.detection_distance:
            continue
        J, N, free = contact.J[i], contact.normal[i], system.free[i]
        free[0] = contact.gap[i] + h * dot(N, contact.drift[i])
        for j in range(n):
            free[0] += (N[0] * J[j] + N[1] * J[n + j] + N[2] * J[2 * n + j]) * (b.q[j] - q[j])
        if free[0] >= 0.0 and contact.lasting[i] == 0.0:
            continue
        if contact.restitution[i] > 0.0 and contact.speed[i] > contact.min_restitution_speed:
            contact.onset[i] = 0.0  # they part: to come back, still overlapping, is another impact
        if contact.onset[i] == 0.0:
            came = -contact.speed[i]
            unseen = contact.gap[i] < 0.0 and came * h > _MAX_APPROACH * contact.detection_distance
            contact.min_damping[i] = 1.0 / came if unseen else 0.0
        active += 1
        system.active[active] = i
        _fill_rows(contact, system, i, b.qd)
        for side in range(2):
            k = system.sides[i, side]
            if k != NO_BLOCK:
                system.blocks[k, 2] += 1
    system.active[0] = active


@kernel
def _fill_rows(contact, system, i, qd):
    """Fill the axes of a pair, its Jacobian, velocity and force along them."""
    n, J, N, axes = len(qd), contact.J[i], contact.normal[i], system.axes[i]
    _fill_axes(N, axes)
    for a in range(3):
        e0, e1, e2 = axes[3 * a], axes[3 * a + 1], axes[3 * a + 2]
        row, f, drift = system.J[i, a * n : (a + 1) * n], contact.pushes[i], contact.drift[i]
        for j in range(n):
            row[j] = e0 * J[j] + e1 * J[n + j] + e2 * J[2 * n + j]
        system.free[i, 1 + a] = e0 * drift[0] + e1 * drift[1] + e2 * drift[2] + dot(row, qd)
        system.force[i, a] = e0 * f[0] + e1 * f[1] + e2 * f[2]


@inlined
def _fill_axes(N, axes):
    """Fill axes (9,) with a normal (3,) and two tangents (Duff and others, 2017)."""
    sign = math.copysign(1.0, N[2])
    a = -1.0 / (sign + N[2])
    b = N[0] * N[1] * a
    axes[0], axes[1], axes[2] = N[0], N[1], N[2]
    axes[3], axes[4], axes[5] = 1.0 + sign * N[0] * N[0] * a, sign * b, -sign * N[0]
    axes[6], axes[7], axes[8] = b, sign + N[1] * N[1] * a, -N[1]
