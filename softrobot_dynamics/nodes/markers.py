# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A robot, its surroundings and forces of contact as markers."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, TYPE_CHECKING

from geometry_msgs.msg import Point
import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.nodes.messaging.template import MessageTemplate
from softrobot_dynamics.viewing import colours
from softrobot_dynamics.viewing.arrows import ForceArrows
from softrobot_dynamics.viewing.shapes import Appearance, leaves, RobotShape
from visualization_msgs.msg import Marker, MarkerArray

if TYPE_CHECKING:
    from builtin_interfaces.msg import Time
    from softrobot_dynamics.model.model import CompiledModel


class Outline(NamedTuple):
    """A marker but for its numbers."""

    namespace: str
    number: int  # its id
    kind: int  # Marker.TRIANGLE_LIST or LINE_STRIP
    points: int  # how many
    thickness: float = 1.0  # of a line [m]


class MarkerBytes:
    """
    The bytes of a MarkerArray in a frame; ``outlines`` are its markers, in their order.

    A skin has thousands of points, and to make each of them an object of Python thirty times a
    second takes a processor. So the message is serialised once, see :class:`MessageTemplate`.
    """

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


_PATH_LENGTH = 300  # points of a tip's path
_ARROW_SHAFT_RATIO = 0.01  # of the robot's size: diameter of an arrow


class Scene:
    """The markers of a robot: bodies, actuators, paths of tips, environment, forces of contact."""

    def __init__(self, model: CompiledModel, frame: str) -> None:
        self.shape = shape = RobotShape(model)
        self._palette = colours.Palette(shape)
        look, self._leaves = shape.at(model.q0), leaves(model)
        self._paths: list[deque[Vector]] = [deque(maxlen=_PATH_LENGTH) for _ in self._leaves]
        size = colours.size_of(look)
        bodies = [
            Outline('bodies', i, Marker.TRIANGLE_LIST, 3 * len(triangles))
            for i, triangles in enumerate(shape.triangles)
        ]
        curves = [
            Outline('actuators', k, Marker.LINE_STRIP, len(c), self._palette.thickness(k, size))
            for k, c in zip(shape.routed, look.curves)
        ]
        paths = [
            Outline('paths', i, Marker.LINE_STRIP, _PATH_LENGTH, colours.PATH_SHARE * size)
            for i in self._leaves
        ]
        around = [
            Outline('environment', i, Marker.TRIANGLE_LIST, 3 * len(surface.triangles))
            for i, surface in enumerate(shape.environment)
        ]
        self._bytes = MarkerBytes(frame, [*bodies, *curves, *paths, *around])
        self._frame, self._size, self._shown = frame, size, 0
        self._arrows = ForceArrows(model, size)

    def at(
        self, q: Vector, u: Vector | None, stamp: Time, time: float = 0.0
    ) -> tuple[Appearance, bytes]:
        """
        Return the Appearance at q (n,), and the markers under the commands u (m,); ArgumentError.

        ``time`` [s]: that of the motions of obstacles.
        """
        look, palette = self.shape.at(q), self._palette
        for path, body in zip(self._paths, self._leaves):
            path.append(look.frames[body, :3, 3])
        skins = [x[t].reshape(-1, 3) for x, t in zip(look.surfaces, self.shape.triangles)]
        obstacles = zip(self.shape.obstacles(time), self.shape.environment)
        around = [points[surface.triangles].reshape(-1, 3) for points, surface in obstacles]
        points = [*skins, *look.curves, *map(_filled, self._paths), *around]
        clear = [
            colours.TENDON_BODY_OPACITY if i in self.shape.passed else 1.0
            for i in range(len(skins))
        ]
        seen = [
            *([*c, a] for c, a in zip(palette.bodies(u) / 255.0, clear)),
            *([*c, 1.0] for c in palette.curves(u) / 255.0),
            *[[*colours.PATH / 255.0, 1.0]] * len(self._paths),
            *[[*colours.OBSTACLE / 255.0, colours.OBSTACLE_OPACITY]] * len(around),
        ]
        return look, self._bytes.write(stamp, points, seen)

    def forces(self, points: Matrix, forces: Matrix, stamp: Time) -> MarkerArray:
        """Return an arrow for each of forces (C, 3) [N] at points (C, 3) [m], base frame."""
        ends = self._arrows.ends(points, forces)
        shown = [self._arrow(k, end.tolist(), stamp) for k, end in enumerate(ends)]
        gone = [self._gone(k) for k in range(len(shown), self._shown)]
        self._shown = len(shown)
        return MarkerArray(markers=[*shown, *gone])

    def _arrow(self, number: int, ends: list[list[float]], stamp: Time) -> Marker:
        """Return the marker of an arrow between two ends [m], world."""
        marker = Marker(ns='contacts', id=number, type=Marker.ARROW)
        marker.header.frame_id, marker.header.stamp = self._frame, stamp
        marker.pose.orientation.w = 1.0
        marker.scale.x, marker.scale.y = (
            s * self._size for s in (_ARROW_SHAFT_RATIO, 2.0 * _ARROW_SHAFT_RATIO)
        )
        colour = colours.FORCE / 255.0
        marker.color.r, marker.color.g, marker.color.b = colour.tolist()
        marker.color.a = 1.0
        marker.points = [Point(x=x, y=y, z=z) for x, y, z in ends]
        return marker

    def _gone(self, number: int) -> Marker:
        """Return the marker that removes an arrow."""
        marker = Marker(ns='contacts', id=number, action=Marker.DELETE)
        marker.header.frame_id = self._frame
        return marker


def _filled(path: Sequence[Vector]) -> Matrix:
    """Return the places of a path, the first one as often as there are too few."""
    return np.array([path[0]] * (_PATH_LENGTH - len(path)) + list(path))
