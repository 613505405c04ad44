# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Simulate the sensing of states: noise, delay, dropout, rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, Field
import math
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.arguments import TIME_TOLERANCE
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.schema.fields import integer, number
from softrobot_dynamics.schema.parameters import Parameter, parameter, parameters_of, read_all
from softrobot_dynamics.simulation.periodic_instants import PeriodicInstants

if TYPE_CHECKING:
    from softrobot_dynamics.simulation.reconstruction import Reconstruction

GROUP = 'sensors'
_POSITION_UNIT, _VELOCITY_UNIT = 'of the coordinate', 'of the coordinate, /s'


def _amount(unit: str, words: str, least: float | None = 0.0) -> Any:
    field = number(unit, at_least=least, default=0.0)
    return parameter(field, words, each='coordinate', group=GROUP)


def _one(field: Field[Any], words: str) -> Any:
    return parameter(field, words, group=GROUP)


@dataclass(frozen=True)
class Sensors:
    """Errors of the sensors of a robot's states; by default none. Arrays are (n,)."""

    noise: Vector = _amount(_POSITION_UNIT, 'Standard deviation of the noise of a position')
    velocity_noise: Vector = _amount(_VELOCITY_UNIT, 'Standard deviation of the noise of a rate')
    bias: Vector = _amount(_POSITION_UNIT, 'Constant offset of a position', None)
    velocity_bias: Vector = _amount(_VELOCITY_UNIT, 'Constant offset of a rate', None)
    resolution: Vector = _amount(_POSITION_UNIT, 'Rounding step of a position; 0: none')
    velocity_resolution: Vector = _amount(_VELOCITY_UNIT, 'Rounding step of a rate; 0: none')
    rate: float = _one(
        number('Hz', at_least=0.0, default=0.0),
        'Rate of the measured states, from the first one on; 0: every state',
    )
    delay: float = _one(
        number('s', at_least=0.0, at_most=10.0, default=0.0),
        'Delay of the measured states, rounded up to whole periods',
    )
    jitter: float = _one(
        number('s', at_least=0.0, at_most=10.0, default=0.0),
        'Longest additional delay, uniformly distributed, drawn for each state',
    )
    dropout: float = _one(
        number('-', at_least=0.0, at_most=1.0, default=0.0), 'Share of the states that are lost'
    )
    seed: int = _one(
        integer(at_least=0, at_most=2**31 - 1, default=0),
        'Seed of the random numbers of the sensors',
    )

    @staticmethod
    def parameters() -> tuple[Parameter, ...]:
        """Return the :class:`Parameter` of each field."""
        return parameters_of(Sensors, GROUP)


class Measured(NamedTuple):
    """A measured state; valid as long as nobody writes into its arrays."""

    stamp: Any  # of the state, whatever was given with it
    q: Vector  # (n,)
    qd: Vector  # (n,)


class _Underway(NamedTuple):
    """A state that is still delayed."""

    due: int  # tick
    tick: int  # of the state
    measured: Measured


class Sensing:
    """
    Measures a robot's states by its :class:`Sensors`; the same for equal seeds and states.

    States come once a ``period`` [s]; they are measured, and heard, at such an instant: the first
    one that is not before the time for it. One that is overtaken by a later one is lost. ``seen``
    is the :class:`~softrobot_dynamics.simulation.reconstruction.Reconstruction` of n coordinates
    from those of the robot, None if they are the same. ArgumentError if states would have to be
    measured more often than they come.
    """

    answered = True  # commands carry the stamps of these states

    def __init__(
        self, sensors: Sensors, n: int, period: float, seen: Reconstruction | None = None
    ) -> None:
        self.sensors, self._n, self._period, self._seen = sensors, n, period, seen
        self._noisy = bool(sensors.noise.any() or sensors.velocity_noise.any())
        self._perfect = _nothing(sensors)
        most = 1.0 / period
        if sensors.rate > most * (1.0 + TIME_TOLERANCE):
            expected = f'a rate of {most:g} Hz at most, as the robot has its states'
            raise ArgumentError(f'{GROUP}.rate', sensors.rate, expected)
        self._cycles = PeriodicInstants(sensors.rate) if sensors.rate else None
        self.begin()

    def begin(self) -> None:
        """Restart, with nothing under way, as at first."""
        self._random = np.random.default_rng(self.sensors.seed)
        self._underway: list[_Underway] = []
        self._tick = 0
        if self._cycles is not None:
            self._cycles.begin()
        if self._seen is not None:
            self._seen.begin()

    def sense(self, stamp: float, q: Vector, qd: Vector) -> Measured | None:
        """
        Take the robot's next state with its stamp; return the newest that is there by now.

        None if it has been returned before, or none is there.
        """
        if self._seen is not None:
            q, qd = self._seen(q, qd)
        if self._perfect:
            return Measured(stamp, q, qd)
        late, lost = self._random.random(2)  # drawn in any case: the noise is the same without
        measured = Measured(stamp, *self._measure(q, qd))
        now = self._cycles is None or self._cycles.come(self._period)
        if now and lost >= self.sensors.dropout:
            delay = self.sensors.delay + late * self.sensors.jitter
            due = self._tick + math.ceil(delay / self._period - TIME_TOLERANCE)
            self._underway.append(_Underway(due, self._tick, measured))
        there = [state for state in self._underway if state.due <= self._tick]
        newest = max(there, key=lambda state: state.tick, default=None)
        if newest is not None:
            self._underway = [state for state in self._underway if state.tick > newest.tick]
        self._tick += 1
        return newest and newest.measured

    def take_command(self, stamp: float, u: Vector) -> None:
        """Ignore a command u (m,) that is sent: measured states do not depend on it."""

    def _measure(self, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
        """Return (q, qd) with noise and bias, in steps of the resolution."""
        s = self.sensors
        q, qd = q + s.bias, qd + s.velocity_bias
        if self._noisy:
            q += s.noise * self._random.standard_normal(self._n)
            qd += s.velocity_noise * self._random.standard_normal(self._n)
        return _in_steps(q, s.resolution), _in_steps(qd, s.velocity_resolution)


def make_sensors(names: Sequence[str], given: Mapping[str, Any]) -> Sensors:
    """
    Return the Sensors of a robot with coordinates of these ``names`` from fields by name.

    Of what there is one for each coordinate, a number stands for all. DescriptionError with all
    that is wrong, UnknownNameError.
    """
    return Sensors(**read_all(Sensors.parameters(), given, 'sensors', len(names)))


def _nothing(sensors: Sensors) -> bool:
    """Tell whether sensors do nothing to the states."""
    values = vars(sensors).items()
    return not any(np.any(value) for name, value in values if name != 'seed')


def _in_steps(x: Vector, steps: Vector) -> Vector:
    """Return x (n,) rounded to whole steps (n,), where there are any."""
    whole = np.where(steps > 0.0, steps, 1.0)
    return np.where(steps > 0.0, whole * np.round(x / whole), x)
