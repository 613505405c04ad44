# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Interfaces of messages: of those of ROS 2 the fields that loops read."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Protocol, TYPE_CHECKING, TypeAlias

from softrobot_dynamics.annotations import Vector

if TYPE_CHECKING:
    pass


Numbers: TypeAlias = 'array[float] | Vector'  # of a message: with a buffer of doubles


class Stamp(Protocol):
    """A builtin_interfaces/Time."""

    @property
    def sec(self) -> int: ...

    @property
    def nanosec(self) -> int: ...


class Header(Protocol):
    """A std_msgs/Header."""

    @property
    def stamp(self) -> Stamp: ...

    @property
    def frame_id(self) -> str: ...


class Stamped(Protocol):
    """A message with a header."""

    @property
    def header(self) -> Header: ...


class VectorMessage(Protocol):
    """A geometry_msgs/Vector3 or Point."""

    @property
    def x(self) -> float: ...

    @property
    def y(self) -> float: ...

    @property
    def z(self) -> float: ...


class StateMessage(Stamped, Protocol):
    """A sensor_msgs/JointState."""

    @property
    def name(self) -> Sequence[str]: ...

    @property
    def position(self) -> Numbers: ...

    @property
    def velocity(self) -> Numbers: ...


class Sending(Protocol):
    """Sender of a message, and the time by the clock of the sender's system [ns]."""

    @property
    def stamp(self) -> int: ...

    @property
    def sender(self) -> bytes: ...
