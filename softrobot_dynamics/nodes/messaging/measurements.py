# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Messages of the types that sensors declare, see `estimation.sensors.contract`.

Any sensor, and any measured effort, is a :class:`Measurement` here: the nodes know no kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import functools
from importlib import import_module
from typing import Any, Protocol

from softrobot_dynamics.annotations import Array
from softrobot_dynamics.errors import ArgumentError, DescriptionError, Problem
from softrobot_dynamics.estimation.sensors.message_layouts import MessageLayout, most_items
from softrobot_dynamics.estimation.sensors.message_sources import MessageSource
from softrobot_dynamics.estimation.sensors.messages import MessageFields
from softrobot_dynamics.loops.sensor_adapters import driver_fields
from softrobot_dynamics.nodes.messaging.message_values import stamped

SENSOR_TOPIC = 'sensors/{}'  # of a sensor by its name


class RosMessage(Protocol):
    """A generated message, as of rclpy."""

    header: Any

    @classmethod
    def get_fields_and_field_types(cls) -> dict[str, str]:
        """Return the types of its fields by name."""


class Measurement(Protocol):
    """A sensor or an effort, which declares the messages that its values come in."""

    @property
    def message_type(self) -> str:
        """The name of their type."""

    @property
    def name(self) -> str:
        """Its name, of which the topic is made."""

    def to_message(self, value: Array) -> MessageFields:
        """Return the fields of the message of a value."""

    def message_entries(self) -> int:
        """Return how many entries the arrays of a message have."""


def adapter_settings(source: Measurement) -> MessageSource | None:
    """Return where the value stands in the messages of a driver, None: as its kind declares."""
    found: MessageSource | None = getattr(source, 'message', None)
    return found


def topic_of(source: Measurement) -> str:
    """Return the topic of a sensor, or of measured efforts."""
    settings = adapter_settings(source)
    return settings.topic_of(source.name) if settings else SENSOR_TOPIC.format(source.name)


def layout_of(source: Measurement) -> MessageLayout | None:
    """Return the layout of a driver's messages, None: the kind reads its own."""
    settings = adapter_settings(source)
    if settings is None or not getattr(source, 'content', ''):
        return None
    return settings.layout(source.message_type)


def entries_of(source: Measurement) -> int:
    """Return how many entries a message may have, as :meth:`Sensor.message_entries`."""
    layout = layout_of(source)
    return source.message_entries() if layout is None else most_items(layout)


def message_type_of(source: Measurement) -> type[RosMessage]:
    """
    Return the message type that a sensor declares, or that its driver publishes, as rclpy has it.

    DescriptionError if there is none, it cannot be imported, or it has no header.
    """
    settings, layout = adapter_settings(source), layout_of(source)
    declared = (settings.type if settings else '') or source.message_type
    package, _, rest = declared.partition('/')
    kind = getattr(source, 'type_name', 'effort')
    place = f'{source.name}: message_type of {kind}'
    if not (package and rest):
        words = (
            "a message type, as 'sensor_msgs/Range', for topics; without, it is for Python only"
        )
        raise _undeclared(place, declared, words)
    try:
        found: type[RosMessage] = getattr(import_module(f'{package}.msg'), rest.rpartition('/')[2])
    except ImportError as error:
        debian = f'ros-$ROS_DISTRO-{package.replace("_", "-")}'
        words = f'a message package that is installed and sourced, as by apt install {debian}'
        raise _undeclared(place, declared, f'{words}: {error}') from error
    except AttributeError as error:
        raise _undeclared(place, declared, f'a message of the package {package}') from error
    own_headers = layout is not None and layout.own_headers
    if not own_headers and 'header' not in found.get_fields_and_field_types():
        words = 'a message with a header, whose stamp is the time of the measurement'
        raise _undeclared(place, declared, words)
    return found


def _undeclared(place: str, declared: str, expected: str) -> DescriptionError:
    return DescriptionError((Problem(place, declared, expected),), 'sensors')


class MeasurementWriter:
    """Values of a sensor as messages; DescriptionError as of :func:`message_type_of`."""

    def __init__(self, source: Measurement) -> None:
        self.message_type = message_type_of(source)
        self._source, self._adapted = source, layout_of(source) is not None

    def write(self, value: Array, stamp: int) -> RosMessage:
        """Return a new message of a value with its stamp [ns]; ArgumentError if it has no such."""
        message, source = self.message_type(), self._source
        fields = driver_fields(source, value, stamp) if self._adapted else source.to_message(value)
        try:
            fill(message, fields)
        except (AttributeError, AssertionError, TypeError, KeyError) as error:
            expected = f'fields of {source.message_type}: {error}'
            raise ArgumentError(f'to_message of {source.name}', fields, expected) from error
        if not self._adapted:
            message.header.stamp = stamped(stamp)
        return message


def fill(message: RosMessage, fields: MessageFields) -> None:
    """Set fields of a message: numbers, texts, lists, and mappings for messages within it."""
    for name, value in fields.items():
        if isinstance(value, Mapping):
            fill(getattr(message, name), value)
        elif isinstance(value, Sequence) and value and isinstance(value[0], Mapping):
            setattr(message, name, _messages(_entry_type(type(message), name), value))
        else:
            setattr(message, name, value)


def _messages(
    message_type: type[RosMessage], several: Sequence[MessageFields]
) -> list[RosMessage]:
    found = [message_type() for _ in several]
    for message, fields in zip(found, several):
        fill(message, fields)
    return found


@functools.cache
def _entry_type(message_type: type[RosMessage], name: str) -> type[RosMessage]:
    """Return the type of the messages in a field of a message type, as sequence<pkg/Type>."""
    words = message_type.get_fields_and_field_types()[name]
    inner = words.removeprefix('sequence<').partition('[')[0].rstrip('>').partition(',')[0]
    package, _, kind = inner.partition('/')
    found: type[RosMessage] = getattr(import_module(f'{package}.msg'), kind)
    return found
