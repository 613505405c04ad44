# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Observe a running loop by its topics now and then; no Python runs at its rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any, NamedTuple, TYPE_CHECKING

from builtin_interfaces.msg import Time
import numpy as np
from rclpy.context import Context
from rclpy.node import Node
from sensor_msgs.msg import JointState
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.configuration.command_parts import command_parts
from softrobot_dynamics.configuration.state_topics import state_parts
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.state_reader import StateReader
from softrobot_dynamics.nodes.messaging.command_topics import subscribe_to_commands
from softrobot_dynamics.nodes.messaging.inbox import Inbox
from softrobot_dynamics.nodes.messaging.qos import NEWEST_QOS
from softrobot_dynamics.nodes.messaging.state_topics import position_reader, subscribe_to_states
from softrobot_dynamics.viewing.scenery import Scenery
from std_msgs.msg import Float64

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

# of that node in the same namespace
OBJECTS_TOPIC, TIME_TOPIC = 'simulation/objects', 'simulation/time'
_DEFAULT_VALUES = {'command_type': 'joint_state'}


class TopicSnapshot(NamedTuple):
    """The newest state and command on the topics."""

    q: Vector  # (n,)
    u: Vector | None  # (m,), None: no command yet
    stamp: Time  # of the state
    time: float  # [s] by which obstacles move, 0: not known


class TopicWatch:
    """
    Receives, for a node, the newest state and command on the topics of a model's loop.

    ``values``: parameters that say how states and commands come, and names; by default whole.
    ``objects``: the last of the model's coordinates, if those come from the simulation's topic of
    objects and not with the robot's own. ``moving``: whether obstacles are given a motion, whose
    time the simulation tells.
    """

    def __init__(
        self,
        node: Node,
        model: CompiledModel,
        values: Mapping[str, Any] = _DEFAULT_VALUES,
        objects: Sequence[str] = (),
        moving: bool = False,
    ) -> None:
        own = len(model.coordinate_names) - len(objects)
        parts = state_parts(values, model.coordinate_names[:own])
        self._states, self._state_count = subscribe_to_states(node, parts), len(parts)
        self._state_reader = position_reader(parts, model.q0[:own])
        self._placed = model.q0[own:].copy()  # of the objects, as last heard
        self._object_reader = StateReader(objects, 'differentiated') if objects else None
        self._objects = (
            Inbox(node, JointState, OBJECTS_TOPIC, NEWEST_QOS, len(objects)) if objects else None
        )
        self._clock = Inbox(node, Float64, TIME_TOPIC, NEWEST_QOS) if moving else None
        self._time = 0.0  # as last heard
        self._commands, self._reader = subscribe_to_commands(node, command_parts(model, values))
        self._commanded = np.full(model.m, np.nan)  # nan: not yet

    def snapshot(self) -> TopicSnapshot | None:
        """Return the newest if a state has come; MessageError: of another robot, or no numbers."""
        for _ in self._reader.places:
            if (command := self._commands.wait(0)) is None:
                break
            values, _ = self._reader.read(command)
            self._commanded[self._reader.places[self._reader.part]] = values
        if self._objects and self._object_reader and (heard := self._objects.wait(0)) is not None:
            self._placed = self._object_reader.read(heard)[0].copy()
        if self._clock is not None and (clock := self._clock.wait(0)) is not None:
            self._time = clock.data if math.isfinite(clock.data) else self._time
        q, stamp = None, None
        for _ in range(self._state_count):
            if (state := self._states.wait(0)) is not None:
                q = self._state_reader.read(state)[0]
                stamp = (state[1] if isinstance(state, tuple) else state).header.stamp
        u = None if np.isnan(self._commanded).any() else self._commanded.copy()
        if q is None:
            return None
        return TopicSnapshot(np.concatenate([q, self._placed]), u, stamp, self._time)

    def close(self) -> None:
        """Destroy the subscriptions."""
        for inbox in (self._states, self._commands, self._objects, self._clock):
            if inbox is not None:
                inbox.close()


class TopicObserver:
    """A :class:`TopicWatch` in a namespace, with a node of its own; the rest as there."""

    def __init__(
        self,
        model: CompiledModel,
        namespace: str = '',
        values: Mapping[str, Any] = _DEFAULT_VALUES,
        objects: Sequence[str] = (),
        moving: bool = False,
    ) -> None:
        import rclpy

        self._context = Context()
        rclpy.init(args=[], context=self._context)
        self._node = Node(
            'view', namespace=namespace, context=self._context, enable_rosout=False,
            start_parameter_services=False, use_global_arguments=False,
        )  # fmt: skip
        self._watch = TopicWatch(self._node, model, values, objects, moving)

    def poll(self) -> Scenery | None:
        """Return the newest if a state has come since the last look."""
        try:
            seen = self._watch.snapshot()
        except MessageError:  # of another robot, or no numbers
            return None
        return None if seen is None else Scenery(seen.q, seen.u, seen.time)

    def close(self) -> None:
        """Destroy the node and its subscriptions."""
        self._watch.close()
        self._node.destroy_node()
        self._context.try_shutdown()
