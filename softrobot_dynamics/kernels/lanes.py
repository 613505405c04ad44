# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Vectors, twists and frames of many places side by side, in lane k of rows of LANES numbers.

A vector takes three rows, one after the other, a twist (angular, linear) six, and a frame, the
rotation by rows and the origin, twelve. Kernels have them as tuples, of which compiled code knows
nothing.
"""

from softrobot_dynamics.compiling.jit import inlined

LANES = 16  # numbers of a lane block; eight would be unrolled instead of vectorised
B = LANES


@inlined
def get3(S, at, k):
    """Vector in lane k of the rows from ``at``."""
    return S[at + k], S[at + B + k], S[at + 2 * B + k]


@inlined
def get6(S, at, k):
    """Twist in lane k of the rows from ``at``."""
    return get3(S, at, k) + get3(S, at + 3 * B, k)


@inlined
def get12(S, at, k):
    """Frame in lane k of the rows from ``at``."""
    return get6(S, at, k) + get6(S, at + 6 * B, k)


@inlined
def put3(S, at, k, x):
    """Set a vector in lane k of the rows from ``at``."""
    S[at + k], S[at + B + k], S[at + 2 * B + k] = x


@inlined
def put6(S, at, k, x):
    """Set a twist in lane k of the rows from ``at``."""
    put3(S, at, k, x[:3])
    put3(S, at + 3 * B, k, x[3:])


@inlined
def put12(S, at, k, x):
    """Set a frame in lane k of the rows from ``at``."""
    put6(S, at, k, x[:6])
    put6(S, at + 6 * B, k, x[6:])


@inlined
def load6(row):
    """Twist at the beginning of an array."""
    return row[0], row[1], row[2], row[3], row[4], row[5]


@inlined
def load12(row):
    """Frame at the beginning of an array."""
    return load6(row) + load6(row[6:])


@inlined
def store6(x, row):
    """Set a twist at the beginning of an array."""
    row[0], row[1], row[2], row[3], row[4], row[5] = x


@inlined
def add6(x, y):
    """Sum of two twists."""
    return x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3], x[4] + y[4], x[5] + y[5]


@inlined
def scale3(a, x):
    """Multiply a vector by a number."""
    return a * x[0], a * x[1], a * x[2]


@inlined
def scale6(a, x):
    """Multiply six numbers by one."""
    return scale3(a, x[:3]) + scale3(a, x[3:])


@inlined
def cross(a, b):
    """Cross product a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def add_cross(c, a, b):
    """Sum c + a x b."""
    return (
        c[0] + a[1] * b[2] - a[2] * b[1],
        c[1] + a[2] * b[0] - a[0] * b[2],
        c[2] + a[0] * b[1] - a[1] * b[0],
    )


@inlined
def bracket(a, b):
    """Lie bracket [a, b] of two twists."""
    return cross(a[:3], b[:3]) + add_cross(cross(a[3:], b[:3]), a[:3], b[3:])
