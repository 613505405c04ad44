# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""/diagnostics: a status at 1 Hz, and soon after a change; the errors that other nodes report."""

from collections.abc import Callable, Iterable
from threading import Event, Thread
import traceback
from typing import TypeAlias

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from softrobot_dynamics.errors import MessageError, shortened
from softrobot_dynamics.nodes.messaging.inbox import Inbox
from softrobot_dynamics.nodes.messaging.qos import publisher

Report: TypeAlias = tuple[bytes, str, dict[str, object]]
"""Level, message, and values by name."""

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
_REPORT_PERIOD = 1.0  # [s]
_ERROR_PERIOD = 10.0  # [s] between two errors of a report that fails
_MODE_CHANGE_DELAY = 0.1  # [s]: the loop has other work in the instant in which its mode changes


class Diagnostics:
    """
    Publishes the Report that `report` returns, every second.

    And a tenth of a second after `changed` was called: who waits for a stop need not wait longer.

    By a thread of its own: a timer of rclpy would keep the loop waiting for three times as long.
    """

    def __init__(self, node: Node, part: str, hardware: str, report: Callable[[], Report]) -> None:
        self._node, self._report = node, report
        self._status = DiagnosticStatus(
            name=f'{node.get_fully_qualified_name()}: {part}', hardware_id=hardware
        )
        self._publisher = publisher(node, DiagnosticArray, '/diagnostics', QoSProfile(depth=10))
        self._closed, self._woken = Event(), Event()
        self._thread = Thread(target=self._run, name='diagnostics', daemon=True)
        self._thread.start()

    def _run(self) -> None:
        """Publish the status once a period, and soon after a change."""
        while True:
            if self._woken.wait(_REPORT_PERIOD):
                self._closed.wait(_MODE_CHANGE_DELAY)
                self._woken.clear()
            if self._closed.is_set():
                return
            try:
                self.publish()
            except Exception:  # a report that fails is no reason to publish none any more
                words = f'/diagnostics: {traceback.format_exc()}'
                self._node.get_logger().error(words, throttle_duration_sec=_ERROR_PERIOD)

    def changed(self) -> None:
        """Request that the status is published soon; never blocks, for the loop's thread."""
        self._woken.set()

    def publish(self) -> None:
        """Publish the status as it is now."""
        self._status.level, self._status.message, values = self._report()
        self._status.values = [
            KeyValue(key=key, value=_shown(value)) for key, value in values.items()
        ]
        message = DiagnosticArray(status=[self._status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def close(self) -> None:
        """Stop publishing."""
        self._closed.set()
        self._woken.set()
        self._thread.join()
        self._node.destroy_publisher(self._publisher)


def _shown(value: object) -> str:
    return f'{value:.6g}' if isinstance(value, float) else shortened(str(value))


# of several nodes
_DIAGNOSTICS_QOS = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)


class PeerStatus:
    """The last status of each node, by its full name; for one thread, which looks now and then."""

    def __init__(self, node: Node) -> None:
        self._inbox = Inbox(node, DiagnosticArray, '/diagnostics', _DIAGNOSTICS_QOS)
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
        """Destroy the publisher."""
        self._inbox.close()

    def _next(self) -> DiagnosticArray | None:
        try:
            return self._inbox.wait(0)
        except MessageError:  # a status that cannot be read says nothing
            return DiagnosticArray()
