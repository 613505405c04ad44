# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Closures at a state: how far two frames are from coinciding, and how that changes.

With R the rotation of the second frame B in the first one A, d its place there, and w the angular
velocity of B past A, all in the axes of A, the rows of a closure are

=========================  =====================  ================================================
closed                     residual               row of the Jacobian J, and bias J' qd
=========================  =====================  ================================================
displacement               d                      of d' = R_A^T (v_B - v_A - w_A x (p_B - p_A))
all rotations              log R                  of w
rotations but about k      swing from k to R k    of w
rotation about k alone     -i . R j               of w . (i x R j), with i, j, k right-handed
=========================  =====================  ================================================

The swing is the rotation vector of the least rotation from k to R k: it has no end where the
frames turn about k for ever. Where the loop is closed, J is the derivative of the residual; near
by it differs by as much as the residual itself. Forces along the rows act on B, in the axes of A;
the opposite ones act on A, at the same place.
"""

import math
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry, run
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.spatial import rotate_back
from softrobot_dynamics.recursion.closure_frames import ACCELERATION, TWIST

CLOSURE, DIRECTION = range(2)  # of ``rows``
# how many rotations are closed: 3, 2, 1, 0
ALL_ROTATIONS, SWING_ROTATIONS, SINGLE_ROTATION, FREE_ROTATIONS = range(4)
_MIN_SINE = 1e-9  # of an angle; below, it is that angle


class ClosureRows(NamedTuple):
    """The r rows of C closures, and the entries that fill their frames, two of each."""

    place_frames: Entry  # fills the frames after an evaluation of the robot with poses
    frames: Matrix  # (2 C, 24) see softrobot_dynamics.recursion.closure_frames
    jacobians: Matrix  # (2 C, 6 n) base axes, angular rows first
    turns: Integers  # (C, 2) which rotations are closed, and the axis k
    rows: Integers  # (r, 2) closure and direction, 0 to 5: rx, ry, rz, x, y, z
    residual: Vector  # (r,) [rad, m]
    J: Matrix  # (r, n)
    bias: Vector  # (r,)
    relative: Array  # (C, 6 n) Jacobian of the twist of B past A, in A
    motion: Matrix  # (C, 33) residual of rotation, d, twist, its bias; R; i x R j, its rate


ANGLES, PLACE, SPEED, BIAS, TURN, ACROSS, RATE = 0, 3, 6, 12, 18, 27, 30


@kernel
def close_rows(closures, q, qd):
    """Fill residual, J and bias at (q, qd), after an evaluation of the robot there."""
    run(closures.place_frames, q, qd)
    for c in range(len(closures.turns)):
        _relative_motion(closures, c)
    n = closures.J.shape[1]
    for r in range(len(closures.rows)):
        c, k = closures.rows[r, CLOSURE], closures.rows[r, DIRECTION]
        m, X = closures.motion[c], closures.relative[c]
        if k < 3 and closures.turns[c, 0] == SINGLE_ROTATION:
            a, b = m[ACROSS:], m[RATE:]
            closures.residual[r] = m[ANGLES + k]
            total = 0.0
            for i in range(3):
                total += a[i] * m[BIAS + i] + b[i] * m[SPEED + i]
            closures.bias[r] = total
            for j in range(n):
                closures.J[r, j] = a[0] * X[j] + a[1] * X[n + j] + a[2] * X[2 * n + j]
            continue
        closures.residual[r] = m[ANGLES + k] if k < 3 else m[PLACE + k - 3]
        closures.bias[r] = m[BIAS + k]
        for j in range(n):
            closures.J[r, j] = X[k * n + j]


@inlined
def _relative_motion(closures, c):
    """Fill ``motion`` and ``relative`` of a closure by its frames."""
    A, B, m = closures.frames[2 * c], closures.frames[2 * c + 1], closures.motion[c]
    for i in range(3):
        for j in range(3):
            m[TURN + 3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j]
    # everything in the axes of A, whose rotation is A[:9]
    r0, r1, r2 = B[9] - A[9], B[10] - A[10], B[11] - A[11]
    x0, x1, x2 = rotate_back(A, 0, r0, r1, r2)
    w0, w1, w2 = rotate_back(A, 0, A[TWIST], A[TWIST + 1], A[TWIST + 2])  # of A itself
    e0, e1, e2 = rotate_back(A, 0, A[ACCELERATION], A[ACCELERATION + 1], A[ACCELERATION + 2])
    u0, u1, u2 = _difference(A, B, TWIST)
    v0, v1, v2 = _difference(A, B, TWIST + 3)
    b0, b1, b2 = _difference(A, B, ACCELERATION)
    a0, a1, a2 = _difference(A, B, ACCELERATION + 3)
    s0, s1, s2 = w1 * x2 - w2 * x1, w2 * x0 - w0 * x2, w0 * x1 - w1 * x0  # w_A x d
    m[PLACE], m[PLACE + 1], m[PLACE + 2] = x0, x1, x2
    m[SPEED], m[SPEED + 1], m[SPEED + 2] = u0, u1, u2
    m[SPEED + 3], m[SPEED + 4], m[SPEED + 5] = v0 - s0, v1 - s1, v2 - s2
    m[BIAS] = b0 - (w1 * u2 - w2 * u1)
    m[BIAS + 1] = b1 - (w2 * u0 - w0 * u2)
    m[BIAS + 2] = b2 - (w0 * u1 - w1 * u0)
    # d'' = a - e x d - 2 w x v + w x (w x d), v being the difference of velocities
    t0, t1, t2 = s0 - 2.0 * v0, s1 - 2.0 * v1, s2 - 2.0 * v2
    m[BIAS + 3] = a0 - (e1 * x2 - e2 * x1) + w1 * t2 - w2 * t1
    m[BIAS + 4] = a1 - (e2 * x0 - e0 * x2) + w2 * t0 - w0 * t2
    m[BIAS + 5] = a2 - (e0 * x1 - e1 * x0) + w0 * t1 - w1 * t0
    _relative_jacobian(closures, c, r0, r1, r2)
    _angles(m, closures.turns[c, 0], closures.turns[c, 1])


@inlined
def _difference(A, B, k):
    """Three numbers of B less those of A from place k on, in the axes of A."""
    return rotate_back(A, 0, B[k] - A[k], B[k + 1] - A[k + 1], B[k + 2] - A[k + 2])


@inlined
def _relative_jacobian(closures, c, r0, r1, r2):
    """Fill the Jacobian of the twist of B past A, in the axes of A, B being r away from A."""
    A, P, Q = closures.frames[2 * c], closures.jacobians[2 * c], closures.jacobians[2 * c + 1]
    X, n = closures.relative[c], closures.J.shape[1]
    for j in range(n):
        p0, p1, p2 = P[j], P[n + j], P[2 * n + j]
        w0, w1, w2 = Q[j] - p0, Q[n + j] - p1, Q[2 * n + j] - p2
        X[j], X[n + j], X[2 * n + j] = rotate_back(A, 0, w0, w1, w2)
        k = 3 * n + j
        v0 = Q[k] - P[k] - (p1 * r2 - p2 * r1)
        v1 = Q[k + n] - P[k + n] - (p2 * r0 - p0 * r2)
        v2 = Q[k + 2 * n] - P[k + 2 * n] - (p0 * r1 - p1 * r0)
        X[k], X[k + n], X[k + 2 * n] = rotate_back(A, 0, v0, v1, v2)


@inlined
def _angles(m, kind, k):
    """Fill the residual of the rotation R, and, of a single one, i x R j and its rate."""
    R = m[TURN:]
    m[ANGLES] = m[ANGLES + 1] = m[ANGLES + 2] = 0.0
    i, j = (k + 1) % 3, (k + 2) % 3
    if kind == ALL_ROTATIONS:
        _rotation_vector(R, m)
    elif kind == SWING_ROTATIONS:
        # k x R k has the entries -R[j, k] along i and R[i, k] along j
        x, y = -R[3 * j + k], R[3 * i + k]
        sine = math.sqrt(x * x + y * y)
        if R[3 * k + k] < 0.0 and sine < _MIN_SINE:  # half a turn, about any axis across
            m[ANGLES + i] = math.pi
        else:
            stretch = _angle_over_sine(sine, R[3 * k + k])
            m[ANGLES + i], m[ANGLES + j] = stretch * x, stretch * y
    elif kind == SINGLE_ROTATION:
        m[ANGLES + k] = -R[3 * i + j]
        w = m[SPEED:]
        g0, g1, g2 = R[j], R[3 + j], R[6 + j]
        f0, f1, f2 = w[1] * g2 - w[2] * g1, w[2] * g0 - w[0] * g2, w[0] * g1 - w[1] * g0
        a, b = m[ACROSS:], m[RATE:]
        if i == 0:
            a[0], a[1], a[2] = 0.0, -g2, g1
            b[0], b[1], b[2] = 0.0, -f2, f1
        elif i == 1:
            a[0], a[1], a[2] = g2, 0.0, -g0
            b[0], b[1], b[2] = f2, 0.0, -f0
        else:
            a[0], a[1], a[2] = -g1, g0, 0.0
            b[0], b[1], b[2] = -f1, f0, 0.0


@inlined
def _rotation_vector(R, out):
    """Fill out[:3] with log R, by its unit quaternion: good up to half a turn [rad]."""
    x, y, z = 0.5 * (R[7] - R[5]), 0.5 * (R[2] - R[6]), 0.5 * (R[3] - R[1])
    trace = R[0] + R[4] + R[8]
    sine = math.sqrt(x * x + y * y + z * z)
    if trace < -0.5:  # beyond about 140 degrees the axis is that of R + R^T, the sign that of x
        angle = math.atan2(sine, 0.5 * (trace - 1.0))
        versine = 1.0 - 0.5 * (trace - 1.0)
        a = math.sqrt(max(R[0] + versine - 1.0, 0.0) / versine)
        b = math.sqrt(max(R[4] + versine - 1.0, 0.0) / versine)
        c = math.sqrt(max(R[8] + versine - 1.0, 0.0) / versine)
        if a >= b and a >= c:
            s = angle if x >= 0.0 else -angle
            y, z = (R[1] + R[3]) / (2.0 * versine * a), (R[2] + R[6]) / (2.0 * versine * a)
            out[0], out[1], out[2] = s * a, s * y, s * z
        elif b >= c:
            s = angle if y >= 0.0 else -angle
            x, z = (R[1] + R[3]) / (2.0 * versine * b), (R[5] + R[7]) / (2.0 * versine * b)
            out[0], out[1], out[2] = s * x, s * b, s * z
        else:
            s = angle if z >= 0.0 else -angle
            x, y = (R[2] + R[6]) / (2.0 * versine * c), (R[5] + R[7]) / (2.0 * versine * c)
            out[0], out[1], out[2] = s * x, s * y, s * c
        return
    stretch = _angle_over_sine(sine, 0.5 * (trace - 1.0))
    out[0], out[1], out[2] = stretch * x, stretch * y, stretch * z


@inlined
def _angle_over_sine(sine, cosine):
    """Return angle / sine."""
    return math.atan2(sine, cosine) / sine if sine > _MIN_SINE else 1.0


def allocate_rows(
    place_frames: Entry, frames: Matrix, jacobians: Matrix, turns: Integers, rows: Integers
) -> ClosureRows:
    """Return :class:`ClosureRows` for frames and Jacobians that ``place_frames`` fills."""
    C, n, r = len(turns), jacobians.shape[1] // 6, len(rows)
    return ClosureRows(
        place_frames=place_frames,
        frames=frames,
        jacobians=jacobians,
        turns=turns,
        rows=np.ascontiguousarray(rows),
        residual=np.zeros(r),
        J=np.zeros((r, n)),
        bias=np.zeros(r),
        relative=np.zeros((C, 6 * n)),
        motion=np.zeros((C, 33)),
    )
