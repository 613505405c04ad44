# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Phases of several laws on one robot: their order, and the references in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import math
from typing import Any, NamedTuple, TYPE_CHECKING

from softrobot_dynamics.controllers.contract import Controller
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.dynamics.arguments import TIME_TOLERANCE
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.piecewise import Reference
from softrobot_dynamics.references.tip_commands import TipPathReference

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class Phase(NamedTuple):
    """Some of the laws at work, for a time."""

    name: str
    duration: float  # [s]; the last phase lasts, however long it is
    laws: tuple[int, ...]  # places of its laws; an actuator has one of them at most


@former_names(beginning='run_id')
class Program(NamedTuple):
    """
    The references of a composition's laws, from when each is first active, phase after phase.

    None stands for the outputs as they are then. A ``run_id`` equal to that of the program
    before goes on with the phases: only laws whose reference is another turn to it.
    """

    references: tuple[Reference | TipPathReference | None, ...]
    run_id: object = None  # of a run through the phases; None: they begin anew
    ramps: tuple[float, ...] = ()  # time for each to be blended in [s]; none: as all are told


class Timetable:
    """The active one of the ``phases``, and the time at which it ends."""

    def __init__(self, phases: Sequence[Phase]) -> None:
        self.phases, self.place = tuple(phases), 0
        self._until = math.inf

    @property
    def phase(self) -> Phase:
        """The phase at hand."""
        return self.phases[self.place]

    @property
    def laws(self) -> tuple[int, ...]:
        """Places of the laws that are at work."""
        return self.phase.laws

    def enter(self, place: int, t: float) -> None:
        """Be in a phase from t [s] on."""
        last = place == len(self.phases) - 1
        self.place = place
        self._until = math.inf if last else t + self.phase.duration

    def is_over(self, t: float) -> bool:
        """Tell whether the phase at hand is over at t [s]."""
        return self._until <= t + TIME_TOLERANCE

    def advance(self, t: float) -> None:
        """Go on to the phase of t [s]."""
        while self.is_over(t):
            self.enter(self.place + 1, self._until)

    def stop(self) -> None:
        """Stay in the phase at hand."""
        self._until = math.inf


def controlled_actuators(pairs: Iterable[tuple[Any, Iterable[int]]]) -> list[int]:
    """
    Return the indices of the actuators whose coordinates are led by laws, each one once.

    ``pairs`` of (law or its class, indices of its actuators). All, if none follows anything.
    """
    pairs = list(pairs)
    leading = [own for law, own in pairs if law.follows] or [own for _, own in pairs]
    return list(dict.fromkeys(int(k) for own in leading for k in own))


def require_compatible(laws: Sequence[Controller]) -> CompiledModel:
    """Return the model of laws that can run together; else raise ArgumentError."""
    if not laws:
        raise ArgumentError('laws', list(laws), 'at least one law')
    for i, law in enumerate(laws):
        if law.model is not laws[0].model:
            raise ArgumentError(f'laws[{i}].model', law.model, 'the model object of the first law')
        if law.period != laws[0].period:
            words = f'{laws[0].period} s, the period of the first law'
            raise ArgumentError(f'laws[{i}].period', law.period, words)
    return laws[0].model


def names_of(laws: Sequence[Controller], names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of laws, by default their places; ArgumentError if laws share one."""
    found = tuple(f'laws[{i}]' for i in range(len(laws))) if names is None else tuple(names)
    if len(set(found)) != len(found) or len(found) != len(laws):
        raise ArgumentError('names', list(found), f'{len(laws)} names, each once')
    return found


def require_phases(phases: Sequence[Phase], laws: Sequence[Controller]) -> None:
    """Raise ArgumentError for phases that such laws cannot have."""
    if not phases:
        raise ArgumentError('phases', list(phases), 'at least one phase')
    for k, phase in enumerate(phases):
        place, owner = f'phases[{k}]', dict[str, int]()
        if not phase.duration > 0.0:
            raise ArgumentError(f'{place}.duration', phase.duration, 'a time > 0 [s]')
        if not phase.laws or not set(phase.laws) <= set(range(len(laws))):
            words = f'one or more places of the {len(laws)} laws'
            raise ArgumentError(f'{place}.laws', phase.laws, words)
        for i in phase.laws:
            law = laws[i]
            for name in (law.model.actuator_names[j] for j in law.controlled):
                if name in owner:
                    words = f'actuators without a law: laws[{owner[name]}] has {name} already'
                    raise ArgumentError(f'laws[{i}].controlled', name, words)
                owner[name] = i
