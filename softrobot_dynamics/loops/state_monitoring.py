# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Monitor states that are valid but odd: their rate, their senders, their motion."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
import math
from statistics import median
from typing import Any, Protocol

from softrobot_dynamics.errors import shortened
from softrobot_dynamics.loops.control_loop import ControlLoop
from softrobot_dynamics.loops.message_fields import SECOND
from softrobot_dynamics.loops.realtime import now
from softrobot_dynamics.loops.statistics import Throttle, Window
from softrobot_dynamics.loops.watchdog import RUNNING, TIMED_OUT, WAITING

MIN_STATES = 20  # of which a median is taken
MAX_PERIOD_ERROR = 0.1  # of the period
MAX_CLOCK_OFFSET = 1.0  # [s]; a larger one is reported
MAX_DELAY_ERROR = 0.5  # [periods] by which a delay may be longer than the law knows
BUS_PERIODS = 1.0  # that a command may wait for a bus without our knowledge
MAX_DELAY = 50  # [periods]; stamps that are farther behind are those of another clock
MAX_PART_AGE = SECOND // 100  # [ns] by which a part may be older than the state that is made of it
DELAY_SAMPLES = 5  # of which a median is taken
# [ns] after which a warning is repeated, and in which it is given once
_REPEAT_PERIOD, _NO_REPEAT = 60 * SECOND, 10**6 * SECOND


class LateActuator(Protocol):
    """Lag and delay of an actuator from a command to its force."""

    @property
    def lag(self) -> float: ...

    @property
    def delay(self) -> float: ...


class Graph(Protocol):
    """The part of rclpy's Node that is used here: clock, log, and publishers on topics."""

    def get_clock(self) -> Any: ...

    def get_logger(self) -> Any: ...

    def count_publishers(self, topic_name: str) -> int: ...

    def get_publishers_info_by_topic(self, topic_name: str) -> Sequence[Any]: ...


class Peers(Protocol):
    """The status that other nodes report."""

    def errors(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return {name: message} of the nodes that report an error."""


class StateMonitor:
    """
    Looks at the states of a loop, once a second, by the thread of the diagnostics.

    What it finds it says in the log, each kind at most once a minute. `topic` is that of the
    states, with its namespace; `actuators` those of the robot file, with lags and delays [s];
    `peers` a :class:`PeerStatus`, None where nobody asks other nodes.
    """

    def __init__(
        self,
        node: Graph,
        topic: str | Sequence[str],
        actuators: Iterable[LateActuator] = (),
        peers: Peers | None = None,
    ) -> None:
        self._node, self._throttle, self._peers = node, Throttle(), peers
        self._topics = (topic,) if isinstance(topic, str) else tuple(topic)
        self._topic = ', '.join(self._topics)
        self._after = max((part.lag + part.delay for part in actuators), default=0.0)
        self._delays: deque[float] = deque(maxlen=DELAY_SAMPLES)
        self._loop: ControlLoop | None = None  # that was looked at last

    def check(self, loop: ControlLoop, refused: bool) -> list[str]:
        """
        Return in words anomalies of the states that come to a ControlLoop.

        ``refused``: are there some that were? Only then it matters how many there are who publish
        them: one that has just been killed still counts for 20 s.
        """
        found = {
            'parts': silent_parts(loop),
            'states': self._silence(loop),
            'publishers': self._other_publishers() if refused else '',
            'rate': wrong_rate(loop.steps, loop.period),
            'delay': self._wrong_delay(loop),
            'ages': old_parts(loop),
        }
        for cause, words in found.items():
            if words:
                self._warn(cause, words, _REPEAT_PERIOD)
        if loop.ignored_names:
            names = shortened(', '.join(loop.ignored_names))
            words = f'{self._topic} names joints that the robot does not have'
            self._warn('ignored', f'{words}; they are ignored: {names}', _NO_REPEAT)
        if words := estimation(loop):
            self._warn('velocities', words, _NO_REPEAT)
        if words := moved_back(loop):
            self._warn('moment', words, _NO_REPEAT)
        offset = self.offset(loop)
        if abs(offset) > MAX_CLOCK_OFFSET:
            words = (
                f'the stamps of the states are {offset:.4g} s behind the clock of this machine;'
            )
            self._warn('offset', f'{words} only their differences are used', _NO_REPEAT)
        return [words for words in found.values() if words]

    def offset(self, loop: ControlLoop) -> float:
        """Return by how much the last stamp is behind our clock [s], nan if there is none."""
        if not loop.last_stamp or loop.last_valid is None:
            return math.nan
        here = self._node.get_clock().now().nanoseconds - (now() - loop.last_valid)
        return (here - loop.last_stamp) * 1e-9

    def delay(self, loop: ControlLoop) -> float:
        """
        Return the time from the stamp of a state until its answer is sent [s].

        What a command waits for, but for its own way to the robot and its cycle there. The state
        that came the soonest in this loop counts: a simulation that slips lets its stamps fall
        behind. It is nan before the first answer, and where stamps and answers are not by the same
        clock.
        """
        if loop is not self._loop:
            self._loop = loop
            self._delays.clear()
        if not (loop.round_times.count and loop.last_stamp):
            return math.nan
        least = self._node.get_clock().now().nanoseconds - now() + loop.soonest
        found = (least + loop.round_times.median()) * 1e-9
        return found if 0.0 <= found <= MAX_DELAY * loop.period * 1e-9 else math.nan

    def _wrong_delay(self, loop: ControlLoop) -> str:
        """Tell if the law is set to another delay than most of the last samples show."""
        delay = self.delay(loop)
        if loop.mode != RUNNING:
            return ''
        self._delays.append(delay)
        known = getattr(loop.orders.settings, 'delay', None)
        seen = [delay for delay in self._delays if not math.isnan(delay)]
        if known is None or len(self._delays) < DELAY_SAMPLES or len(seen) <= DELAY_SAMPLES // 2:
            return ''
        return wrong_delay(median(seen), known, loop.period * 1e-9, self._after)

    def _silence(self, loop: ControlLoop) -> str:
        """Tell why no states come, where those who publish them report an error."""
        if self._peers is None or loop.mode not in (WAITING, TIMED_OUT):
            return ''
        errors = self._peers.errors(self._publishers())
        said = '; '.join(f'{name} reports "{words}"' for name, words in errors.items())
        return f'waiting for states on {self._topic}: {said}' if said else ''

    def _publishers(self) -> list[str]:
        """Return the full names of the nodes that publish states."""
        found = [p for x in self._topics for p in self._node.get_publishers_info_by_topic(x)]
        return sorted(f'{p.node_namespace.rstrip("/")}/{p.node_name}' for p in found)

    def _other_publishers(self) -> str:
        """Tell of several publishers of states, with their names."""
        if max(map(self._node.count_publishers, self._topics)) < 2:
            return ''
        names = self._publishers()
        return f'{len(names)} publishers of {self._topic}: {shortened(", ".join(names))}'

    def _warn(self, cause: str, words: str, interval: int) -> None:
        if self._throttle.passes(cause, now(), interval) is not None:
            self._node.get_logger().warning(words)


def silent_parts(loop: ControlLoop) -> str:
    """Tell which parts of the states are missing, once some have been there."""
    names = loop.states.silent(now()) if loop.mode in (WAITING, TIMED_OUT) else ()
    return f'no valid states of {", ".join(names)}' if names else ''


def old_parts(loop: ControlLoop) -> str:
    """Tell which part of the states is older at the ticks than velocities alone make up for."""
    parts, ages = getattr(loop.states, 'parts', ()), getattr(loop.states, 'ages', ())
    for part, each in zip(parts, ages):
        age = each.mean() if each.count >= MIN_STATES else None
        if age is not None and age - loop.states.delay > MAX_PART_AGE:
            return (
                f'states of {part.name} are {age * 1e-6:.3g} ms older than the ticks that use'
                f' them, and the loop may oscillate: expected states.tick: {part.name}, with its'
                ' rate and `delay`, or a time constant of the observer above that age'
            )
    return ''


def moved_back(loop: ControlLoop) -> str:
    """Tell for which part of the states all are of a moment before the ticks, '' for none."""
    states = loop.states
    parts, ages = getattr(states, 'parts', ()), getattr(states, 'ages', ())
    if not parts or states.delay <= states.lateness:  # estimated velocities are said elsewhere
        return ''
    oldest, k = max((each.mean() or 0.0, k) for k, each in enumerate(ages))
    return (
        f'states of {parts[k].name} are {oldest * 1e-6:.3g} ms older than the ticks: whole'
        f' states are {states.delay * 1e-6:.3g} ms older than the ticks, which the law compensates'
    )


def estimation(loop: ControlLoop) -> str:
    """Tell in words which velocities of a loop's states are estimated, '' for none."""
    if not loop.states.estimated:
        return ''
    names = shortened(', '.join(loop.states.estimated))
    late = f'{loop.states.lateness * 1e-6:.3g} ms late, which the law compensates'
    return f'velocities are estimated from positions, {late}: {names}'


def wrong_delay(seen: float, known: float, period: float, after: float = 0.0) -> str:
    """
    Tell in words if the delay `known` to the law is not the one that there is, all in s.

    ``seen``: from the stamp of a state to its answer; ``after``: what the robot file says of its
    actuators. Nobody sees a command on its way in between, for which a cycle of a bus is allowed.
    """
    leave = f'commands leave {seen * 1e3:.3g} ms after the stamps of the states that they answer'
    if seen > known + MAX_DELAY_ERROR * period:
        return (
            f'{leave}, but `delay` is {known * 1e3:.3g} ms:'
            ' errors do not decay as the gains say; set `delay` to the measured value'
        )
    rest = known - seen - after
    if rest > (MAX_DELAY_ERROR + BUS_PERIODS) * period:
        return (
            f'{leave} and act {after * 1e3:.3g} ms later by the robot file (lag and delay of'
            f' actuators), but `delay` is {known * 1e3:.3g} ms: the law predicts {rest * 1e3:.3g}'
            ' ms too far ahead. If commands take so long to arrive, or wait for a bus, add that to'
            ' the `delay` of the actuators in the robot file'
        )
    return ''


def wrong_rate(steps: Window, period: float) -> str:
    """Tell in words if the median step between states (a Window) is not the `period` [ns]."""
    step = steps.median() if steps.count >= MIN_STATES else period
    if step is None or abs(step - period) <= MAX_PERIOD_ERROR * period:
        return ''
    come = f'{SECOND / step:.4g}' if step > 0 else 'inf'
    words = (
        f'states come at {come} Hz, but `rate` is {SECOND / period:.4g} Hz:'
        ' the law assumes the wrong period'
    )
    if step < period:
        return words
    return f'{words}: set `rate` to {come}, or have an estimator give the states in between'
