# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Steps in time of M qdd = force - ID(q, qd, 0), implicit in stiffness and damping.

Explicit steps are limited by damping to some 20 us. Here both are taken implicitly by matrices K
and D (n, n), near the derivatives of the true forces; what they leave out is explicit. The method
is of second order whatever K and D are, and damps stiff motions at once for good ones:
ROS2 of Verwer, Spee, Blom, Hundsdorfer, SIAM J. Sci. Comput. 20 (1999), for y = (q, qd):

    (1 - g h A) k1 = f(y),   (1 - g h A) k2 = f(y + h k1) - 2 k1,   y += h (3 k1 + k2) / 2
"""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.kernels.jit import kernel
from softrobot_dynamics.kernels.linalg import (
    all_finite,
    cholesky,
    solve_lower,
    solve_lower_transposed,
)

# Infinitely stiff motions are damped at once. 1 + 0.5**0.5 does that too and would bear true
# forces seven times as stiff as K and D, this one 1.17 times; but it has a thirtieth of the error.
GAMMA = 1.0 - 0.5**0.5


class Stages(NamedTuple):
    """What a step of :func:`first_stage` and :func:`second_stage` holds, for n coordinates."""

    M: np.ndarray  # (n, n) mass matrix at the start
    L: np.ndarray  # (n, n) Cholesky factor of M + g h D + (g h)^2 K
    kq: np.ndarray  # (n,) first rates
    kv: np.ndarray  # (n,)
    q: np.ndarray  # (n,) where the second stage is evaluated
    qd: np.ndarray  # (n,)
    r: np.ndarray  # (n,)
    x: np.ndarray  # (n,)
    error: np.ndarray  # (2, n) of q and qd: the difference to the first-order solution


def allocate_stages(n):
    """Return :class:`Stages` for n coordinates."""
    return Stages(np.zeros((n, n)), np.zeros((n, n)), *np.zeros((6, n)), np.zeros((2, n)))


@kernel
def first_stage(terms, K, D, force, q, qd, h, b):
    """
    Begin a step of h [s] from the terms at (q, qd): fill the stages b, whose (q, qd) come next.

    ``force`` (m,) acts along y. Returns 0, or 1 if the step cannot be made.
    """
    n, M, g = len(q), terms.M, GAMMA * h
    for i in range(n):
        total = -terms.h[i]
        for a in range(len(force)):
            total += terms.J[a, i] * force[a]
        for j in range(n):
            total -= g * K[i, j] * qd[j]
            b.M[i, j] = M[i, j]
        for j in range(i + 1):
            b.L[i, j] = M[i, j] + g * D[i, j] + g * g * K[i, j]
        b.kv[i] = total
    if cholesky(b.L) != 0:
        return 1
    solve_lower(b.L, b.kv)
    solve_lower_transposed(b.L, b.kv)
    if not all_finite(b.kv):
        return 1
    for i in range(n):
        b.kq[i] = qd[i] + g * b.kv[i]
        b.q[i] = q[i] + h * b.kq[i]
        b.qd[i] = qd[i] + h * b.kv[i]
    return 0


@kernel
def second_stage(terms, K, force, q, qd, h, b):
    """
    End a step from the terms at the stages' (q, qd): advance (q, qd) in place.

    Fills ``b.error``. Returns 0, or 1, with (q, qd) kept, if they would no longer be numbers.
    """
    n, M, g = len(q), terms.M, GAMMA * h
    for i in range(n):
        total = -terms.h[i]
        for a in range(len(force)):
            total += terms.J[a, i] * force[a]
        b.r[i] = total
    if cholesky(M) != 0:
        return 1
    solve_lower(M, b.r)
    solve_lower_transposed(M, b.r)
    for i in range(n):
        b.r[i] -= 2.0 * b.kv[i]
        b.error[0, i] = b.qd[i] - 2.0 * b.kq[i]
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += b.M[i, j] * b.r[j] - g * K[i, j] * b.error[0, j]
        b.x[i] = total
    solve_lower(b.L, b.x)
    solve_lower_transposed(b.L, b.x)
    if not all_finite(b.x):
        return 1
    for i in range(n):
        kq, kv = b.error[0, i] + g * b.x[i], b.x[i]
        b.error[0, i], b.error[1, i] = 0.5 * h * (b.kq[i] + kq), 0.5 * h * (b.kv[i] + kv)
        q[i] += h * b.kq[i] + b.error[0, i]
        qd[i] += h * b.kv[i] + b.error[1, i]
    return 0
