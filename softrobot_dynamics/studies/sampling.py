# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Sample the factors of a study: one row of values for each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import itertools
import math

import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.errors import ArgumentError, UnknownNameError
from softrobot_dynamics.studies.factors import Factor

RUNS = 100  # where nothing else is said


def _sobol(count: int, factors: int, seed: int) -> Matrix:
    from scipy.stats import qmc  # late: scipy is slow to import

    power = math.ceil(math.log2(count))  # only so many are balanced
    return qmc.Sobol(factors, seed=seed).random_base2(power)[:count]


def _latin(count: int, factors: int, seed: int) -> Matrix:
    from scipy.stats import qmc

    return qmc.LatinHypercube(factors, seed=seed).random(count)


def _random(count: int, factors: int, seed: int) -> Matrix:
    return np.random.default_rng(seed).random((count, factors))


DESIGNS: dict[str, Callable[[int, int, int], Matrix]] = {
    'sobol': _sobol,
    'latin': _latin,
    'random': _random,
}
"""(runs, factors, seed) -> (runs, factors) in [0, 1)."""
GRID = 'grid'


def sample(
    factors: Sequence[Factor], runs: int | None, seed: int, design: str | None
) -> tuple[str, Matrix]:
    """
    Return (name of the design, values (N, d) of the d factors in N runs).

    ``design`` is one of DESIGNS, or 'grid' for every combination of given values; by default
    'grid' where all factors have such, else 'sobol'. The same ``seed`` gives the same values.
    UnknownNameError, ArgumentError.
    """
    given = all(factor.values for factor in factors)
    design = design or (GRID if given and runs is None else 'sobol')
    if design == GRID:
        return design, _grid(factors, runs)
    if design not in DESIGNS:
        raise UnknownNameError('design', design, (*DESIGNS, GRID))
    count = _whole('runs', RUNS if runs is None else runs, 1)
    unit = DESIGNS[design](count, len(factors), _whole('seed', seed, 0))
    return design, np.column_stack([_spread(f, column) for f, column in zip(factors, unit.T)])


def _grid(factors: Sequence[Factor], runs: int | None) -> Matrix:
    for factor in factors:
        if not factor.values:
            raise ArgumentError(f'vary {factor.name}', 'a range', 'values, for a grid')
    points = np.array(list(itertools.product(*(factor.values for factor in factors))))
    if runs not in (None, len(points)):
        raise ArgumentError('runs', runs, f'{len(points)}, as the grid has, or nothing')
    return points


def _spread(factor: Factor, unit: Matrix) -> Matrix:
    """Return values of a factor (N,) for numbers in [0, 1)."""
    if factor.values:
        return np.array(factor.values)[(unit * len(factor.values)).astype(int)]
    return factor.low + unit * (factor.high - factor.low)


def _whole(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ArgumentError(name, value, f'a whole number >= {least}')
    return value
