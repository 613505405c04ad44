# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Log the events of a loop; equal ones are throttled."""

from __future__ import annotations

from collections.abc import Callable
import traceback
from typing import Any

from rclpy.node import Node
from softrobot_dynamics.errors import MessageError, SoftRobotError
from softrobot_dynamics.loops.message_fields import cause_of, SECOND
from softrobot_dynamics.loops.realtime import now
from softrobot_dynamics.loops.statistics import Throttle

REPEAT_PERIOD = 10 * SECOND  # [ns] between two lines about what goes on for long


class ThrottledLog:
    """Logs lines of a node: those of a cause once an interval, with how many were held back."""

    def __init__(self, node: Node) -> None:
        self._node, self._logger, self._throttle = node, node.get_logger(), Throttle()

    def say(
        self,
        cause: object,
        words: str | Callable[[], str],
        interval: int = SECOND,
        severity: str = 'warning',
    ) -> None:
        """Log once for each cause and interval [ns] at most: a line takes a loop much time."""
        held = self._throttle.passes(cause, now(), interval)
        if held is None:
            return
        words = words() if callable(words) else words
        if held:
            words += f'; {held} more since the last line'
        if severity == 'warning':  # a line each: rclpy refuses one that changes its severity
            self._logger.warning(words)
        elif severity == 'error':
            self._logger.error(words)
        else:
            self._logger.info(words)

    def refuse(self, topic: str, error: SoftRobotError, words: str) -> None:
        """Log in words why a message of a topic is not followed."""
        cause = cause_of(error) if isinstance(error, MessageError) else type(error)
        self.say((topic, cause), f'{topic} {words}')


class LoopLog(ThrottledLog):
    """Log lines and publishers of a loop; `changed` is called when its mode may have changed."""

    def __init__(self, node: Node, changed: Callable[[], None]) -> None:
        super().__init__(node)
        self._changed, self._alarmed = changed, False
        self._publishers: list[Any] = []

    def entered(self, mode: str, before: str, healthy: bool) -> None:
        """Log that the loop changed its mode; a warning, unless both modes are healthy."""
        severity = 'warning' if self._alarmed or not healthy else 'info'
        self.say((mode, before), f'{mode} (before: {before})', severity=severity)
        self._alarmed = not healthy
        self._changed()

    def refused(self, error: MessageError) -> None:
        """Log why a message was refused."""
        self.say(cause_of(error), str(error))

    def slow(self, words: str) -> None:
        """Log that the machine, or a clock, is slower than expected, now and then."""
        self.say('slow', words, REPEAT_PERIOD)

    def failed(self, event: str, error: BaseException) -> None:
        """Log that something failed, which may happen in every tick."""
        self.say(('failed', event), f'{event}: {_words_of(error)}', severity='error')

    def ended(self, event: str, error: BaseException) -> None:
        """Log that a loop has ended, and its node with it; this is never throttled."""
        words = f'{event}, and with it this node: {_words_of(error)}'
        if not isinstance(error, SoftRobotError):  # a fault of the program: say where
            words += '\n' + ''.join(traceback.format_exception(error))
        self._logger.fatal(words)

    def close(self) -> None:
        """Destroy the publishers."""
        for each in self._publishers:
            self._node.destroy_publisher(each)


def _words_of(error: BaseException) -> str:
    """Return the words of an error, and the type of one that is not of this package."""
    return error.in_one_line() if isinstance(error, SoftRobotError) else repr(error)
