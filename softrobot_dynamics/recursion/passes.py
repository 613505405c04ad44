# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The recursion: one forward and one backward pass for inverse dynamics.

It implements those of [P] in their direct form: bodies appear only through what
they reduce to in their joint frame S_J (see :mod:`softrobot_dynamics.kernels.layout`), joints only
as moving frames. It knows neither a concrete body nor a robot file: their kernels are called by
address (:mod:`softrobot_dynamics.compiling.addresses`), so that it is compiled once for all
robots.

A robot is the table ``modules`` (N, 13), a row per joint with its body, parents first, the ground
being number N::

    parent, joint numbers, first joint coordinate, joint coordinates, joint slab,
            body numbers,  first body coordinate,  body coordinates,  body slab,
            joint an identity, tip an identity, first joint column, first body column

where numbers and slabs are offsets into the parameters P and the workspace W. The latter begins
with the state of each module and of the ground (:data:`STATE` numbers), then six numbers for each
coordinate. A joint or a tip is an identity (1) if its frame is always the one before it, so that
what is carried across stays as it is. All offsets are unsigned, so that compiled code need not
look for negative indices.

A joint that follows another has no coordinate of its own: its first one is that of its leader, of
which its kernel is a function. *Columns* are the coordinates of all joints and bodies, n_x of them
in the order of modules, as if none followed another: x = E q with a matrix E of zeros and ones, so
that Q = E^T Q_x and M = E^T M_x E (:mod:`softrobot_dynamics.recursion.mimic_reduction`). A robot
in which no joint follows another has n_x = n, and columns are coordinates.
"""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Vector
from softrobot_dynamics.compiling.addresses import call
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.spatial import (
    add_within,
    add_wrench,
    compose,
    copy_within,
    inertia_times,
    move_motion,
    rotate,
    work_along,
)

PARENT, JOINT_NUMBERS, JOINT_FIRST, JOINT_COUNT, JOINT_SLAB = range(5)
BODY_NUMBERS, BODY_FIRST, BODY_COUNT, BODY_SLAB, JOINT_IDENTITY, TIP_IDENTITY = range(5, 11)
JOINT_COLUMN, BODY_COLUMN, ROW = range(11, 14)
JOINT_KERNEL, BODY_KERNEL = 0, 1

# a module's state: (w, dw/dt, a) of S_J and of the tip; wrench and inertia the tip carries; the
# wrench at S_J; base poses of S_J and of the tip
AT_JOINT, AT_TIP, TIP_WRENCH, TIP_INERTIA, JOINT_WRENCH = 0, 9, 18, 24, 34
JOINT_POSE, TIP_POSE, STATE = 40, 52, 64

INERTIAL, FULL = 0, 1  # without or with gravity, elasticity and damping


class Robot(NamedTuple):
    """All arrays of a compiled robot that kernels see. W and S belong to one thread at a time."""

    modules: Integers  # (N, 13), see above
    kernels: Integers  # (N, 2) addresses: of the joint's kernel, of the body's
    coordinates: Integers  # (n_x,) the coordinate of each column
    below: Integers  # ranges of a module's columns and of all beyond, in compressed rows
    segments: Integers  # (., 6), see softrobot_dynamics.recursion.transmission
    armature: Vector  # (n_x,) inertia of what turns with a joint behind its gears; 0 of bodies
    P: Array  # all parameters
    gravity: Vector  # (3,) [m/s^2], base frame
    W: Array  # workspace: states, column wrenches, slabs
    S: Array  # scratch of the kernels


@kernel
def forward(robot, q, qd, qdd, mode):
    """
    Forward pass: evaluate all terms; velocities and accelerations from base to tip.

    In mode FULL the base accelerates against gravity, which stands for gravity. [P, (60)-(66)]
    """
    set_base_motion(robot, mode)
    for i in range(len(robot.modules)):
        propagate_across_module(robot, i, q, qd, qdd, True)


@kernel
def propagate_acceleration(robot, q, qd, qdd):
    """Forward pass of another acceleration, in mode FULL, by the terms that there are."""
    set_base_motion(robot, FULL)
    for i in range(len(robot.modules)):
        propagate_across_module(robot, i, q, qd, qdd, False)


@inlined
def set_base_motion(robot, mode):
    """Set the motion of the base, from which a forward pass goes on."""
    W, ground = robot.W, np.uint32(len(robot.modules) * STATE) + AT_TIP
    for c in range(9):
        W[ground + c] = -robot.gravity[c - 6] if mode == FULL and c >= 6 else 0.0


@inlined
def propagate_across_module(robot, i, q, qd, qdd, evaluate_terms):
    """Carry the forward pass across module i, its terms new if ``evaluate_terms``."""
    kernels, P, W, S = robot.kernels, robot.P, robot.W, robot.S
    m = robot.modules[i]
    s, outer = np.uint32(i * STATE), m[PARENT] * STATE + AT_TIP
    jq, jn, jf = m[JOINT_FIRST], m[JOINT_COUNT], m[JOINT_SLAB]
    bq, bn, bf = m[BODY_FIRST], m[BODY_COUNT], m[BODY_SLAB]
    if evaluate_terms:
        call(kernels[i, JOINT_KERNEL], P[m[JOINT_NUMBERS] :], q[jq:], qd[jq:], W[jf:])
    if m[JOINT_IDENTITY]:
        copy_within(W, outer, s + AT_JOINT, 9)
    else:
        move_motion(W, jf, jn, qd[jq:], qdd[jq:], outer, s + AT_JOINT)
    if evaluate_terms:
        call(kernels[i, BODY_KERNEL], P[m[BODY_NUMBERS] :], q[bq:], qd[bq:], W[s:], W[bf:], S)
    if m[TIP_IDENTITY]:
        copy_within(W, s + AT_JOINT, s + AT_TIP, 9)
    else:
        move_motion(W, bf, bn, qd[bq:], qdd[bq:], s + AT_JOINT, s + AT_TIP)
    W[s + TIP_WRENCH : s + JOINT_WRENCH] = 0.0


@kernel
def backward(robot, q, qd, qdd, mode, Q):
    """Backward pass [P, (32)-(36)]: wrenches from tip to base, generalized forces Q (n,)."""
    modules, P, W = robot.modules, robot.P, robot.W
    for j in range(len(Q)):
        Q[j] = 0.0
    for i in range(len(modules) - 1, -1, -1):
        m = modules[i]
        s = np.uint32(i * STATE)
        n, f, first = m[BODY_COUNT], m[BODY_SLAB], m[BODY_FIRST]
        body_force(n, f, s, W, qdd[first:], mode, Q[first:], m[TIP_IDENTITY])
        n, f, g = m[JOINT_COUNT], m[JOINT_SLAB], s + JOINT_WRENCH
        first, column, springs = m[JOINT_FIRST], m[JOINT_COLUMN], m[JOINT_NUMBERS]
        r0, r1, r2 = rotate(W, f, W[g + 3], W[g + 4], W[g + 5])
        for j in range(n):
            force = work_along(W, f, n, j, g, r0, r1, r2)
            force += robot.armature[column + j] * qdd[first + j]
            if mode == FULL:
                elastic, damping = spring(P, springs, n, j, q[first + j], qd[first + j])
                force += elastic + damping
            Q[first + j] += force  # of a leader, and of those that follow it
        carrier = m[PARENT] * STATE + TIP_WRENCH
        if m[JOINT_IDENTITY]:
            add_within(W, g, carrier, 6)
        elif m[PARENT] < len(modules):
            add_wrench(W, f, g, carrier)


@inlined
def spring(P, numbers, n, j, q, qd):
    """Elastic and damping force of the spring and damper at the j-th coordinate of a joint."""
    stiffness, damping, neutral = P[numbers + j], P[numbers + n + j], P[numbers + 2 * n + j]
    return stiffness * (q - neutral), damping * qd


@inlined
def body_force(n, f, s, W, qdd, mode, Q, tip_identity=False):
    """Wrench at S_J and generalized forces of one body that carries a wrench at its tip."""
    H, M, bias = (
        f + layout.coupling_offset(n),
        f + layout.mass_offset(n),
        f + layout.bias_offset(n),
    )
    wrench, tip, g = f + layout.wrench_offset(n), s + TIP_WRENCH, s + JOINT_WRENCH
    d0, d1, d2 = W[s + 3], W[s + 4], W[s + 5]
    a0, a1, a2 = W[s + 6], W[s + 7], W[s + 8]
    m0, m1, m2, f0, f1, f2 = inertia_times(W, f + layout.inertia_offset(n), d0, d1, d2, a0, a1, a2)
    W[g] = m0 + W[wrench]
    W[g + 1] = m1 + W[wrench + 1]
    W[g + 2] = m2 + W[wrench + 2]
    W[g + 3] = f0 + W[wrench + 3]
    W[g + 4] = f1 + W[wrench + 4]
    W[g + 5] = f2 + W[wrench + 5]
    if tip_identity:
        add_within(W, tip, g, 6)
        return
    r0, r1, r2 = rotate(W, f, W[tip + 3], W[tip + 4], W[tip + 5])
    for j in range(n):
        h = H + 6 * j
        total = (
            work_along(W, f, n, j, tip, r0, r1, r2)
            + W[h] * d0
            + W[h + 1] * d1
            + W[h + 2] * d2
            + W[h + 3] * a0
            + W[h + 4] * a1
            + W[h + 5] * a2
            + W[bias + j]
        )
        for c in range(n):
            total += W[M + n * j + c] * qdd[c]
        if mode == FULL:
            total += W[bias + n + j] + W[bias + 2 * n + j]
        Q[j] = total
        push = qdd[j]
        for c in range(6):
            W[g + c] += W[h + c] * push
    add_wrench(W, f, tip, g)


@kernel
def poses(robot):
    """Compute the base poses of every joint frame and tip, into the modules' states."""
    modules, W = robot.modules, robot.W
    ground = np.uint32(len(modules) * STATE) + TIP_POSE
    for c in range(12):
        W[ground + c] = 1.0 if c in (0, 4, 8) else 0.0
    for i in range(len(modules)):
        m, s = modules[i], np.uint32(i * STATE)
        outer = m[PARENT] * STATE + TIP_POSE
        if m[JOINT_IDENTITY]:
            copy_within(W, outer, s + JOINT_POSE, 12)
        else:
            compose(W, outer, m[JOINT_SLAB], s + JOINT_POSE)
        if m[TIP_IDENTITY]:
            copy_within(W, s + JOINT_POSE, s + TIP_POSE, 12)
        else:
            compose(W, s + JOINT_POSE, m[BODY_SLAB], s + TIP_POSE)
