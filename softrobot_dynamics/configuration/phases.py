# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Plan the references of the parts of a controller, phase after phase; no ROS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.configuration.parts import (
    indices_of,
    LawPart,
    parts_of,
    phases_of,
    RAMP_TIME,
)
from softrobot_dynamics.controllers.phases import Phase, Program
from softrobot_dynamics.references import feasibility
from softrobot_dynamics.references.contract import Trajectory
from softrobot_dynamics.references.feasibility import Planned
from softrobot_dynamics.references.inverse_statics import actuation_coordinates, PathPostures
from softrobot_dynamics.references.output_postures import hold_through
from softrobot_dynamics.references.piecewise import constant, Reference, stands, values_at
from softrobot_dynamics.references.tip_commands import TipPathReference, with_tip_path

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

PHASE_SAMPLES = 65  # postures along a phase in which anything moves
_STANDING_DURATION = 1.0  # [s] of a last phase without motion


def plan(
    model: CompiledModel, values: Mapping[str, Any], settings: Sequence[Any], q: Vector
) -> Planned:
    """
    Return the :class:`Planned` of phases, a Program, from q (n,) on.

    ``settings`` are those of the laws of all parts, in their order.

    Each part's reference is planned where its first phase finds the robot, and all parts of a
    phase are held against the limits together. Raises what `feasibility.plan` raises.
    """
    planner = _Planner(model, parts_of(values), settings, q)
    for place, phase in enumerate(phases_of(values)):
        planner.go_through(place, phase)
    references = tuple(planner.references[i] for i in range(len(planner.parts)))
    ramps = tuple(part.values[RAMP_TIME] for part in planner.parts)
    return Planned(Program(references, ramps=ramps), tuple(planner.remarks), tuple(planner.places))


class _Planner:
    """Goes from phase to phase."""

    def __init__(
        self, model: CompiledModel, parts: tuple[LawPart, ...], settings: Sequence[Any], q: Vector
    ) -> None:
        self.parts, self._model, self._q, self._t = parts, model, q, 0.0
        self._settings = settings
        self._own = [indices_of(model, part) for part in parts]
        self.references: dict[int, Reference | TipPathReference | None] = {}
        self._led: dict[int, Reference] = {}  # holding included
        self._commanded: dict[int, Vector] = {}
        self._began: dict[int, float] = {}
        self.remarks: list[str] = []
        self.places: list[tuple[Vector, Vector, int]] = []

    def go_through(self, place: int, phase: Phase) -> None:
        """Plan the new references of a phase, and check whether the robot can follow them."""
        for i in phase.laws:
            if i not in self.references:
                self._plan_part(i)
        duration = phase.duration if math.isfinite(phase.duration) else self._longest(phase)
        times, postures = self._postures(phase, duration)
        feasibility.refuse_positions(self._model, self._t + times, postures.q)
        led = [k for i in phase.laws if i in self._led for k in self._own[i]]
        remarks = feasibility.examine(self._model, led, times, postures)
        self.remarks += [f'phase {phase.name}: {words}' for words in remarks]
        few = np.linspace(0, len(times) - 1, feasibility.CHECKED_PLACES, dtype=int)
        commands = feasibility.commanded(self._model, postures.q[few], postures.u[few])
        self.places += ((q, u, place) for q, u in zip(postures.q[few], commands))
        self._q, self._t = postures.q[-1], self._t + duration

    def _plan_part(self, i: int) -> None:
        """Plan the reference of a part from now on."""
        part, own = self.parts[i], self._own[i]
        self.references[i], self._began[i] = None, self._t
        trajectory = part.trajectory
        with part.named():
            if not part.law.follows:
                self._plan_commands(i, trajectory)
                return
            motion = trajectory.plan(self._model, own, self._q)
        y = actuation_coordinates(self._model, self._q)[own]
        body = part.law.controlled_tip_of(self._settings[i], self._model)
        self.references[i] = motion and with_tip_path(
            self._model, motion.reference, trajectory, body
        )
        self._led[i] = motion.reference if motion else constant(y)

    def _plan_commands(self, i: int, trajectory: Trajectory) -> None:
        """Plan the commands of a part whose outputs follow no reference."""
        part, own = self.parts[i], self._own[i]
        self._commanded[i] = command = part.law.pushes(self._settings[i])
        planned = feasibility.plan_commands(self._model, own, trajectory, command, self._q)
        self.references[i] = planned.reference
        self.remarks += [f'{part.name}: {words}' for words in planned.remarks]
        if planned.reference is not None:  # what it ends with counts for postures
            last = planned.reference.breaks[-1:]
            self._commanded[i] = command.copy()
            self._commanded[i][own] += values_at(planned.reference, last)[0]

    def _longest(self, phase: Phase) -> float:
        """Return how long it takes until all that a last phase follows has been seen [s]."""
        led = [(i, self._led[i]) for i in phase.laws if i in self._led]
        ends = [
            r.period or r.breaks[-1] - (self._t - self._began[i]) for i, r in led if not stands(r)
        ]
        return max([_STANDING_DURATION, *ends])

    def _postures(self, phase: Phase, duration: float) -> tuple[Vector, PathPostures]:
        """Return times (K,) [s] in a phase, and the postures at rest that have its outputs."""
        led = [i for i in phase.laws if i in self._led]
        times = np.linspace(0.0, duration, PHASE_SAMPLES)
        outputs: list[Matrix] = [
            values_at(self._led[i], self._t - self._began[i] + times) for i in led
        ]
        controlled = [k for i in led for k in self._own[i]]
        name = f'what phase {phase.name} asks for'
        y = np.hstack([np.empty((len(times), 0)), *outputs])
        return times, hold_through(
            self._model, controlled, times, y, self._q, name, self._commands(phase)
        )

    def _commands(self, phase: Phase) -> Vector:
        """Return u (m,) of parts of a phase whose outputs follow nothing, at its beginning."""
        model, u = self._model, np.zeros(self._model.m)
        for i in phase.laws:
            if i in self._commanded:
                own = self._own[i]
                u[own] = np.clip(self._commanded[i], model.lower, model.upper)[own]
        efforts: Vector = model.per_thread.conversion.efforts(self._q, u)
        return efforts
