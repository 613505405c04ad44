# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Sums over a block of quadrature points: from point values to a body's derivatives.

Scratch S holds, BLOCK numbers each: position p (3), its velocity v (3) and acceleration (3) in
S_J; for each coordinate J_k, dJ_k/dt and d2J_k/dt2 (9 n); d2p / dq_j dq_k for j <= k (3 each),
k by k; then room for the weighted acceleration of matter (3) and how it changes (3).
"""

from softrobot_dynamics.compiling.jit import kernel, reduction
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.reductions import add_force, add_moment, BLOCK, dot

B = BLOCK


def derivative_rows(n: int) -> int:
    """Return how many rows of a block :func:`derivative_block` is given for n coordinates."""
    return 9 + 9 * n + 3 * n * (n + 1) // 2


@reduction
def _accelerate(mass, motion, p, v, acceleration, out):
    """Acceleration of points in a frame with a motion (w, dw/dt, a), times dm."""
    w0, w1, w2, d0, d1, d2 = motion[0], motion[1], motion[2], motion[3], motion[4], motion[5]
    a0, a1, a2 = motion[6], motion[7], motion[8]
    for k in range(B):
        p0, p1, p2 = p[k], p[B + k], p[2 * B + k]
        u0 = 2.0 * v[k] + w1 * p2 - w2 * p1
        u1 = 2.0 * v[B + k] + w2 * p0 - w0 * p2
        u2 = 2.0 * v[2 * B + k] + w0 * p1 - w1 * p0
        m = mass[k]
        out[k] = m * (a0 + acceleration[k] + d1 * p2 - d2 * p1 + w1 * u2 - w2 * u1)
        out[B + k] = m * (a1 + acceleration[B + k] + d2 * p0 - d0 * p2 + w2 * u0 - w0 * u2)
        out[2 * B + k] = m * (a2 + acceleration[2 * B + k] + d0 * p1 - d1 * p0 + w0 * u1 - w1 * u0)


@reduction
def _double(mass, w, p, v, out):
    """2 (w x p + v) of points, times dm."""
    w0, w1, w2 = w[0], w[1], w[2]
    for k in range(B):
        p0, p1, p2, m = p[k], p[B + k], p[2 * B + k], 2.0 * mass[k]
        out[k] = m * (v[k] + w1 * p2 - w2 * p1)
        out[B + k] = m * (v[B + k] + w2 * p0 - w0 * p2)
        out[2 * B + k] = m * (v[2 * B + k] + w0 * p1 - w1 * p0)


@reduction
def _spin(mass, p, v, out):
    """Add the matrix of e -> 2 int p x (e x v) dm to out (9,): 2 (p . v) e - 2 v (p . e)."""
    xx = yy = zz = xy = yx = xz = zx = yz = zy = 0.0
    for k in range(B):
        m = 2.0 * mass[k]
        p0, p1, p2, v0, v1, v2 = (
            m * p[k],
            m * p[B + k],
            m * p[2 * B + k],
            v[k],
            v[B + k],
            v[2 * B + k],
        )
        xx, yy, zz = xx + v0 * p0, yy + v1 * p1, zz + v2 * p2
        xy, yx, xz = xy + v0 * p1, yx + v1 * p0, xz + v0 * p2
        zx, yz, zy = zx + v2 * p0, yz + v1 * p2, zy + v2 * p1
    out[0] += yy + zz
    out[4] += xx + zz
    out[8] += xx + yy
    out[1] -= xy
    out[2] -= xz
    out[3] -= yx
    out[5] -= yz
    out[6] -= zx
    out[7] -= zy


@kernel
def derivative_block(n, mass, motion, zero, S, D):
    """
    Add one block's point values in S, weighted by ``mass`` [kg], to a body's derivatives D.

    ``motion`` (9,): (w, dw/dt, a) of S_J; ``zero`` (9,): room for the same without a.
    """
    p, v = S[0 : 3 * B], S[3 * B : 6 * B]
    room = (9 + 9 * n + 3 * n * (n + 1) // 2) * B
    push, change = S[room : room + 3 * B], S[room + 3 * B : room + 6 * B]
    forces, own = layout.force_derivatives_offset(n), layout.own_derivatives_offset(n)
    spin, spins = layout.spin_offset(n), layout.spins_offset(n)
    for c in range(6):
        zero[c] = motion[c]
    zero[6] = zero[7] = zero[8] = 0.0
    _accelerate(mass, motion, p, v, S[6 * B : 9 * B], push)
    _spin(mass, p, v, D[spin : spin + 9])
    second = (9 + 9 * n) * B
    for k in range(n):
        J = S[(9 + 9 * k) * B : (18 + 9 * k) * B]
        along, moving, bending = J[: 3 * B], J[3 * B : 6 * B], J[6 * B : 9 * B]
        _accelerate(mass, zero, along, moving, bending, change)
        f = forces + 6 * k
        add_moment(along, push, D[f : f + 3])
        add_moment(p, change, D[f : f + 3])
        add_force(change, D[f + 3 : f + 6])
        _add_works(n, S, change, D[own + n * k : own + n * k + n])
        _double(mass, motion, along, moving, change)
        f += 6 * n
        add_moment(p, change, D[f : f + 3])
        add_force(change, D[f + 3 : f + 6])
        _add_works(n, S, change, D[own + n * n + n * k : own + n * n + n * k + n])
        _double(mass, motion, p, v, change)
        add_moment(change, along, D[spins + 3 * k : spins + 3 * k + 3])
        for j in range(k + 1):
            value = dot(S[second : second + 3 * B], push)
            second += 3 * B
            D[own + n * k + j] += value
            if j < k:
                D[own + n * j + k] += value


@kernel
def _add_works(n, S, f, out):
    """Add the work of f along each coordinate to out (n,)."""
    for j in range(n):
        out[j] += dot(S[(9 + 9 * j) * B : (12 + 9 * j) * B], f)


@kernel
def initialise_derivatives(n, matrices, D):
    """Begin the sums of a body's derivatives with its constant K and D (n, n) each."""
    own = layout.own_derivatives_offset(n)
    D[layout.force_derivatives_offset(n) : layout.spin_offset(n) + 9] = 0.0
    for k in range(n):
        for j in range(n):
            D[own + n * k + j] = matrices[n * j + k]
            D[own + n * n + n * k + j] = matrices[n * n + n * j + k]
