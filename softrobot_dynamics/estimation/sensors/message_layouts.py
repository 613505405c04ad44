# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Layouts of tracked bodies and markers in the messages that drivers publish.

A :class:`MessageLayout` is a set of field names, so a type of message is one row of `LAYOUTS`.
A type that is not listed is described in the estimator file by the same fields.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.estimation.sensors.messages import Message, MessageFields, point
from softrobot_dynamics.schema.fields import flag, text

_POINT_FIELD_TYPES = {7: 'f4', 8: 'f8'}  # of sensor_msgs/PointField: FLOAT32, FLOAT64
_AXES = 'x', 'y', 'z'


def cloud_points(message: Message) -> Matrix:
    """Return the points (M, 3) of a cloud; MessageError where it has no x, y, z, or too little."""
    found = {each.name: each for each in message.fields}
    order, count = '>' if message.is_bigendian else '<', message.width * message.height
    try:
        formats = [order + _POINT_FIELD_TYPES[found[axis].datatype] for axis in _AXES]
        offsets = [found[axis].offset for axis in _AXES]
        row = np.dtype(
            {  # where x, y and z begin in the bytes of a point
                'names': list(_AXES),
                'formats': formats,
                'offsets': offsets,
                'itemsize': message.point_step,
            }
        )
    except (KeyError, ValueError):
        words = f'fields {list(found)}, expected x, y, z of float32 or float64'
        raise MessageError(f'wrong name: {words}') from None
    if len(message.data) < count * message.point_step or message.row_step < (
        message.width * message.point_step if count else 0
    ):
        words = f'data has {len(message.data)} bytes, expected those of {count} points'
        raise MessageError(f'wrong size: {words}')
    lines = [
        np.frombuffer(message.data, row, message.width, k * message.row_step)
        for k in range(message.height if message.width else 0)
    ]
    points = np.concatenate(lines) if lines else np.zeros(0, row)
    return np.stack([points[axis] for axis in _AXES], axis=-1).astype(float)


def cloud_fields(points: Matrix) -> MessageFields:
    """Return the fields of a cloud of points (M, 3), as float32."""
    fields = [
        {'name': axis, 'offset': 4 * k, 'datatype': 7, 'count': 1} for k, axis in enumerate(_AXES)
    ]
    return {
        'height': 1,
        'width': len(points),
        'fields': fields,
        'is_bigendian': False,
        'point_step': 12,
        'row_step': 12 * len(points),
        'data': array('B', np.asarray(points, dtype='<f4').tobytes()),
        'is_dense': bool(np.isfinite(points).all()),
    }


POINT_CLOUD = 'sensor_msgs/PointCloud2'  # the type whose items are read from bytes
_MAX_OTHER_ITEMS = 256  # bodies or markers of others in one message, besides ours


class Item(NamedTuple):
    """A body or a marker in a message."""

    name: str  # '' where the type has none
    header: Any  # a std_msgs/Header: stamp and frame of its driver
    position: tuple[float, float, float]  # in the unit and the frame of the driver
    orientation: Any  # a geometry_msgs/Quaternion, None for a marker


@dataclass(frozen=True)
class MessageLayout:
    """
    Names of the fields, or paths like ``pose.position``, of tracked items in a message.

    ``items`` is the list in the message, empty if the message is about one body or marker. The
    other paths begin at an item: ``name`` (several names of fields with a slash between them are
    read as one name, as ``ns/id``), ``position`` (a Point or Vector3; empty: the item itself),
    ``orientation`` (a Quaternion; empty: a marker has none). With ``own_headers`` each item has a
    header, otherwise the message has one.
    """

    items: str = text(default='')
    name: str = text(default='')
    position: str = text(default='')
    orientation: str = text(default='')
    own_headers: bool = flag(default=False)

    def read(self, message: Message) -> Iterator[Item]:
        """Yield the items of a message; AttributeError where it lacks a field."""
        every = attrgetter(self.items)(message) if self.items else (message,)
        names = [attrgetter(path) for path in self.name.split('/')] if self.name else []
        place = attrgetter(self.position) if self.position else _itself
        turn = attrgetter(self.orientation) if self.orientation else _nothing
        common = None if self.own_headers else message.header
        for each in every:
            name = '/'.join(str(part(each)) for part in names)
            header, p = each.header if common is None else common, place(each)
            yield Item(name, header, (p.x, p.y, p.z), turn(each))

    def write(
        self, items: Sequence[tuple[str, Vector, MessageFields]], header: MessageFields
    ) -> MessageFields:
        """Return the fields of a message of items: names, positions (3,), quaternions."""
        made = [self._item(*each) for each in items]
        if self.own_headers:
            made = [{**each, 'header': header} for each in made]
        common = {} if self.own_headers else {'header': header}
        return {**common, **(_nested(self.items, made) if self.items else made[0])}

    def _item(self, name: str, place: Vector, turn: MessageFields) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if self.name and name:
            paths = self.name.split('/')
            for path, part in zip(paths, name.rsplit('/', len(paths) - 1)):
                _merge(fields, _nested(path, int(part) if path == 'id' else part))
        _merge(fields, _nested(self.position, point(place)))
        if self.orientation:
            _merge(fields, _nested(self.orientation, turn))
        return fields


class CloudLayout(MessageLayout):
    """The points of a sensor_msgs/PointCloud2, which are bytes; nothing else of it is read."""

    def read(self, message: Message) -> Iterator[Item]:
        """Yield the points of a cloud; MessageError where it has no x, y, z."""
        for x, y, z in cloud_points(message).tolist():
            yield Item('', message.header, (x, y, z), None)

    def write(
        self, items: Sequence[tuple[str, Vector, MessageFields]], header: MessageFields
    ) -> MessageFields:
        """Return the fields of a cloud of points."""
        places = np.array([place for _, place, _ in items]).reshape(-1, 3)
        return {'header': header, **cloud_fields(places)}


def _poses(
    items: str = '', name: str = '', pose: str = 'pose', own_headers: bool = False
) -> MessageLayout:
    """Return the layout of items with a Pose at a path."""
    position, orientation = (f'{pose}.{each}'.strip('.') for each in ('position', 'orientation'))
    return MessageLayout(items, name, position, orientation, own_headers)


def _transforms(items: str = '', own_headers: bool = False) -> MessageLayout:
    """Return the layout of geometry_msgs/TransformStamped."""
    place = 'transform.translation', 'transform.rotation'
    return MessageLayout(items, 'child_frame_id', *place, own_headers)


#: Types of messages by their names: what drivers of motion capture and cameras publish.
LAYOUTS: Mapping[str, MessageLayout] = {
    'geometry_msgs/PoseStamped': _poses(),
    'geometry_msgs/PoseWithCovarianceStamped': _poses(pose='pose.pose'),
    'geometry_msgs/TransformStamped': _transforms(),
    'nav_msgs/Odometry': _poses(name='child_frame_id', pose='pose.pose'),
    'geometry_msgs/PoseArray': _poses('poses', pose=''),
    'tf2_msgs/TFMessage': _transforms('transforms', own_headers=True),
    'motion_capture_tracking_interfaces/NamedPoseArray': _poses('poses', 'name'),
    'mocap4r2_msgs/RigidBodies': _poses('rigidbodies', 'rigid_body_name'),
    'visualization_msgs/MarkerArray': _poses('markers', 'ns/id', own_headers=True),
    'mocap4r2_msgs/Markers': MessageLayout('markers', 'marker_name', 'translation'),
    'geometry_msgs/PointStamped': MessageLayout(position='point'),
    'sensor_msgs/PointCloud': MessageLayout('points'),
    POINT_CLOUD: CloudLayout('data'),
}

#: Topics that are the same on every robot, where many nodes publish.
SHARED_TOPICS = {'tf2_msgs/TFMessage': '/tf'}


def most_items(layout: MessageLayout) -> int:
    """Return how many entries a message of a layout may have, 0 if it has one of fixed size."""
    return _MAX_OTHER_ITEMS if layout.items else 0


def _itself(item: Any) -> Any:
    return item


def _nothing(item: Any) -> None:
    return None


def _nested(path: str, value: Any) -> dict[str, Any]:
    """Return a value as the fields at the end of a path; '' for fields themselves."""
    for name in reversed(path.split('.') if path else []):
        value = {name: value}
    found: dict[str, Any] = value
    return found


def _merge(fields: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add fields to others, also within messages that both have."""
    for name, value in more.items():
        if isinstance(value, dict) and isinstance(fields.get(name), dict):
            _merge(fields[name], value)
        else:
            fields[name] = value
