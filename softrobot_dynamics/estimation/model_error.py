# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Estimate the relative errors of a model: of inertia, stiffness and damping.

With the shares e = (inertia, stiffness, damping) it moves by ::

    (1 + e1) (M qdd + c + g) + (1 + e2) s + (1 + e3) d = A u + f

c Coriolis, g weight, s elastic and d damping forces of the model. So a share acts as a force along
a column of E = -(M qdd + c + g, s, d), by which an estimator learns it as the robot moves.
"""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.model.evaluation import Evaluator
from softrobot_dynamics.recursion.passive import passive_forces

if TYPE_CHECKING:
    from softrobot_dynamics.dynamics.derivatives import Differentiator
    from softrobot_dynamics.model.model import CompiledModel


class ScaledModel:
    """
    A compiled ``model`` off by ``shares`` (3,), which may change; otherwise it is the model.

    Attributes besides the model's: ``elastic``, ``damping_force`` and ``inertial`` (n,), the
    model's own forces where its newest Evaluator was last.
    """

    def __init__(self, model: CompiledModel) -> None:
        self._model, self.shares = model, np.zeros(3)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def evaluator(self) -> Evaluator:
        """Return a new Evaluator of the model with its errors."""
        own, n = self._model.evaluator(), self._model.n
        self.elastic, self.damping_force, self.inertial = np.zeros((3, n))
        enlarged = entry(
            enlarge,
            evaluate=own.entry,
            robot=own.robot,
            M=own.terms.M,
            h=own.terms.h,
            shares=self.shares,
            elastic=self.elastic,
            damping=self.damping_force,
            inertial=self.inertial,
        )
        own.use_entry(enlarged)
        return own


class Columns:
    """
    The columns E (n, 3) of a Differentiator's state, for shares that differ from 0.

    ``fill`` also makes the Differentiator's derivatives those with the shares: exactly where
    stiffness and damping are constant, else as if they were those at q = 0.
    """

    def __init__(self, model: ScaledModel, differentiate: Differentiator) -> None:
        self.E, self._model, self._own = np.zeros((model.n, 3)), model, differentiate
        self._forces = model.inertial, model.elastic, model.damping_force  # of its Evaluator

    def fill(self) -> None:
        """Fill E after a call of ``Differentiator.forward``, and change its derivatives."""
        own, n, (inertia, stiffness, damping) = self._own, self._model.n, self._model.shares
        inertial, elastic, damping_force = self._forces
        inertial = inertial + own.M @ own.response.qdd / (1.0 + inertia)
        for column, force in zip(self.E.T, (inertial, elastic, damping_force)):
            np.negative(force, out=column)
        by_q, by_qd = own.by_state[:, :n], own.by_state[:, n:]
        own.by_state *= 1.0 + inertia
        by_q += (stiffness - inertia) * self._model.stiffness
        by_qd += (damping - inertia) * self._model.damping


@kernel
def enlarge(evaluate, robot, M, h, shares, elastic, damping, inertial, q, qd):
    """Evaluate the robot at (q, qd) by an entry, and enlarge M and h by the shares."""
    run(evaluate, q, qd)
    passive_forces(robot, q, qd, elastic, damping)
    heavier, stiffer, slower = 1.0 + shares[0], 1.0 + shares[1], 1.0 + shares[2]
    for i in range(len(h)):
        inertial[i] = h[i] - elastic[i] - damping[i]
        h[i] = heavier * inertial[i] + stiffer * elastic[i] + slower * damping[i]
        for j in range(len(h)):
            M[i, j] *= heavier
