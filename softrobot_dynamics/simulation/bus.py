# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Simulate a bus with a cycle between commands and drives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.errors import DescriptionError, Problem
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import Parameter, parameter, parameters_of, read_all
from softrobot_dynamics.simulation.periodic_instants import PeriodicInstants

GROUP = 'bus'
_MAX_RATE = 1e5  # [Hz]


class Stretch(NamedTuple):
    """A stretch of time in which one command acts."""

    u: Vector  # (m,)
    duration: float  # [s]


@dataclass(frozen=True)
class Bus:
    """Rate at which all drives of a robot take a command at once; by default as it arrives."""

    rate: float = parameter(
        number('Hz', at_least=0.0, at_most=_MAX_RATE, default=0.0),
        'Rate at which the drives take a command, the newest that has arrived, and hold it; 0:'
        ' they take each as it arrives',
        group=GROUP,
    )
    phase: float = parameter(
        number('s', at_least=0.0, at_most=10.0, default=0.0),
        'Time from the first state to the first cycle of the bus',
        group=GROUP,
    )

    @staticmethod
    def parameters() -> tuple[Parameter, ...]:
        """Return the :class:`Parameter` of each field."""
        return parameters_of(Bus, GROUP)


def make_bus(given: Mapping[str, Any]) -> Bus:
    """Return the Bus with fields by name; DescriptionError, UnknownNameError."""
    bus = Bus(**read_all(Bus.parameters(), given, 'bus'))
    if bus.phase and not bus.rate:
        problem = Problem(f'{GROUP}.phase', bus.phase, f'0, as there is no {GROUP}.rate')
        raise DescriptionError((problem,), 'parameters')
    return bus


class HeldOverBus:
    """
    The commands that the drives of a robot hold, received over a :class:`Bus`.

    Its cycles count from :meth:`begin`. ``u`` (m,) is held at first.
    """

    def __init__(self, bus: Bus, u: Vector) -> None:
        self._cycles = PeriodicInstants(bus.rate, bus.phase) if bus.rate else None
        self.begin(u)

    def begin(self, u: Vector) -> None:
        """Restart with u (m,) held."""
        if self._cycles is not None:
            self._cycles.begin()
        self.force(u)

    def force(self, u: Vector) -> None:
        """Set the command that the drives hold to u (m,), without the bus."""
        self._held = u

    def stretches(self, arrived: Iterable[Stretch]) -> Iterator[Stretch]:
        """Yield the stretches in which one command is held, of those in which one is newest."""
        if self._cycles is None:
            yield from arrived
            return
        passed = 0.0  # [s] with what is held
        for u, duration in arrived:
            start = 0.0
            for instant in self._cycles.over(duration):
                passed += instant - start
                if u is not self._held:
                    if passed > 0.0:
                        yield Stretch(self._held, passed)
                    self._held, passed = u, 0.0
                start = instant
            passed += duration - start
        yield Stretch(self._held, passed)
