# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Equation of motion of a robot as it is simulated, and its derivatives.

The residual is r = M(q) qdd + h(q, qd) - A(q) u, zero in a motion: with cables that are held at
their commands, and friction along routes and of joints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.dynamics.command_conversion import HeldCables
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.model.closures import require_tree
from softrobot_dynamics.model.servos import require_forces
from softrobot_dynamics.recursion.finite_differences import by_second_order
from softrobot_dynamics.simulation.integrators.contract import acting, Inputs

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class EquationOfMotion:
    """Residual of one model in arrays of its own; ``M`` (n, n) is that of the last call."""

    def __init__(self, model: CompiledModel) -> None:
        require_forces(model, 'identification')
        self._model, self._inputs = model, Inputs(model, commanded=True)
        evaluate = model.evaluator()
        self._terms, self._robot = evaluate.terms, evaluate.robot
        made = acting(model, evaluate, self._inputs, has_friction=True)
        self._evaluate = cached(run, 'VECTOR, VECTOR', entry=made.entry)
        self._has_friction = made.capstan is not None
        self._acts = np.where(model.positioned, 0.0, 1.0)
        self._held = bool(model.positioned.any())
        self.M = self._terms.M

    def residual(self, q: Vector, qd: Vector, qdd: Vector, u: Vector) -> Vector:
        """Return r (n,) at q, qd, qdd (n,) under commands u (m,), contiguous floats."""
        self._inputs.take(u)
        self._evaluate(q, qd)
        t = self._terms
        found: Vector = t.M @ qdd + t.h - self._inputs.force @ t.J
        return found


class EquationOfMotionDerivatives(EquationOfMotion):
    """The derivatives by q and qd, too: in closed form but where tendons have friction."""

    def __init__(self, model: CompiledModel) -> None:
        require_tree(model, 'fits are')
        super().__init__(model)
        self._derivatives = own = Differentiator(model)
        self._cables = HeldCables(model, self._robot, own) if self._held else None

    def by_state(self, q: Vector, qd: Vector, qdd: Vector, u: Vector) -> tuple[Matrix, Matrix]:
        """Return dr/dq and dr/dqd, (n, n) each; ``M`` is that at q, too."""
        if self._has_friction:
            units = self._model.scales.units
            K = by_second_order(lambda x: self.residual(x, qd, qdd, u), q, units)
            D = by_second_order(lambda x: self.residual(q, x, qdd, u), qd, units)
            self._evaluate(q, qd)
            return K, D
        n, own = self._model.n, self._derivatives.inverse(q, qd, qdd)[1].copy()
        K = own[:, :n] - self._derivatives.actuation_stiffness(q, self._acts * u)
        self._evaluate(q, qd)
        if self._cables:
            K += self._cables.stiffness(q, u)
        D, (dry, slow) = own[:, n:], self._model.dry_friction
        D[np.diag_indices(n)] += dry * slow**2 / (qd**2 + slow**2) ** 1.5
        return K, D
