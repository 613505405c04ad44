# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Subscriptions with a thread each, for topics with infrequent messages."""

from collections.abc import Callable
import threading
import traceback
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from softrobot_dynamics.errors import shortened, SoftRobotError
from softrobot_dynamics.loops.message_fields import SECOND
from softrobot_dynamics.loops.realtime import apply_priority, SLOW
from softrobot_dynamics.nodes.messaging.inbox import Inbox

MAX_TRACEBACK_LENGTH = 2000  # characters in the log


class ThreadedSubscription:
    """
    A thread that hands on the messages of a topic, past the executors and their Python.

    `handle(message)` may raise SoftRobotError, of which `refuse(error)` is told, as of messages
    that cannot be read or are too large. Whatever else it raises is logged, and the thread goes
    on. Messages take half of the thread's time at most.
    """

    def __init__(
        self,
        node: Node,
        message_type: type,
        topic: str,
        quality: QoSProfile,
        handle: Callable[[Any], object],
        refuse: Callable[[SoftRobotError], object],
    ) -> None:
        self._inbox, self._logger = Inbox(node, message_type, topic, quality), node.get_logger()
        self._handle, self._refuse, self._leaving = handle, refuse, False
        self._thread = threading.Thread(target=self._run, name=topic, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        """Hand messages on until the end; one that fails ends nothing."""
        apply_priority(SLOW)
        while not self._leaving:
            try:
                message = self._inbox.wait(SECOND)
                if message is None:
                    continue
                self._handle(message)
            except SoftRobotError as error:
                self._refuse(error)
            except Exception:  # one message that fails is no reason to be deaf to the next
                words = shortened(traceback.format_exc(), MAX_TRACEBACK_LENGTH)
                self._logger.error(f'{self._inbox.topic}: {words}', throttle_duration_sec=1.0)
            self._inbox.rest()

    def close(self) -> None:
        """End the thread, after the message that it is at, and the inbox."""
        self._leaving = True
        self._inbox.wake()
        self._thread.join()
        self._inbox.close()
