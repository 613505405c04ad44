# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Forces of contact in an evaluation of a robot, and their stiffness and damping.

Two surfaces that overlap by d = -gap push each other apart along their normal by the law of Hunt
and Crossley (1975), ::

    f = k d (1 + c d'),   f >= 0

with a stiffness k [N/m] and a damping c [s/m], which is given or follows from a restitution
(:mod:`.restitution`). Friction is that of Coulomb, against the velocity v_t along the surfaces,

    f_t = -m f v_t / sqrt(|v_t|^2 + v_0^2)

smooth at rest: surfaces that friction holds creep at less than the ``slip`` v_0. Friction
never gains energy. The generalized force is J^T (f n + f_t), with the Jacobian J of
:mod:`.contact_kinematics`.
"""

import math

from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.recursion.contact_kinematics import find_contacts
from softrobot_dynamics.recursion.contact_pairs import DAMPING, FRICTION, RESTITUTION, STIFFNESS
from softrobot_dynamics.recursion.restitution import impact_damping


@kernel
def evaluate_with_contact(evaluate, contact, h, q, qd):
    """Evaluate at (q, qd), with poses, and take the force of contact from h = ID(q, qd, 0)."""
    run(evaluate, q, qd)
    find_contacts(contact, q, qd)
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        if contact.gap[i] < contact.detection_distance:
            _pair_force(contact, i)
            if contact.force[i] > 0.0:
                _subtract_force(contact, i, h)


@kernel
def add_contact_stiffness(contact, K, D):
    """
    Add the stiffness and damping of contact to K, D (n, n).

    After :func:`evaluate_with_contact` at a state; changes of normals and Jacobians are left out.
    """
    n = len(K)
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        if contact.gap[i] >= 0.0:
            continue
        J, N, k = contact.J[i], contact.normal[i], contact.numbers[i, STIFFNESS]
        f, depth = contact.force[i], max(0.0, -contact.gap[i])
        normal_damping = k * depth * contact.damping[i] if f > 0.0 else 0.0
        normal_stiffness = k * max(0.0, 1.0 - contact.damping[i] * contact.speed[i])
        friction_damping, t = contact.numbers[i, FRICTION] * f, contact.sliding[i]
        friction_damping /= math.sqrt(dot(t, t) + contact.slip * contact.slip)
        x, y, z = J[:n], J[n : 2 * n], J[2 * n : 3 * n]
        for a in range(n):
            normal_a = N[0] * x[a] + N[1] * y[a] + N[2] * z[a]
            for b in range(n):
                normal_ab = normal_a * (N[0] * x[b] + N[1] * y[b] + N[2] * z[b])
                K[a, b] += normal_stiffness * normal_ab
                D[a, b] += normal_damping * normal_ab
                if friction_damping > 0.0:
                    all_ab = x[a] * x[b] + y[a] * y[b] + z[a] * z[b]
                    D[a, b] += friction_damping * (all_ab - normal_ab)


@kernel
def _pair_force(contact, i):
    """Fill the forces of a pair; those of one that is apart are 0."""
    number, depth, t = contact.numbers[i], -contact.gap[i], contact.sliding[i]
    friction = contact.friction[i]
    friction[:] = 0.0
    if depth <= 0.0:
        contact.damping[i] = number[DAMPING] if number[RESTITUTION] < 0.0 else 0.0
        return
    contact.damping[i] = impact_damping(contact, i)
    f = number[STIFFNESS] * depth * max(0.0, 1.0 - contact.damping[i] * contact.speed[i])
    contact.force[i] = f
    ratio = number[FRICTION] * f / math.sqrt(dot(t, t) + contact.slip * contact.slip)
    for k in range(3):
        friction[k] = -ratio * t[k]


@inlined
def _subtract_force(contact, i, h):
    """Take the generalized force of a pair from h (n,)."""
    J, N, f, t, n = contact.J[i], contact.normal[i], contact.force[i], contact.friction[i], len(h)
    x, y, z = f * N[0] + t[0], f * N[1] + t[1], f * N[2] + t[2]
    for j in range(n):
        h[j] -= J[j] * x + J[n + j] * y + J[2 * n + j] * z
