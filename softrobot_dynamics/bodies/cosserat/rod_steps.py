# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Steps of a Cosserat rod, LANES side by side: exponentials, their differentials, frames.

What belongs to a step lies in rows of LANES numbers, one after the other, in the scratch S: a
twist (angular, linear) in six rows, a frame in twelve. A linear map of twists
[[a, 0], [b, a]] lies in three times nine rows, for each axis c: zero (3), the column a_c, b_c. So
six rows from the fourth are the image of a rotation about c, six rows from the first that of a
translation along c.
"""

import numpy as np
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.functions import stumpff_series

LANES = 16  # eight would be unrolled, and not be vectorised
B = LANES
# where rows begin: moments A and D of the strain, then their rates; Omega with its two rates;
# exp(Omega); dexp(Omega), which becomes the map of A; the map of D; the bias; frames at the start
# and at the end; what a step adds to the twist V of its end and to dV/dt
MOMENTS, _LOG, _EXP, MAP_A, MAP_D = 0, 24 * B, 42 * B, 54 * B, 81 * B
_BIAS, _START, FRAME, TWIST, RATE = 108 * B, 114 * B, 126 * B, 138 * B, 144 * B
STEP_ROWS = 150

# [rad] that a step may turn: far beyond it Magnus' series diverges, and so much is needed for
# 2 pi of a rod by the widest step there is, between two Gauss points
STEP_LIMIT = 2.0 * np.pi / np.sqrt(3.0)
_SQUARE_LIMIT = STEP_LIMIT**2 * (1.0 + 1e-9)


@kernel
def evaluate_steps(count, varying, carry, S):
    """
    Fill the rows of a block, given the moments, of its first ``count`` steps; zero in others.

    ``carry`` (12,) is the frame at the block's start and becomes that at its end.
    """
    _logarithms(S)
    _exponentials(S)
    _frames(count, carry, S)
    _spread(S)
    if varying:
        _maps(S)


@kernel
def evaluate_branches(starts, nodes, width, varying, S):
    """
    Fill the rows of a block of steps that do not follow each other, given the moments.

    ``starts`` (LANES,): which of the ``nodes``, ``width`` numbers each that begin with a frame,
    each step begins at.
    """
    _logarithms(S)
    _exponentials(S)
    for k in range(B):
        f = nodes[int(starts[k]) * width :][:12]
        _step(S, k, f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11])
    _spread(S)
    if varying:
        _maps(S)


@inlined
def six(S, at, k):
    """Six rows from ``at`` in lane k."""
    return (
        S[at + k], S[at + B + k], S[at + 2 * B + k],
        S[at + 3 * B + k], S[at + 4 * B + k], S[at + 5 * B + k],
    )  # fmt: skip


@inlined
def put(S, at, k, x0, x1, x2, x3, x4, x5):
    """Set six rows from ``at`` in lane k."""
    S[at + k], S[at + B + k], S[at + 2 * B + k] = x0, x1, x2
    S[at + 3 * B + k], S[at + 4 * B + k], S[at + 5 * B + k] = x3, x4, x5


@inlined
def bracket(a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5):
    """Lie bracket [a, b] of two twists."""
    return (
        a1 * b2 - a2 * b1,
        a2 * b0 - a0 * b2,
        a0 * b1 - a1 * b0,
        a4 * b2 - a5 * b1 + a1 * b5 - a2 * b4,
        a5 * b0 - a3 * b2 + a2 * b3 - a0 * b5,
        a3 * b1 - a4 * b0 + a0 * b4 - a1 * b3,
    )


@kernel
def _logarithms(S):
    """Omega = A + [A, D] and its first and second derivative along qd."""
    for k in range(B):
        a0, a1, a2, a3, a4, a5 = six(S, MOMENTS, k)
        b0, b1, b2, b3, b4, b5 = six(S, MOMENTS + 6 * B, k)
        c0, c1, c2, c3, c4, c5 = six(S, MOMENTS + 12 * B, k)
        d0, d1, d2, d3, d4, d5 = six(S, MOMENTS + 18 * B, k)
        x0, x1, x2, x3, x4, x5 = bracket(a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5)
        put(S, _LOG, k, a0 + x0, a1 + x1, a2 + x2, a3 + x3, a4 + x4, a5 + x5)
        x0, x1, x2, x3, x4, x5 = bracket(c0, c1, c2, c3, c4, c5, b0, b1, b2, b3, b4, b5)
        y0, y1, y2, y3, y4, y5 = bracket(a0, a1, a2, a3, a4, a5, d0, d1, d2, d3, d4, d5)
        put(S, _LOG + 6 * B, k, c0 + x0 + y0, c1 + x1 + y1, c2 + x2 + y2, c3 + x3 + y3,
            c4 + x4 + y4, c5 + x5 + y5)  # fmt: skip
        x0, x1, x2, x3, x4, x5 = bracket(c0, c1, c2, c3, c4, c5, d0, d1, d2, d3, d4, d5)
        put(S, _LOG + 12 * B, k, 2.0 * x0, 2.0 * x1, 2.0 * x2, 2.0 * x3, 2.0 * x4, 2.0 * x5)


@kernel
def _exponentials(S):
    """
    Each step's exp(Omega), dexp(Omega), and its bias: d/dt dexp along qd, times dOmega/dt.

    With Omega = (p, u) and Stumpff functions c_k of z = |p|^2: R = c0 1 + c1 p^ + c2 p p^T,
    a = c1 1 + c2 p^ + c3 p p^T; b is the derivative of a by p along u, as if p + eps u were a
    vector of dual numbers. d_k are the derivatives of c_k by z, e_k those of d_k.
    """
    for k in range(B):
        p0, p1, p2, u0, u1, u2 = six(S, _LOG, k)
        z = p0 * p0 + p1 * p1 + p2 * p2
        c0, c1, c2, c3, c4, c5, c6, c7 = stumpff_series(z if z <= _SQUARE_LIMIT else np.nan)
        d1, d2, d3 = 0.5 * (c3 - c2), 0.5 * (2.0 * c4 - c3), 0.5 * (3.0 * c5 - c4)
        e2, e3 = 0.25 * (8.0 * c6 - 5.0 * c5 + c4), 0.25 * (15.0 * c7 - 7.0 * c6 + c5)
        p00, p01, p02, p11, p12, p22 = p0 * p0, p0 * p1, p0 * p2, p1 * p1, p1 * p2, p2 * p2
        r0, r1, r2 = p1 * u2 - p2 * u1, p2 * u0 - p0 * u2, p0 * u1 - p1 * u0
        s0, s1, s2 = p1 * r2 - p2 * r1, p2 * r0 - p0 * r2, p0 * r1 - p1 * r0
        _nine(S, _EXP, 3 * B, B, k, c0, c1, c2, p0, p1, p2, p00, p01, p02, p11, p12, p22)
        S[_EXP + 9 * B + k] = u0 + c2 * r0 + c3 * s0
        S[_EXP + 10 * B + k] = u1 + c2 * r1 + c3 * s1
        S[_EXP + 11 * B + k] = u2 + c2 * r2 + c3 * s2
        a = MAP_A + 3 * B
        _nine(S, a, B, 9 * B, k, c1, c2, c3, p0, p1, p2, p00, p01, p02, p11, p12, p22)
        y = 2.0 * (p0 * u0 + p1 * u1 + p2 * u2)
        a1, a2, a3 = d1 * y, d2 * y, d3 * y
        _nine(S, a + 3 * B, B, 9 * B, k, a1, 1.0, 1.0, a2 * p0 + c2 * u0, a2 * p1 + c2 * u1,
              a2 * p2 + c2 * u2, a3 * p00 + 2.0 * c3 * p0 * u0,
              a3 * p01 + c3 * (p0 * u1 + p1 * u0), a3 * p02 + c3 * (p0 * u2 + p2 * u0),
              a3 * p11 + 2.0 * c3 * p1 * u1, a3 * p12 + c3 * (p1 * u2 + p2 * u1),
              a3 * p22 + 2.0 * c3 * p2 * u2)  # fmt: skip
        h0, h1, h2, v0, v1, v2 = six(S, _LOG + 6 * B, k)
        g = p0 * h0 + p1 * h1 + p2 * h2
        G = u0 * h0 + u1 * h1 + u2 * h2 + p0 * v0 + p1 * v1 + p2 * v2
        f = h0 * h0 + h1 * h1 + h2 * h2
        F = 2.0 * (h0 * v0 + h1 * v1 + h2 * v2)
        r0, r1, r2, s0, s1, s2 = bracket(p0, p1, p2, u0, u1, u2, h0, h1, h2, v0, v1, v2)
        m, a2, a3 = 2.0 * c3 - c2, 2.0 * d2 * g, 2.0 * d3 * g * g + c3 * f
        M = (2.0 * d3 - d2) * y * g + m * G
        A = 2.0 * (e2 * y * g + d2 * G)
        D = 2.0 * e3 * y * g * g + 4.0 * d3 * g * G + d3 * y * f + c3 * F
        m *= g
        put(S, _BIAS, k, m * h0 + a2 * r0 + a3 * p0, m * h1 + a2 * r1 + a3 * p1,
            m * h2 + a2 * r2 + a3 * p2, M * h0 + m * v0 + A * r0 + a2 * s0 + D * p0 + a3 * u0,
            M * h1 + m * v1 + A * r1 + a2 * s1 + D * p1 + a3 * u1,
            M * h2 + m * v2 + A * r2 + a2 * s2 + D * p2 + a3 * u2)  # fmt: skip


@inlined
def _nine(S, at, row, column, k, one, hat, square, p0, p1, p2, p00, p01, p02, p11, p12, p22):
    """Set lane k of a matrix: one 1 + hat p^ + square (p00 ...), the last symmetric."""
    S[at + k] = one + square * p00
    S[at + column + k] = square * p01 - hat * p2
    S[at + 2 * column + k] = square * p02 + hat * p1
    S[at + row + k] = square * p01 + hat * p2
    S[at + row + column + k] = one + square * p11
    S[at + row + 2 * column + k] = square * p12 - hat * p0
    S[at + 2 * row + k] = square * p02 - hat * p1
    S[at + 2 * row + column + k] = square * p12 + hat * p0
    S[at + 2 * row + 2 * column + k] = one + square * p22


@kernel
def _frames(count, carry, S):
    """Frames at the start and the end of each step, one after the other."""
    r0, r1, r2, r3, r4, r5 = carry[0], carry[1], carry[2], carry[3], carry[4], carry[5]
    r6, r7, r8, t0, t1, t2 = carry[6], carry[7], carry[8], carry[9], carry[10], carry[11]
    S[_START : FRAME + 12 * B] = 0.0
    for k in range(count):
        r0, r1, r2, r3, r4, r5, r6, r7, r8, t0, t1, t2 = _step(
            S, k, r0, r1, r2, r3, r4, r5, r6, r7, r8, t0, t1, t2
        )
    carry[0], carry[1], carry[2], carry[3], carry[4], carry[5] = r0, r1, r2, r3, r4, r5
    carry[6], carry[7], carry[8], carry[9], carry[10], carry[11] = r6, r7, r8, t0, t1, t2


@inlined
def _step(S, k, r0, r1, r2, r3, r4, r5, r6, r7, r8, t0, t1, t2):
    """Set lane k's frame at the start, and from it that at the end, which is returned."""
    put(S, _START, k, r0, r1, r2, r3, r4, r5)
    put(S, _START + 6 * B, k, r6, r7, r8, t0, t1, t2)
    x0, x1, x2, x3, x4, x5 = six(S, _EXP, k)
    x6, x7, x8, y0, y1, y2 = six(S, _EXP + 6 * B, k)
    t0 += r0 * y0 + r1 * y1 + r2 * y2
    t1 += r3 * y0 + r4 * y1 + r5 * y2
    t2 += r6 * y0 + r7 * y1 + r8 * y2
    r0, r1, r2 = _row(r0, r1, r2, x0, x1, x2, x3, x4, x5, x6, x7, x8)
    r3, r4, r5 = _row(r3, r4, r5, x0, x1, x2, x3, x4, x5, x6, x7, x8)
    r6, r7, r8 = _row(r6, r7, r8, x0, x1, x2, x3, x4, x5, x6, x7, x8)
    put(S, FRAME, k, r0, r1, r2, r3, r4, r5)
    put(S, FRAME + 6 * B, k, r6, r7, r8, t0, t1, t2)
    return r0, r1, r2, r3, r4, r5, r6, r7, r8, t0, t1, t2


@inlined
def _row(a, b, c, x0, x1, x2, x3, x4, x5, x6, x7, x8):
    """Return (a, b, c) times a matrix."""
    return a * x0 + b * x3 + c * x6, a * x1 + b * x4 + c * x7, a * x2 + b * x5 + c * x8


@kernel
def _spread(S):
    """
    Replace dexp by Ad_T dexp, and write what the steps add to twists and rates.

    These are Ad_T dexp dOmega/dt and Ad_T (dexp d2Omega/dt2 + bias); the latter lacks [V, V'].
    """
    for k in range(B):
        t0, t1, t2 = S[_START + 9 * B + k], S[_START + 10 * B + k], S[_START + 11 * B + k]
        _carry_over(S, _BIAS, k, t0, t1, t2)
        _carry_over(S, MAP_A + 3 * B, k, t0, t1, t2)
        _carry_over(S, MAP_A + 12 * B, k, t0, t1, t2)
        _carry_over(S, MAP_A + 21 * B, k, t0, t1, t2)
        x0, x1, x2, x3, x4, x5 = six(S, _LOG + 6 * B, k)
        x0, x1, x2, x3, x4, x5 = _mapped(S, k, x0, x1, x2, x3, x4, x5)
        put(S, TWIST, k, x0, x1, x2, x3, x4, x5)
        x0, x1, x2, x3, x4, x5 = six(S, _LOG + 12 * B, k)
        x0, x1, x2, x3, x4, x5 = _mapped(S, k, x0, x1, x2, x3, x4, x5)
        y0, y1, y2, y3, y4, y5 = six(S, _BIAS, k)
        put(S, RATE, k, x0 + y0, x1 + y1, x2 + y2, x3 + y3, x4 + y4, x5 + y5)
        _clear(S, MAP_A, k)


@inlined
def _carry_over(S, at, k, t0, t1, t2):
    """Replace lane k of a twist by what it is in the frame of the rod's base: Ad_T."""
    x0, x1, x2, y0, y1, y2 = six(S, at, k)
    a0, a1, a2 = _turned(S, k, x0, x1, x2)
    b0, b1, b2 = _turned(S, k, y0, y1, y2)
    b0, b1, b2 = b0 + t1 * a2 - t2 * a1, b1 + t2 * a0 - t0 * a2, b2 + t0 * a1 - t1 * a0
    put(S, at, k, a0, a1, a2, b0, b1, b2)


@inlined
def _turned(S, k, x, y, z):
    """Lane k of the rotation at the start of a step times (x, y, z)."""
    r0, r1, r2, r3, r4, r5 = six(S, _START, k)
    r6, r7, r8, _, _, _ = six(S, _START + 6 * B, k)
    return r0 * x + r1 * y + r2 * z, r3 * x + r4 * y + r5 * z, r6 * x + r7 * y + r8 * z


@inlined
def _mapped(S, k, x0, x1, x2, x3, x4, x5):
    """Lane k of Ad_T dexp times a twist."""
    a0, a1, a2, b0, b1, b2 = six(S, MAP_A + 3 * B, k)
    c0, c1, c2, d0, d1, d2 = six(S, MAP_A + 12 * B, k)
    e0, e1, e2, f0, f1, f2 = six(S, MAP_A + 21 * B, k)
    return (
        a0 * x0 + c0 * x1 + e0 * x2,
        a1 * x0 + c1 * x1 + e1 * x2,
        a2 * x0 + c2 * x1 + e2 * x2,
        b0 * x0 + d0 * x1 + f0 * x2 + a0 * x3 + c0 * x4 + e0 * x5,
        b1 * x0 + d1 * x1 + f1 * x2 + a1 * x3 + c1 * x4 + e1 * x5,
        b2 * x0 + d2 * x1 + f2 * x2 + a2 * x3 + c2 * x4 + e2 * x5,
    )


@inlined
def _clear(S, at, k):
    """Set the rows of a map that are zero."""
    S[at + k] = S[at + B + k] = S[at + 2 * B + k] = 0.0
    S[at + 9 * B + k] = S[at + 10 * B + k] = S[at + 11 * B + k] = 0.0
    S[at + 18 * B + k] = S[at + 19 * B + k] = S[at + 20 * B + k] = 0.0


@kernel
def _maps(S):
    """Turn dexp into the maps of dA and dD, as dOmega = dA - [D, dA] + [A, dD]."""
    for k in range(B):
        a0, a1, a2, a3, a4, a5 = six(S, MOMENTS, k)
        x0, x1, x2, x3, x4, x5 = _mapped(S, k, 0.0, a2, -a1, 0.0, a5, -a4)
        put(S, MAP_D + 3 * B, k, x0, x1, x2, x3, x4, x5)
        x0, x1, x2, x3, x4, x5 = _mapped(S, k, -a2, 0.0, a0, -a5, 0.0, a3)
        put(S, MAP_D + 12 * B, k, x0, x1, x2, x3, x4, x5)
        x0, x1, x2, x3, x4, x5 = _mapped(S, k, a1, -a0, 0.0, a4, -a3, 0.0)
        put(S, MAP_D + 21 * B, k, x0, x1, x2, x3, x4, x5)
        _clear(S, MAP_D, k)
        a0, a1, a2, a3, a4, a5 = six(S, MOMENTS + 6 * B, k)
        x0, x1, x2, x3, x4, x5 = _mapped(S, k, 0.0, a2, -a1, 0.0, a5, -a4)
        y0, y1, y2, y3, y4, y5 = _mapped(S, k, -a2, 0.0, a0, -a5, 0.0, a3)
        z0, z1, z2, z3, z4, z5 = _mapped(S, k, a1, -a0, 0.0, a4, -a3, 0.0)
        _subtract(S, MAP_A + 3 * B, k, x0, x1, x2, x3, x4, x5)
        _subtract(S, MAP_A + 12 * B, k, y0, y1, y2, y3, y4, y5)
        _subtract(S, MAP_A + 21 * B, k, z0, z1, z2, z3, z4, z5)


@inlined
def _subtract(S, at, k, x0, x1, x2, x3, x4, x5):
    """Take six numbers from rows."""
    y0, y1, y2, y3, y4, y5 = six(S, at, k)
    put(S, at, k, y0 - x0, y1 - x1, y2 - x2, y3 - x3, y4 - x4, y5 - x5)
