# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Messages to arrays and back: by name, never by position in the message; nothing here needs a node.

A permutation is worked out once and used as long as the names in the messages stay the same, so a
conversion costs a few microseconds. What cannot be used raises MessageError, whose reason begins
with one of `CAUSES`.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from builtin_interfaces.msg import Time
import numpy as np
from sensor_msgs.msg import JointState
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.errors import closest, MessageError, shortened
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

CAUSES = (
    'wrong size',
    'wrong name',
    'not a number',
    'too fast',
    'contradiction',
    'out of order',
    'from the future',
    'stale',
    'unreadable',
)
SECOND = 1_000_000_000  # [ns]
_QUOTED = 40  # characters of a name that is unknown


def cause_of(error: MessageError) -> str:
    """Return the one of `CAUSES` that a MessageError is about."""
    return error.reason.partition(':')[0]


def stamp_of(message: Any) -> int:
    """Return the stamp of a message's header [ns], 0 if it was not set."""
    stamp = message.header.stamp
    return stamp.sec * SECOND + stamp.nanosec


def stamped(nanoseconds: int) -> Any:
    """Return the stamp message of a time [ns]."""
    return Time(sec=nanoseconds // SECOND, nanosec=nanoseconds % SECOND)


class NameOrder:
    """Where each of our `names` stands in the messages of others."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._seen = list(names)
        self._order, self._wrong = None, ''

    def of(self, given: Sequence[str]) -> Any:
        """Return the indices that bring values `given` by name into our order, None for as is."""
        if given != self._seen:
            self._wrong = self._find_wrong(given)  # in words only once: finding them takes time
            self._order = None if self._wrong else self._find(given)
            self._seen = list(given)
        if self._wrong:
            raise MessageError(f'wrong name: {self._wrong}')
        return self._order

    def _find_wrong(self, given: Sequence[str]) -> str:
        """Return in words what is wrong with given names, or ''; similar ones cost the most."""
        known, count = set(self._names), Counter(given)
        unknown = _first([n for n in count if n not in known], self._unknown)
        twice = _first([n for n in self._names if count[n] > 1], '{!r} stands there twice'.format)
        missing = ', '.join(_first([n for n in self._names if n not in count]))
        return '; '.join([*unknown, *twice, *([f'{missing} missing'] if missing else [])])

    def _unknown(self, name: str) -> str:
        short = shortened(name, _QUOTED)
        return f'{short!r} is unknown{closest(short, self._names)}'

    def _find(self, given: Sequence[str]) -> Any:
        order = np.array([given.index(name) for name in self._names])
        return None if (order == np.arange(len(order))).all() else order


class StateReader:
    """A JointState as (q, qd), each (n,), in the order of the coordinate `names`."""

    def __init__(self, names: Sequence[str]) -> None:
        self._size = len(names)
        self._names = NameOrder(names)

    def read(self, message: Any) -> tuple[Vector, Vector]:
        """Return (q, qd), which may share memory with the message; MessageError if unusable."""
        order = self._names.of(message.name)
        q = _numbers('position', message.position, self._size)
        qd = _numbers('velocity', message.velocity, self._size)
        return (q, qd) if order is None else (q[order], qd[order])


class CommandReader:
    """A JointState as (u (m,), stamp [ns]): the efforts, in the order of the actuator `names`."""

    message_type = JointState

    def __init__(self, names: Sequence[str]) -> None:
        self.size = len(names)
        self._names = NameOrder(names)

    def read(self, message: Any) -> tuple[Vector, int]:
        """Return (u, stamp of the state answered, 0 if not said); MessageError if unusable."""
        order = self._names.of(message.name)
        u = _numbers('effort', message.effort, self.size)
        return (u if order is None else u[order]), stamp_of(message)


class CommandArrayReader:
    """A Float64MultiArray as (u (m,), 0): values in the order of the actuators, no stamp."""

    message_type = Float64MultiArray

    def __init__(self, names: Sequence[str]) -> None:
        self.size = len(names)

    def read(self, message: Any) -> tuple[Vector, int]:
        """Return (u, 0); MessageError if unusable."""
        return _numbers('data', message.data, self.size), 0


class StateWriter:
    """(q, qd) as a JointState; one message object, used again and again."""

    def __init__(self, names: Sequence[str]) -> None:
        self.message = JointState(name=list(names))

    def write(self, q: Vector, qd: Vector, stamp: Any, effort: Any = None) -> Any:
        """Return the message with this state and a stamp message, until the next call."""
        message = self.message
        message.header.stamp = stamp
        message.position = _doubles(q)
        message.velocity = _doubles(qd)
        if effort is not None:
            message.effort = _doubles(effort)
        return message


class CommandWriter:
    """u as a JointState with names and efforts; one message object, used again and again."""

    message_type = JointState

    def __init__(self, names: Sequence[str]) -> None:
        self.message = JointState(name=list(names))

    def write(self, u: Vector, stamp: Any) -> Any:
        """Return the message with u (m,) and a stamp message, until the next call."""
        self.message.header.stamp = stamp
        self.message.effort = _doubles(u)
        return self.message


class CommandArrayWriter:
    """u as a Float64MultiArray, as forward_command_controller takes it."""

    message_type = Float64MultiArray

    def __init__(self, names: Sequence[str]) -> None:
        self.message = Float64MultiArray()

    def write(self, u: Vector, stamp: Any) -> Any:
        """Return the message with u (m,), until the next call; it has no place for the stamp."""
        self.message.data = _doubles(u)
        return self.message


class ReferenceWriter:
    """y_d, its rate and acceleration as a JointTrajectory of one point, of what follows any."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names, self._left = list(names), 0
        self._point = JointTrajectoryPoint()
        self.message = JointTrajectory(joint_names=list(names), points=[self._point])

    def write(self, desired: Matrix, stamp: Any) -> Any:
        """Return the message with the reference (3, c), nan for nothing, and a stamp message."""
        left = np.isnan(desired[0])
        if left.any() or self._left:
            self._left = int(left.sum())
            self.message.joint_names = [x for x, y in zip(self._names, left) if not y]
            desired = desired[:, ~left]
        self.message.header.stamp = stamp
        self._point.positions = _doubles(desired[0])
        self._point.velocities = _doubles(desired[1])
        self._point.accelerations = _doubles(desired[2])
        return self.message


#: The two forms of a command, as the parameter `command_type` names them.
COMMAND_READERS: dict[str, Any] = {'joint_state': CommandReader, 'multi_array': CommandArrayReader}
COMMAND_WRITERS: dict[str, Any] = {'joint_state': CommandWriter, 'multi_array': CommandArrayWriter}


def _first(names: Sequence[str], said: Callable[[str], str] = str, most: int = 3) -> list[str]:
    """Return what is ``said`` of the first few names, and how many more there are."""
    rest = [f'and {len(names) - most} more'] if len(names) > most else []
    return [*map(said, names[:most]), *rest]


def _numbers(field: str, values: Any, size: int) -> Vector:
    if len(values) != size:
        raise MessageError(f'wrong size: {field} has {len(values)} values, expected {size}')
    numbers = np.frombuffer(values)
    with np.errstate(over='ignore'):
        square = numbers.dot(numbers)  # one pass; squares of what is absurd are inf too
    if not isfinite(square):
        raise MessageError(f'not a number: {field} holds nan, inf or a number beyond 1e150')
    return numbers


def _doubles(values: Any) -> Any:
    return array('d', values.tobytes())
