# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Points in the bytes of a sensor_msgs/PointCloud2, without ROS."""

from __future__ import annotations

from array import array

import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.estimation.sensors.messages import Message, MessageFields

_TYPES = {7: 'f4', 8: 'f8'}  # of sensor_msgs/PointField: FLOAT32, FLOAT64
_AXES = 'x', 'y', 'z'


def cloud_points(message: Message) -> Matrix:
    """Return the points (M, 3) of a cloud; MessageError where it has no x, y, z, or too little."""
    found = {each.name: each for each in message.fields}
    order, count = '>' if message.is_bigendian else '<', message.width * message.height
    try:
        formats = [order + _TYPES[found[axis].datatype] for axis in _AXES]
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
