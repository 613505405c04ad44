# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Differences of forces by coordinates, in place of derivatives that there are no formulas for.

All of them are here, with their steps. Those by a coordinate are shares of the change that turns
what it moves by 1 rad, or moves it by its length, whatever the unit of the coordinate (rad, m,
1/m, -), see :class:`softrobot_dynamics.model.scales.Scales`:

==============  ======================  ======================================================
step            formula                 of what
==============  ======================  ======================================================
ENERGY_STEP     fourth order            forces of a strain energy at q = 0: the model's matrices
ELEMENT_STEP    fourth order            a body by its own coordinates, where it has no formulas
FRAME_STEP      eighth order            frames at material points, once and twice along a motion;
                                        by how far these move: of their distance, or rad
ONE_SIDED_STEP      one-sided               the same, where 1e-6 will do
STATIC_STEP     second order            friction of routes
CONTACT_STEP    fourth order            forces of contact
==============  ======================  ======================================================

What is linear or quadratic is differenced by steps of 1, exactly.
"""

from collections.abc import Callable, Sequence

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.jit import kernel

ENERGY_STEP = 1e-5
ELEMENT_STEP = 5e-5  # errors of some 1e-11
FRAME_STEP = 1e-2  # errors of some 1e-13, twice 1e-11
ONE_SIDED_STEP = 1e-7  # a third of the evaluations, errors of some 1e-6
STATIC_STEP = 1e-6
CONTACT_STEP = 1e-7  # surfaces overlap by little: errors of some 1e-8
STATIC_NOISE = 2e-9  # of a derivative by it, of the forces at play
FORMULA_NOISE = 1e-10  # of all other derivatives of forces at rest

_EIGHTH_ORDER_WEIGHTS = (
    (1.0, 4 / 5, 8 / 5),
    (2.0, -1 / 5, -1 / 5),
    (3.0, 4 / 105, 8 / 315),
    (4.0, -1 / 280, -1 / 560),
)  # steps away: weights of the first derivative, of the second


def by_second_order(
    force: Callable[[Vector], Vector], q: Vector, units: Vector | None = None
) -> Matrix:
    """
    Return the derivative (n, n) of a force (n,) by q (n,), by central differences.

    Steps are shares of ``units`` (n,), by default 1.
    """
    steps = STATIC_STEP * (np.ones(len(q)) if units is None else units)
    pairs = [force(q + step) - force(q - step) for step in np.diag(steps)]
    return np.array(pairs).T / (2.0 * steps)


def by_fourth_order(
    force: Callable[[Vector], Vector], q: Vector, steps: Vector, columns: Sequence[int]
) -> Matrix:
    """Return columns (., k) of the derivative of a force (.,) by q (n,), by ``steps`` (n,)."""
    derivatives = []
    for unit, step in zip(np.diag(steps)[columns], steps[columns]):
        near, back, far, farther = (force(q + k * unit) for k in (1.0, -1.0, 2.0, -2.0))
        derivatives.append((8.0 * (near - back) - (far - farther)) / (12.0 * step))
    return np.array(derivatives).T


def directional_derivatives(
    function: Callable[[Vector], Vector], x: Vector, direction: Vector
) -> tuple[Vector, Vector]:
    """
    Return the first two derivatives (.,) of a function along x + t direction, (n,) each, at t = 0.

    By differences of eighth order, whose steps are the direction: choose it as FRAME_STEP says.
    """
    here = function(x)
    first, second = np.zeros_like(here), -205.0 / 72.0 * here
    for k, once, twice in _EIGHTH_ORDER_WEIGHTS:
        near, back = function(x + k * direction), function(x - k * direction)
        first += once * (near - back)
        second += twice * (near + back)
    return first, second


@kernel
def shift(k):
    """Return the place of the k-th point of a difference, in steps."""
    return 1.0 if k == 0 else (-1.0 if k == 1 else (2.0 if k == 2 else -2.0))


@kernel
def derivative(y, points, step, r):
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
