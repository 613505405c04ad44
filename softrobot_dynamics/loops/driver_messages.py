# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Write the values of simulated sensors as the messages that their drivers would publish."""

from __future__ import annotations

from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.estimation.sensors.message_sources import MessageSource, POSE
from softrobot_dynamics.estimation.sensors.messages import MessageFields, quaternion
from softrobot_dynamics.loops.realtime import SECOND

#: An item of another body: name, position, orientation.
_UNSEEN: tuple[str, Vector, MessageFields] = (
    '',
    np.full(3, np.nan),
    {'w': 1.0, 'x': 0.0, 'y': 0.0, 'z': 0.0},
)


def driver_fields(sensor: Any, value: Array, stamp: int) -> MessageFields:
    """
    Return the fields of a driver's message of a value, with its stamp [ns].

    ``sensor`` has a ``message`` and a ``content``: the inverse of what
    :class:`~.sensor_adapters.SensorAdapter` reads. Other items of a message that is read by
    indices are nan; a marker that is nan is left out, unless it is found by its place.
    """
    source = sensor.message
    layout, T = source.layout(sensor.message_type), source.origin.matrix()
    frames = value[None] if sensor.content == POSE else _frames(value)
    R = T[:3, :3].T
    placed = [
        (R @ (frame[:3, 3] - T[:3, 3]) / source.scale, quaternion(R @ frame[:3, :3]))
        for frame in frames
    ]
    header = {
        'stamp': {'sec': stamp // SECOND, 'nanosec': stamp % SECOND},
        'frame_id': source.frame_id or 'world',
    }
    return layout.write(_items(source, placed), header)


def _items(
    source: MessageSource, placed: list[tuple[Vector, MessageFields]]
) -> list[tuple[str, Vector, MessageFields]]:
    """Return (name, position, orientation) of all items in the order of the message."""
    if source.indices:
        items = [_UNSEEN] * (source.size or max(source.indices) + 1)
        for k, each in zip(source.indices, placed):
            items[k] = ('', *each)
        return items
    names = source.names or ('',) * len(placed)
    left = bool(source.names) or source.assign_within is not None
    every = [(name, *each) for name, each in zip(names, placed)]
    return [each for each in every if not (left and np.isnan(each[1]).any())]


def _frames(places: Array) -> Array:
    """Return points (K, 3) as frames (K, 4, 4) with the axes of the base."""
    frames = np.tile(np.eye(4), (len(places), 1, 1))
    frames[:, :3, 3] = places
    return frames
