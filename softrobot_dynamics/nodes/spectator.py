# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Observe a running loop by its topics now and then; no Python runs at its rate."""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

from builtin_interfaces.msg import Time
from rclpy.context import Context
from rclpy.node import Node
from sensor_msgs.msg import JointState
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.message_fields import StateReader
from softrobot_dynamics.nodes.messaging.inbox import Inbox
from softrobot_dynamics.nodes.messaging.messages import CommandReader
from softrobot_dynamics.nodes.messaging.quality import NEWEST

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class TopicSnapshot(NamedTuple):
    """What was said last."""

    q: Vector  # (n,)
    u: Vector | None  # (m,), None: no command yet
    stamp: Time  # of the state


class TopicWatch:
    """Hears, for a node, the newest state and command on the topics of a model's loop."""

    def __init__(self, node: Node, model: CompiledModel) -> None:
        self._states, self._commands = (
            Inbox(node, JointState, topic, NEWEST, entries)
            for topic, entries in (('joint_states', model.n), ('joint_commands', model.m))
        )
        self._state_reader = StateReader(model.coordinate_names)
        self._command_reader = CommandReader(model.actuator_names, model.description.wire_fields)
        self._u: Vector | None = None

    def look(self) -> TopicSnapshot | None:
        """Return the newest if a state has come; MessageError: of another robot, or no numbers."""
        if (command := self._commands.wait(0)) is not None:
            self._u = self._command_reader.read(command)[0].copy()
        if (state := self._states.wait(0)) is None:
            return None
        return TopicSnapshot(self._state_reader.read(state)[0].copy(), self._u, state.header.stamp)

    def close(self) -> None:
        """Give the topics back."""
        for inbox in (self._states, self._commands):
            inbox.close()


class Spectator:
    """A :class:`TopicWatch` in a namespace, with a node of its own."""

    def __init__(self, model: CompiledModel, namespace: str = '') -> None:
        import rclpy

        self._context = Context()
        rclpy.init(args=[], context=self._context)
        self._node = Node(
            'view', namespace=namespace, context=self._context, enable_rosout=False,
            start_parameter_services=False, use_global_arguments=False,
        )  # fmt: skip
        self._watch = TopicWatch(self._node, model)

    def look(self) -> tuple[Vector, Vector | None] | None:
        """Return (q (n,), u (m,) or None) if a state has come since the last look."""
        try:
            seen = self._watch.look()
        except MessageError:  # of another robot, or no numbers
            return None
        return None if seen is None else (seen.q, seen.u)

    def close(self) -> None:
        """Give everything back."""
        self._watch.close()
        self._node.destroy_node()
        self._context.try_shutdown()
