# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A robot with closed loops as one without, in as few coordinates z as it has freedoms.

About a posture q* where its loops are closed, coordinates in their units x = (q - q*) / u have
orthonormal directions: W across, the rows of the Jacobian J of the closures, and Z along, in which
they stay closed. Any posture near by is x = Z z + W y with the one y that closes the loops (the
tangent space as a chart; Potra and Rheinboldt, Mechanics of Structures and Machines 19, 1991), and

    dq = T dz,   T = u (Z + W Y),   Y = -(J u W)^-1 J u Z
    qdd = T zdd + a,   a = -u W (J u W)^-1 bias

so that M qdd + h = A u + J' lambda becomes, without multipliers, ::

    T' M T zdd + T' (h + M a) = T' A u

These are terms of an unconstrained robot, which any integrator may take a step with; in all of
them loops are closed to rounding, and so are their rates.
"""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry, run
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.linalg import all_finite, solve_general
from softrobot_dynamics.kernels.subspaces import split_space
from softrobot_dynamics.recursion.closures import close_rows, ClosureRows

CLOSURE_TOLERANCE = 1e-12
"""Residual of a closed loop [rad, lengths of the robot]; rounding is below by two orders."""
_LAST_STEP_GAP = 1e-8  # from which one more step of Newton's method is the last
_MAX_NEWTON_STEPS = 12  # with more, z is far beyond the chart


class ClosedMotion(NamedTuple):
    """A chart, and the terms at the place in it that was evaluated last; k rows, f = n - k."""

    evaluate: Entry  # of the robot at (q, qd), with poses
    closures: ClosureRows  # k rows, independent of each other
    weights: Vector  # (k,) of residuals: 1, or 1 / length
    units: Vector  # (n,)
    h: Vector  # (n,) terms of the robot
    M: Matrix  # (n, n)
    J: Matrix  # (m, n)
    start: Vector  # (n,) q*
    Q: Matrix  # (n, n) [W, Z]
    y: Vector  # (k,)
    q: Vector  # (n,) now
    qd: Vector  # (n,)
    T: Matrix  # (n, f)
    a: Vector  # (n,)
    rest: Vector  # (n,) zeros
    fresh: Vector  # (1,) 1: terms are those at the start of the chart, which is asked for next
    R: Matrix  # (n, k) scratch
    rows: Matrix  # (k, n) scratch
    across: Matrix  # (k, k) scratch
    answer: Matrix  # (k, f + 1) scratch
    MT: Matrix  # (n, f + 1) scratch


def allocate_closed_motion(
    evaluate: Entry,
    closures: ClosureRows,
    weights: Vector,
    units: Vector,
    terms: tuple[Vector, Matrix, Matrix],
) -> ClosedMotion:
    """Return a :class:`ClosedMotion` of a robot that an entry evaluates into (h, M, J)."""
    k, n = closures.J.shape
    f = n - k
    h, M, J = terms
    vectors = {name: np.zeros(n) for name in ('start', 'q', 'qd', 'a', 'rest')}
    return ClosedMotion(
        evaluate=evaluate,
        closures=closures,
        weights=weights,
        units=units,
        h=h,
        M=M,
        J=J,
        Q=np.zeros((n, n)),
        y=np.zeros(k),
        T=np.zeros((n, f)),
        R=np.zeros((n, k)),
        rows=np.zeros((k, n)),
        across=np.zeros((k, k)),
        answer=np.zeros((k, f + 1)),
        MT=np.zeros((n, f + 1)),
        fresh=np.zeros(1),
        **vectors,
    )


@kernel
def begin_chart(closed, q, qd, z, zd):
    """
    Begin a chart at q, qd (n,), closed; fill z, zd (f,), the coordinates in it.

    Returns 0, or 1 where there are no numbers.
    """
    n, k, u = len(closed.q), len(closed.y), closed.units
    for i in range(n):
        closed.start[i] = closed.q[i] = q[i]
        closed.qd[i] = qd[i]
    closed.y[:] = 0.0
    run(closed.evaluate, closed.q, closed.qd)
    close_rows(closed.closures, closed.q, closed.qd)
    _scaled_rows(closed)
    split_space(closed.rows, closed.Q, closed.R)
    for i in range(n):
        for j in range(n - k):
            closed.T[i, j] = u[i] * closed.Q[i, k + j]
    for j in range(n - k):
        total = 0.0
        for i in range(n):
            total += closed.Q[i, k + j] * qd[i] / u[i]
        z[j], zd[j] = 0.0, total
    return 0 if all_finite(zd) else 1


@kernel
def close_posture(closed, z):
    """
    Fill closed.q with the posture at z (f,) where loops are closed, and T there.

    Returns 0, or 1 where there is none near. The robot was evaluated near by, or there.
    """
    n, k, u, S = len(closed.q), len(closed.y), closed.units, closed.closures
    f = closed.T.shape[1]  # not the length of z, which callers by address do not tell
    B, last = closed.answer, False
    for _ in range(_MAX_NEWTON_STEPS):
        for i in range(n):
            x = 0.0
            for j in range(k):
                x += closed.Q[i, j] * closed.y[j]
            for j in range(f):
                x += closed.Q[i, k + j] * z[j]
            closed.q[i] = closed.start[i] + u[i] * x
        run(closed.evaluate, closed.q, closed.rest)
        close_rows(S, closed.q, closed.rest)
        far = 0.0
        for r in range(k):
            size = abs(S.residual[r]) * closed.weights[r]
            far = size if not size <= far else far
        if not far < 1e3:
            return 1
        if _solve(closed, f) != 0:
            return 1
        if far <= CLOSURE_TOLERANCE or last:
            return 0 if far <= 1e3 * CLOSURE_TOLERANCE else 1
        last = far <= _LAST_STEP_GAP
        for r in range(k):
            closed.y[r] += B[r, f]
    return 1


@inlined
def _scaled_rows(closed):
    """Fill ``rows`` with those of the closures, in units, of residuals by their weights."""
    for r in range(len(closed.y)):
        for i in range(len(closed.q)):
            closed.rows[r, i] = closed.closures.J[r, i] * closed.weights[r] * closed.units[i]


@inlined
def _rows_across(closed):
    """Fill ``rows``, and ``across`` with their products with the columns W of Q."""
    _scaled_rows(closed)
    k = len(closed.y)
    for r in range(k):
        for c in range(k):
            total = 0.0
            for i in range(len(closed.q)):
                total += closed.rows[r, i] * closed.Q[i, c]
            closed.across[r, c] = total


@inlined
def _solve(closed, f):
    """Fill T, and the last column of ``answer`` with the change of y by the residual."""
    n, k, u, S = len(closed.q), len(closed.y), closed.units, closed.closures
    B, Q = closed.answer, closed.Q
    _rows_across(closed)
    for r in range(k):
        for c in range(f):
            total = 0.0
            for i in range(n):
                total -= closed.rows[r, i] * Q[i, k + c]
            B[r, c] = total
        B[r, f] = -S.residual[r] * closed.weights[r]
    if solve_general(closed.across, B) != 0:
        return 1
    for i in range(n):
        for c in range(f):
            total = Q[i, k + c]
            for r in range(k):
                total += Q[i, r] * B[r, c]
            closed.T[i, c] = u[i] * total
    return 0


@kernel
def move_to(closed, z, zd, q, qd):
    """Fill q, qd (n,) from z, zd (f,); returns 0, or 1 where there is no such posture."""
    if close_posture(closed, z) != 0:
        return 1
    _rates(closed, zd)
    if not (all_finite(closed.q) and all_finite(closed.qd)):
        return 1
    for i in range(len(closed.q)):
        q[i], qd[i] = closed.q[i], closed.qd[i]
    return 0


@inlined
def _rates(closed, zd):
    """Fill closed.qd = T zd."""
    for i in range(len(closed.q)):
        total = 0.0
        for c in range(closed.T.shape[1]):
            total += closed.T[i, c] * zd[c]
        closed.qd[i] = total


@kernel
def evaluate_closed(closed, h, M, J, z, zd):
    """Fill the reduced terms h (f,), M (f, f), J (m, f) at z, zd; NaN where there are none."""
    n, f, k, u, S = len(closed.q), len(h), len(closed.y), closed.units, closed.closures
    if closed.fresh[0] == 0.0:
        if close_posture(closed, z) != 0:
            for c in range(f):
                h[c] = np.nan
                for d in range(f):
                    M[c, d] = np.nan
            return
        _rates(closed, zd)
        run(closed.evaluate, closed.q, closed.qd)
        close_rows(S, closed.q, closed.qd)
    closed.fresh[0] = 0.0
    B, T = closed.answer, closed.T
    _rows_across(closed)
    for r in range(k):
        for c in range(f + 1):
            B[r, c] = -S.bias[r] * closed.weights[r]
    solve_general(closed.across, B)
    for i in range(n):
        total = 0.0
        for r in range(k):
            total += closed.Q[i, r] * B[r, 0]
        closed.a[i] = u[i] * total
    _reduce(closed, closed.M, M)
    for i in range(n):
        total = closed.h[i]
        for j in range(n):
            total += closed.M[i, j] * closed.a[j]
        closed.MT[i, f] = total
    for c in range(f):
        h[c] = 0.0
        for i in range(n):
            h[c] += T[i, c] * closed.MT[i, f]
        for a in range(len(J)):
            total = 0.0
            for i in range(n):
                total += closed.J[a, i] * T[i, c]
            J[a, c] = total


@kernel
def reduce_near(follow, closed, K, D, stiffness, damping, z, zd):
    """Fill stiffness and damping (f, f) of z with T' K T, T' D T, after an evaluation at z, zd."""
    if follow.address != 0:
        run(follow, closed.q, closed.qd)
    _reduce(closed, K, stiffness)
    _reduce(closed, D, damping)


@kernel
def _reduce(closed, full, reduced):
    """Fill ``reduced`` (f, f) with T' times a matrix (n, n) times T."""
    n, f = closed.T.shape
    for i in range(n):
        for c in range(f):
            total = 0.0
            for j in range(n):
                total += full[i, j] * closed.T[j, c]
            closed.MT[i, c] = total
    for c in range(f):
        for d in range(f):
            total = 0.0
            for i in range(n):
                total += closed.T[i, c] * closed.MT[i, d]
            reduced[c, d] = total
