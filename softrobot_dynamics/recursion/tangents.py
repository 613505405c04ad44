# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The recursion differentiated: tangents of ID by q and qd, for all coordinates in one pass.

A joint, and a body on it, is an *element* with inputs x = (motion of its base, wrench at its tip,
own q, own qd) and outputs y = (motion of its tip, wrench at its base, own forces); a motion is
(w, dw/dt, a). Its matrix dy/dx is made of differences of the element alone. They are exact to
rounding for all but q, in which y is not quadratic; there they are of fourth order. So any body
will do, and none needs a second kernel. The matrices then carry the tangents of all coordinates
along the tree as the recursion carries motions and wrenches.
"""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.compiling.addresses import call
from softrobot_dynamics.compiling.jit import kernel, reduction
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.spatial import add_wrench, move_motion, rotate, work_along
from softrobot_dynamics.recursion.differences import difference, ELEMENT_STEP, ROUGH_STEP, shift
from softrobot_dynamics.recursion.passes import (
    AT_JOINT,
    AT_TIP,
    backward,
    BODY_COUNT,
    BODY_FIRST,
    body_force,
    BODY_KERNEL,
    BODY_NUMBERS,
    forward,
    FULL,
    JOINT_COUNT,
    JOINT_FIRST,
    JOINT_KERNEL,
    JOINT_NUMBERS,
    JOINT_WRENCH,
    PARENT,
    Robot,
    spring,
    STATE,
    TIP_WRENCH,
)

BASE, TIP, OWN = 0, 9, 15  # offsets in x; in y: tip motion, base wrench, forces


class Tangents(NamedTuple):
    """Arrays for :func:`tangents` of one robot; for one thread at a time."""

    by_state: Matrix  # (n, 2 n) the result, dID/dq and dID/dqd
    matrices: Array  # (2 N, rows, columns) dy/dx of each element
    motions: Array  # (2 N + 2, 9, 2 n) tangents of tip motions; the last is the ground's
    wrenches: Array  # (2 N + 2, 6, 2 n) of the wrenches at tips
    x: Array  # an element's inputs
    y: Matrix  # (4, .) its outputs
    W: Array  # its state and slab
    force: Vector  # (n,) ID itself


def allocate_tangents(robot: Robot, n: int) -> Tangents:
    """Return :class:`Tangents` for a robot of n coordinates."""
    count = 2 * len(robot.modules)
    own = int(robot.modules[:, [JOINT_COUNT, BODY_COUNT]].max())
    return Tangents(
        by_state=np.zeros((n, 2 * n)),
        matrices=np.zeros((count, OWN + own, OWN + 2 * own)),
        motions=np.zeros((count + 2, 9, 2 * n)),
        wrenches=np.zeros((count + 2, 6, 2 * n)),
        x=np.zeros(OWN + 2 * own),
        y=np.zeros((4, OWN + own)),
        W=np.zeros(STATE + layout.slab(own).size),
        force=np.zeros(n),
    )


@kernel
def tangents(robot, rough, t, q, qd, qdd):
    """
    Fill ``t.by_state`` with the derivatives of ID(q, qd, qdd) by q and by qd, (n, 2 n).

    With ``rough`` those of the bodies are one-sided differences.
    """
    forward(robot, q, qd, qdd, FULL)
    backward(robot, q, qd, qdd, FULL, t.force)
    N, n = len(robot.modules), len(t.force)
    for i in range(N):
        m = robot.modules[i]
        parent = 2 * m[PARENT] + 1
        _joint_matrix(robot, i, q, qd, qdd, t)
        _carry_motion(t, 2 * i, parent, m[JOINT_FIRST], m[JOINT_COUNT], n)
        _body_matrix(robot, i, q, qd, qdd, rough, t)
        _carry_motion(t, 2 * i + 1, 2 * i, m[BODY_FIRST], m[BODY_COUNT], n)
    t.wrenches[:] = 0.0
    for i in range(N - 1, -1, -1):
        m = robot.modules[i]
        parent = 2 * m[PARENT] + 1
        _carry_wrench(t, 2 * i + 1, 2 * i, m[BODY_FIRST], m[BODY_COUNT], n)
        _carry_wrench(t, 2 * i, parent, m[JOINT_FIRST], m[JOINT_COUNT], n)


@kernel
def _joint_matrix(robot, i, q, qd, qdd, t):
    """Matrix of the joint of module i."""
    m, x, y = robot.modules[i], t.x, t.y
    n, first, W = m[JOINT_COUNT], m[JOINT_FIRST], robot.W
    s = m[PARENT] * STATE + AT_TIP
    copy(W[s : s + 9], x[BASE:TIP])
    s = i * STATE + JOINT_WRENCH
    copy(W[s : s + 6], x[TIP:OWN])
    copy(q[first : first + n], x[OWN : OWN + n])
    copy(qd[first : first + n], x[OWN + n : OWN + 2 * n])
    push, A = qdd[first:], t.matrices[2 * i]
    for c in range(OWN + 2 * n):
        points = 4 if OWN <= c < OWN + n else 2
        step = ELEMENT_STEP if points == 4 else 1.0
        for k in range(points):
            own, anew = x[c], c >= OWN or c + k == 0  # a base or tip alters no terms
            x[c] = own + shift(k) * step
            _joint(robot, i, x, push, t.W, y[k], anew)
            x[c] = own
        difference(y, points, step, OWN + n, A, c)


@kernel
def _body_matrix(robot, i, q, qd, qdd, rough, t):
    """Matrix of the body of module i."""
    m, x, y = robot.modules[i], t.x, t.y
    n, first, W = m[BODY_COUNT], m[BODY_FIRST], robot.W
    s = i * STATE
    copy(W[s + AT_JOINT : s + AT_JOINT + 9], x[BASE:TIP])
    copy(W[s + TIP_WRENCH : s + TIP_WRENCH + 6], x[TIP:OWN])
    copy(q[first : first + n], x[OWN : OWN + n])
    copy(qd[first : first + n], x[OWN + n : OWN + 2 * n])
    push, A = qdd[first:], t.matrices[2 * i + 1]
    if rough:
        _body(robot, i, x, push, t.W, y[1], True)
    for j in range(OWN + 2 * n):
        c = (j + 3) % OWN if j < OWN else j  # last what alters the terms of the body
        points = 1 if rough else 4 if OWN <= c < OWN + n else 2
        step = ROUGH_STEP if rough else ELEMENT_STEP if points == 4 else 1.0
        for k in range(points):
            own, anew = x[c], j >= OWN - 3 or (j + k == 0 and not rough)
            x[c] = own + shift(k) * step
            _body(robot, i, x, push, t.W, y[k], anew)
            x[c] = own
        difference(y, points, step, OWN + n, A, c)


@kernel
def _joint(robot, i, x, qdd, W, y, anew):
    """Fill the outputs y of a joint; its frame is evaluated ``anew``, or is the last one."""
    m = robot.modules[i]
    n, springs = m[JOINT_COUNT], m[JOINT_NUMBERS]
    q, qd, P = x[OWN : OWN + n], x[OWN + n : OWN + 2 * n], robot.P
    copy(x[BASE:TIP], W[AT_JOINT : AT_JOINT + 9])
    copy(x[TIP:OWN], W[TIP_WRENCH : TIP_WRENCH + 6])
    if anew:
        call(robot.kernels[i, JOINT_KERNEL], P[springs:], q, qd, W[STATE:])
    move_motion(W, STATE, n, qd, qdd, AT_JOINT, AT_TIP)
    W[JOINT_WRENCH : JOINT_WRENCH + 6] = 0.0
    add_wrench(W, STATE, TIP_WRENCH, JOINT_WRENCH)
    g = TIP_WRENCH
    r0, r1, r2 = rotate(W, STATE, W[g + 3], W[g + 4], W[g + 5])
    for j in range(n):
        elastic, damping = spring(P, springs, n, j, q[j], qd[j])
        y[OWN + j] = work_along(W, STATE, n, j, g, r0, r1, r2) + elastic + damping
    copy(W[AT_TIP : AT_TIP + 9], y[BASE:TIP])
    copy(W[JOINT_WRENCH : JOINT_WRENCH + 6], y[TIP:OWN])


@kernel
def _body(robot, i, x, qdd, W, y, anew):
    """Fill the outputs y of a body; its terms are evaluated ``anew``, or are the last ones."""
    m = robot.modules[i]
    n = m[BODY_COUNT]
    q, qd = x[OWN : OWN + n], x[OWN + n : OWN + 2 * n]
    copy(x[BASE:TIP], W[AT_JOINT : AT_JOINT + 9])
    copy(x[TIP:OWN], W[TIP_WRENCH : TIP_WRENCH + 6])
    if anew:
        kernel, numbers = robot.kernels[i, BODY_KERNEL], robot.P[m[BODY_NUMBERS] :]
        call(kernel, numbers, q, qd, W, W[STATE:], robot.S)
    move_motion(W, STATE, n, qd, qdd, AT_JOINT, AT_TIP)
    body_force(n, STATE, 0, W, qdd, FULL, y[OWN:])
    copy(W[AT_TIP : AT_TIP + 9], y[BASE:TIP])
    copy(W[JOINT_WRENCH : JOINT_WRENCH + 6], y[TIP:OWN])


@kernel
def _carry_motion(t, element, base, first, count, n):
    """Tangents of an element's tip motion, from those of its base and its own coordinates."""
    A, V = t.matrices[element], t.motions[element]
    V[:] = 0.0
    _add_product(A, BASE, 9, BASE, t.motions[base], V)
    for r in range(9):
        for j in range(count):
            V[r, first + j] += A[r, OWN + j]
            V[r, n + first + j] += A[r, OWN + count + j]


@kernel
def _carry_wrench(t, element, base, first, count, n):
    """Tangents of an element's forces, and of the wrench it adds to its base's tip."""
    A, F, Q = t.matrices[element], t.wrenches[base], t.by_state[first : first + count]
    V, T = t.motions[base], t.wrenches[element]
    _add_product(A, TIP, 6, BASE, V, F)
    _add_product(A, TIP, 6, TIP, T, F)
    Q[:] = 0.0
    _add_product(A, OWN, count, BASE, V, Q)
    _add_product(A, OWN, count, TIP, T, Q)
    for j in range(count):
        for r in range(6):
            F[r, first + j] += A[TIP + r, OWN + j]
            F[r, n + first + j] += A[TIP + r, OWN + count + j]
        for r in range(count):
            Q[r, first + j] += A[OWN + r, OWN + j]
            Q[r, n + first + j] += A[OWN + r, OWN + count + j]


@reduction
def _add_product(A, row, rows, column, X, Y):
    """Y += A[row:row + rows, column:column + len(X)] X."""
    for r in range(rows):
        target = Y[r]
        for c in range(len(X)):
            factor, source = A[row + r, column + c], X[c]
            for k in range(len(target)):
                target[k] += factor * source[k]
