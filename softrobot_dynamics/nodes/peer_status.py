# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Errors that other nodes report of themselves on /diagnostics."""

from collections.abc import Iterable

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.nodes.diagnostics import ERROR
from softrobot_dynamics.nodes.messaging.inbox import Inbox

_KEPT = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)  # of several nodes


class PeerStatus:
    """The last status of each node, by its full name; for one thread, which looks now and then."""

    def __init__(self, node: Node) -> None:
        self._inbox = Inbox(node, DiagnosticArray, '/diagnostics', _KEPT)
        self._errors: dict[str, str] = {}

    def errors(self, nodes: Iterable[str]) -> dict[str, str]:
        """Return {full name of a node: its message} of those that report an error."""
        while (message := self._next()) is not None:
            for status in message.status:
                name = status.name.partition(':')[0]
                self._errors.pop(name, None)
                if status.level == ERROR:
                    self._errors[name] = status.message
        return {name: self._errors[name] for name in nodes if name in self._errors}

    def close(self) -> None:
        """Give the topic back."""
        self._inbox.close()

    def _next(self) -> DiagnosticArray | None:
        try:
            return self._inbox.wait(0)
        except MessageError:  # a status that cannot be read says nothing
            return DiagnosticArray()
