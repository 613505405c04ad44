# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Twists S of all coordinates, and how they move: dS/dt and d2S/dt2 along (qd, qdd).

All are in the axes of the base, about one point at rest where the last tip is now, so that nothing
needs to be carried from frame to frame. A twist moves with the base of its part, and with the
other coordinates of that if there are any: with V and A of the base, and own derivatives E and G
in it, dS/dt = V x S + E and d2S/dt2 = A x S + V x (dS/dt + E) + G. The ground accelerates against
gravity, so that d2S/dt2 holds how gravity turns in a frame that is turned.
"""

import numpy as np
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.layout import JACOBIAN, ORIGIN
from softrobot_dynamics.kernels.spatial import between, cross_motion, move_twist, read_six, rotate
from softrobot_dynamics.recursion.module_derivatives import add_scaled, own_rate
from softrobot_dynamics.recursion.passes import (
    BODY_COLUMN,
    BODY_COUNT,
    BODY_FIRST,
    BODY_SLAB,
    JOINT_COLUMN,
    JOINT_COUNT,
    JOINT_FIRST,
    JOINT_POSE,
    JOINT_SLAB,
    PARENT,
    STATE,
    TIP_POSE,
)

TWIST, RATE, SECOND = 0, 6, 12  # rows of t.columns: S, dS/dt, d2S/dt2
MOTION = 12  # V and A of a frame


@kernel
def propagate_twists(robot, t, qd, qdd):
    """Fill rows up to SECOND + 6 of ``t.columns``, and ``t.motions``, after the derivatives."""
    modules, N = robot.modules, len(robot.modules)
    ground = np.uint32((2 * N + 1) * MOTION)
    for c in range(MOTION):
        t.motions[ground + c] = -robot.gravity[c - 9] if c >= 9 else 0.0
    for i in range(N):
        m, s, a = modules[i], np.uint32(i * STATE), np.uint32(2 * i * MOTION)
        joint, body, before = s + JOINT_POSE, s + TIP_POSE, m[PARENT] * STATE + TIP_POSE
        part = m[JOINT_SLAB], m[JOINT_COUNT], m[JOINT_FIRST], m[JOINT_COLUMN], t.places[i, 0]
        motions = (2 * m[PARENT] + 1) * MOTION, a
        _propagate_part(robot, t, part, (before, joint), motions, qd, qdd)
        part = m[BODY_SLAB], m[BODY_COUNT], m[BODY_FIRST], m[BODY_COLUMN], t.places[i, 1]
        _propagate_part(robot, t, part, (joint, body), (a, a + np.uint32(MOTION)), qd, qdd)


@inlined
def _propagate_part(robot, t, part, poses, motions, qd, qdd):
    """
    Fill the columns of a part, and the motion of its tip.

    ``part``: slab, coordinates, first of them, first column, derivatives; ``poses`` and
    ``motions``: of its base and of its tip.
    """
    f, n, first, column, derivatives = part
    W, X, moving = robot.W, t.columns, t.motions
    base, tip = poses
    a, b = motions
    V, A = read_six(moving, a), read_six(moving, a + np.uint32(6))
    carried, pushed = V, A
    centre = last_tip(robot)
    r, away = between(W, centre, tip), between(W, centre, base)
    for j in range(n):
        S = column_twist(W, f, n, j, poses, r)
        rate = cross_motion(V, S)
        second = cross_motion(A, S)
        both = rate
        if derivatives > 0:
            D = t.derivatives[derivatives:]
            E = move_twist(W, base, away, own_rate(D, n, j, qd[first:]))
            own = read_six(D, layout.second_twists_offset(n) + 6 * j)
            rate = add_scaled(rate, E, 1.0)
            both = add_scaled(rate, E, 1.0)
            second = add_scaled(second, move_twist(W, base, away, own), 1.0)
        second = add_scaled(second, cross_motion(V, both), 1.0)
        speed, push = qd[first + j], qdd[first + j]
        carried = add_scaled(carried, S, speed)
        pushed = add_scaled(add_scaled(pushed, S, push), rate, speed)
        k = column + np.uint32(j)
        for c in range(6):
            X[c, k], X[RATE + c, k], X[SECOND + c, k] = S[c], rate[c], second[c]
    for c in range(6):
        moving[b + c], moving[b + np.uint32(6) + c] = carried[c], pushed[c]


@inlined
def column_twist(W, f, n, j, poses, r):
    """Twist of the j-th coordinate of the part W[f:], the origin of whose tip is r away."""
    base, tip = poses
    k = f + JACOBIAN + 3 * j
    x = k + 3 * n
    w0, w1, w2 = rotate(W, tip, W[k], W[k + 1], W[k + 2])
    v0, v1, v2 = rotate(W, base, W[x], W[x + 1], W[x + 2])
    r0, r1, r2 = r
    return (w0, w1, w2, v0 + r1 * w2 - r2 * w1, v1 + r2 * w0 - r0 * w2, v2 + r0 * w1 - r1 * w0)


@inlined
def last_tip(robot):
    """Return the place in the workspace of the last tip's origin, the point of reference."""
    return np.uint32((len(robot.modules) - 1) * STATE + TIP_POSE + ORIGIN)
