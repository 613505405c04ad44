# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Interfaces of messages: of those of ROS 2 the fields that loops read."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Protocol, TypeAlias

from softrobot_dynamics.annotations import Vector

Numbers: TypeAlias = 'array[float] | Vector'  # of a message: with a buffer of doubles


class Stamp(Protocol):
    """A builtin_interfaces/Time."""

    @property
    def sec(self) -> int: ...

    @property
    def nanosec(self) -> int: ...


class Header(Protocol):
    """A std_msgs/Header."""

    stamp: Stamp
    frame_id: str


class Stamped(Protocol):
    """A message with a header."""

    @property
    def header(self) -> Header: ...


class VectorMessage(Protocol):
    """A geometry_msgs/Vector3 or Point."""

    x: float
    y: float
    z: float


class StateMessage(Stamped, Protocol):
    """A sensor_msgs/JointState."""

    name: Sequence[str]
    position: Numbers
    velocity: Numbers


class Sending(Protocol):
    """Sender of a message, and the time by the clock of the sender's system [ns]."""

    @property
    def stamp(self) -> int: ...

    @property
    def sender(self) -> bytes: ...
