# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Steps of a Cosserat rod, LANES side by side: exponentials, their differentials, frames.

What belongs to a step lies in rows of the scratch S, see
:mod:`softrobot_dynamics.kernels.lanes`. A linear map of twists [[a, 0], [b, a]] lies in
three times nine rows, for each axis c: zero (3), the column a_c, b_c. So six rows from the fourth
are the image of a rotation about c, six rows from the first that of a translation along c.
"""

import numpy as np
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.functions import stumpff_series
from softrobot_dynamics.kernels.lanes import (
    add6,
    add_cross,
    bracket,
    cross,
    get3,
    get6,
    get12,
    LANES,
    load12,
    put6,
    put12,
    scale6,
    store6,
)

B = LANES
# where rows begin: moments A and D of the strain, then their rates; Omega with its two rates;
# exp(Omega); dexp(Omega), which becomes the map of A; the map of D; the bias; frames at the start
# and at the end; what a step adds to the twist V of its end and to dV/dt
MOMENTS, LOG, _EXP, MAP_A, MAP_D = 0, 24 * B, 42 * B, 54 * B, 81 * B
_BIAS, _START, FRAME, TWIST, RATE = 108 * B, 114 * B, 126 * B, 138 * B, 144 * B
STEP_ROWS = 150

# [rad] of one step: far beyond it Magnus' series diverges, and so much is needed for 2 pi of a rod
# by the widest step there is, between two Gauss points
MAX_STEP_ROTATION = 2.0 * np.pi / np.sqrt(3.0)
MAX_SQUARED_ROTATION = MAX_STEP_ROTATION**2 * (1.0 + 1e-9)  # [rad^2] with rounding


@kernel
def evaluate_steps(count, varying, carry, S):
    """
    Fill the rows of a block, given the moments, of its first ``count`` steps; zero in others.

    ``carry`` (12,) is the frame at the block's start and becomes that at its end.
    """
    logarithms(S)
    exponentials(S)
    frames(count, carry, S)
    spread(S)
    if varying:
        maps(S)


@kernel
def evaluate_branches(starts, nodes, width, varying, S):
    """
    Fill the rows of a block of steps that do not follow each other, given the moments.

    ``starts`` (LANES,): which of the ``nodes``, ``width`` numbers each that begin with a frame,
    each step begins at.
    """
    logarithms(S)
    exponentials(S)
    for k in range(B):
        _step(S, k, load12(nodes[int(starts[k]) * width :]))
    spread(S)
    if varying:
        maps(S)


@kernel
def logarithms(S):
    """Omega = A + [A, D] and its first and second derivative along qd."""
    for k in range(B):
        a, d = get6(S, MOMENTS, k), get6(S, MOMENTS + 6 * B, k)
        da, dd = get6(S, MOMENTS + 12 * B, k), get6(S, MOMENTS + 18 * B, k)
        put6(S, LOG, k, add6(a, bracket(a, d)))
        put6(S, LOG + 6 * B, k, add6(add6(da, bracket(da, d)), bracket(a, dd)))
        put6(S, LOG + 12 * B, k, scale6(2.0, bracket(da, dd)))


@kernel
def exponentials(S):
    """
    Each step's exp(Omega), dexp(Omega), and its bias: d/dt dexp along qd, times dOmega/dt.

    With Omega = (p, u) and Stumpff functions c_k of z = |p|^2: R = c0 1 + c1 p^ + c2 p p^T,
    a = c1 1 + c2 p^ + c3 p p^T; b is the derivative of a by p along u, as if p + eps u were a
    vector of dual numbers. d_k are the derivatives of c_k by z, e_k those of d_k.
    """
    for k in range(B):
        omega = get6(S, LOG, k)
        p0, p1, p2, u0, u1, u2 = omega
        z = p0 * p0 + p1 * p1 + p2 * p2
        c0, c1, c2, c3, c4, c5, c6, c7 = stumpff_series(z if z <= MAX_SQUARED_ROTATION else np.nan)
        d1, d2, d3 = 0.5 * (c3 - c2), 0.5 * (2.0 * c4 - c3), 0.5 * (3.0 * c5 - c4)
        e2, e3 = 0.25 * (8.0 * c6 - 5.0 * c5 + c4), 0.25 * (15.0 * c7 - 7.0 * c6 + c5)
        p00, p01, p02, p11, p12, p22 = p0 * p0, p0 * p1, p0 * p2, p1 * p1, p1 * p2, p2 * p2
        p, u, pp = omega[:3], omega[3:], (p00, p01, p02, p11, p12, p22)
        r0, r1, r2 = cross(p, u)
        s0, s1, s2 = cross(p, (r0, r1, r2))
        shift = u0 + c2 * r0 + c3 * s0, u1 + c2 * r1 + c3 * s1, u2 + c2 * r2 + c3 * s2
        put12(S, _EXP, k, _matrix(c0, c1, scale6(c2, pp), p) + shift)
        y = 2.0 * (p0 * u0 + p1 * u1 + p2 * u2)
        a1, a2, a3 = d1 * y, d2 * y, d3 * y
        along = a2 * p0 + c2 * u0, a2 * p1 + c2 * u1, a2 * p2 + c2 * u2
        both = (
            a3 * p00 + 2.0 * c3 * p0 * u0,
            a3 * p01 + c3 * (p0 * u1 + p1 * u0),
            a3 * p02 + c3 * (p0 * u2 + p2 * u0),
            a3 * p11 + 2.0 * c3 * p1 * u1,
            a3 * p12 + c3 * (p1 * u2 + p2 * u1),
            a3 * p22 + 2.0 * c3 * p2 * u2,
        )
        _put_map(S, MAP_A, k, _matrix(c1, c2, scale6(c3, pp), p), _matrix(a1, 1.0, both, along))
        rate = get6(S, LOG + 6 * B, k)
        h0, h1, h2, v0, v1, v2 = rate
        g = p0 * h0 + p1 * h1 + p2 * h2
        G = u0 * h0 + u1 * h1 + u2 * h2 + p0 * v0 + p1 * v1 + p2 * v2
        f = h0 * h0 + h1 * h1 + h2 * h2
        F = 2.0 * (h0 * v0 + h1 * v1 + h2 * v2)
        r0, r1, r2, s0, s1, s2 = bracket(omega, rate)
        m, a2, a3 = 2.0 * c3 - c2, 2.0 * d2 * g, 2.0 * d3 * g * g + c3 * f
        M = (2.0 * d3 - d2) * y * g + m * G
        A = 2.0 * (e2 * y * g + d2 * G)
        D = 2.0 * e3 * y * g * g + 4.0 * d3 * g * G + d3 * y * f + c3 * F
        m *= g
        bias = (
            m * h0 + a2 * r0 + a3 * p0,
            m * h1 + a2 * r1 + a3 * p1,
            m * h2 + a2 * r2 + a3 * p2,
            M * h0 + m * v0 + A * r0 + a2 * s0 + D * p0 + a3 * u0,
            M * h1 + m * v1 + A * r1 + a2 * s1 + D * p1 + a3 * u1,
            M * h2 + m * v2 + A * r2 + a2 * s2 + D * p2 + a3 * u2,
        )
        put6(S, _BIAS, k, bias)


@inlined
def _matrix(one, hat, square, p):
    """Nine entries of one 1 + hat p^ + ``square``, a symmetric matrix of six."""
    p0, p1, p2 = p
    s00, s01, s02, s11, s12, s22 = square
    return (
        one + s00, s01 - hat * p2, s02 + hat * p1,
        s01 + hat * p2, one + s11, s12 - hat * p0,
        s02 - hat * p1, s12 + hat * p0, one + s22,
    )  # fmt: skip


@inlined
def _put_map(S, at, k, a, b):
    """Set lane k of the map [[a, 0], [b, a]] but for its zeros."""
    put6(S, at + 3 * B, k, (a[0], a[3], a[6], b[0], b[3], b[6]))
    put6(S, at + 12 * B, k, (a[1], a[4], a[7], b[1], b[4], b[7]))
    put6(S, at + 21 * B, k, (a[2], a[5], a[8], b[2], b[5], b[8]))


@kernel
def frames(count, carry, S):
    """Frames at the start and the end of each step, one after the other."""
    frame = load12(carry)
    S[_START : FRAME + 12 * B] = 0.0
    for k in range(count):
        frame = _step(S, k, frame)
    store6(frame[:6], carry)
    store6(frame[6:], carry[6:])


@inlined
def _step(S, k, start):
    """Set lane k's frame at the start, and from it that at the end, which is returned."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8, t0, t1, t2 = start
    step = get12(S, _EXP, k)
    y0, y1, y2 = step[9:]
    t0 += r0 * y0 + r1 * y1 + r2 * y2
    t1 += r3 * y0 + r4 * y1 + r5 * y2
    t2 += r6 * y0 + r7 * y1 + r8 * y2
    end = _row(start[:3], step) + _row(start[3:6], step) + _row(start[6:9], step) + (t0, t1, t2)
    put12(S, _START, k, start)
    put12(S, FRAME, k, end)
    return end


@inlined
def _row(a, x):
    """Row (a0, a1, a2) times the rotation of a frame."""
    return (
        a[0] * x[0] + a[1] * x[3] + a[2] * x[6],
        a[0] * x[1] + a[1] * x[4] + a[2] * x[7],
        a[0] * x[2] + a[1] * x[5] + a[2] * x[8],
    )


@kernel
def spread(S):
    """
    Replace dexp by Ad_T dexp, and write what the steps add to twists and rates.

    These are Ad_T dexp dOmega/dt and Ad_T (dexp d2Omega/dt2 + bias); the latter lacks [V, V'].
    """
    for k in range(B):
        carry_over(S, _BIAS, k)
        carry_over(S, MAP_A + 3 * B, k)
        carry_over(S, MAP_A + 12 * B, k)
        carry_over(S, MAP_A + 21 * B, k)
        put6(S, TWIST, k, mapped(S, MAP_A, k, get6(S, LOG + 6 * B, k)))
        put6(S, RATE, k, add6(mapped(S, MAP_A, k, get6(S, LOG + 12 * B, k)), get6(S, _BIAS, k)))
        clear(S, MAP_A, k)


@inlined
def carry_over(S, at, k):
    """Replace lane k of a twist by what it is in the frame of the rod's base."""
    put6(S, at, k, carried(S, k, get6(S, at, k)))


@inlined
def carried(S, k, x):
    """Twist in the frame of the rod's base of one at the start of lane k's step: Ad_T."""
    a, t = _turned(S, k, x[:3]), get3(S, _START + 9 * B, k)
    return a + add_cross(_turned(S, k, x[3:]), t, a)


@inlined
def _turned(S, k, v):
    """Lane k of the rotation at the start of a step times a vector."""
    x, y, z = v
    r0, r1, r2, r3, r4, r5, r6, r7, r8, _, _, _ = get12(S, _START, k)
    return r0 * x + r1 * y + r2 * z, r3 * x + r4 * y + r5 * z, r6 * x + r7 * y + r8 * z


@inlined
def mapped(S, at, k, x):
    """Lane k of a map times a twist."""
    x0, x1, x2, x3, x4, x5 = x
    a0, a1, a2, b0, b1, b2 = get6(S, at + 3 * B, k)
    c0, c1, c2, d0, d1, d2 = get6(S, at + 12 * B, k)
    e0, e1, e2, f0, f1, f2 = get6(S, at + 21 * B, k)
    return (
        a0 * x0 + c0 * x1 + e0 * x2,
        a1 * x0 + c1 * x1 + e1 * x2,
        a2 * x0 + c2 * x1 + e2 * x2,
        b0 * x0 + d0 * x1 + f0 * x2 + a0 * x3 + c0 * x4 + e0 * x5,
        b1 * x0 + d1 * x1 + f1 * x2 + a1 * x3 + c1 * x4 + e1 * x5,
        b2 * x0 + d2 * x1 + f2 * x2 + a2 * x3 + c2 * x4 + e2 * x5,
    )


@inlined
def clear(S, at, k):
    """Set the rows of a map that are zero."""
    S[at + k] = S[at + B + k] = S[at + 2 * B + k] = 0.0
    S[at + 9 * B + k] = S[at + 10 * B + k] = S[at + 11 * B + k] = 0.0
    S[at + 18 * B + k] = S[at + 19 * B + k] = S[at + 20 * B + k] = 0.0


@kernel
def maps(S):
    """Turn dexp into the maps of dA and dD, as dOmega = dA - [D, dA] + [A, dD]."""
    for k in range(B):
        x, y, z = turns(S, MAP_A, k, get6(S, MOMENTS, k))
        put6(S, MAP_D + 3 * B, k, x)
        put6(S, MAP_D + 12 * B, k, y)
        put6(S, MAP_D + 21 * B, k, z)
        clear(S, MAP_D, k)
        x, y, z = turns(S, MAP_A, k, get6(S, MOMENTS + 6 * B, k))
        subtract(S, MAP_A + 3 * B, k, x)
        subtract(S, MAP_A + 12 * B, k, y)
        subtract(S, MAP_A + 21 * B, k, z)


@inlined
def turns(S, at, k, a):
    """Images of [a, e_c], of the rotations e_c about the three axes."""
    x, y, z = axes(a)
    return mapped(S, at, k, x), mapped(S, at, k, y), mapped(S, at, k, z)


@inlined
def axes(a):
    """Return the brackets [a, e_c] with the rotations e_c about the three axes."""
    a0, a1, a2, a3, a4, a5 = a
    return (
        (0.0, a2, -a1, 0.0, a5, -a4),
        (-a2, 0.0, a0, -a5, 0.0, a3),
        (a1, -a0, 0.0, a4, -a3, 0.0),
    )


@inlined
def subtract(S, at, k, x):
    """Take a twist from lane k of six rows."""
    put6(S, at, k, add6(get6(S, at, k), scale6(-1.0, x)))
