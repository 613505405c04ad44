# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Sums over a block of quadrature points: from point values to a body's slab.

Scratch S holds, BLOCK numbers each: position p (3), Jacobian columns J_j (3 n), bias b (3), then
room for the weighted acceleration (3) and one spare row.
"""

from softrobot_dynamics.compiling.jit import kernel, reduction
from softrobot_dynamics.kernels import layout

BLOCK = 32  # points; 16 and 64 were slower (docs/performance.md)


@reduction
def dot(a, b):
    """Sum of the products of a row each, by its length: if a literal, it would be unrolled."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@reduction
def add_moment(p, f, out):
    """Add the sum of p x f to out (3,)."""
    B = BLOCK
    m0 = m1 = m2 = 0.0
    for k in range(B):
        p0, p1, p2, f0, f1, f2 = p[k], p[B + k], p[2 * B + k], f[k], f[B + k], f[2 * B + k]
        m0 += p1 * f2 - p2 * f1
        m1 += p2 * f0 - p0 * f2
        m2 += p0 * f1 - p1 * f0
    out[0] += m0
    out[1] += m1
    out[2] += m2


@reduction
def add_force(f, out):
    """Add the sum of f to out (3,)."""
    B = BLOCK
    f0 = f1 = f2 = 0.0
    for k in range(B):
        f0 += f[k]
        f1 += f[B + k]
        f2 += f[2 * B + k]
    out[0] += f0
    out[1] += f1
    out[2] += f2


@reduction
def _accelerations(n, mass, qd, w, S):
    """Velocity-product acceleration a = w x (w x p) + 2 w x (J qd) + b of each point, times dm."""
    w0, w1, w2 = w[0], w[1], w[2]
    B = BLOCK
    p = S[0 : 3 * B]
    b = S[(3 + 3 * n) * B : (6 + 3 * n) * B]
    a = S[(6 + 3 * n) * B : (9 + 3 * n) * B]
    for k in range(3 * B):
        a[k] = 0.0
    for j in range(n):
        J = S[(3 + 3 * j) * B : (6 + 3 * j) * B]
        rate = 2.0 * qd[j]
        for k in range(3 * B):
            a[k] += rate * J[k]
    for k in range(B):
        u0, u1, u2 = a[k], a[B + k], a[2 * B + k]  # 2 J qd
        p0, p1, p2 = p[k], p[B + k], p[2 * B + k]
        u0 += w1 * p2 - w2 * p1
        u1 += w2 * p0 - w0 * p2
        u2 += w0 * p1 - w1 * p0
        m = mass[k]
        a[k] = m * (w1 * u2 - w2 * u1 + b[k])
        a[B + k] = m * (w2 * u0 - w0 * u2 + b[B + k])
        a[2 * B + k] = m * (w0 * u1 - w1 * u0 + b[2 * B + k])


@reduction
def _add_inertia(mass, p, inertia):
    """Mass, first moment and inertia about the origin."""
    B = BLOCK
    m = h0 = h1 = h2 = xx = yy = zz = xy = xz = yz = 0.0
    for k in range(B):
        dm, p0, p1, p2 = mass[k], p[k], p[B + k], p[2 * B + k]
        d0, d1, d2 = dm * p0, dm * p1, dm * p2
        m += dm
        h0 += d0
        h1 += d1
        h2 += d2
        xx += d0 * p0
        yy += d1 * p1
        zz += d2 * p2
        xy += d0 * p1
        xz += d0 * p2
        yz += d1 * p2
    inertia[0] += m
    inertia[1] += h0
    inertia[2] += h1
    inertia[3] += h2
    inertia[4] += yy + zz
    inertia[5] += xx + zz
    inertia[6] += xx + yy
    inertia[7] -= xy
    inertia[8] -= xz
    inertia[9] -= yz


@reduction
def _coupling(J, p, a, mass, out):
    """Int p x J dm, int J dm and int J . a dm of one coordinate, into out (7,)."""
    B = BLOCK
    c0 = c1 = c2 = l0 = l1 = l2 = g = 0.0
    for k in range(B):
        dm = mass[k]
        j0, j1, j2 = J[k], J[B + k], J[2 * B + k]
        g += j0 * a[k] + j1 * a[B + k] + j2 * a[2 * B + k]
        j0 *= dm
        j1 *= dm
        j2 *= dm
        p0, p1, p2 = p[k], p[B + k], p[2 * B + k]
        l0 += j0
        l1 += j1
        l2 += j2
        c0 += p1 * j2 - p2 * j1
        c1 += p2 * j0 - p0 * j2
        c2 += p0 * j1 - p1 * j0
    out[0] += c0
    out[1] += c1
    out[2] += c2
    out[3] += l0
    out[4] += l1
    out[5] += l2
    return g


@reduction
def _inner(Ji, Jj, mass):
    """Int J_i . J_j dm."""
    B = BLOCK
    total = 0.0
    for k in range(B):
        total += mass[k] * (Ji[k] * Jj[k] + Ji[B + k] * Jj[B + k] + Ji[2 * B + k] * Jj[2 * B + k])
    return total


@kernel
def reduce_block(n, mass, qd, w, S, W):
    """Add one block's point values in S, weighted by ``mass`` [kg], to a body's slab W."""
    B = BLOCK
    _accelerations(n, mass, qd, w, S)
    p = S[0 : 3 * B]
    a = S[(6 + 3 * n) * B : (9 + 3 * n) * B]
    first = layout.inertia_offset(n)
    _add_inertia(mass, p, W[first : first + 10])
    add_moment(p, a, W[first + 10 : first + 13])
    add_force(a, W[first + 13 : first + 16])
    coupling, block, bias = (
        layout.coupling_offset(n),
        layout.mass_offset(n),
        layout.bias_offset(n),
    )
    for i in range(n):
        Ji = S[(3 + 3 * i) * B : (6 + 3 * i) * B]
        W[bias + i] += _coupling(Ji, p, a, mass, W[coupling + 6 * i : coupling + 6 * i + 6])
        for j in range(i, n):
            value = _inner(Ji, S[(3 + 3 * j) * B : (6 + 3 * j) * B], mass)
            W[block + n * i + j] += value
            if j > i:
                W[block + n * j + i] += value


@kernel
def damped_spring(n, matrices, q, qd, W):
    """Elastic force K q and damping force D qd of a body with constant K and D (n, n) each."""
    elastic = layout.bias_offset(n) + n
    for i in range(n):
        s = d = 0.0
        for j in range(n):
            s += matrices[n * i + j] * q[j]
            d += matrices[n * n + n * i + j] * qd[j]
        W[elastic + i] = s
        W[elastic + n + i] = d


@reduction
def sum_rows(count, S, out):
    """Add the sum of each of ``count`` rows of a block in S to out (count,)."""
    for r in range(count):
        row = S[r * BLOCK : (r + 1) * BLOCK]
        total = 0.0
        for k in range(BLOCK):
            total += row[k]
        out[r] += total
