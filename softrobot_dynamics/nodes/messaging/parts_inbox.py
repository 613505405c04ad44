# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The messages of several topics for one thread, see `inbox`. Times in ns."""

from __future__ import annotations

from collections.abc import Sequence
import threading
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from softrobot_dynamics.nodes.messaging.inbox import (
    end_of_rest,
    ExecutorInbox,
    HAS_WAIT_SET,
    make_wait_set,
    Sent,
    wait_for,
    WaitSetInbox,
)

_now = time.monotonic_ns


class _SeveralInboxes:
    """Turns and rests of several inboxes, common to both ways of waiting."""

    _members: Sequence[WaitSetInbox | ExecutorInbox]
    _last = _ready_at = _taken_at = 0

    def wait(self, timeout: int) -> Any:
        """
        Return (which topic, its newest message), or None after `timeout` [ns] or a `wake`.

        Topics take turns. Otherwise as `WaitSetInbox.wait`.
        """
        pause, self._ready_at = self._ready_at - _now() if self._ready_at else 0, 0
        if pause > 0:
            self._wait(min(pause, timeout), resting=True)
            return None
        self._wait(timeout, resting=False)
        self._taken_at, count = _now(), len(self._members)
        for k in range(self._last + 1, self._last + 1 + count):
            which = k % count
            if (message := self._members[which].take()) is not None:
                self._last = which
                return which, message
        return None

    def age(self) -> int:
        """As `WaitSetInbox.age`."""
        return self._members[self._last].age()

    def sent(self) -> Sent:
        """As `WaitSetInbox.sent`."""
        return self._members[self._last].sent()

    def rest(self) -> None:
        """As `WaitSetInbox.rest`."""
        self._ready_at = end_of_rest(self._taken_at)

    def close(self) -> None:
        """Destroy the ROS entities; only when no thread waits any more."""
        for each in self._members:
            each.close()

    def _wait(self, timeout: int, resting: bool) -> None:
        """Wait for a message, unless resting, or a `wake`."""
        raise NotImplementedError


class WaitSetPartsInbox(_SeveralInboxes):
    """
    The newest messages of several topics, for one thread that waits past every executor.

    ``topics``: (message type, name, entries of a message) of each.
    """

    def __init__(
        self, node: Node, topics: Sequence[tuple[type, str, int]], qos: QoSProfile
    ) -> None:
        members = [WaitSetInbox(node, kind, name, qos, n) for kind, name, n in topics]
        self._members, self._lead = members, members[0]
        self._subscriptions = [each.subscription for each in members]
        self._wait_set = make_wait_set(node, len(topics))

    def _wait(self, timeout: int, resting: bool) -> None:
        subscriptions = () if resting else self._subscriptions
        wait_for(self._wait_set, subscriptions, self._lead.guard, timeout)

    def wake(self) -> None:
        """End the wait under way, or the next one; for any thread."""
        self._lead.wake()

    def close(self) -> None:
        """Destroy the ROS entities; only when no thread waits any more."""
        self._wait_set.destroy_when_not_in_use()
        super().close()


class ExecutorPartsInbox(_SeveralInboxes):
    """The same on public rclpy only: an executor brings the messages, in another thread."""

    def __init__(
        self, node: Node, topics: Sequence[tuple[type, str, int]], qos: QoSProfile
    ) -> None:
        self._changed, self._woken = threading.Condition(), False
        members = [ExecutorInbox(node, *x[:2], qos, x[2], self._changed) for x in topics]
        self._members = self._inboxes = members

    def _wait(self, timeout: int, resting: bool) -> None:
        with self._changed:
            self._changed.wait_for(
                lambda: self._woken or (not resting and any(x.full for x in self._inboxes)),
                max(0, timeout) * 1e-9,
            )
            self._woken = False

    def wake(self) -> None:
        """End the wait under way, or the next one; for any thread."""
        with self._changed:
            self._woken = True
            self._changed.notify()


PartsInbox = WaitSetPartsInbox if HAS_WAIT_SET else ExecutorPartsInbox
