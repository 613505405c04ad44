# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Gaps between elements that may touch, the speeds at which they change, and their Jacobians.

The Jacobian J (3, n) of a pair is that of the velocity of its first element relative to its second
at the point in the middle between their surfaces.
"""

from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.recursion.broad_phase import measure_pair, update_candidates
from softrobot_dynamics.recursion.contact_pairs import A, A_END, B, B_END
from softrobot_dynamics.recursion.obstacle_motion import move_obstacles, surface_velocity


@kernel
def find_contacts(contact, q, qd):
    """
    Fill gaps, speeds and Jacobians of candidates at (q, qd), after an evaluation there with poses.

    Forces are set to 0. Called by address: what measures distances takes long to compile.
    """
    run(contact.find, q, qd)


@kernel
def measure_contacts(contact, n, q, qd):
    """Do as :func:`find_contacts`, for n coordinates."""
    if contact.place_frames.address != 0:
        run(contact.place_frames, q, qd)
    move_obstacles(contact.moving, contact.frames)
    update_candidates(contact)
    contact.needed[:] = 0.0
    near = False
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        measure_pair(contact, i)
        contact.speed[i] = contact.force[i] = 0.0
        if contact.gap[i] < contact.detection_distance:
            pair, near = contact.pairs[i], True
            for k in range(A, B_END + 1):
                contact.needed[pair[k]] = 1.0
        else:
            contact.onset[i] = 0.0
    if not near:
        return
    if contact.differentiate.address != 0:
        run(contact.differentiate, q, qd)
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        if contact.gap[i] < contact.detection_distance:
            _relative_velocity(contact, i, qd, n)
            if contact.gap[i] >= 0.0:
                contact.onset[i] = 0.0


@kernel
def _relative_velocity(contact, i, qd, n):
    """Fill the Jacobian of the relative velocity of a pair, and this velocity."""
    pair, J, s = contact.pairs[i], contact.J[i], contact.segment_parameters[i]
    J[:] = 0.0
    _add_side(contact, pair[A], pair[A_END], s[0], 1.0, contact.point[i], J, n)
    _add_side(contact, pair[B], pair[B_END], s[1], -1.0, contact.point[i], J, n)
    v, N = contact.sliding[i], contact.normal[i]
    drift = contact.drift[i]
    if len(contact.moving.formulas) > 0:
        _surface_velocity(contact, i)
    for k in range(3):
        v[k] = drift[k]
        for j in range(n):
            v[k] += J[k * n + j] * qd[j]
    speed = v[0] * N[0] + v[1] * N[1] + v[2] * N[2]
    contact.speed[i] = speed
    for k in range(3):
        v[k] -= speed * N[k]


@kernel
def _surface_velocity(contact, i):
    """Fill the velocity of the first element past the second that is given."""
    pair, drift, moving = contact.pairs[i], contact.drift[i], contact.moving
    drift[:] = 0.0
    for node, sign in ((pair[A], 1.0), (pair[B], -1.0)):
        if moving.motion_of[node] >= 0:
            x, y, z = surface_velocity(moving, node, contact.point[i])
            drift[0] += sign * x
            drift[1] += sign * y
            drift[2] += sign * z


@kernel
def _add_side(contact, start, end, s, sign, p, out, n):
    """
    Add the Jacobian (3 n,) of the place p (3,) [m] that moves with an element, times a sign.

    Its point at a share s from one node to the other moves, and turns, by as much of both.
    """
    T, S = contact.frames[start], contact.frames[end]
    r0 = p[0] - (1.0 - s) * T[3] - s * S[3]
    r1 = p[1] - (1.0 - s) * T[7] - s * S[7]
    r2 = p[2] - (1.0 - s) * T[11] - s * S[11]
    _add_columns(contact.jacobians[start], sign * (1.0 - s), r0, r1, r2, out, n)
    _add_columns(contact.jacobians[end], sign * s, r0, r1, r2, out, n)


@inlined
def _add_columns(J, share, r0, r1, r2, out, n):
    if share == 0.0:
        return
    for j in range(n):
        w0, w1, w2 = J[j], J[n + j], J[2 * n + j]
        out[j] += share * (J[3 * n + j] + w1 * r2 - w2 * r1)
        out[n + j] += share * (J[4 * n + j] + w2 * r0 - w0 * r2)
        out[2 * n + j] += share * (J[5 * n + j] + w0 * r1 - w1 * r0)
