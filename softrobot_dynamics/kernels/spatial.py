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
def add_wrench(F, f, A, a, B, b):
    """Add the wrench A[a:a+6], given at the frame's origin in it, to B[b:b+6] at the outer one."""
    m0, m1, m2 = rotate(F, f, A[a], A[a + 1], A[a + 2])
    f0, f1, f2 = rotate(F, f, A[a + 3], A[a + 4], A[a + 5])
    t = f + ORIGIN
    t0, t1, t2 = F[t], F[t + 1], F[t + 2]
    B[b] += m0 + t1 * f2 - t2 * f1
    B[b + 1] += m1 + t2 * f0 - t0 * f2
    B[b + 2] += m2 + t0 * f1 - t1 * f0
    B[b + 3] += f0
    B[b + 4] += f1
    B[b + 5] += f2


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
def add_inertia(F, f, t0, t1, t2, A, a, B, b):
    """Add the inertia A[a:a+10], given in a frame at t, to B[b:b+10]; F[f:f+9] is its rotation."""
    m = A[a]
    h0, h1, h2 = rotate(F, f, A[a + 1], A[a + 2], A[a + 3])
    xx, yy, zz, xy, xz, yz = A[a + 4], A[a + 5], A[a + 6], A[a + 7], A[a + 8], A[a + 9]
    # R I, then (R I) R^T
    u0, u1, u2 = rotate(F, f, xx, xy, xz)
    v0, v1, v2 = rotate(F, f, xy, yy, yz)
    w0, w1, w2 = rotate(F, f, xz, yz, zz)
    r0, r1, r2 = F[f], F[f + 1], F[f + 2]
    s0, s1, s2 = F[f + 3], F[f + 4], F[f + 5]
    q0, q1, q2 = F[f + 6], F[f + 7], F[f + 8]
    # about the other origin: + (t.k) 1 - sym(t k^T), with k = 2 h + m t
    k0, k1, k2 = 2.0 * h0 + m * t0, 2.0 * h1 + m * t1, 2.0 * h2 + m * t2
    x, y, z = t0 * k0, t1 * k1, t2 * k2
    B[b] += m
    B[b + 1] += h0 + m * t0
    B[b + 2] += h1 + m * t1
    B[b + 3] += h2 + m * t2
    B[b + 4] += u0 * r0 + v0 * r1 + w0 * r2 + y + z
    B[b + 5] += u1 * s0 + v1 * s1 + w1 * s2 + x + z
    B[b + 6] += u2 * q0 + v2 * q1 + w2 * q2 + x + y
    B[b + 7] += u0 * s0 + v0 * s1 + w0 * s2 - 0.5 * (t0 * k1 + t1 * k0)
    B[b + 8] += u0 * q0 + v0 * q1 + w0 * q2 - 0.5 * (t0 * k2 + t2 * k0)
    B[b + 9] += u1 * q0 + v1 * q1 + w1 * q2 - 0.5 * (t1 * k2 + t2 * k1)


@inlined
def compose(A, a, F, f, B, b):
    """Pose B[b:b+12] = A[a:a+12] * F[f:f+12], each R row-major then t."""
    for row in range(3):
        x, y, z = A[a + 3 * row], A[a + 3 * row + 1], A[a + 3 * row + 2]
        for column in range(3):
            B[b + 3 * row + column] = (
                x * F[f + column] + y * F[f + 3 + column] + z * F[f + 6 + column]
            )
        B[b + 9 + row] = (x * F[f + 9] + y * F[f + 10] + z * F[f + 11]) + A[a + 9 + row]


@inlined
def move_motion(F, f, n, qd, qdd, A, a, B, b):
    """
    Carry angular velocity, angular and linear acceleration across a frame with n coordinates.

    A[a:a+9] = (w, dw/dt, a) of the outer frame in itself; B[b:b+9] receives those of the frame
    in itself: (60)-(66) of [P], with the velocity products gathered.
    """
    p, c, t = f + ANGULAR_BIAS, f + LINEAR_BIAS, f + ORIGIN
    p0, p1, p2 = F[p], F[p + 1], F[p + 2]  # relative angular acceleration, in B
    c0, c1, c2 = F[c], F[c + 1], F[c + 2]  # relative linear acceleration, in A
    r0 = r1 = r2 = v0 = v1 = v2 = 0.0
    for j in range(n):
        g = f + JACOBIAN + 3 * j
        h = g + 3 * n
        rate, push = qd[j], qdd[j]
        r0 += F[g] * rate
        r1 += F[g + 1] * rate
        r2 += F[g + 2] * rate
        v0 += F[h] * rate
        v1 += F[h + 1] * rate
        v2 += F[h + 2] * rate
        p0 += F[g] * push
        p1 += F[g + 1] * push
        p2 += F[g + 2] * push
        c0 += F[h] * push
        c1 += F[h + 1] * push
        c2 += F[h + 2] * push
    w0, w1, w2 = A[a], A[a + 1], A[a + 2]
    d0, d1, d2 = A[a + 3], A[a + 4], A[a + 5]
    t0, t1, t2 = F[t], F[t + 1], F[t + 2]
    u0 = w1 * t2 - w2 * t1 + 2.0 * v0  # w x t + 2 dt/dt
    u1 = w2 * t0 - w0 * t2 + 2.0 * v1
    u2 = w0 * t1 - w1 * t0 + 2.0 * v2
    c0 += A[a + 6] + d1 * t2 - d2 * t1 + w1 * u2 - w2 * u1
    c1 += A[a + 7] + d2 * t0 - d0 * t2 + w2 * u0 - w0 * u2
    c2 += A[a + 8] + d0 * t1 - d1 * t0 + w0 * u1 - w1 * u0
    w0, w1, w2 = rotate_back(F, f, w0, w1, w2)
    d0, d1, d2 = rotate_back(F, f, d0, d1, d2)
    B[b] = w0 + r0
    B[b + 1] = w1 + r1
    B[b + 2] = w2 + r2
    B[b + 3] = d0 + p0 + w1 * r2 - w2 * r1
    B[b + 4] = d1 + p1 + w2 * r0 - w0 * r2
    B[b + 5] = d2 + p2 + w0 * r1 - w1 * r0
    B[b + 6], B[b + 7], B[b + 8] = rotate_back(F, f, c0, c1, c2)
