# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Measured efforts of actuators (tensions, torques, pressures), and the gating of outliers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Integers, Vector
from softrobot_dynamics.dynamics.arguments import TIME_TOLERANCE
from softrobot_dynamics.errors import UnknownNameError
from softrobot_dynamics.estimation.command_history import CommandHistory
from softrobot_dynamics.estimation.innovation_gate import gate_threshold
from softrobot_dynamics.estimation.sensors.messages import (
    Message,
    MessageFields,
    named_numbers,
    read_array,
)
from softrobot_dynamics.schema.fields import items, name, number, text


class GatedEffort(NamedTuple):
    """Result of one effort measurement; as in :class:`~.estimates.Innovation`."""

    square: float
    numbers: int
    outliers: int


class _EffortSample(NamedTuple):
    """Values (K,) of a time [s], and those accepted until then."""

    time: float
    values: Vector
    in_use: Vector  # in place of commands; NaN: the command acts
    accepted: Vector  # the last accepted, in use or not; NaN: none was yet
    accepted_at: Vector  # [s] times of these


class EffortMeasurements:
    """
    Values (K,) of an effort as they arrive, in any order; ``in_use`` holds those in use.

    ``noise``, ``change`` and ``gate`` are those of an :class:`~.effort_measurements.Effort`. An
    outlier counts as the value before it. Those after a late measurement are compared with it, so
    they are gated again: what counts does not depend on the order in which they came.
    """

    def __init__(
        self, span: float, count: int, *, noise: float, change: float | None, gate: float
    ) -> None:
        self.in_use, self._span, self._count = CommandHistory(span), span, count
        self._noise, self._change, self._most = noise, change, gate_threshold(gate, 1)

    def begin(self) -> None:
        """Forget all: nothing was measured."""
        nothing = np.full(self._count, np.nan)
        self.in_use.begin(nothing)
        long_ago = np.full(self._count, -np.inf)
        self._all = [_EffortSample(-np.inf, nothing, nothing, nothing, long_ago)]

    def add(self, time: float, values: Vector) -> GatedEffort:
        """Let values count from a time [s] on; one at the same time is replaced."""
        if self._change is None:
            self.in_use.add(time, values)
            return GatedEffort(0.0, int(np.isfinite(values).sum()), 0)
        k = bisect_right(self._all, time, key=_time_of)
        if k == 0:
            return GatedEffort(0.0, 0, 0)  # older than what is kept
        later = self._all[k:]
        del self._all[k - (time - self._all[k - 1].time < TIME_TOLERANCE) :]
        found = self._gate(self._change, time, values)
        for each in later:
            self._gate(self._change, each.time, each.values)
        self._forget()
        return found

    def _gate(self, change: float, time: float, values: Vector) -> GatedEffort:
        """Accept values that are near those before them, and reject others."""
        _, _, in_use, accepted, accepted_at = self._all[-1]
        variance = 2.0 * self._noise**2 + (change * (time - accepted_at)) ** 2
        squares = (values - accepted) ** 2 / variance  # NaN where there is nothing to compare
        out = squares > self._most
        taken = np.isfinite(values) & ~out
        in_use = np.where(out, in_use, values)
        accepted = np.where(taken, values, accepted)
        accepted_at = np.where(taken, time, accepted_at)
        self._all.append(_EffortSample(time, values, in_use, accepted, accepted_at))
        self.in_use.add(time, in_use)
        square = float(np.nansum(squares[taken]))
        return GatedEffort(square, int(taken.sum()), int(out.sum()))

    def _forget(self) -> None:
        """Keep the values with which later ones may still have to be compared."""
        old = bisect_right(self._all, self._all[-1].time - self._span, key=_time_of) - 1
        if old > 64:  # now and then
            del self._all[:old]


def _time_of(reading: _EffortSample) -> float:
    return reading.time


@dataclass(frozen=True, kw_only=True)
class Effort:
    """
    Load cells, torque or pressure sensors of some actuators, used in place of commands.

    So lag, delay and friction on the way to them need not be known. Values (K,) are in the units
    of the actuators, in the order of the ``names``, NaN for one that is not measured: its command
    counts again. They are as old as ``delay`` [s] at their stamps; one counts until the next, come
    at ``rate`` [Hz].

    ``noise`` is the standard deviation of each value, in the unit of the actuators, independent of
    that of the next one: such errors are not taken for what acts from outside. What does not
    change from one value to the next, as a wrong zero, is.

    ``change`` [unit/s] is the standard deviation by which an effort changes within a second, None:
    of anything. A value that differs from the last accepted one, so many seconds old, by more than
    2 noise^2 + (change seconds)^2 makes likely is an outlier, and that one counts on. ``gate`` is
    the probability with which a right value passes, as that of a sensor.
    """

    message_type: ClassVar[str] = 'sensor_msgs/JointState'

    name: str = name()
    names: tuple[str, ...] = items(text())
    noise: float = number('of the actuator', at_least=0.0, default=0.0)
    delay: float = number('s', at_least=0.0, at_most=10.0, default=0.0)
    rate: float = number('Hz', above=0.0, default=100.0)
    change: float | None = number('of the actuator, /s', above=0.0, default=None)
    gate: float = number('-', above=0.0, at_most=1.0, default=1.0 - 1e-9)

    def read(self, value: ArrayLike) -> Vector:
        """Return the values (K,); ArgumentError."""
        expected = f'{len(self.names)} numbers, NaN for one that is not measured'
        return read_array(self.name, value, (len(self.names),), expected)

    def from_message(self, message: Message) -> Vector:
        """Return the efforts (K,) of a sensor_msgs/JointState, NaN for one not there."""
        return named_numbers(message, 'effort', self.names)

    def to_message(self, value: Vector) -> MessageFields:
        """Return the fields of a sensor_msgs/JointState."""
        return {'name': list(self.names), 'effort': value.tolist()}

    def message_entries(self) -> int:
        """Return the number of names."""
        return len(self.names)

    def numbers(self, actuators: Sequence[str]) -> Integers:
        """Return which of a robot's ``actuators`` they are (K,); UnknownNameError."""
        for each in self.names:
            if each not in actuators:
                raise UnknownNameError('actuator', each, tuple(actuators))
        return np.array([actuators.index(each) for each in self.names])

    def measurements(self, span: float) -> EffortMeasurements:
        """Return the :class:`~.EffortMeasurements` of them, which last for a ``span`` [s]."""
        given = {'noise': self.noise, 'gate': self.gate}
        return EffortMeasurements(span, len(self.names), change=self.change, **given)


class EffortHistory:
    """
    The efforts on a robot over time: commands u (m,), or their measurements in place of them.

    Commands and accepted measurements have a :class:`~.command_history.CommandHistory` each.
    """

    def __init__(
        self, span: float, efforts: Sequence[Effort] = (), actuators: Sequence[str] = ()
    ) -> None:
        self._commanded = CommandHistory(span)
        self._measured = {e.name: (e.numbers(actuators), e.measurements(span)) for e in efforts}

    def begin(self, u: Vector) -> None:
        """Forget all; u (m,) is in force, and nothing was measured."""
        self._commanded.begin(u)
        for _, measurements in self._measured.values():
            measurements.begin()

    def add(self, time: float, u: Vector) -> None:
        """Let the command u (m,) count from a time [s] on; one at the same time is replaced."""
        self._commanded.add(time, u)

    def measure(self, time: float, effort: str, values: Vector) -> GatedEffort:
        """Let the values (K,) of an effort that are accepted count from a time [s] on."""
        return self._measured[effort][1].add(time, values)

    def measured(self, effort: str, start: float, end: float) -> Vector:
        """Return the share (K,) of a time [s] in which values of an effort replaced commands."""
        return self._measured[effort][1].in_use.coverage(start, end)

    def at(self, time: float) -> Vector:
        """Return the efforts at a time [s]."""
        series = self._measured.values()
        measured = ((which, each.in_use.at(time)) for which, each in series)
        return _with(self._commanded.at(time), measured)

    def between(self, start: float, end: float, longest: float) -> Iterator[tuple[float, Vector]]:
        """Yield (until [s], u (m,)) as Commands do; the commands where values are missing."""
        series = [each.in_use for _, each in self._measured.values()]
        parts = [each.between(start, end, longest) for each in series]
        which = [numbers for numbers, _ in self._measured.values()]
        for (until, u), *measured in zip(self._commanded.between(start, end, longest), *parts):
            yield until, _with(u, ((k, values) for k, (_, values) in zip(which, measured)))


def _with(u: Vector, measured: Iterator[tuple[Integers, Vector]]) -> Vector:
    """Return u (m,) with measured efforts in place of commands."""
    own = None
    for numbers, values in measured:
        own = u.copy() if own is None else own
        own[numbers] = np.where(np.isfinite(values), values, own[numbers])
    return u if own is None else own
