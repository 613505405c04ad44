# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Write states into messages.

They are read by :class:`~softrobot_dynamics.loops.state_reader.StateReader`.
"""

from __future__ import annotations

from collections.abc import Sequence

from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.nodes.messaging.message_values import doubles


class StateWriter:
    """(q, qd) as a JointState; one message object, used again and again."""

    def __init__(self, names: Sequence[str]) -> None:
        self.message = JointState(name=list(names))

    def write(
        self, q: Vector, qd: Vector, stamp: Time, effort: Vector | None = None
    ) -> JointState:
        """Return the message with this state and a stamp message, until the next call."""
        message = self.message
        message.header.stamp = stamp
        message.position = doubles(q)
        message.velocity = doubles(qd)
        if effort is not None:
            message.effort = doubles(effort)
        return message
