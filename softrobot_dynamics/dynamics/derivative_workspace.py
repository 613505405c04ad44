# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Compiled parts, and their arrays, that differentiate the motion of one robot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, Entry
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.dynamics.response import (
    add_both,
    add_lines,
    allocate_response,
    ResponseEntries,
)
from softrobot_dynamics.model.cable_drives import cable_drives_of
from softrobot_dynamics.recursion.actuation_hessians import fibre_stiffness
from softrobot_dynamics.recursion.cable_drives import add_cable_stiffness, hold
from softrobot_dynamics.recursion.derivative_passes import allocate_tangents, tangent_entries
from softrobot_dynamics.recursion.loads import evaluate_with_force
from softrobot_dynamics.recursion.transmission import has_lines

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class DerivativeWorkspace:
    """
    Kernels and arrays for the acceleration of a robot and its derivatives by q, qd and u.

    All in arrays of its own, for one thread: the ``robot``, its ``terms`` at (q, qd), ``tangents``
    and ``response`` (:class:`~.response.AccelerationResponse`), which the ``parts``
    (:class:`ResponseEntries`) fill, in one go or by the ``stages``
    (:class:`~.derivative_passes.DerivativeEntries`). A ``force`` (n,) from outside acts as well,
    if there is such an array; its numbers may change. If it is
    ``commanded``, u is what actuators are told: of those that are positioned the positions, taken
    from ``command`` (m,), by which there are no derivatives; ``drives`` are their cables. If
    ``one_sided``, what has no closed form is differenced from one side.
    """

    def __init__(
        self,
        model: CompiledModel,
        force: Vector | None = None,
        *,
        commanded: bool = False,
        one_sided: bool = False,
    ) -> None:
        evaluate = model.evaluator()
        self.robot, self.terms, acts = evaluate.robot, evaluate.terms, evaluate.entry
        self.tangents = allocate_tangents(self.robot, model.derivatives())
        self.response, self.command = allocate_response(model), np.zeros(model.m)
        self.drives, h = cable_drives_of(model, self.robot), self.terms.h
        held = commanded and bool(model.positioned.any())
        if held:
            self.response.signs[:] = np.where(model.positioned, 0.0, model.signs)
            own = {'drives': self.drives, 'command': self.command, 'h': h}
            forces = {name: np.zeros(model.m) for name in ('force', 'output_forces')}  # all in h
            acts = entry(hold, evaluate=acts, **own, **forces)
        if force is not None:
            acts = entry(evaluate_with_force, evaluate=acts, h=h, force=force)
        self.stages = tangent_entries(self.robot, self.tangents, one_sided)
        self.parts = ResponseEntries(acts, self.stages.after, *self._stiffening(model, held))

    def _stiffening(self, model: CompiledModel, held: bool) -> tuple[Entry, Entry]:
        """Return entries that fill the stiffness of fibres and add that of lines."""
        drives, x, lines = self.drives, self.response.x, EMPTY_ENTRY
        given = {'stiffness': self.response.stiffness}
        fibres = entry(fibre_stiffness, robot=self.robot, hessians=model.hessians(), x=x, **given)
        if has_lines(self.robot):
            lines = entry(add_lines, robot=self.robot, t=self.tangents, **given)
        if not held:
            return fibres, lines
        pull, of_tension = np.zeros(len(drives.tension)), np.zeros((model.n, model.n))
        own = {'hessians': model.hessians(cables=True), 'x': x, 'stiffness': of_tension}
        fibres = entry(
            add_cable_stiffness,
            fibres=fibres,
            cables=entry(fibre_stiffness, robot=drives.robot, **own),
            drives=drives,
            of_tension=of_tension,
            pull=pull,
            out=self.response.stiffness,
        )
        if has_lines(drives.robot):
            cables = entry(add_lines, robot=drives.robot, t=self.tangents, **given)
            lines = entry(add_both, lines=lines, cables=cables, pull=pull)
        return fibres, lines
