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

SELDOM = 10 * SECOND  # [ns] between two lines of what goes on for long


class LoopLog:
    """Log lines and publishers of a loop; `changed` is called when its mode may have changed."""

    def __init__(self, node: Node, changed: Callable[[], None]) -> None:
        self._node, self._logger, self._changed = node, node.get_logger(), changed
        self._publishers: list[Any] = []
        self._throttle, self._alarmed = Throttle(), False

    def entered(self, mode: str, before: str, well: bool) -> None:
        """Log that the loop changed its mode; a warning, unless all is and was well."""
        warn = self._alarmed or not well
        self._say((mode, before), f'{mode} (before: {before})', warn=warn)
        self._alarmed = not well
        self._changed()

    def refused(self, error: MessageError) -> None:
        """Log why a message was refused."""
        self._say(cause_of(error), str(error))

    def slow(self, words: str) -> None:
        """Log that the machine, or a clock, is slower than expected, now and then."""
        self._say('slow', words, SELDOM)

    def _say(
        self,
        cause: object,
        words: str | Callable[[], str],
        interval: int = SECOND,
        warn: bool = True,
    ) -> None:
        """Log once for each cause and interval [ns] at most: a line takes a loop much time."""
        held = self._throttle.passes(cause, now(), interval)
        if held is None:
            return
        words = words() if callable(words) else words
        if held:
            words += f'; {held} more since the last line'
        if warn:  # two lines: rclpy refuses a line that changes its severity
            self._logger.warning(words)
        else:
            self._logger.info(words)

    def failed(self, what: str, error: BaseException) -> None:
        """Log that something failed, which may happen in every tick."""
        if (held := self._throttle.passes(('failed', what), now())) is not None:
            more = f'; {held} more since the last line' if held else ''
            self._logger.error(f'{what}: {_words_of(error)}{more}')

    def ended(self, what: str, error: BaseException) -> None:
        """Log that a loop has ended, and its node with it; this is never throttled."""
        words = f'{what}, and with it this node: {_words_of(error)}'
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
