# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Differences of forces by coordinates, in place of derivatives that there are no formulas for.

All of them are here, with their steps, in units of the coordinate (rad, m, 1/m, -):

==============  ======================  ======================================================
step            formula                 of what
==============  ======================  ======================================================
ENERGY_STEP     fourth order            forces of a strain energy at q = 0: the model's matrices
ELEMENT_STEP    fourth order            a body by its own coordinates, where it has no formulas;
                                        frames at material points
TWICE_STEP      fourth order            these twice along a motion
ROUGH_STEP      one-sided               the same, where 1e-6 will do
STATIC_STEP     second order            the static residual, and loads
COLUMN_STEP     one-sided               forces in motion, for the response to a held command
FOLLOWED_STEP   one-sided               forces of a strain energy, column by column in a motion
==============  ======================  ======================================================

What is linear or quadratic is differenced by steps of 1, exactly.
"""

from collections.abc import Callable, Sequence
import math

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import call, run
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.recursion.transmission import FIBRE

ENERGY_STEP = 1e-5
ELEMENT_STEP = 5e-5  # errors of some 1e-11
TWICE_STEP = 1e-2  # errors of some 1e-10
ROUGH_STEP = 1e-7  # a third of the evaluations, errors of some 1e-6
STATIC_STEP = 1e-6
STATIC_NOISE = 2e-9  # of a derivative by it, of the forces at play
COLUMN_STEP = 1e-7
FOLLOWED_STEP = 1e-8


def by_second_order(force: Callable[[Vector], Vector], q: Vector) -> Matrix:
    """Return the derivative (n, n) of a force (n,) by q (n,), by central differences."""
    pairs = [force(q + step) - force(q - step) for step in STATIC_STEP * np.eye(len(q))]
    return np.array(pairs).T / (2.0 * STATIC_STEP)


@kernel
def static_stiffness(evaluate, h, J, force, zero, x, q, K):
    """
    Fill K (n, n) with the derivative by q of h(q) - J(q)^T force at rest, by central differences.

    ``evaluate``, an Entry of (q, qd), fills h (n,) and J (m, n); x (n,) is used up.
    """
    n, m = len(q), len(force)
    K[:] = 0.0
    copy(q, x)
    for j in range(n):
        for side in (1.0, -1.0):
            x[j] = q[j] + side * STATIC_STEP
            run(evaluate, x, zero)
            for i in range(n):
                r = h[i]
                for k in range(m):
                    r -= J[k, i] * force[k]
                K[i, j] += side * r
        x[j] = q[j]
    for i in range(n):
        for j in range(n):
            K[i, j] /= 2.0 * STATIC_STEP


def by_fourth_order(
    force: Callable[[Vector], Vector], q: Vector, step: float, columns: Sequence[int]
) -> Matrix:
    """Return some columns (., k) of the derivative of a force (.,) by q (n,)."""
    slopes = []
    for unit in step * np.eye(len(q))[columns]:
        near, back, far, farther = (force(q + k * unit) for k in (1.0, -1.0, 2.0, -2.0))
        slopes.append((8.0 * (near - back) - (far - farther)) / (12.0 * step))
    return np.array(slopes).T


def twice_along(function: Callable[[Vector], Vector], x: Vector, rate: Vector) -> Vector:
    """Return the second derivative of a function (.,) along x + t rate, (n,) each, at t = 0."""
    speed = np.abs(rate).max(initial=0.0)
    step = rate * (TWICE_STEP / speed if speed else 0.0)
    here, near, back, far, farther = (function(x + k * step) for k in (0, 1, -1, 2, -2))
    change = 16.0 * (near + back) - (far + farther) - 30.0 * here
    return change * (speed / TWICE_STEP) ** 2 / 12.0


@kernel
def shift(k):
    """Where the k-th point of a difference lies, in steps."""
    return 1.0 if k == 0 else (-1.0 if k == 1 else (2.0 if k == 2 else -2.0))


@kernel
def slope(y, points, step, r):
    """
    Return the difference of the r-th number in y (4, .) at the places of :func:`shift`.

    One-sided of one point, against y[1]; central of second or fourth order of two or four.
    """
    near = y[0, r] - y[1, r]
    if points == 1:
        return near / step
    if points == 2:
        return near / (2.0 * step)
    return (8.0 * near - (y[2, r] - y[3, r])) / (12.0 * step)


@kernel
def displace(parts, j, q, x, v):
    """Fill x = q + FOLLOWED_STEP e and v = e, where e is the j-th coordinate of each part."""
    copy(q[: len(x)], x)
    v[:] = 0.0
    for i in range(len(parts)):
        if j < parts[i, 1]:
            x[parts[i, 0] + j] += FOLLOWED_STEP
            v[parts[i, 0] + j] = 1.0


@kernel
def store_columns(parts, j, here, there, damping, K, D):
    """
    Set column and row j of each part's blocks of K and D, after :func:`displace`.

    By the elastic forces ``here`` and ``there``, displaced; what is not a number is left out.
    """
    for i in range(len(parts)):
        first, last = parts[i, 0], parts[i, 0] + parts[i, 1]
        c = first + j
        for r in range(first, last):
            slope = (there[r] - here[r]) / FOLLOWED_STEP
            if c < last and math.isfinite(slope) and math.isfinite(damping[r]):
                K[r, c] = K[c, r] = slope
                D[r, c] = D[c, r] = damping[r]


@kernel
def pull_fibres(robot, work):
    """Fill the generalized force of lengths within bodies, where the robot is."""
    work.fibres[:] = 0.0
    for s in range(len(robot.segments)):
        row = robot.segments[s]
        if row[1] == FIBRE:
            _add_fibre(robot, row, work, work.q, work.fibres)


@kernel
def subtract_fibres(robot, work, j, K):
    """
    Subtract from column j of K what lengths within the body of coordinate j pull more.

    ``work`` is that of :mod:`softrobot_dynamics.recursion.columns`, displaced; its ``force_there``
    is used up.
    """
    found, first, last = work.force_there, 0, 0  # rows of that body
    for s in range(len(robot.segments)):
        row = robot.segments[s]
        if row[1] == FIBRE and row[3] <= j < row[3] + row[4]:
            if last == 0:
                first, last = row[3], row[3] + row[4]
                found[first:last] = 0.0
            _add_fibre(robot, row, work, work.x, found)
    for i in range(first, last):
        K[i, j] -= (found[i] - work.fibres[i]) / COLUMN_STEP


@kernel
def _add_fibre(robot, row, work, q, out):
    """Add the generalized force of a length within a body to that of all (n,)."""
    first, count, force = row[3], row[4], work.force[row[0]]
    if force != 0.0:
        P, found, S = robot.P[row[2] + 1 :], robot.S[: count + 2], robot.S[count + 2 :]
        call(row[5], P, q[first:], work.qd[first:], found, S)
        for i in range(count):
            out[first + i] += robot.P[row[2]] * force * found[1 + i]
