# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Receive the messages of one topic in a thread of our own, without rclpy's executors.

An executor spends eight times as long on an event as a wait set in a thread of its own (see
`benchmarks/costs.py`). `WaitSet` and `take_message` are only half public, so `WaitSetInbox` is
their one user, and where they are missing `ExecutorInbox` does the same through the executor, to
some 500 Hz. Times in ns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import threading
import time
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.guard_condition import GuardCondition
from rclpy.node import Node
from rclpy.qos import QoSProfile
from softrobot_dynamics.nodes.messaging.codec import Decoder
from softrobot_dynamics.nodes.messaging.qos import subscription

try:
    from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy

    HAS_WAIT_SET = hasattr(_rclpy, 'WaitSet') and hasattr(_rclpy.Subscription, 'take_message')
except ImportError:  # an rclpy that keeps its insides elsewhere
    HAS_WAIT_SET = False
_now = time.monotonic_ns
_MAX_REST = 5_000_000  # [ns]: where work took longer, the machine was busy with others


class Entity(Protocol):
    """A member of a callback group of rclpy: a subscription, a timer or a service."""

    callback_group: CallbackGroup | None


class _ServedElsewhere(MutuallyExclusiveCallbackGroup):
    """
    Keeps the executor away from a subscription and from its events.

    From the events too: in Fast DDS they share a condition with the arrival of data, and an
    executor that waits for them wakes at every message and finds nothing to do.
    """

    def can_execute(self, entity: Entity) -> bool:
        """Tell every executor that the entity is not free."""
        return False


class Sent(NamedTuple):
    """The sender of a message, and the time of sending."""

    stamp: int  # by the clock of the sender's system [ns], 0 if it is not known
    sender: bytes


def end_of_rest(taken_at: int) -> int:
    """Return the end [ns] of the rest after work that began at a moment and ends now [ns]."""
    moment = _now()
    return moment + min(moment - taken_at, _MAX_REST)


def make_wait_set(node: Node, count: int) -> _rclpy.WaitSet:
    """Return a WaitSet for a count of subscriptions and one guard condition."""
    return _rclpy.WaitSet(count, 1, 0, 0, 0, 0, node.context.handle)


def wait_for(
    wait_set: _rclpy.WaitSet,
    subscriptions: Sequence[_rclpy.Subscription],
    guard: _rclpy.GuardCondition,
    timeout: int,
) -> None:
    """Wait until one of the subscriptions has a message, the guard is triggered, or `timeout`."""
    wait_set.clear_entities()
    for each in subscriptions:
        wait_set.add_subscription(each)
    wait_set.add_guard_condition(guard)
    wait_set.wait(max(0, timeout))


class _TopicInbox:
    """Base of both ways of waiting for the messages of a topic."""

    _ready_at = _taken_at = 0
    _info: Mapping[str, Any] = MappingProxyType({})  # what rclpy knows of the newest message

    def sent(self) -> Sent:
        """Return when, and by whom, the message that was returned last was sent."""
        info = self._info  # without a sender's stamp, that of its arrival
        stamp = info.get('source_timestamp') or info.get('received_timestamp') or 0
        return Sent(stamp, info.get('publisher_gid', {}).get('data', b''))

    def rest(self) -> None:
        """
        Make the next wait ignore messages for as long as the last one was processed.

        So no flood of messages takes more than half of a thread. The wait may be woken.
        """
        self._ready_at = end_of_rest(self._taken_at)


class WaitSetInbox(_TopicInbox):
    """
    The newest message of one topic, for one thread that waits for it past every executor.

    ``entries``: how many of ours a message has; much larger ones are refused unread.
    """

    def __init__(
        self, node: Node, message_type: type, topic: str, qos: QoSProfile, entries: int = 0
    ) -> None:
        self._node, self._type = node, message_type
        self._decode = Decoder(message_type, entries).decode
        self._subscription = subscription(
            node,
            message_type,
            topic,
            lambda message: None,
            qos,
            callback_group=_ServedElsewhere(),
            raw=True,
        )
        self.topic = self._subscription.topic_name
        self._guard = GuardCondition(None, None, context=node.context)
        self._handles = (self._subscription.handle, self._guard.handle, node.context.handle)
        for handle in self._handles:  # in use from here on: nobody destroys them under a wait
            handle.__enter__()
        self._wait_set = make_wait_set(node, 1)

    @property
    def subscription(self) -> _rclpy.Subscription:
        """The handle to wait for."""
        return self._handles[0]

    @property
    def guard(self) -> _rclpy.GuardCondition:
        """The handle by which `wake` ends a wait."""
        return self._handles[1]

    def wait(self, timeout: int) -> Any:
        """
        Return the newest message, or None after `timeout` [ns] or a call of `wake`.

        The object may change with the next call. MessageError if the bytes cannot be read, or are
        too many.
        """
        subscription, guard, _ = self._handles
        if self._ready_at:
            pause, self._ready_at = self._ready_at - _now(), 0
            if pause > 0:
                wait_for(self._wait_set, (), guard, min(pause, timeout))
                return None
        wait_for(self._wait_set, (subscription,), guard, timeout)
        return self.take()

    def take(self) -> Any:
        """Return the newest message if there is one, else None; as `wait`."""
        self._taken_at = _now()
        taken = self._handles[0].take_message(self._type, True)
        if not taken:
            return None
        self._info = taken[1]
        return self._decode(taken[0])

    def age(self) -> int:
        """Return how long the message that was returned last had been here by now [ns]."""
        came = self._info.get('received_timestamp', 0)  # by the clock of the system
        return max(0, time.time_ns() - came) if came else 0

    def wake(self) -> None:
        """End the wait under way, or the next one; for any thread."""
        self._guard.trigger()

    def close(self) -> None:
        """Destroy the ROS entities; only when no thread waits any more."""
        self._wait_set.destroy_when_not_in_use()
        for handle in reversed(self._handles):
            handle.__exit__(None, None, None)
        self._guard.destroy()
        self._node.destroy_subscription(self._subscription)


class ExecutorInbox(_TopicInbox):
    """The same on public rclpy only: an executor brings the messages, in another thread."""

    def __init__(
        self,
        node: Node,
        message_type: type,
        topic: str,
        qos: QoSProfile,
        entries: int = 0,
        changed: threading.Condition | None = None,
    ) -> None:
        self._node, self._decode = node, Decoder(message_type, entries).decode
        self._changed = changed or threading.Condition()
        self._newest: Any = None
        self._came = _now()
        self._woken = False
        self._subscription = subscription(
            node,
            message_type,
            topic,
            self._arrived,
            qos,
            callback_group=MutuallyExclusiveCallbackGroup(),
            raw=True,
        )
        self.topic = self._subscription.topic_name

    def _arrived(self, data: bytes, info: Mapping[str, Any]) -> None:
        with self._changed:
            self._newest, self._came, self._info = data, _now(), info
            self._changed.notify()

    def wait(self, timeout: int) -> Any:
        """As `WaitSetInbox.wait`."""
        with self._changed:
            if (pause := self._ready_at - _now()) > 0:
                self._ready_at = 0
                self._changed.wait_for(lambda: self._woken, min(pause, timeout) * 1e-9)
                self._woken = False
                return None
            self._changed.wait_for(
                lambda: self._newest is not None or self._woken, max(0, timeout) * 1e-9
            )
            self._woken = False
        return self.take()

    def take(self) -> Any:
        """As `WaitSetInbox.take`."""
        with self._changed:
            data, self._newest, self._taken_at = self._newest, None, _now()
        return None if data is None else self._decode(data)

    @property
    def full(self) -> bool:
        """Tell whether there is a message to take."""
        return self._newest is not None

    def age(self) -> int:
        """As `WaitSetInbox.age`."""
        return _now() - self._came

    def wake(self) -> None:
        """End the wait under way, or the next one; for any thread."""
        with self._changed:
            self._woken = True
            self._changed.notify()

    def close(self) -> None:
        """Destroy the ROS entities; only when no thread waits any more."""
        self._node.destroy_subscription(self._subscription)


Inbox = WaitSetInbox if HAS_WAIT_SET else ExecutorInbox
