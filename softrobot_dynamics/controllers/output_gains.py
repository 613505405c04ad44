# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Gains on outputs of mixed units, by the robot's inertia and damping along them."""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.dynamics.zero_dynamics import MOBILITY_TOLERANCE

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class GainMatrices(NamedTuple):
    """Gains of springs and dampers along c outputs, for kernels."""

    stiffness: Matrix  # (c, c) K_P
    damping: Matrix  # (c, c) K_D


class OutputGains(NamedTuple):
    """Springs and dampers along c outputs, made from p [1/s^2] and d [1/s]."""

    inertia: Matrix  # (c, c) L
    damping: Matrix  # (c, c) B

    def matrices(self, p: Vector, d: Vector) -> GainMatrices:
        """Return symmetric K_P, p L + sqrt(p) B where p is the same for all, and K_D, d L."""
        stiffness = self.inertia * _between(p) + self.damping * _between(np.sqrt(p))
        return GainMatrices(stiffness, self.inertia * _between(d))


def output_gains(model: CompiledModel, outputs: Integers) -> OutputGains:
    """
    Return the :class:`OutputGains` of outputs by index, for the robot at q = 0.

    With the inertia L and the damping B that they meet, an error of
    L y'' + (B + d L) y' + (p L + sqrt(p) B) y = 0 decays with the rate sqrt(p) or faster if
    d = 2 sqrt(p), however strongly the robot is damped. L and B are those of the motion that a
    force along the outputs makes of the robot, if its rates grow as slowly as it moves by itself
    (sigma = ``model.scales.rate``): q' = (sigma M + D)^-1 J' f. Coordinates that damping holds
    take no part in it, as light as they may be. Without damping it is the motion of least kinetic
    energy, and L = (J M^-1 J')^-1. Combinations of outputs that cannot move have no inertia.
    """
    terms = model.per_thread.evaluator(model.q0, np.zeros(model.n))
    J, M, D = terms.J[outputs], terms.M, model.damping
    moved = np.linalg.solve(M + D / model.scales.rate, J.T)
    mobility = J @ moved
    scale = 1.0 / np.sqrt(np.maximum(np.diag(mobility), np.finfo(float).tiny))
    inverse = np.linalg.pinv(
        mobility * np.outer(scale, scale), rcond=MOBILITY_TOLERANCE, hermitian=True
    )
    along = moved @ (inverse * np.outer(scale, scale))  # q' of the rates of y
    return OutputGains(along.T @ M @ along, along.T @ D @ along)


def _between(gains: Vector) -> Matrix:
    """Return the matrix of geometric means of gains (c,): keeps what it scales symmetric."""
    return np.sqrt(np.outer(gains, gains))
