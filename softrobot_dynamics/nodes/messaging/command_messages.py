# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Read commands from messages of each type and write them; needs no node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from builtin_interfaces.msg import Time
import numpy as np
from sensor_msgs.msg import JointState
from softrobot_dynamics.annotations import Integers, Vector
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.message_fields import NameOrder, read_numbers, SECOND, stamp_of
from softrobot_dynamics.nodes.messaging.message_values import doubles, stamped
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

EFFORT_FIELD = 'effort'  # of most commands
#: The fields of the points of a JointTrajectory, by those of a JointState.
_POINT_FIELDS = {'position': 'positions', 'velocity': 'velocities'}


def _all_efforts(fields: Sequence[str]) -> bool:
    return set(fields) <= {EFFORT_FIELD}


class CommandFields:
    """
    The fields in which the commands of actuators stand in a message, written and read.

    ``fields`` (k,): that of a JointState for each, none for effort; in ``named`` the message has
    them by other names. What does not stand in a field is nan there.
    """

    def __init__(self, fields: Sequence[str], named: Mapping[str, str] | None = None) -> None:
        kinds = dict.fromkeys(fields) or {EFFORT_FIELD: None}
        names = {kind: (named or {}).get(kind, kind) for kind in kinds}
        self._single = next(iter(names.values())) if len(names) == 1 else ''
        every, blank = np.array(fields), np.full(len(fields), np.nan)
        self._groups = [
            (names[kind], np.flatnonzero(every == kind), blank.copy()) for kind in kinds
        ]

    def write(self, part: JointState | JointTrajectoryPoint, u: Vector) -> None:
        """Write u (k,) into a message or a part of one."""
        if self._single:
            setattr(part, self._single, doubles(u))
            return
        for name, own, values in self._groups:
            values[own] = u[own]
            setattr(part, name, doubles(values))

    def read(self, part: Any, size: int, count: int, order: Integers | None) -> Vector:
        """
        Return u (k,), a count, from a message, or a part of one, with ``size`` names.

        ``order`` (k,): where they stand, None for as they are. MessageError if unusable.
        """
        if self._single:
            return read_numbers(self._single, getattr(part, self._single), size, order)
        u = np.empty(count)
        for name, own, _ in self._groups:
            places = own if order is None else order[own]
            u[own] = read_numbers(name, getattr(part, name), size, places)
        return u


class WholeCommand:
    """The parts of a reader of commands on one topic: a single one without a name."""

    part, names, places = 0, ('',), (slice(None),)


class CommandReader(WholeCommand):
    """
    A JointState as (u (m,), stamp [ns]), in the order of the actuator `names`.

    `fields`: in which each command stands, none for efforts. Names of others are ignored.
    """

    message_type = JointState

    def __init__(self, names: Sequence[str], fields: Sequence[str] = ()) -> None:
        self.size = len(names)
        self._names = NameOrder(names, others=True)
        self._fields = None if _all_efforts(fields) else CommandFields(fields)

    def read(self, message: JointState) -> tuple[Vector, int]:
        """Return (u, stamp of the state answered, 0 if not said); MessageError if unusable."""
        names = message.name
        order, size = self._names.of(names), len(names)
        if self._fields is None:
            return read_numbers(EFFORT_FIELD, message.effort, size, order), stamp_of(message)
        return self._fields.read(message, size, self.size, order), stamp_of(message)


class CommandArrayReader(WholeCommand):
    """A Float64MultiArray as (u (m,), 0): values in the order of the actuators, no stamp."""

    message_type = Float64MultiArray

    def __init__(self, names: Sequence[str], fields: Sequence[str] = ()) -> None:
        self.size = len(names)

    def read(self, message: Float64MultiArray) -> tuple[Vector, int]:
        """Return (u, 0); MessageError if unusable."""
        return read_numbers('data', message.data, self.size), 0


class CommandWriter:
    """
    u as a JointState with names; one message object, used again and again.

    `fields`: in which each command stands, none for efforts.
    """

    message_type = JointState

    def __init__(self, names: Sequence[str], fields: Sequence[str] = ()) -> None:
        self.message = JointState(name=list(names))
        self._fields = None if _all_efforts(fields) else CommandFields(fields)

    def write(self, u: Vector, stamp: Time) -> JointState:
        """Return the message with u (m,) and a stamp message, until the next call."""
        message = self.message
        message.header.stamp = stamp
        if self._fields is None:
            message.effort = doubles(u)
        else:
            self._fields.write(message, u)
        return message


class CommandArrayWriter:
    """u as a Float64MultiArray, as forward_command_controller takes it."""

    message_type = Float64MultiArray

    def __init__(self, names: Sequence[str], fields: Sequence[str] = ()) -> None:
        self.message = Float64MultiArray()

    def write(self, u: Vector, stamp: Time) -> Float64MultiArray:
        """Return the message with u (m,), until the next call; it has no place for the stamp."""
        self.message.data = doubles(u)
        return self.message


class CommandTrajectoryReader(WholeCommand):
    """The only point of a JointTrajectory as (u (k,), 0), by name; as :class:`CommandReader`."""

    message_type = JointTrajectory

    def __init__(self, names: Sequence[str], fields: Sequence[str] = ()) -> None:
        self.size = len(names)
        self._names = NameOrder(names, others=True)
        self._fields = CommandFields(fields, _POINT_FIELDS)

    def read(self, message: JointTrajectory) -> tuple[Vector, int]:
        """Return (u, 0): its stamp is when it begins; MessageError if unusable."""
        names, points = message.joint_names, message.points
        if len(points) != 1:
            raise MessageError(f'wrong size: {len(points)} points, expected 1')
        order = self._names.of(names)
        return self._fields.read(points[0], len(names), self.size, order), 0


class CommandTrajectoryWriter:
    """
    u as a JointTrajectory of one point, as joint_trajectory_controller takes it.

    The stamp is 0, which stands for now; the point is to be reached in a `horizon` [s].
    """

    message_type = JointTrajectory

    def __init__(
        self, names: Sequence[str], fields: Sequence[str] = (), horizon: float = 0.0
    ) -> None:
        self._point = JointTrajectoryPoint()
        late = stamped(round(horizon * SECOND))
        self._point.time_from_start.sec = late.sec
        self._point.time_from_start.nanosec = late.nanosec
        self.message = JointTrajectory(joint_names=list(names), points=[self._point])
        self._write = CommandFields(fields, _POINT_FIELDS).write

    def write(self, u: Vector, stamp: Time) -> JointTrajectory:
        """Return the message with u (k,), until the next call; the stamp is not in it."""
        self._write(self._point, u)
        return self.message
