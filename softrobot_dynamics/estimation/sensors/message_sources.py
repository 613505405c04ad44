# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Settings of an adapter: the message of a driver in which a sensor's value stands."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from softrobot_dynamics.annotations import Complaints
from softrobot_dynamics.errors import Problem
from softrobot_dynamics.estimation.sensors.message_layouts import (
    LAYOUTS,
    MessageLayout,
    SHARED_TOPICS,
)
from softrobot_dynamics.schema.fields import choice, flag, integer, nested, number, text
from softrobot_dynamics.schema.parsing import custom, Problems
from softrobot_dynamics.schema.poses import Pose

POSE, POINTS = 'pose', 'points'  # what the value of a kind of sensor is, if drivers publish such
SHARED, OWN, ARRIVAL = CLOCKS = 'shared', 'own', 'arrival'
_COMMON_FIELDS = {'topic', 'type', 'clock'}  # of all sensors


def _one_or_more(one: type, expected: str) -> Any:
    """Return the field of a value or a list of such, kept as a tuple; () by default."""

    def read(value: object, path: str, problems: Problems) -> tuple[Any, ...] | None:
        every = value if isinstance(value, (list, tuple)) and value else (value,)
        if all(isinstance(x, one) and not isinstance(x, bool) and x not in ('',) for x in every):
            if one is not int or min(every) >= 0:
                return tuple(every)
        problems.append(Problem(path, value, expected))
        return None

    return custom(read, expected=expected, default=())


@dataclass(frozen=True)
class MessageSource:
    """
    Place of a sensor's value in the messages of its driver.

    - ``topic``: empty for ``sensors/NAME``, or ``/tf`` if the type is tf2_msgs/TFMessage
    - ``type``: of the messages, one of :data:`~.message_layouts.LAYOUTS`, or any other whose
      ``fields`` are described; empty: that of the kind of sensor
    - ``names`` or ``indices`` (from 0): the tracked body of a ``pose``, or the markers, in the
      order of the ``points``, in a message with several; ``size``: how many a message must have
    - ``frame_id``: the frame that the driver names in its headers; empty: any
    - ``origin``: pose of that frame in the base of the robot; ``scale`` [m]: the unit of lengths
    - ``assign_within`` [m]: the markers come in any order and number; each is assigned to the
      point whose predicted place is nearest, within this distance
    - ``clock``: stamps are of the clock that the sensors ``shared``; of the driver's ``own`` one,
      whose fastest message of the last second counts as of no age; or of no use (``arrival``)
    - ``repeats``: a value with exactly the numbers before it is one, not a body that was lost
    """

    topic: str = text(default='')
    type: str = text(default='')
    names: tuple[str, ...] = _one_or_more(str, 'a name, or a list of names')
    indices: tuple[int, ...] = _one_or_more(int, 'a number from 0, or a list of such')
    size: int | None = integer(default=None)
    frame_id: str = text(default='')
    origin: Pose = nested(Pose, default=Pose())
    scale: float = number('m', above=0.0, default=1.0)
    assign_within: float | None = number('m', above=0.0, default=None)
    clock: str = choice(CLOCKS, default=SHARED)
    repeats: bool = flag(default=False)
    fields: MessageLayout | None = nested(MessageLayout, default=None)

    def layout(self, own: str) -> MessageLayout:
        """Return the layout of the messages of a kind whose ``own`` type is given; KeyError."""
        return self.fields or LAYOUTS[self.type or own]

    def topic_of(self, name: str) -> str:
        """Return the topic of a sensor of this name."""
        return self.topic or SHARED_TOPICS.get(self.type, f'sensors/{name}')

    def complaints(self, content: str, count: int, own: str) -> Complaints:
        """
        Yield (field, value, expected) for entries that do not suit a kind of sensor.

        Its value is a ``content``, POSE or POINTS, of so many bodies or markers, '' if it is
        something else; its own type of messages is given.
        """
        if not content:
            yield from self._complain_of_other_kinds(own)
            return
        if self.fields is None and (self.type or own) not in LAYOUTS:
            yield 'type', self.type, f'one of {", ".join(LAYOUTS)}, or `fields` of another type'
            return
        layout = self.layout(own)
        if content == POSE and not layout.orientation:
            yield 'type', self.type or own, 'a type with an orientation, for a pose'
        if self.names and self.indices:
            yield 'indices', self.indices, 'names or indices, not both'
        if self.assign_within is not None and (self.names or self.indices or content == POSE):
            yield 'assign_within', self.assign_within, 'null: of markers without names or indices'
        for field in ('names', 'indices'):
            chosen = getattr(self, field)
            if len(set(chosen)) not in (0, count):
                yield field, chosen, f'{count} different ones, one for each that is measured'
        if self.names and not layout.name:
            yield 'names', self.names, 'indices: messages of this type have no names'
        if not layout.items and (self.indices or self.size or count > 1):
            yield 'type', self.type or own, 'a type with several in a message'
        if layout.items and content == POSE and not (self.names or self.indices):
            words = 'a name or an index: messages of this type have several poses'
            yield 'names', self.names, words

    def _complain_of_other_kinds(self, own: str) -> Complaints:
        for field in fields(self):
            if field.name not in _COMMON_FIELDS and getattr(self, field.name) != field.default:
                yield field.name, getattr(self, field.name), 'nothing: for pose and markers only'
        if self.type not in ('', own):
            yield 'type', self.type, f'{own or "nothing"}, which this kind reads'
