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
from softrobot_dynamics.estimation.sensors.messages import MessageFields
from softrobot_dynamics.nodes.messaging.messages import stamped

TOPIC = 'sensors/{}'  # of a sensor by its name


class RosMessage(Protocol):
    """A generated message, as of rclpy."""

    header: Any

    @classmethod
    def get_fields_and_field_types(cls) -> dict[str, str]:
        """Return the types of its fields by name."""


class Measurement(Protocol):
    """Whatever declares the messages that its values come in."""

    @property
    def message_type(self) -> str:
        """The name of their type."""

    @property
    def name(self) -> str:
        """Its name, of which the topic is made."""

    def to_message(self, value: Array) -> MessageFields:
        """Return the fields of the message of a value."""


def message_type_of(source: Measurement) -> type[RosMessage]:
    """
    Return the message type that a sensor declares, as rclpy has it.

    DescriptionError if there is none, it cannot be imported, or it has no header.
    """
    declared = source.message_type
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
    if 'header' not in found.get_fields_and_field_types():
        words = 'a message with a header, whose stamp is the time of the measurement'
        raise _undeclared(place, declared, words)
    return found


def _undeclared(place: str, declared: str, expected: str) -> DescriptionError:
    return DescriptionError((Problem(place, declared, expected),), 'sensors')


class MeasurementWriter:
    """Values of a sensor as messages; DescriptionError as of :func:`message_type_of`."""

    def __init__(self, source: Measurement) -> None:
        self.message_type = message_type_of(source)
        self._source = source

    def write(self, value: Array, stamp: int) -> RosMessage:
        """Return a new message of a value with its stamp [ns]; ArgumentError if it has no such."""
        message = self.message_type()
        fields = self._source.to_message(value)
        try:
            fill(message, fields)
        except (AttributeError, AssertionError, TypeError, KeyError) as error:
            expected = f'fields of {self._source.message_type}: {error}'
            raise ArgumentError(f'to_message of {self._source.name}', fields, expected) from error
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
