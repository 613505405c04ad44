# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Three-vectors, frames and spatial inertia in flat arrays, by offset.

Wrenches are (moment, force), twists and accelerations (angular, linear); inertia is ten numbers:
m, first moment h, then xx yy zz xy xz yz of the inertia about the frame's origin. A *frame* at
offset f holds R (9) and t (3), see :mod:`softrobot_dynamics.kernels.layout`.
"""

from softrobot_dynamics.compiling.jit import inlined
from softrobot_dynamics.kernels.layout import ANGULAR_BIAS, JACOBIAN, LINEAR_BIAS, ORIGIN


@inlined
def copy_within(W, a, b, count):
    """Copy W[a:a+count] to W[b:b+count]."""
    for c in range(count):
        W[b + c] = W[a + c]


@inlined
def add_within(W, a, b, count):
    """Add W[a:a+count] to W[b:b+count]."""
    for c in range(count):
        W[b + c] += W[a + c]


@inlined
def between(W, a, pose):
    """Vector (3) from the point W[a:a+3] to a pose's origin."""
    t = pose + ORIGIN
    return W[t] - W[a], W[t + 1] - W[a + 1], W[t + 2] - W[a + 2]


@inlined
def rotate(F, f, x, y, z):
    """R v: from the frame's coordinates to the outer ones."""
    return (
        F[f] * x + F[f + 1] * y + F[f + 2] * z,
        F[f + 3] * x + F[f + 4] * y + F[f + 5] * z,
        F[f + 6] * x + F[f + 7] * y + F[f + 8] * z,
    )


@inlined
def rotate_back(F, f, x, y, z):
    """R^T v: from the outer coordinates to the frame's."""
    return (
        F[f] * x + F[f + 3] * y + F[f + 6] * z,
        F[f + 1] * x + F[f + 4] * y + F[f + 7] * z,
        F[f + 2] * x + F[f + 5] * y + F[f + 8] * z,
    )


@inlined
def add_wrench(W, f, a, b):
    """Add the wrench W[a:a+6], given at a frame's origin in it, to W[b:b+6] at the outer one."""
    m0, m1, m2 = rotate(W, f, W[a], W[a + 1], W[a + 2])
    f0, f1, f2 = rotate(W, f, W[a + 3], W[a + 4], W[a + 5])
    t = f + ORIGIN
    t0, t1, t2 = W[t], W[t + 1], W[t + 2]
    W[b] += m0 + t1 * f2 - t2 * f1
    W[b + 1] += m1 + t2 * f0 - t0 * f2
    W[b + 2] += m2 + t0 * f1 - t1 * f0
    W[b + 3] += f0
    W[b + 4] += f1
    W[b + 5] += f2


@inlined
def work_along(F, f, n, j, g, r0, r1, r2):
    """
    Work of a wrench at a frame's origin along its j-th coordinate of n.

    Its moment is F[g:g+3] in the frame, its force r in the outer one.
    """
    k = f + JACOBIAN + 3 * j
    h = k + 3 * n
    return (
        F[k] * F[g]
        + F[k + 1] * F[g + 1]
        + F[k + 2] * F[g + 2]
        + F[h] * r0
        + F[h + 1] * r1
        + F[h + 2] * r2
    )


@inlined
def inertia_times(A, i, w0, w1, w2, a0, a1, a2):
    """Wrench (6 numbers) of the inertia A[i:i+10] accelerated by (w, a) at its origin."""
    m, h0, h1, h2 = A[i], A[i + 1], A[i + 2], A[i + 3]
    xx, yy, zz, xy, xz, yz = A[i + 4], A[i + 5], A[i + 6], A[i + 7], A[i + 8], A[i + 9]
    return (
        xx * w0 + xy * w1 + xz * w2 + h1 * a2 - h2 * a1,
        xy * w0 + yy * w1 + yz * w2 + h2 * a0 - h0 * a2,
        xz * w0 + yz * w1 + zz * w2 + h0 * a1 - h1 * a0,
        m * a0 + w1 * h2 - w2 * h1,
        m * a1 + w2 * h0 - w0 * h2,
        m * a2 + w0 * h1 - w1 * h0,
    )


@inlined
def move_inertia(W, f, t, a):
    """Inertia (10 numbers) of W[a:a+10], given in a frame at t with the rotation W[f:f+9]."""
    t0, t1, t2 = t
    m = W[a]
    h0, h1, h2 = rotate(W, f, W[a + 1], W[a + 2], W[a + 3])
    xx, yy, zz, xy, xz, yz = W[a + 4], W[a + 5], W[a + 6], W[a + 7], W[a + 8], W[a + 9]
    # R I, then (R I) R^T
    u0, u1, u2 = rotate(W, f, xx, xy, xz)
    v0, v1, v2 = rotate(W, f, xy, yy, yz)
    w0, w1, w2 = rotate(W, f, xz, yz, zz)
    r0, r1, r2 = W[f], W[f + 1], W[f + 2]
    s0, s1, s2 = W[f + 3], W[f + 4], W[f + 5]
    q0, q1, q2 = W[f + 6], W[f + 7], W[f + 8]
    # about the other origin: + (t.k) 1 - sym(t k^T), with k = 2 h + m t
    k0, k1, k2 = 2.0 * h0 + m * t0, 2.0 * h1 + m * t1, 2.0 * h2 + m * t2
    x, y, z = t0 * k0, t1 * k1, t2 * k2
    return (
        m,
        h0 + m * t0,
        h1 + m * t1,
        h2 + m * t2,
        u0 * r0 + v0 * r1 + w0 * r2 + y + z,
        u1 * s0 + v1 * s1 + w1 * s2 + x + z,
        u2 * q0 + v2 * q1 + w2 * q2 + x + y,
        u0 * s0 + v0 * s1 + w0 * s2 - 0.5 * (t0 * k1 + t1 * k0),
        u0 * q0 + v0 * q1 + w0 * q2 - 0.5 * (t0 * k2 + t2 * k0),
        u1 * q0 + v1 * q1 + w1 * q2 - 0.5 * (t1 * k2 + t2 * k1),
    )


@inlined
def add_inertia(W, f, t, a, b):
    """Add the inertia W[a:a+10], given in a frame at t, to W[b:b+10]; W[f:f+9] is its rotation."""
    moved = move_inertia(W, f, t, a)
    for c in range(10):
        W[b + c] += moved[c]


@inlined
def spin_matrix(ten, twist):
    """
    Matrix e -> 2 int p x (e x dp/dt) dm, nine entries, and 2 int dp/dt dm of a moving rigid body.

    ``ten``: its inertia as in :mod:`softrobot_dynamics.kernels.layout`.
    """
    mass, h0, h1, h2, Ixx, Iyy, Izz, Ixy, Ixz, Iyz = ten
    w0, w1, w2, v0, v1, v2 = twist
    xx, yy, zz = 0.5 * (Iyy + Izz - Ixx), 0.5 * (Ixx + Izz - Iyy), 0.5 * (Ixx + Iyy - Izz)
    # int (w x p + v) p^T dm, of int p p^T dm = [xx, -Ixy, ...]
    a00 = 2.0 * (-w1 * Ixz + w2 * Ixy + v0 * h0)
    a01 = 2.0 * (-w1 * Iyz - w2 * yy + v0 * h1)
    a02 = 2.0 * (w1 * zz + w2 * Iyz + v0 * h2)
    a10 = 2.0 * (w2 * xx + w0 * Ixz + v1 * h0)
    a11 = 2.0 * (-w2 * Ixy + w0 * Iyz + v1 * h1)
    a12 = 2.0 * (-w2 * Ixz - w0 * zz + v1 * h2)
    a20 = 2.0 * (-w0 * Ixy - w1 * xx + v2 * h0)
    a21 = 2.0 * (w0 * yy + w1 * Ixy + v2 * h1)
    a22 = 2.0 * (-w0 * Iyz + w1 * Ixz + v2 * h2)
    momentum = (
        2.0 * (mass * v0 + w1 * h2 - w2 * h1),
        2.0 * (mass * v1 + w2 * h0 - w0 * h2),
        2.0 * (mass * v2 + w0 * h1 - w1 * h0),
    )
    return (a11 + a22, -a01, -a02, -a10, a00 + a22, -a12, -a20, -a21, a00 + a11), momentum


@inlined
def cross_motion(V, S):
    """V x S of two twists, six numbers each."""
    w0, w1, w2, v0, v1, v2 = V
    a0, a1, a2, b0, b1, b2 = S
    return (
        w1 * a2 - w2 * a1,
        w2 * a0 - w0 * a2,
        w0 * a1 - w1 * a0,
        w1 * b2 - w2 * b1 + v1 * a2 - v2 * a1,
        w2 * b0 - w0 * b2 + v2 * a0 - v0 * a2,
        w0 * b1 - w1 * b0 + v0 * a1 - v1 * a0,
    )


@inlined
def cross_wrench(V, F):
    """V x* F of a twist and a wrench: how F changes that is moved along V."""
    w0, w1, w2, v0, v1, v2 = V
    m0, m1, m2, f0, f1, f2 = F
    return (
        w1 * m2 - w2 * m1 + v1 * f2 - v2 * f1,
        w2 * m0 - w0 * m2 + v2 * f0 - v0 * f2,
        w0 * m1 - w1 * m0 + v0 * f1 - v1 * f0,
        w1 * f2 - w2 * f1,
        w2 * f0 - w0 * f2,
        w0 * f1 - w1 * f0,
    )


@inlined
def read_six(A, i):
    """Return the six numbers A[i:i+6]."""
    return A[i], A[i + 1], A[i + 2], A[i + 3], A[i + 4], A[i + 5]


@inlined
def move_wrench(W, f, r, F):
    """Wrench of F, given at the origin of the axes W[f:f+9] in them, at where that is r away."""
    t0, t1, t2 = r
    m0, m1, m2 = rotate(W, f, F[0], F[1], F[2])
    f0, f1, f2 = rotate(W, f, F[3], F[4], F[5])
    return (m0 + t1 * f2 - t2 * f1, m1 + t2 * f0 - t0 * f2, m2 + t0 * f1 - t1 * f0, f0, f1, f2)


@inlined
def move_twist(W, f, r, S):
    """Twist of S, given at the origin of the axes W[f:f+9] in them, at where that is r away."""
    t0, t1, t2 = r
    w0, w1, w2 = rotate(W, f, S[0], S[1], S[2])
    v0, v1, v2 = rotate(W, f, S[3], S[4], S[5])
    return (w0, w1, w2, v0 + t1 * w2 - t2 * w1, v1 + t2 * w0 - t0 * w2, v2 + t0 * w1 - t1 * w0)


@inlined
def compose(W, a, f, b):
    """Pose W[b:b+12] = W[a:a+12] * W[f:f+12], each R row-major then t."""
    for row in range(3):
        x, y, z = W[a + 3 * row], W[a + 3 * row + 1], W[a + 3 * row + 2]
        for column in range(3):
            W[b + 3 * row + column] = (
                x * W[f + column] + y * W[f + 3 + column] + z * W[f + 6 + column]
            )
        W[b + 9 + row] = (x * W[f + 9] + y * W[f + 10] + z * W[f + 11]) + W[a + 9 + row]


@inlined
def move_motion(W, f, n, qd, qdd, a, b):
    """
    Carry angular velocity, angular and linear acceleration across a frame with n coordinates.

    W[a:a+9] = (w, dw/dt, a) of the outer frame in itself; W[b:b+9] receives those of the frame
    in itself: (60)-(66) of [P], with the velocity products gathered.
    """
    p, c, t = f + ANGULAR_BIAS, f + LINEAR_BIAS, f + ORIGIN
    p0, p1, p2 = W[p], W[p + 1], W[p + 2]  # relative angular acceleration, in the frame
    c0, c1, c2 = W[c], W[c + 1], W[c + 2]  # relative linear acceleration, in the outer one
    r0 = r1 = r2 = v0 = v1 = v2 = 0.0
    for j in range(n):
        g = f + JACOBIAN + 3 * j
        h = g + 3 * n
        rate, push = qd[j], qdd[j]
        r0 += W[g] * rate
        r1 += W[g + 1] * rate
        r2 += W[g + 2] * rate
        v0 += W[h] * rate
        v1 += W[h + 1] * rate
        v2 += W[h + 2] * rate
        p0 += W[g] * push
        p1 += W[g + 1] * push
        p2 += W[g + 2] * push
        c0 += W[h] * push
        c1 += W[h + 1] * push
        c2 += W[h + 2] * push
    w0, w1, w2 = W[a], W[a + 1], W[a + 2]
    d0, d1, d2 = W[a + 3], W[a + 4], W[a + 5]
    t0, t1, t2 = W[t], W[t + 1], W[t + 2]
    u0 = w1 * t2 - w2 * t1 + 2.0 * v0  # w x t + 2 dt/dt
    u1 = w2 * t0 - w0 * t2 + 2.0 * v1
    u2 = w0 * t1 - w1 * t0 + 2.0 * v2
    c0 += W[a + 6] + d1 * t2 - d2 * t1 + w1 * u2 - w2 * u1
    c1 += W[a + 7] + d2 * t0 - d0 * t2 + w2 * u0 - w0 * u2
    c2 += W[a + 8] + d0 * t1 - d1 * t0 + w0 * u1 - w1 * u0
    w0, w1, w2 = rotate_back(W, f, w0, w1, w2)
    d0, d1, d2 = rotate_back(W, f, d0, d1, d2)
    W[b] = w0 + r0
    W[b + 1] = w1 + r1
    W[b + 2] = w2 + r2
    W[b + 3] = d0 + p0 + w1 * r2 - w2 * r1
    W[b + 4] = d1 + p1 + w2 * r0 - w0 * r2
    W[b + 5] = d2 + p2 + w0 * r1 - w1 * r0
    W[b + 6], W[b + 7], W[b + 8] = rotate_back(W, f, c0, c1, c2)
