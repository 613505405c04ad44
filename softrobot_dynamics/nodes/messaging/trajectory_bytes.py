# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A trajectory_msgs/JointTrajectory from its bytes, point by point.

rclpy would do it in one call that holds the interpreter's lock for 40 us a point. Here other
threads go on after any instruction, and counts are looked at before what they count. The bytes are
those of CDR (OMG DDS-RTPS 2.5, 10.2), which every middleware of ROS 2 sends. Counts differ from
one trajectory to the next, so there is no template of them.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.nodes.messaging.message_sizes import MAX_NAMES, MAX_POINTS
from std_msgs.msg import Header

# [bytes] of the header that says how the rest is encoded; alignment counts from behind it
_ENCAPSULATION_SIZE = 4


class Duration(NamedTuple):
    """A time, as in builtin_interfaces/Duration, whose own constructor takes longer."""

    sec: int
    nanosec: int


class Point(NamedTuple):
    """A point of a trajectory, as in trajectory_msgs/JointTrajectoryPoint."""

    positions: Vector
    velocities: Vector
    accelerations: Vector
    effort: Vector
    time_from_start: Duration


class TrajectoryMessage(NamedTuple):
    """A trajectory, as in trajectory_msgs/JointTrajectory."""

    header: Header
    joint_names: list[str]
    points: list[Point]


def read_trajectory(data: bytes) -> TrajectoryMessage:
    """Return a trajectory from its bytes; MessageError."""
    cursor = _Cursor(data)
    header = Header()
    header.stamp.sec, header.stamp.nanosec = cursor.duration()
    header.frame_id = cursor.text()
    names = [cursor.text() for _ in range(cursor.count('joint names', MAX_NAMES))]
    points = [cursor.point() for _ in range(cursor.count('points', MAX_POINTS))]
    return TrajectoryMessage(header, names, points)


class _Cursor:
    """A place in the bytes of a message, which goes on with everything that is read."""

    def __init__(self, data: bytes) -> None:
        if data[:2] not in (b'\0\0', b'\0\1'):
            raise MessageError(f'unreadable: encoded as {bytes(data[:2]).hex()}, expected CDR')
        order = '<' if data[1] else '>'
        self._data, self._at = memoryview(data)[_ENCAPSULATION_SIZE:], 0
        self._count, self._pair = Struct(f'{order}I'), Struct(f'{order}iI')
        self._double = np.dtype(f'{order}f8')

    def _take(self, size: int, alignment: int) -> int:
        """Return where so many bytes begin, and go behind them; MessageError at the end."""
        begin = self._at + -self._at % alignment
        if size > len(self._data) - begin:
            raise MessageError('unreadable: it ends too early')
        self._at = begin + size
        return begin

    def duration(self) -> Duration:
        """Return seconds and nanoseconds."""
        return Duration(*self._pair.unpack_from(self._data, self._take(8, 4)))

    def number(self) -> int:
        """Return an unsigned number, most often a count."""
        (number,) = self._count.unpack_from(self._data, self._take(4, 4))
        return int(number)

    def count(self, what: str, most: int) -> int:
        """Return how many of something come; MessageError if there are too many."""
        count = self.number()
        if count > most:
            raise MessageError(f'wrong size: {count} {what}, expected at most {most}')
        return count

    def text(self) -> str:
        """Return a text."""
        size = self.number()
        begin = self._take(size, 1)
        return str(self._data[begin : begin + max(0, size - 1)], 'utf-8', 'replace')

    def doubles(self) -> Vector:
        """Return a sequence of numbers."""
        count = self.number()
        if not count:
            return np.zeros(0)
        begin = self._take(8 * count, 8)
        return np.frombuffer(self._data, self._double, count, begin)

    def point(self) -> Point:
        """Return a point."""
        rows = self.doubles(), self.doubles(), self.doubles(), self.doubles()
        return Point(*rows, self.duration())
