# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Read the state of a robot, (q, qd), from messages with named coordinates; needs no ROS."""

from collections.abc import Sequence
from math import nan

import numpy as np
from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.message_contracts import StateMessage
from softrobot_dynamics.loops.message_fields import NameOrder, read_numbers


class StateReader:
    """
    A JointState as (q, qd), each (n,), in the order of the coordinate `names`.

    It may have others beside them, which are ignored. ``velocities``: `measured`, every coordinate
    has one; `auto`, those that are missing are nan; `differentiated`, all are nan.
    """

    def __init__(self, names: Sequence[str], velocities: str = 'measured') -> None:
        self._names, self._velocities = NameOrder(names, others=True), velocities
        self._unknown = np.full(len(names), nan)
        self.missing: Array | None = None  # (n,) velocities of the last message, None: none is

    @property
    def ignored(self) -> tuple[str, ...]:
        """The names in the last message that are none of the coordinates."""
        return self._names.ignored

    def read(self, message: StateMessage) -> tuple[Vector, Vector]:
        """Return (q, qd), which may share memory with the message; MessageError if unusable."""
        order, size = self._names.of(message.name), len(message.name)
        q = read_numbers('position', message.position, size, order)
        self.missing = None
        if self._velocities != 'differentiated':
            try:
                return q, read_numbers('velocity', message.velocity, size, order)
            except MessageError:
                if self._velocities == 'measured':
                    raise
        qd = self._unknown
        if self._velocities == 'auto' and len(message.velocity):
            qd = read_numbers('velocity', message.velocity, size, order, missing=True)
        self.missing = np.isnan(qd)
        return q, qd
