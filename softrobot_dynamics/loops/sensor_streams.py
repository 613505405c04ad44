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

_SILENT_PERIODS = 2.5  # of a sensor


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
        """Return the measurement in a message; as :meth:`SensorAdapter.read`."""
        if self.adapter is not None:
            return self.adapter.read(message, arrival, predict)
        return StampedValue(stamp_of(message), read_measurement(self.sensor, message))

    def patience(self, timeout: int) -> int:
        """Return how long the sensor may say nothing [ns], at least a timeout [ns]."""
        return max(timeout, round(_SILENT_PERIODS * SECOND / self.sensor.rate))


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


class Availability:
    """
    Find which of the sensors of some streams are missing: silent, or rejected throughout.

    Attributes: ``accepted`` and ``came``, the times [ns] of the last accepted measurement and the
    last one of each; ``missing``, the names of those without an accepted one for too long, at
    least a ``timeout`` [ns]; ``rejected``, those of them that send.
    """

    def __init__(self, streams: Sequence[Stream], timeout: int) -> None:
        self.streams = streams
        self.missing: tuple[str, ...] = ()
        self.rejected: tuple[str, ...] = ()
        self._patience = {each.sensor.name: each.patience(timeout) for each in streams}
        self.forget()

    def forget(self) -> None:
        """Count as if nothing had been measured yet."""
        self.accepted: dict[str, int] = {}
        self.came: dict[str, int] = {}

    def check(self, moment: int) -> None:
        """Find the missing sensors at a moment [ns]."""
        self.missing = self._unheard(self.accepted, moment)
        mute = self._unheard(self.came, moment) if self.missing else ()
        self.rejected = tuple(name for name in self.missing if name not in mute)

    @property
    def silent(self) -> tuple[str, ...]:
        """The names of those of the missing that send nothing."""
        return tuple(name for name in self.missing if name not in self.rejected)

    @property
    def there(self) -> tuple[str, ...]:
        """The names of those that are not missing."""
        return tuple(name for name in self._patience if name not in self.missing)

    def _unheard(self, heard: Mapping[str, int], moment: int) -> tuple[str, ...]:
        """Return the names of sensors whose last message (``heard``) is too old [ns]."""
        least = {name: moment - patience for name, patience in self._patience.items()}
        return tuple(name for name in least if heard.get(name, -SECOND * SECOND) < least[name])


def complaint(sensors: Availability, efforts: Availability) -> str:
    """Describe the missing sensors and efforts in words, '' if there are none."""
    problems = [f'{", ".join(sensors.silent)} silent'] if sensors.silent else []
    if sensors.rejected:
        words = 'rejected: wrong measurements, or a model error above what `disturbance` allows'
        problems.append(f'{", ".join(sensors.rejected)} {words}')
    for names, what in ((efforts.silent, 'silent'), (efforts.rejected, 'rejected')):
        if names:
            problems.append(f'{", ".join(names)} {what}: replaced by the commands')
    return '; '.join(problems)
