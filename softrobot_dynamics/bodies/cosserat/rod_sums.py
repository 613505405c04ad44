# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Sums over the sections of a rod: from frames and twists to the slab of a body.

A section is a rigid disc with a spatial inertia I about the origin of S_J, in S_J. Its momentum
rate at zero qdd is the wrench I dU/dt + U x* I U of the twist U = (w, 0) + V relative to S_J. The
other terms are products: H_j = I V_j, M_ij = V_i . I V_j, bias_j = V_j . wrench.
"""

from softrobot_dynamics.bodies.cosserat.rod_steps import FRAME, RATE, STEP_ROWS, TWIST
from softrobot_dynamics.compiling.jit import inlined, inner, kernel, OPTIONS
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.lanes import (
    add6,
    add_cross,
    bracket,
    cross,
    get6,
    get12,
    LANES,
    load6,
    load12,
    put6,
    scale3,
    store6,
)

# for sums over lanes: their terms may change places, but a NaN stays one
over_lanes = inner(forceinline=True, **{**OPTIONS, 'fastmath': {'contract', 'nsz', 'reassoc'}})

B = LANES
# where rows begin, after those of the steps: inertia (10), wrench (6), I V_j (6)
INERTIA, _WRENCH, _MOMENTUM = STEP_ROWS * B, (STEP_ROWS + 10) * B, (STEP_ROWS + 16) * B
ROWS = STEP_ROWS + 22


@kernel
def add_block(n, C, w, twists, S, W):
    """
    Add a block of sections to the slab W.

    C: mass and its second moments along x and y of the sections, a row each; ``twists`` the
    columns V_j, six rows each; V, its rates and the frames are in S.
    """
    first, coupling = layout.inertia_offset(n), layout.coupling_offset(n)
    mass, bias = layout.mass_offset(n), layout.bias_offset(n)
    section_inertia(C, S, W[first : first + 10])
    _wrench(w, S, W[first + 10 : first + 16])
    for j in range(n):
        V = twists[6 * j * B : 6 * (j + 1) * B]
        W[bias + j] += _push(V, S, W[coupling + 6 * j : coupling + 6 * j + 6])
        _add_products(n, j, twists, S[_MOMENTUM : _MOMENTUM + 6 * B], W[mass : mass + n * n])


@over_lanes
def section_inertia(C, S, out):
    """Ten numbers of each section's inertia about the origin of S_J; add their sums to out."""
    a = b = c = d = e = f = g = h = i = j = 0.0
    for k in range(B):
        m, x, y = C[k], C[B + k], C[2 * B + k]
        r0, r1, _, r3, r4, _, r6, r7, _, t0, t1, t2 = get12(S, FRAME, k)
        h0, h1, h2 = m * t0, m * t1, m * t2
        xx = h0 * t0 + x * r0 * r0 + y * r1 * r1  # second moments of mass
        yy = h1 * t1 + x * r3 * r3 + y * r4 * r4
        zz = h2 * t2 + x * r6 * r6 + y * r7 * r7
        xy = h0 * t1 + x * r0 * r3 + y * r1 * r4
        xz = h0 * t2 + x * r0 * r6 + y * r1 * r7
        yz = h1 * t2 + x * r3 * r6 + y * r4 * r7
        put6(S, INERTIA, k, (m, h0, h1, h2, yy + zz, xx + zz))
        put6(S, INERTIA + 4 * B, k, (yy + zz, xx + zz, xx + yy, -xy, -xz, -yz))
        a, b, c, d, e = a + m, b + h0, c + h1, d + h2, e + xx
        f, g, h, i, j = f + yy, g + zz, h - xy, i - xz, j - yz
    add_six(out, (a, b, c, d, f + g, e + g))
    out[6] += e + f
    out[7] += h
    out[8] += i
    out[9] += j


@inlined
def inertia_times(S, k, twist):
    """Wrench of lane k's inertia times a twist."""
    w, v = twist[:3], twist[3:]
    m, h0, h1, h2, _, _ = get6(S, INERTIA, k)
    xx, yy, zz, xy, xz, yz = get6(S, INERTIA + 4 * B, k)
    turned = (
        xx * w[0] + xy * w[1] + xz * w[2],
        xy * w[0] + yy * w[1] + yz * w[2],
        xz * w[0] + yz * w[1] + zz * w[2],
    )
    h = h0, h1, h2
    return add_cross(turned, h, v) + add_cross(scale3(m, v), w, h)


@over_lanes
def _wrench(w, S, out):
    """Wrench of each section at zero qdd, S_J turning with w (3,); add their sum to out (6,)."""
    turning = w[0], w[1], w[2], 0.0, 0.0, 0.0
    a = b = c = d = e = f = 0.0  # summed here, where sums may be reordered
    for k in range(B):
        twist = get6(S, TWIST, k)
        rate = inertia_times(S, k, add6(get6(S, RATE, k), bracket(turning, twist)))
        wrench = add6(rate, moving(S, k, add6(twist, turning)))
        put6(S, _WRENCH, k, wrench)
        m0, m1, m2, f0, f1, f2 = wrench
        a, b, c, d, e, f = a + m0, b + m1, c + m2, d + f0, e + f1, f + f2
    add_six(out, (a, b, c, d, e, f))


@inlined
def moving(S, k, twist):
    """Return the gyroscopic wrench U x* I U of lane k, of its twist U."""
    momentum = inertia_times(S, k, twist)
    u, v, p = twist[:3], twist[3:], momentum[3:]
    return add_cross(cross(u, momentum[:3]), v, p) + cross(u, p)


@over_lanes
def _push(V, S, out):
    """
    Wrench I V of each section for one column V (six rows); add their sum to out (6,).

    Returns the power of V and the wrenches.
    """
    a = b = c = d = e = f = power = 0.0
    for k in range(B):
        v0, v1, v2, v3, v4, v5 = get6(V, 0, k)
        push = inertia_times(S, k, (v0, v1, v2, v3, v4, v5))
        put6(S, _MOMENTUM, k, push)
        m0, m1, m2, f0, f1, f2 = push
        a, b, c, d, e, f = a + m0, b + m1, c + m2, d + f0, e + f1, f + f2
        m0, m1, m2, f0, f1, f2 = get6(S, _WRENCH, k)
        power += v0 * m0 + v1 * m1 + v2 * m2 + v3 * f0 + v4 * f1 + v5 * f2
    add_six(out, (a, b, c, d, e, f))
    return power


@inlined
def add_six(out, x):
    store6(add6(load6(out), x), out)


@over_lanes
def _add_products(n, j, twists, push, M):
    """Add V_i . I V_j to M, row-major, for all i <= j, and its mirror."""
    for i in range(j + 1):
        V = twists[6 * i * B : 6 * (i + 1) * B]
        total = 0.0
        for k in range(6 * B):
            total += V[k] * push[k]
        M[n * i + j] += total
        if i < j:
            M[n * j + i] += total


@kernel
def tip(n, carry, W):
    """
    Write the frame of the tip to the slab W.

    ``carry``: its pose (12,), twist V and dV/dt at zero qdd, then the columns V_j.
    """
    r0, r1, r2, r3, r4, r5, r6, r7, r8, t0, t1, t2 = load12(carry)
    for c in range(12):
        W[c] = carry[c]
    u0, u1, u2, v0, v1, v2 = load6(carry[12:])
    a0, a1, a2, b0, b1, b2 = load6(carry[18:])
    W[12] = r0 * a0 + r3 * a1 + r6 * a2
    W[13] = r1 * a0 + r4 * a1 + r7 * a2
    W[14] = r2 * a0 + r5 * a1 + r8 * a2
    v0, v1, v2 = v0 + u1 * t2 - u2 * t1, v1 + u2 * t0 - u0 * t2, v2 + u0 * t1 - u1 * t0
    W[15] = b0 + a1 * t2 - a2 * t1 + u1 * v2 - u2 * v1
    W[16] = b1 + a2 * t0 - a0 * t2 + u2 * v0 - u0 * v2
    W[17] = b2 + a0 * t1 - a1 * t0 + u0 * v1 - u1 * v0
    for j in range(n):
        c, at, to = 24 + 6 * j, 18 + 3 * j, 18 + 3 * n + 3 * j
        x0, x1, x2 = carry[c], carry[c + 1], carry[c + 2]
        W[at] = r0 * x0 + r3 * x1 + r6 * x2
        W[at + 1] = r1 * x0 + r4 * x1 + r7 * x2
        W[at + 2] = r2 * x0 + r5 * x1 + r8 * x2
        W[to] = carry[c + 3] + x1 * t2 - x2 * t1
        W[to + 1] = carry[c + 4] + x2 * t0 - x0 * t2
        W[to + 2] = carry[c + 5] + x0 * t1 - x1 * t0
