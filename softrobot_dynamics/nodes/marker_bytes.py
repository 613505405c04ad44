# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A MarkerArray of many points as bytes, in which nothing but numbers changes.

A skin has thousands of points, and to make each of them an object of Python thirty times a
second takes a processor. So the message is serialised once, with numbers that cannot be mistaken,
and from then on its points, colours and stamps are written where they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
import re
from struct import pack
from typing import Any, NamedTuple

from geometry_msgs.msg import Point
import numpy as np
from rclpy.serialization import serialize_message
from softrobot_dynamics.annotations import Matrix
from visualization_msgs.msg import Marker, MarkerArray

_STAMP = 0x5EEDFACE, 0x2C0FFEE5  # a stamp that stands for itself
_MARK = 3.141e59


class Outline(NamedTuple):
    """A marker but for its numbers."""

    namespace: str
    number: int  # its id
    kind: int  # Marker.TRIANGLE_LIST or LINE_STRIP
    points: int  # how many
    thickness: float = 1.0  # of a line [m]


class MarkerBytes:
    """The bytes of a MarkerArray in a frame; ``outlines`` are its markers, in their order."""

    def __init__(self, frame: str, outlines: Sequence[Outline]) -> None:
        markers = [_marked(frame, each, k) for k, each in enumerate(outlines)]
        self._data = data = bytearray(serialize_message(MarkerArray(markers=markers)))
        self._points, self._colours = [], []
        for k, each in enumerate(outlines):
            first, colour = pack('=3d', *_mark(k, 0)), pack('=4f', *_colour(k))
            count = each.points
            self._points.append(_numbers(data, first, '=f8', 3 * count).reshape(count, 3))
            self._colours.append(_numbers(data, colour, '=f4', 4))
        stamp = pack('=iI', *_STAMP)
        self._stamps = [_numbers(data, stamp, '=u4', 2, k) for k in range(len(outlines))]

    def write(self, stamp: Any, points: Sequence[Matrix], colours: Sequence[Any]) -> bytes:
        """Return the bytes with this Time, points (count, 3) [m], and colours (4,), up to 1."""
        time = np.frombuffer(pack('=iI', stamp.sec, stamp.nanosec), '=u4')
        for place in self._stamps:
            place[:] = time
        for place, given in zip([*self._points, *self._colours], [*points, *colours], strict=True):
            place[:] = given
        return bytes(self._data)


def _marked(frame: str, outline: Outline, k: int) -> Any:
    """Return a Marker whose numbers stand for themselves."""
    marker = Marker(ns=outline.namespace, id=outline.number, type=outline.kind)
    marker.header.frame_id = frame
    marker.header.stamp.sec, marker.header.stamp.nanosec = _STAMP
    marker.pose.orientation.w = 1.0
    marker.scale.x = outline.thickness
    marker.scale.y = marker.scale.z = 1.0
    colour = marker.color
    colour.r, colour.g, colour.b, colour.a = _colour(k)
    places = (_mark(k, i) for i in range(outline.points))
    marker.points = [Point(x=x, y=y, z=z) for x, y, z in places]
    return marker


def _mark(k: int, i: int) -> tuple[float, float, float]:
    return _MARK + k * 1e50, _MARK / 7.0 + i * 1e50, -_MARK


def _colour(k: int) -> tuple[float, float, float, float]:
    return 1.5e30, 2.5e30, 3.5e30, 1e30 * (k + 1)


def _numbers(data: bytearray, pattern: bytes, kind: str, count: int, time: int = 0) -> Any:
    """Return the numbers (count,) that begin where a pattern stands for the first, ... time."""
    place = [m.start() for m in re.finditer(re.escape(pattern), data)][time]
    return np.frombuffer(data, kind, count, place)
