# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Studies of accuracy: a problem with a known answer, solved by several body models.

Values and references are arrays (cases, quantities). The error of values is the largest, over the
cases, of the largest difference over the largest entry of the reference in that case.
"""

from collections.abc import Callable
from dataclasses import dataclass
import functools
from typing import NamedTuple

import numpy as np

EXACT, SPECTRAL, ANYHOW = 'exact', 'spectral', ''  # how errors fall, if not with an order
STATES = 3  # random ones at which models are compared
ORDER_BAND = 0.25  # an order of convergence may be measured off by this much


class Answer(NamedTuple):
    """The result of one body model at one resolution."""

    values: np.ndarray  # (cases, quantities)
    n: int  # coordinates


@dataclass(frozen=True)
class Study:
    """A problem solved by one body model: ``solve(resolution)`` returns an :class:`Answer`."""

    body: str  # the body model, in words
    solve: Callable
    resolutions: tuple  # numbers of bodies N, or polynomial degrees p, or ...
    converges: object  # EXACT, SPECTRAL, ANYHOW or an order
    tolerance: float  # of the error at the last resolution
    limit: float = 0.0  # of the error of the extrapolated values, given an order; 0: not asked


@dataclass(frozen=True)
class Problem:
    """A problem with its answer: ``find()`` returns the reference (cases, quantities)."""

    title: str
    text: str
    cases: tuple
    quantities: tuple
    find: Callable
    studies: tuple
    tabulated: bool = True  # whether values are worth a table

    @functools.cached_property
    def reference(self):
        """The reference values (cases, quantities)."""
        return np.asarray(self.find(), dtype=float)

    def error(self, values):
        """Relative error of values (cases, quantities), absolute where the reference is zero."""
        size = np.abs(self.reference).max(axis=1)
        size = np.where(size > 0.0, size, 1.0)
        return float((np.abs(values - self.reference).max(axis=1) / size).max())


class Result(NamedTuple):
    """A study that has been run."""

    study: Study
    answers: tuple  # of Answer, one for each resolution
    errors: tuple
    orders: np.ndarray  # one less; empty unless the study has an order
    limit: float  # error of the extrapolated values; NaN without an order

    @property
    def passed(self):
        """Return whether the errors, and their decrease, are those that the study expects."""
        study = self.study
        order = study.converges
        return bool(
            self.errors[-1] <= study.tolerance
            and (not len(self.orders) or abs(self.orders[-1] - order) <= ORDER_BAND)
            and (not study.limit or self.limit <= study.limit)
        )


def run(problem, study, report=lambda resolution, error: None):
    """Solve a problem at all resolutions of a study; return the :class:`Result`."""
    answers, errors = [], []
    for resolution in study.resolutions:
        answers.append(study.solve(resolution))
        errors.append(problem.error(answers[-1].values))
        report(resolution, errors[-1])
    measured, limit = np.zeros(0), np.nan
    if not isinstance(study.converges, str):
        measured = orders(study.resolutions, errors)
        values = [answer.values for answer in answers]
        limit = problem.error(extrapolated(study.resolutions, values, study.converges))
    return Result(study, tuple(answers), tuple(errors), measured, limit)


def orders(resolutions, errors):
    """Return measured orders of convergence, one less than errors."""
    return -np.diff(np.log(errors)) / np.diff(np.log(resolutions))


def extrapolated(resolutions, values, order):
    """Limit of values by Richardson's extrapolation of the last two resolutions."""
    gain = (resolutions[-1] / resolutions[-2]) ** order
    return (gain * values[-1] - values[-2]) / (gain - 1.0)


def studies(solve, *families):
    """Return studies with ``solve(bodies, resolution)`` of families (words, bodies, the rest)."""

    def bound(bodies):
        return lambda resolution: solve(bodies, resolution)

    return tuple(Study(words, bound(bodies), *rest) for words, bodies, *rest in families)


def random_states(n, seed=1, size=1.0):
    """States (q, qd, qdd), (STATES, 3, n)."""
    return np.random.default_rng(seed).uniform(-size, size, (STATES, 3, n))


def matrix(name, n):
    """Names of the entries of an n by n matrix, row by row."""
    return tuple(f'{name}{i + 1}{j + 1}' for i in range(n) for j in range(n))
