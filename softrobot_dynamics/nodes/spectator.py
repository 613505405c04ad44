# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Observe a running loop by its topics now and then; no Python runs at its rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TYPE_CHECKING

from builtin_interfaces.msg import Time
import numpy as np
from rclpy.context import Context
from rclpy.node import Node
from sensor_msgs.msg import JointState
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.configuration.command_parts import command_parts
from softrobot_dynamics.configuration.wire_names import wire_names
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.message_fields import StateReader
from softrobot_dynamics.nodes.messaging.command_messages import hear_commands
from softrobot_dynamics.nodes.messaging.inbox import Inbox
from softrobot_dynamics.nodes.messaging.quality import NEWEST

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_PLAIN = {'command_type': 'joint_state'}


class TopicSnapshot(NamedTuple):
    """What was said last."""

    q: Vector  # (n,)
    u: Vector | None  # (m,), None: no command yet
    stamp: Time  # of the state


class TopicWatch:
    """
    Hears, for a node, the newest state and command on the topics of a model's loop.

    ``values``: parameters that say how commands come, and names; by default as without any.
    """

    def __init__(
        self, node: Node, model: CompiledModel, values: Mapping[str, Any] = _PLAIN
    ) -> None:
        self._states = Inbox(node, JointState, 'joint_states', NEWEST, model.n)
        self._state_reader = StateReader(wire_names(values, model.coordinate_names))
        self._commands, self._reader = hear_commands(node, command_parts(model, values))
        self._commanded = np.full(model.m, np.nan)  # nan: not yet

    def look(self) -> TopicSnapshot | None:
        """Return the newest if a state has come; MessageError: of another robot, or no numbers."""
        for _ in self._reader.places:
            if (command := self._commands.wait(0)) is None:
                break
            values, _ = self._reader.read(command)
            self._commanded[self._reader.places[self._reader.part]] = values
        if (state := self._states.wait(0)) is None:
            return None
        u = None if np.isnan(self._commanded).any() else self._commanded.copy()
        return TopicSnapshot(self._state_reader.read(state)[0].copy(), u, state.header.stamp)

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
