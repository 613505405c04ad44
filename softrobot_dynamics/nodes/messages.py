# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Messages to arrays and back: by name, never by position in the message; nothing here needs a node.

A permutation is worked out once and used as long as the names in the messages stay the same, so a
conversion costs a few microseconds. What cannot be used raises MessageError, whose reason begins
with one of `CAUSES`.
"""

from array import array
from math import isfinite

from builtin_interfaces.msg import Time
import numpy as np
from sensor_msgs.msg import JointState
from softrobot_dynamics.errors import closest, MessageError
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

CAUSES = ('wrong size', 'wrong name', 'not a number', 'out of order', 'stale', 'unreadable')
SECOND = 1_000_000_000  # [ns]


def cause_of(error):
    """Return the one of `CAUSES` that a MessageError is about."""
    return error.reason.partition(':')[0]


def stamp_of(message):
    """Return the stamp of a message's header [ns], 0 if it was not set."""
    stamp = message.header.stamp
    return stamp.sec * SECOND + stamp.nanosec


def stamped(nanoseconds):
    """Return the stamp message of a time [ns]."""
    return Time(sec=nanoseconds // SECOND, nanosec=nanoseconds % SECOND)


class NameOrder:
    """Where each of our `names` stands in the messages of others."""

    def __init__(self, names):
        self._names = list(names)
        self._seen = list(names)
        self._order = None

    def of(self, given):
        """Return the indices that bring values `given` by name into our order, None for as is."""
        if given != self._seen:
            self._order = self._find(given)
            self._seen = list(given)
        return self._order

    def _find(self, given):
        places = {name: place for place, name in enumerate(given)}
        for name in given:
            if name not in self._names:
                raise MessageError(f'wrong name: {name!r} is unknown{closest(name, self._names)}')
        if len(places) != len(given):
            twice = next(name for name in given if given.count(name) > 1)
            raise MessageError(f'wrong name: {twice!r} stands there twice')
        missing = [name for name in self._names if name not in places]
        if missing:
            raise MessageError(f'wrong name: {", ".join(missing)} missing')
        order = np.array([places[name] for name in self._names])
        return None if (order == np.arange(len(order))).all() else order


class StateReader:
    """A JointState as (q, qd), each (n,), in the order of the coordinate `names`."""

    def __init__(self, names):
        self._size = len(names)
        self._names = NameOrder(names)

    def read(self, message):
        """Return (q, qd), which may share memory with the message; MessageError if unusable."""
        order = self._names.of(message.name)
        q = _numbers('position', message.position, self._size)
        qd = _numbers('velocity', message.velocity, self._size)
        return (q, qd) if order is None else (q[order], qd[order])


class CommandReader:
    """A JointState as (u (m,), stamp [ns]): the efforts, in the order of the actuator `names`."""

    message_type = JointState

    def __init__(self, names):
        self._size = len(names)
        self._names = NameOrder(names)

    def read(self, message):
        """Return (u, stamp of the state answered, 0 if not said); MessageError if unusable."""
        order = self._names.of(message.name)
        u = _numbers('effort', message.effort, self._size)
        return (u if order is None else u[order]), stamp_of(message)


class CommandArrayReader:
    """A Float64MultiArray as (u (m,), 0): values in the order of the actuators, no stamp."""

    message_type = Float64MultiArray

    def __init__(self, names):
        self._size = len(names)

    def read(self, message):
        """Return (u, 0); MessageError if unusable."""
        return _numbers('data', message.data, self._size), 0


class StateWriter:
    """(q, qd) as a JointState; one message object, used again and again."""

    def __init__(self, names):
        self.message = JointState(name=list(names))

    def write(self, q, qd, stamp, effort=None):
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

    def __init__(self, names):
        self.message = JointState(name=list(names))

    def write(self, u, stamp):
        """Return the message with u (m,) and a stamp message, until the next call."""
        self.message.header.stamp = stamp
        self.message.effort = _doubles(u)
        return self.message


class CommandArrayWriter:
    """u as a Float64MultiArray, as forward_command_controller takes it."""

    message_type = Float64MultiArray

    def __init__(self, names):
        self.message = Float64MultiArray()

    def write(self, u, stamp):
        """Return the message with u (m,), until the next call; it has no place for the stamp."""
        self.message.data = _doubles(u)
        return self.message


class ReferenceWriter:
    """(y_d, its rate, its acceleration) as a JointTrajectory of one point."""

    def __init__(self, names):
        self._point = JointTrajectoryPoint()
        self.message = JointTrajectory(joint_names=list(names), points=[self._point])

    def write(self, y, yd, ydd, stamp):
        """Return the message with the reference, each (m,), and a stamp message."""
        self.message.header.stamp = stamp
        self._point.positions = _doubles(y)
        self._point.velocities = _doubles(yd)
        self._point.accelerations = _doubles(ydd)
        return self.message


class StampOrder:
    """Refuses a stamp that does not come after the one before; a stamp of 0 is no stamp."""

    def __init__(self):
        self._last = 0

    def check(self, stamp):
        """Raise MessageError unless `stamp` [ns] is later than the last; remember it."""
        if stamp:
            if stamp <= self._last:
                raise MessageError(
                    f'out of order: stamped {(self._last - stamp) * 1e-9:.6f} s'
                    ' before the last one'
                )
            self._last = stamp

    def forget(self):
        """Take whatever comes next, as after a pause: the sender may have been restarted."""
        self._last = 0


#: The two forms of a command, as the parameter `command_type` names them.
COMMAND_READERS = {'joint_state': CommandReader, 'multi_array': CommandArrayReader}
COMMAND_WRITERS = {'joint_state': CommandWriter, 'multi_array': CommandArrayWriter}


def _numbers(field, values, size):
    if len(values) != size:
        raise MessageError(f'wrong size: {field} has {len(values)} values, expected {size}')
    numbers = np.frombuffer(values)
    if not isfinite(numbers.dot(numbers)):  # one pass; squares of what is absurd are inf too
        raise MessageError(f'not a number: {field} holds nan, inf or a number beyond 1e150')
    return numbers


def _doubles(values):
    return array('d', values.tobytes())
