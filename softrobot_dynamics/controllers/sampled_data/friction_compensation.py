# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Friction compensation: along the routes of tendons, and in joints."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.model.cable_drives import Conversion
from softrobot_dynamics.model.evaluation import Evaluator
from softrobot_dynamics.model.routes import capstan_of, has_friction
from softrobot_dynamics.recursion.capstan import evaluate_with_friction_at_rates
from softrobot_dynamics.recursion.joint_friction import add_joint_friction_at_rates

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_FILTER_GAIN = 0.25  # of the way to the last command that a tick goes


class FrictionCompensation:
    """
    The friction of a model under the command in force, sliding as the outputs are to move.

    Friction of the measured direction would be fed back with a delay, and the noise of rates with
    it: a robot at rest then chatters. So the direction is the one that the reference asks for, by
    the least rates (n,) with those outputs. At rest there is none, and nothing is made up for.
    The tensions follow the last command within some ticks: at once, where tendons are let out
    around more than ln 2 / mu, what they gain would go round and grow. Drives that take positions
    or velocities make up for the friction of their joints by themselves.
    """

    def __init__(self, model: CompiledModel) -> None:
        force = model.joint_friction.copy()
        force[model.servos.coordinates] = 0.0
        self._dry = model.dry_friction._replace(force=force)
        self.any = has_friction(model) or bool(force.any())
        self._signs, self._conversion = model.signs, Conversion(model)
        self._force, self._rates = np.zeros(model.m), np.zeros(model.n)
        self._model = model

    def entry(self, evaluate: Evaluator) -> Entry:
        """Return the entry of an evaluation with this friction in h, with poses."""
        found, given = evaluate.entry, {'h': evaluate.terms.h, 'rates': self._rates}
        capstan: Any = capstan_of(self._model, evaluate.robot, self._force)
        if capstan is not None:
            found = entry(
                evaluate_with_friction_at_rates, evaluate=found, capstan=capstan, **given
            )
        if not self._dry.force.any():
            return found
        return entry(add_joint_friction_at_rates, evaluate=found, friction=self._dry, **given)

    def begin(self, q: Vector, u: Vector) -> None:
        """Begin at q (n,) under the command u (m,)."""
        np.multiply(self._signs, self._conversion.efforts(q, u), out=self._force)

    def update(self, q: Vector, u: Vector, J: Matrix, rates: Vector) -> None:
        """
        Take the command in force u (m,) at q, and rates (c,) of outputs with the Jacobian (c, n).

        A state that is no number leaves all as it was.
        """
        if not np.isfinite(J).all():
            return
        u = self._conversion.efforts(q, u)
        self._force += _FILTER_GAIN * (self._signs * u - self._force)
        self._rates[:] = np.linalg.lstsq(J, rates, rcond=None)[0]
