# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Contact in the steps of a simulator: its workspace, its force, and steps that miss its law."""

from __future__ import annotations

from typing import TYPE_CHECKING
import warnings

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.contacts import contacts
from softrobot_dynamics.model.contacts import forget_contact
from softrobot_dynamics.simulation.integrators.contact_gauss_seidel import MAX_RESIDUAL
from softrobot_dynamics.simulation.integrators.contract import Integrator

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel
    from softrobot_dynamics.recursion.contact_workspace import ContactWorkspace

_REPORTED_STEPS = 3  # whose forces of contact miss their law: first impacts may be among them


class SimulatedContact:
    """
    Contact of a model in the steps of an integrator.

    Attribute ``workspace``: that which steps are made with; None where nothing can touch.
    """

    def __init__(self, model: CompiledModel, stepper: Integrator) -> None:
        self.workspace: ContactWorkspace | None = stepper.acts.contact
        self._model, self._solved = model, stepper.solves_contact
        self._warned = self.workspace is None  # of forces that miss their law
        self._timed = self.workspace is not None and len(self.workspace.moving.formulas) > 0
        if self.workspace is not None:
            self.workspace.unsettled[0] = 0.0

    @property
    def unsettled(self) -> int:
        """Number of steps whose forces miss their law, see ``Simulator``."""
        return 0 if self.workspace is None else int(self.workspace.unsettled[0])

    def set_time(self, time: float) -> None:
        """Set the time [s] of obstacles that are given a motion."""
        if self._timed and self.workspace is not None:
            self.workspace.moving.time[0] = time

    def forget(self) -> None:
        """Forget the forces of the step before."""
        forget_contact(self.workspace)

    def force(self, q: Vector, qd: Vector, time: float) -> Vector:
        """Return the generalized force (n,) of the last step, or else that at q, qd (n,)."""
        contact, n = self.workspace, self._model.n
        if contact is None:
            return np.zeros(n)
        if not self._solved or contact.J.shape[1] != 3 * n:
            return contacts(self._model, q=q, qd=qd, t=time).generalized_force
        near = contact.candidates[1 : 1 + contact.candidates[0]]
        near = near[contact.gap[near] < contact.detection_distance]
        rows = contact.J[near].reshape(-1, 3, n)
        return np.einsum('ckn,ck->n', rows, contact.pushes[near])

    def check(self, time: float) -> None:
        """Warn the caller of a step, once, that forces missed their law in several by a time."""
        if self._warned or self.unsettled < _REPORTED_STEPS:
            return
        self._warned = True
        words = (
            f'forces of contact missed their law by more than {MAX_RESIDUAL:.0%}'
            f' in {_REPORTED_STEPS} steps'
        )
        words += f' until {time:.6g} s'
        remedy = 'make substep shorter, stiffness less, or masses less different'
        warnings.warn(f'{words}: {remedy}', RuntimeWarning, stacklevel=3)
