# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The messages of one topic for a thread of our own, past the executors of rclpy.

An executor spends eight times as long on an event as a wait set in a thread of its own (see
`benchmarks/costs.py`). `WaitSet` and `take_message` are only half public, so `WaitSetInbox` is
their one user, and where they are missing `ExecutorInbox` does the same through the executor, to
some 500 Hz. Times in ns.
"""

import threading
import time
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.guard_condition import GuardCondition
from softrobot_dynamics.nodes.messaging.codec import Decoder
from softrobot_dynamics.nodes.messaging.quality import subscription

try:
    from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy

    HAS_WAIT_SET = hasattr(_rclpy, 'WaitSet') and hasattr(_rclpy.Subscription, 'take_message')
except ImportError:  # an rclpy that keeps its insides elsewhere
    HAS_WAIT_SET = False


class _ServedElsewhere(MutuallyExclusiveCallbackGroup):
    """
    Keeps the executor away from a subscription and from its events.

    From the events too: in Fast DDS they share a condition with the arrival of data, and an
    executor that waits for them wakes at every message and finds nothing to do.
    """

    def can_execute(self, entity: Any) -> bool:
        return False


class WaitSetInbox:
    """The newest message of one topic, for one thread that waits for it past every executor."""

    def __init__(self, node: Any, message_type: Any, topic: str, qos: Any) -> None:
        self._node = node
        self._type, self._decode = message_type, Decoder(message_type).decode
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
        self._wait_set = _rclpy.WaitSet(1, 1, 0, 0, 0, 0, node.context.handle)
        self._info: Any = {}

    def wait(self, timeout: Any) -> Any:
        """
        Return the newest message, or None after `timeout` [ns] or a call of `wake`.

        The object may change with the next call. MessageError if the bytes cannot be read.
        """
        subscription, guard, _ = self._handles
        self._wait_set.clear_entities()
        self._wait_set.add_subscription(subscription)
        self._wait_set.add_guard_condition(guard)
        self._wait_set.wait(max(0, timeout))
        taken = subscription.take_message(self._type, True)
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
        """Give everything back; only when no thread waits any more."""
        self._wait_set.destroy_when_not_in_use()
        for handle in reversed(self._handles):
            handle.__exit__(None, None, None)
        self._guard.destroy()
        self._node.destroy_subscription(self._subscription)


class ExecutorInbox:
    """The same on public rclpy only: an executor brings the messages, in another thread."""

    def __init__(self, node: Any, message_type: Any, topic: str, qos: Any) -> None:
        self._node, self._decode = node, Decoder(message_type).decode
        self._changed = threading.Condition()
        self._newest: Any = None
        self._came = time.monotonic_ns()
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

    def _arrived(self, data: bytes) -> None:
        with self._changed:
            self._newest, self._came = data, time.monotonic_ns()
            self._changed.notify()

    def wait(self, timeout: Any) -> Any:
        """As `WaitSetInbox.wait`."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._newest is not None or self._woken, max(0, timeout) * 1e-9
            )
            data, self._newest, self._woken = self._newest, None, False
        return None if data is None else self._decode(data)

    def age(self) -> int:
        """As `WaitSetInbox.age`."""
        return time.monotonic_ns() - self._came

    def wake(self) -> None:
        """End the wait under way, or the next one; for any thread."""
        with self._changed:
            self._woken = True
            self._changed.notify()

    def close(self) -> None:
        """Give everything back; only when no thread waits any more."""
        self._node.destroy_subscription(self._subscription)


Inbox = WaitSetInbox if HAS_WAIT_SET else ExecutorInbox
