# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Derivatives of a robot some of whose joints are moved by drives that take positions or velocities.

A drive of the rate w gives its coordinate q_j the acceleration a_j = w^2 (s - q_j) - 2 w q_j', or
a_j = w (s - q_j') if it takes velocities (:mod:`softrobot_dynamics.recursion.servos`). So row j of
the linearised equation of motion is M_jj dq_j'' = -M_jj w^2 dq_j - 2 M_jj w dq_j' + df_j, or
M_jj dq_j'' = -M_jj w dq_j' + df_j, without any other coordinate; rows of the other coordinates
stay, the inertial coupling M_ij dq_j'' included. f_j, the force from outside on that coordinate,
stands for what is wrong with the drive's model: it does as if s were f_j / (M_jj w^2) more, or
f_j / (M_jj w).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.addresses import Entry, run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.dynamics.derivatives import Differentiator, ForwardDynamicsDerivatives
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.estimation.settings import EstimatorSettings
from softrobot_dynamics.kernels.mass_solve import factorise_mass
from softrobot_dynamics.model.closures import require_tree
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.recursion.servos import ServoDrives

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class ServoDifferentiator(Differentiator):
    """
    A Differentiator whose :meth:`forward` takes setpoints of drives with their own control loop.

    ``evaluate`` is an entry that evaluates the robot with its ``drives``, so that they say what
    forces they need. After :meth:`forward` the rows of ``M``, ``by_state`` and ``stiffness`` of
    their coordinates are those of the drives; M is then not symmetric. There are no derivatives
    by what the drives are told.
    """

    def __init__(
        self,
        model: CompiledModel,
        force: Vector,
        drives: ServoDrives,
        evaluate: Entry,
        touching: bool = False,
    ) -> None:
        super().__init__(model, force, commanded=True, touching=touching)
        self._drives, self._evaluate = drives, cached(run, 'VECTOR, VECTOR', entry=evaluate)
        self._actuators, self._u = model.servos.actuators, np.zeros(model.m)
        r, self._separate_mass = self.response, np.zeros((model.n, model.n))
        given = {'min_diagonal': r.min_diagonal, 'L': r.L, 'scale': r.scale}
        self._factorise = cached(factorise_mass, 'float64', M=self._separate_mass, **given)

    def forward(self, q: Vector, qd: Vector, u: Vector) -> ForwardDynamicsDerivatives:
        """Return the derivatives under u (m,), the setpoints of drives being set; see above."""
        self._evaluate(q, qd)
        self._u[:] = u
        self._u[self._actuators] = self._drives.effort
        found = super().forward(q, qd, self._u)
        self._separate()
        return found

    def _separate(self) -> None:
        """Put the rows of drives in place, but of those at the limit of their force."""
        drives, M, r, n = self._drives, self.M, self.response, self.model.n
        own = drives.at_limit == 0.0
        if not own.any():
            return
        j, w = drives.coordinates[own], drives.rate[own]
        inertia = M[j, j].copy()
        coupling = M[:, j].copy()
        coupling[j] = 0.0
        M[j], self.by_state[j], self.stiffness[j] = 0.0, 0.0, 0.0
        M[j, j] = inertia
        to_position = drives.positions[own] == 1
        self.by_state[j, j] = np.where(to_position, inertia * w * w, 0.0)
        self.by_state[j, n + j] = np.where(to_position, 2.0, 1.0) * inertia * w
        change = r.change
        change[:, : 2 * n] = -self.by_state
        change[:, 2 * n :] = (r.signs[:, None] * self.terms.J).T
        change[:, :n] += self.stiffness
        change[j, 2 * n :] = 0.0
        change[j] /= inertia[:, None]
        free = np.ones(n, dtype=bool)
        free[j] = False
        own_change = change[free] - coupling[free] @ change[j]
        change[free] = np.linalg.solve(M[np.ix_(free, free)], own_change)
        self._factorise_separate(j)

    def _factorise_separate(self, j: Vector) -> None:
        """Factorise M without the coupling of other coordinates to those of drives, j."""
        self._separate_mass[:] = self.M
        self._separate_mass[:, j] = 0.0
        self._separate_mass[j, j] = self.M[j, j]
        self._factorise(self.response.floor)


def drive_deflection(drives: ServoDrives, force: Vector) -> Vector:
    """Return how far (k,) drives go beyond their setpoints under an external force (n,)."""
    j, w = drives.coordinates, drives.rate
    stiffness = drives.inertia * np.where(drives.positions, w * w, w)
    way: Vector = np.divide(force[j], stiffness, out=np.zeros(len(j)), where=stiffness > 0.0)
    return way


def require_estimable(model: RobotModel, settings: EstimatorSettings) -> None:
    """
    Raise ArgumentError for a robot with closures, and for sensors that need drives of forces.

    Where drives take positions or velocities these are their measured efforts, and shares of the
    model's error.
    """
    require_tree(model, 'estimators are')
    servos = model.servos
    if not servos.any:
        return
    own = [model.actuator_names[k] for k in servos.actuators]
    takes = 'positions' if servos.positions.all() else 'positions or velocities'
    takes = takes if servos.positions.any() else 'velocities'
    for effort in settings.efforts:
        if wrong := [name for name in effort.names if name in own]:
            expected = f'actuators that take forces: these take {takes}'
            raise ArgumentError(f'efforts of {effort.name}', ', '.join(wrong), expected)
    if len(settings.model_error.deviations):
        expected = f'none, as drives of {", ".join(own)} take {takes}'
        raise ArgumentError('model_error', list(settings.model_error.deviations), expected)
