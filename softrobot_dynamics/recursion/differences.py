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
STATIC_STEP     second order            friction of routes
==============  ======================  ======================================================

What is linear or quadratic is differenced by steps of 1, exactly.
"""

from collections.abc import Callable, Sequence

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.jit import kernel

ENERGY_STEP = 1e-5
ELEMENT_STEP = 5e-5  # errors of some 1e-11
TWICE_STEP = 1e-2  # errors of some 1e-10
ROUGH_STEP = 1e-7  # a third of the evaluations, errors of some 1e-6
STATIC_STEP = 1e-6
STATIC_NOISE = 2e-9  # of a derivative by it, of the forces at play


def by_second_order(force: Callable[[Vector], Vector], q: Vector) -> Matrix:
    """Return the derivative (n, n) of a force (n,) by q (n,), by central differences."""
    pairs = [force(q + step) - force(q - step) for step in STATIC_STEP * np.eye(len(q))]
    return np.array(pairs).T / (2.0 * STATIC_STEP)


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
