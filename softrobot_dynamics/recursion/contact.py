# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Forces of contact in an evaluation of a robot, and their stiffness and damping.

Two surfaces that overlap by d = -gap push each other apart along their normal by the law of Hunt
and Crossley (1975), ::

    f = k d (1 + c d'),   f >= 0

with a stiffness k [N/m] and a damping c [s/m], which is given or follows from a restitution
(:mod:`.restitution`). Friction is that of Coulomb, against the velocity v_t along the surfaces,

    f_t = -m f v_t / sqrt(|v_t|^2 + v_0^2)

smooth at rest: what it holds creeps on at less than the ``slip`` v_0, and it never gains energy.
The generalized force is J^T (f n + f_t), with the Jacobian J of the relative velocity at the
middle between the surfaces.

Nodes are material points, or places that stand still; elements of pairs name them by index. Only
those of pairs that are near get Jacobians. All pairs are measured only when a node has moved by
more than a ``margin`` since the last time that they were; in between, only those that may have
come near (Verlet, 1967).
"""

import math
from typing import NamedTuple

from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry, run
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.layout import ORIGIN
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.recursion.contact_pairs import (
    A,
    A_END,
    B,
    B_END,
    DAMPING,
    FRICTION,
    KIND,
    measure,
    POINT_TUBE,
    RESTITUTION,
    STIFFNESS,
)
from softrobot_dynamics.recursion.frames import point_jacobian
from softrobot_dynamics.recursion.material_points import Cloud, place_frames, point_columns
from softrobot_dynamics.recursion.obstacle_motion import (
    move_obstacles,
    MovingNodes,
    surface_velocity,
)
from softrobot_dynamics.recursion.passes import JOINT_POSE, STATE
from softrobot_dynamics.recursion.restitution import impact_damping
from softrobot_dynamics.recursion.solid_pairs import measure_solids, SolidPairs


class NodeCloud(NamedTuple):
    """The nodes of one body."""

    cloud: Cloud
    body: int  # its index
    turned: int  # 1: some have axes of their own
    axes: Matrix  # (K, 9) of each in the frame at its point
    frames: Matrix  # (K, 16) filled
    jacobians: Matrix  # (K, 6 n) filled for those that are needed
    needed: Vector  # (K,) 1 or 0


class ContactWorkspace(NamedTuple):
    """All P pairs of elements of a robot that may touch, and what is known of them at a state."""

    find: Entry  # of :func:`measure_contacts` for this workspace, by q and qd
    place_frames: Entry  # of all nodes, by q
    differentiate: Entry  # of all Jacobians that are needed
    frames: Matrix  # (N, 16) of nodes, to the base frame
    jacobians: Matrix  # (N, 6 n)
    needed: Vector  # (N,)
    pairs: Integers  # (P, 7) see contact_pairs
    numbers: Matrix  # (P, 10)
    faces: Matrix  # (F, 13) of all hulls, see softrobot_dynamics.recursion.solid_distances
    solids: SolidPairs
    detection_distance: float  # [m] gap below which a pair is near
    slip: float  # [m/s] v_0
    dissipation: float  # a of a restitution of 0
    margin: float  # [m] by which nodes may move before all pairs are measured again
    extent: Vector  # (N,) [m] how far what turns with a node reaches from it
    placed: Matrix  # (N, 16) frames when all pairs were measured
    candidates: Integers  # (P + 1,) how many pairs may come near meanwhile; and which
    min_restitution_speed: float  # [m/s] of approach; slower impacts dissipate as this one does
    gap: Vector  # (P,) [m]
    normal: Matrix  # (P, 3) from the second element to the first
    segment_parameters: Matrix  # (P, 2) of the nearest points on the segments of both, 0 to 1
    point: Matrix  # (P, 3) [m] in the middle between the surfaces
    speed: Vector  # (P,) [m/s] d(gap)/dt; 0 where a pair is not near
    sliding: Matrix  # (P, 3) [m/s] velocity of the first along the second
    force: Vector  # (P,) [N] along the normal
    friction: Matrix  # (P, 3) [N] on the first
    damping: Vector  # (P,) [s/m] c in force
    onset: Vector  # (P,) [m/s] speed of approach when they met; 0 where they are apart
    min_damping: Vector  # (P,) [s/m] of c, of pairs that no step of equal length saw meet
    drift: Matrix  # (P, 3) [m/s] of sliding and speed: what motions that are given make of them
    moving: MovingNodes
    J: Matrix  # (P, 3 n) of the relative velocity, row by row; of pairs that are near
    v: Vector  # (21,) scratch: ends of both elements (12), of hulls (6) and rims (3)
    applied: Vector  # (n,) generalized force that steps are begun with
    lasting: Vector  # (P,) 1 where there was a force in the step before, too
    restitution: Vector  # (P,) of pairs whose damping is not given, else 0
    pushes: Matrix  # (P, 3) [N] on the first, in a step of equal length
    unsettled: Vector  # (1,) steps whose forces miss their law


@kernel
def place_nodes(before, nodes, q, qd):
    """Fill the frames of a body's nodes at q (n,), after those ``before``."""
    if before.address != 0:
        run(before, q, qd)
    cloud = nodes.cloud
    for j in range(len(cloud.q)):
        cloud.q[j] = q[cloud.first + j]
    place_frames(cloud, nodes.frames)
    if nodes.turned:
        for i in range(len(nodes.frames)):
            _turn(nodes.frames[i], nodes.axes[i])


@inlined
def _turn(T, axes):
    """Turn a frame T (16,) by axes (9,) in it."""
    for k in range(3):
        x, y, z = T[4 * k], T[4 * k + 1], T[4 * k + 2]
        for j in range(3):
            T[4 * k + j] = x * axes[j] + y * axes[3 + j] + z * axes[6 + j]


@kernel
def differentiate_nodes(before, robot, nodes, q, qd):
    """Fill the Jacobians of a body's nodes that are needed, after those ``before``."""
    if before.address != 0:
        run(before, q, qd)
    cloud, ready = nodes.cloud, False
    for i in range(len(nodes.needed)):
        if nodes.needed[i] == 0.0:
            continue
        if not ready:
            origin = robot.W[nodes.body * STATE + JOINT_POSE + ORIGIN :]
            point_jacobian(robot, nodes.body, False, origin, cloud.jacobian)
            ready = True
        point_columns(cloud, i, nodes.frames[i], nodes.jacobians[i])
        if nodes.turned:  # the columns needed, and left, axes of the material
            _turn(nodes.frames[i], nodes.axes[i])


@kernel
def touch(evaluate, contact, h, q, qd):
    """Evaluate at (q, qd), with poses, and take the force of contact from h = ID(q, qd, 0)."""
    run(evaluate, q, qd)
    find_contacts(contact, q, qd)
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        if contact.gap[i] < contact.detection_distance:
            _push(contact, i)
            if contact.force[i] > 0.0:
                _take(contact, i, h)


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
    if _has_moved(contact):
        _choose(contact)
    contact.needed[:] = 0.0
    near = False
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        _measure(contact, i)
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
            _move(contact, i, qd, n)
            if contact.gap[i] >= 0.0:
                contact.onset[i] = 0.0


@inlined
def _measure(contact, i):
    """Fill gap, normal and point of a pair; of a pair of solids all rows with the first."""
    g = contact.solids.group_of[i]
    if g < 0:
        measure(contact, i)
    elif contact.solids.groups[g, 0] == i:
        measure_solids(contact, g)


@kernel
def _has_moved(contact):
    """Tell whether a node has moved, with what turns with it, by more than the margin."""
    limit = contact.margin * contact.margin
    for i in range(len(contact.frames)):
        T, before = contact.frames[i], contact.placed[i]
        x, y, z = T[3] - before[3], T[7] - before[7], T[11] - before[11]
        moved = x * x + y * y + z * z
        if contact.extent[i] > 0.0:
            turned = 0.0
            for k in range(12):
                if k % 4 != 3:
                    turned += (T[k] - before[k]) ** 2
            moved = (math.sqrt(moved) + math.sqrt(turned) * contact.extent[i]) ** 2
        if not moved <= limit:
            return True
    return False


@kernel
def _choose(contact):
    """Measure all pairs; note those that may be near before a node moves by the margin."""
    count, limit = 0, contact.detection_distance + 2.0 * contact.margin
    for i in range(len(contact.pairs)):
        _measure(contact, i)
        contact.speed[i] = contact.force[i] = 0.0
        g = contact.solids.group_of[i]
        apart = contact.gap[i] if g < 0 else contact.solids.min_distance[g]
        if apart < limit or contact.pairs[i, KIND] == POINT_TUBE:  # it ends abruptly
            count += 1
            contact.candidates[count] = i
        else:
            contact.onset[i] = contact.lasting[i] = 0.0
            contact.pushes[i, :] = 0.0
    contact.candidates[0] = count
    for i in range(len(contact.frames)):
        copy(contact.frames[i], contact.placed[i])


@kernel
def add_contact_stiffness(contact, K, D):
    """
    Add the stiffness and damping of contact to K, D (n, n), after :func:`touch` at a state.

    What comes of the force where normals and Jacobians change is left out.
    """
    n = len(K)
    for c in range(contact.candidates[0]):
        i = contact.candidates[1 + c]
        if contact.gap[i] >= 0.0:
            continue
        J, N, k = contact.J[i], contact.normal[i], contact.numbers[i, STIFFNESS]
        f, depth = contact.force[i], max(0.0, -contact.gap[i])
        along = k * depth * contact.damping[i] if f > 0.0 else 0.0
        stiff = k * max(0.0, 1.0 - contact.damping[i] * contact.speed[i])
        across, t = contact.numbers[i, FRICTION] * f, contact.sliding[i]
        across /= math.sqrt(dot(t, t) + contact.slip * contact.slip)
        x, y, z = J[:n], J[n : 2 * n], J[2 * n : 3 * n]
        for a in range(n):
            normal_a = N[0] * x[a] + N[1] * y[a] + N[2] * z[a]
            for b in range(n):
                both = normal_a * (N[0] * x[b] + N[1] * y[b] + N[2] * z[b])
                K[a, b] += stiff * both
                D[a, b] += along * both
                if across > 0.0:
                    D[a, b] += across * (x[a] * x[b] + y[a] * y[b] + z[a] * z[b] - both)


@kernel
def _move(contact, i, qd, n):
    """Fill the Jacobian of the relative velocity of a pair, and this velocity."""
    pair, J, s = contact.pairs[i], contact.J[i], contact.segment_parameters[i]
    J[:] = 0.0
    _add_side(contact, pair[A], pair[A_END], s[0], 1.0, contact.point[i], J, n)
    _add_side(contact, pair[B], pair[B_END], s[1], -1.0, contact.point[i], J, n)
    v, N = contact.sliding[i], contact.normal[i]
    drift = contact.drift[i]
    if len(contact.moving.formulas) > 0:
        _follow_surfaces(contact, i)
    for k in range(3):
        v[k] = drift[k]
        for j in range(n):
            v[k] += J[k * n + j] * qd[j]
    speed = v[0] * N[0] + v[1] * N[1] + v[2] * N[2]
    contact.speed[i] = speed
    for k in range(3):
        v[k] -= speed * N[k]


@kernel
def _follow_surfaces(contact, i):
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


@kernel
def _push(contact, i):
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
    held = number[FRICTION] * f / math.sqrt(dot(t, t) + contact.slip * contact.slip)
    for k in range(3):
        friction[k] = -held * t[k]


@inlined
def _take(contact, i, h):
    """Take the generalized force of a pair from h (n,)."""
    J, N, f, t, n = contact.J[i], contact.normal[i], contact.force[i], contact.friction[i], len(h)
    x, y, z = f * N[0] + t[0], f * N[1] + t[1], f * N[2] + t[2]
    for j in range(n):
        h[j] -= J[j] * x + J[n + j] * y + J[2 * n + j] * z
