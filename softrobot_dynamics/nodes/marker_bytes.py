# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A MarkerArray of many points as bytes, in which nothing but numbers changes.

A skin has thousands of points, and to make each of them an object of Python thirty times a
second takes a processor. So the message is serialised once, see :class:`MessageTemplate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TYPE_CHECKING

from geometry_msgs.msg import Point
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.nodes.messaging.template import MessageTemplate
from visualization_msgs.msg import Marker, MarkerArray

if TYPE_CHECKING:
    from builtin_interfaces.msg import Time


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
        markers = [_marker(frame, each) for each in outlines]
        numbers = range(len(markers))
        self._stamps = [f'markers.{k}.header.stamp' for k in numbers]
        points = [f'markers.{k}.points' for k in numbers]
        colours = [f'markers.{k}.color' for k in numbers]
        fields = {path: path for path in (*self._stamps, *points, *colours)}
        self._template = template = MessageTemplate.of(MarkerArray(markers=markers), fields)
        self._points = [template.view(path) for path in points]
        self._colours = [template.view(path) for path in colours]

    def write(
        self, stamp: Time, points: Sequence[Matrix], colours: Sequence[Vector | Sequence[float]]
    ) -> bytes:
        """Return the bytes with this Time, points (count, 3) [m], and colours (4,), up to 1."""
        for path in self._stamps:
            self._template.write_stamp(path, stamp)
        for place, given in zip([*self._points, *self._colours], [*points, *colours], strict=True):
            place[:] = given
        return bytes(self._template.data)


def _marker(frame: str, outline: Outline) -> Marker:
    """Return a Marker in a frame, with as many points as it will have."""
    marker = Marker(ns=outline.namespace, id=outline.number, type=outline.kind)
    marker.header.frame_id = frame
    marker.pose.orientation.w = 1.0
    marker.scale.x = outline.thickness
    marker.scale.y = marker.scale.z = 1.0
    marker.points = [Point()] * outline.points
    return marker
