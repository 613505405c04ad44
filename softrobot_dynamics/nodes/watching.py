# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What is odd about the states as they come, though each of them is valid."""

import math
from typing import Any

from softrobot_dynamics.nodes.messaging.messages import SECOND
from softrobot_dynamics.nodes.realtime import now
from softrobot_dynamics.nodes.tally import Throttle

ENOUGH = 20  # states of which a median is taken
DEVIATION = 0.1  # share of the period by which their steps may differ from it
OFFSET = 1.0  # [s] between clocks that is worth a word
_AGAIN, _ONCE = 60 * SECOND, 10**6 * SECOND


class Watch:
    """
    Looks at the states of a loop, once a second, by the thread of the diagnostics.

    What it finds it says in the log, each kind at most once a minute. `topic` is that of the
    states, with its namespace.
    """

    def __init__(self, node: Any, topic: str) -> None:
        self._node, self._topic, self._throttle = node, topic, Throttle()

    def look(self, loop: Any, refused: Any) -> Any:
        """
        Return in words what of the states that come to a ControlLoop needs attention.

        ``refused``: are there some that were? Only then it matters how many there are who publish
        them: one that has just been killed still counts for 20 s.
        """
        found = {
            'publishers': self._company() if refused else '',
            'rate': wrong_rate(loop.steps, loop.period),
        }
        for cause, words in found.items():
            if words:
                self._warn(cause, words, _AGAIN)
        offset = self.offset(loop)
        if abs(offset) > OFFSET:
            words = f'the states are stamped {offset:.4g} s before the time that it is here;'
            self._warn('offset', f'{words} only differences of stamps count', _ONCE)
        return [words for words in found.values() if words]

    def offset(self, loop: Any) -> float:
        """Return by how much the last stamp is behind our clock [s], nan if there is none."""
        if not loop.last_stamp:
            return math.nan
        here = self._node.get_clock().now().nanoseconds - (now() - loop.last_valid)
        return (here - loop.last_stamp) * 1e-9

    def _company(self) -> Any:
        """Tell of several publishers of states, with their names."""
        if self._node.count_publishers(self._topic) < 2:
            return ''
        found = self._node.get_publishers_info_by_topic(self._topic)
        names = sorted(f'{p.node_namespace.rstrip("/")}/{p.node_name}' for p in found)
        return f'{len(names)} publishers of {self._topic}: {", ".join(names)}'

    def _warn(self, cause: str, words: str, interval: Any) -> Any:
        if self._throttle.passes(cause, now(), interval) is not None:
            self._node.get_logger().warning(words)


def wrong_rate(steps: Any, period: Any) -> str:
    """Tell in words if the median step between states (a Window) is not the `period` [ns]."""
    step = steps.median() if steps.count >= ENOUGH else period
    if abs(step - period) <= DEVIATION * period:
        return ''
    come = f'{SECOND / step:.4g}' if step > 0 else 'inf'
    return (
        f'states come at {come} Hz, but `rate` is {SECOND / period:.4g} Hz:'
        ' the law counts on the wrong period'
    )
