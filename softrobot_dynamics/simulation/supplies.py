# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The air in the chambers of a simulated robot, which valves let in and out only so fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.model.evaluation import Evaluator

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class Supplies:
    """
    Pressures in chambers with a :class:`.Supply`: air that a movement compresses pushes back.

    ``any``: there is one; other actuators are left alone.
    """

    def __init__(self, model: CompiledModel) -> None:
        parts = [entry.actuator.supply for entry in model.description.actuators]
        self._own = np.flatnonzero([part is not None for part in parts])
        own = [part for part in parts if part is not None]
        self._ambient = np.array([part.ambient for part in own])
        self._flow = self._ambient * [part.flow for part in own]
        self._hoses = np.array([part.volume for part in own])
        self.any, self._rest = bool(own), np.zeros(model.n)
        self._evaluate = Evaluator(model, with_mass=False) if own else None
        self.begin()

    def begin(self) -> None:
        """Restart, with pressures that have been there for long."""
        self._air: Vector | None = None  # [J], pressure times volume

    def fill(self, held: Vector, wanted: Vector, q: Vector, h: float) -> Vector:
        """
        Return mean pressures (m,) over the next h [s] where (m,) are ``wanted``, and go there.

        ``held`` (m,) are those before the first h, q (n,) the robot's.
        """
        if self._evaluate is None:
            return wanted
        own, found = self._own, wanted.copy()
        volume = self._evaluate(q, self._rest).y[own] + self._hoses
        before = (held[own] + self._ambient) * volume if self._air is None else self._air
        target = np.maximum(wanted[own] + self._ambient, 0.0) * volume
        most = self._flow * h
        self._air = np.clip(target, before - most, before + most)
        late = self._air != target
        mean = 0.5 * (before + self._air) / volume - self._ambient
        found[own] = np.where(late, mean, wanted[own])
        return found
