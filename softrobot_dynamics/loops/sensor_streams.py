# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Streams of measurements and commands: which sensors are enough, and which are silent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.estimation.effort_measurements import Effort
from softrobot_dynamics.estimation.estimator import Estimator
from softrobot_dynamics.estimation.sensors.contract import Sensor
from softrobot_dynamics.estimation.sensors.messages import Message
from softrobot_dynamics.loops.contracts import CommandSource, MessageInbox
from softrobot_dynamics.loops.message_contracts import Stamped
from softrobot_dynamics.loops.message_fields import read_measurement, SECOND, stamp_of
from softrobot_dynamics.loops.sensor_adapters import SensorAdapter, StampedValue

_PERIODS = 2.5  # of a sensor that it may be silent


class MeasurementMessage(Stamped, Message, Protocol):
    """A message of a sensor: a header, and fields that the sensor reads."""


class Stream(NamedTuple):
    """The messages of a sensor, or of measured efforts."""

    sensor: Sensor | Effort
    inbox: MessageInbox[MeasurementMessage]
    adapter: SensorAdapter | None = None  # of messages that are not those of the sensor's kind

    @property
    def shared(self) -> bool:
        """Tell whether other nodes publish on its topic: the newest message is not enough."""
        return self.adapter is not None and self.adapter.shared

    def read(
        self, message: MeasurementMessage, arrival: int, predict: Callable[[str, int], Array]
    ) -> StampedValue:
        """Return what was measured in a message; as :meth:`SensorAdapter.read`."""
        if self.adapter is not None:
            return self.adapter.read(message, arrival, predict)
        return StampedValue(stamp_of(message), read_measurement(self.sensor, message))

    def patience(self, timeout: int) -> int:
        """Return how long the sensor may say nothing [ns], at least a timeout [ns]."""
        return max(timeout, round(_PERIODS * SECOND / self.sensor.rate))


class CommandStream(NamedTuple):
    """The commands that the robot is sent."""

    inbox: MessageInbox[object]
    reader: CommandSource  # of what comes there
    initial: Vector  # (m,) in force until the first command


class ObservabilityCheck:
    """Find the coordinates that a set of sensors leaves unobservable, beyond those allowed."""

    def __init__(self, estimator: Estimator, allowed: Iterable[str]) -> None:
        self._estimator, self._allowed = estimator, frozenset(allowed)
        self._known: dict[frozenset[str], tuple[str, ...]] = {}

    def lacking(self, sensors: Iterable[str]) -> tuple[str, ...]:
        """Return the coordinates that some sensors do not tell, but should."""
        chosen = frozenset(sensors)
        if not chosen:
            return tuple(self._estimator.model.coordinate_names)
        if chosen not in self._known:
            found = self._estimator.observability(sensors=sorted(chosen)).unobservable
            self._known[chosen] = tuple(x for x in found if x not in self._allowed)
        return self._known[chosen]


def silent(
    streams: Sequence[Stream], heard: Mapping[str, int], moment: int, timeout: int
) -> tuple[str, ...]:
    """
    Return the names of the sensors that were not `heard` for too long at a moment.

    `heard` has the time of the last message of each [ns], a timeout [ns] the least that counts.
    """
    least = {each.sensor.name: moment - each.patience(timeout) for each in streams}
    return tuple(name for name in least if heard.get(name, -SECOND * SECOND) < least[name])


def complaint(
    missing: Sequence[str],
    rejected_sensors: Sequence[str],
    missing_efforts: Sequence[str],
    rejected_efforts: Sequence[str],
) -> str:
    """
    Describe the missing sensors and efforts in words, '' if there are none.

    Of these, `rejected_sensors` and `rejected_efforts` send, but all measurements are rejected.
    """
    quiet = [name for name in missing if name not in rejected_sensors]
    said = [f'{", ".join(quiet)} silent'] if quiet else []
    if rejected_sensors:
        words = 'rejected: they are wrong, or the model errs by more than `disturbance` allows'
        said.append(f'{", ".join(rejected_sensors)} {words}')
    quiet = [name for name in missing_efforts if name not in rejected_efforts]
    for names, what in ((quiet, 'silent'), (rejected_efforts, 'rejected')):
        if names:
            said.append(f'{", ".join(names)} {what}: commands count in their place')
    return '; '.join(said)
