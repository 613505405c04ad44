# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Topics of states (q, qd), whole on one topic or in parts on several: subscribe and publish."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TYPE_CHECKING

import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.loops.state_parts import PartReader, SourcePart, StateParts
from softrobot_dynamics.loops.state_reader import StateReader
from softrobot_dynamics.loops.state_stream import StateStream
from softrobot_dynamics.loops.statistics import Window
from softrobot_dynamics.nodes.messaging.codec import Encoder
from softrobot_dynamics.nodes.messaging.inbox import Inbox
from softrobot_dynamics.nodes.messaging.message_values import stamped
from softrobot_dynamics.nodes.messaging.parts_inbox import PartsInbox
from softrobot_dynamics.nodes.messaging.qos import NEWEST_QOS, publisher
from softrobot_dynamics.nodes.messaging.state_messages import StateWriter
from softrobot_dynamics.simulation.periodic_instants import PeriodicInstants

if TYPE_CHECKING:
    from softrobot_dynamics.configuration.state_topics import StatePart
    from softrobot_dynamics.loops.state_validation import StateValidator


def subscribe_to_states(node: Node, parts: Sequence[StatePart]) -> Any:
    """Return the inbox of the states; with several topics its messages are (part, message)."""
    if in_parts(parts):
        topics = [(JointState, part.topic, len(part.indices)) for part in parts]
        return PartsInbox(node, topics, NEWEST_QOS)
    return Inbox(node, JointState, parts[0].topic, NEWEST_QOS, len(parts[0].indices))


def in_parts(parts: Sequence[StatePart]) -> bool:
    """Tell whether states come in parts, be it one."""
    return bool(parts[0].name)


def position_reader(parts: Sequence[StatePart], q: Vector) -> StateReader | PartReader:
    """Return the reader of positions from the messages of that inbox; q (n,) before the first."""
    readers = [(StateReader(part.names, 'differentiated'), part.indices) for part in parts]
    return PartReader(readers, q) if in_parts(parts) else readers[0][0]


def state_source(
    parts: Sequence[StatePart],
    velocities: str,
    validator: Callable[[Sequence[int]], StateValidator],
    period: int,
    **options: Any,
) -> StateParts | StateReader:
    """
    Return the StateParts of the loop, or a StateReader for states that come whole.

    ``validator``: a function of indices; ``period`` [ns]; ``options`` as of StateParts.
    """
    if not in_parts(parts):
        return StateReader(parts[0].names, velocities)
    sources = [
        SourcePart(
            part.name,
            part.indices,
            StateStream(StateReader(part.names, velocities), validator(part.indices), period),
            Window(),
        )
        for part in parts
    ]
    return StateParts(sources, **options)


class _PartPublisher:
    """Publishes one part of the states of a simulated robot, at its rate."""

    def __init__(self, node: Node, part: StatePart, quality: QoSProfile, period: float) -> None:
        self._own: Any = np.array(part.indices) if part.name else slice(None)
        self._velocities = part.velocities
        self._state, self._none = StateWriter(part.names), np.zeros(0)
        self._encode = Encoder(self._state.message).encode
        self.publisher: Publisher = publisher(node, JointState, part.topic, quality)
        self._cycles = PeriodicInstants(part.rate) if 0.0 < part.rate < 1.0 / period else None
        self._period = period

    def state(self, q: Vector, qd: Vector, stamp: int) -> bool:
        """Publish the part of (q, qd), (n,) each, if it is time; return whether it was."""
        if self._cycles is not None and not self._cycles.come(self._period):
            return False
        own = self._own
        self._state.write(q[own], qd[own] if self._velocities else self._none, stamped(stamp))
        self.publisher.publish(self._encode())
        return True


class PartPublishers:
    """
    Publishes the states of a simulated robot in parts, each at its rate, with their stamps.

    ``period`` [s] of the simulation; ``tick``: the part that commands answer, '' for the slowest.
    """

    def __init__(
        self,
        node: Node,
        parts: Sequence[StatePart],
        quality: QoSProfile,
        period: float,
        tick: str = '',
    ) -> None:
        self._parts = [_PartPublisher(node, part, quality, period) for part in parts]
        rates = [part.rate or 1.0 / period for part in parts]
        names = [part.name for part in parts]
        self._answered = names.index(tick) if tick else rates.index(min(rates))
        self.publishers = [part.publisher for part in self._parts]
        if len(parts) == 1:
            self.state = self._parts[0].state  # type: ignore[method-assign]

    def state(self, q: Vector, qd: Vector, stamp: int) -> bool:
        """Publish (q, qd), (n,) each, if it is due; return whether a command may answer it."""
        said = [part.state(q, qd, stamp) for part in self._parts]
        return said[self._answered]
