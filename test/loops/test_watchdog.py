# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The guard sends the safe command in time, and no late answer follows it."""

import threading

import numpy as np
import pytest

pytest.importorskip('rclpy')

from softrobot_dynamics.loops.control_loop import ControlLoop  # noqa: E402
from softrobot_dynamics.loops.message_fields import SECOND  # noqa: E402
from softrobot_dynamics.loops.orders import HoldOrder, Orders  # noqa: E402
from softrobot_dynamics.loops.state_reader import StateReader  # noqa: E402
from softrobot_dynamics.loops.watchdog import RUNNING, STOPPED, TIMED_OUT  # noqa: E402
from softrobot_dynamics.nodes.messaging.inbox import Sent  # noqa: E402
from support.control_loops import Accepting, Control, state, VALUES, WATCHDOG  # noqa: E402
from support.linear_plant import controlled, COORDINATES  # noqa: E402
from support.loops import Outlet, PERIOD, SAFE  # noqa: E402

pytestmark = pytest.mark.quick

PATIENCE = 60.0  # [s]


@pytest.fixture
def control(monkeypatch):
    """Return a control loop under a clock of the test's own that answers its first state."""
    control = Control(monkeypatch)
    control.go(state(stamp=1))
    assert control.loop.mode == RUNNING
    return control


def meanwhile(control, act):
    """Have the law of a loop do something the next time that it computes, and only then."""
    law, compute = control.plant.controller, control.plant.controller.compute

    def once(*given):
        law.compute = compute
        act()
        return compute(*given)

    law.compute = once


def test_a_stop_while_the_law_computes_is_sent_at_once_and_not_overruled(control):
    """A stop during a computation sends the safe command and drops the law's result."""
    before = len(control.publisher.commands)
    sent = []

    def stop():
        control.clock.time += PERIOD
        control.loop.order(emergency=True)
        sent.extend(control.publisher.commands[before:])

    meanwhile(control, stop)
    control.go(state((0.05, 0.0), 2))
    assert [u for u, _ in sent] == [SAFE]
    assert control.loop.mode == STOPPED
    assert all(u == SAFE for u, _ in control.publisher.commands[before:])


def test_a_stop_that_is_over_before_the_law_answers_is_not_overruled_either(control):
    """A law that answers an order from before a stop is ignored, even if the stop is over."""
    before = len(control.publisher.commands)

    def stop():
        control.clock.time += PERIOD
        control.loop.order(emergency=True)
        control.loop.order(emergency=False, reference=HoldOrder())

    meanwhile(control, stop)
    control.go(state((0.05, 0.0), 2))
    assert [u for u, _ in control.publisher.commands[before:]] == [SAFE]
    control.go(state((0.05, 0.0), 3))
    assert control.loop.mode == RUNNING and control.publisher.commands[-1][0] == [0.0, 0.0]


def test_the_guard_sends_the_safe_command_while_the_law_computes(control):
    """When the watchdog runs out the guard sends the safe command, and no late one of the law."""
    before = len(control.publisher.commands)

    def stand_guard():
        control.clock.time += WATCHDOG + 2 * PERIOD
        with control.loop._sending:
            assert control.clock.time >= control.loop._overdue()
            control.loop._keep_safe(control.clock.time)

    meanwhile(control, stand_guard)
    control.go(state((0.05, 0.0), 2))
    assert control.loop.mode == TIMED_OUT
    assert [stamp for _, stamp in control.publisher.commands[before:]] == [None]


class Stuck:
    """An inbox with one state, and a law that waits for the test."""

    def __init__(self):
        self.plant = controlled(VALUES)._replace(validator=Accepting)
        self._message, self._woken = state((0.05, 0.05), 1), threading.Event()
        self.computing, self.free = threading.Event(), threading.Event()
        self._compute = self.plant.controller.compute
        self.plant.controller.compute = self.compute

    def compute(self, *given):
        self.computing.set()
        assert self.free.wait(PATIENCE)
        return self._compute(*given)

    def wait(self, timeout):
        message, self._message = self._message, None
        if message is None:
            self._woken.wait(max(0, timeout) * 1e-9)
            self._woken.clear()
        return message

    def wake(self):
        self._woken.set()

    def rest(self):
        """There is but one message."""

    def sent(self):
        return Sent(0, b'')


@pytest.mark.parametrize('stopped', [False, True])
def test_a_thread_that_is_stuck_in_the_law_keeps_no_safe_command_back(stopped):
    """With a thread stuck in the law the safe command still goes out in watchdog time."""
    stuck, publisher = Stuck(), Outlet()
    sent = threading.Event()
    publisher.flush = lambda: None
    command = publisher.command
    publisher.command = lambda u, stamp: (command(u, stamp), sent.set())
    settings = stuck.plant.settings(VALUES)
    loop = ControlLoop(
        stuck.plant, stuck, StateReader(COORDINATES), publisher, Orders(settings, HoldOrder()),
        period=PERIOD, watchdog=WATCHDOG if not stopped else 3600 * SECOND,
    )  # fmt: skip
    loop.start()
    try:
        assert stuck.computing.wait(PATIENCE)
        sent.clear()
        if stopped:
            loop.order(emergency=True)
        assert sent.wait(PATIENCE)
        assert not stuck.free.is_set() and publisher.commands[-1][1] is None
        assert loop.mode == STOPPED if stopped else loop.mode in (TIMED_OUT, 0)
    finally:
        stuck.free.set()
        loop.finish()
    assert all(stamp is None for _, stamp in publisher.commands)
    assert np.array_equal(publisher.commands[-1][0], SAFE)


MS = PERIOD


@pytest.mark.parametrize(
    'under_way, computing, answered',
    [(0, 40, True), (45, 2, True), (45, 8, False), (53, 0, False)],
)
def test_the_age_of_a_state_counts_what_it_was_under_way(control, under_way, computing, answered):
    """The age of a state at sending includes transport and computation."""
    for k in range(5):  # by which the clock of the sender is known, an hour ahead of ours
        control.clock.sent_at = control.clock.time + PERIOD + 3600 * SECOND
        control.go(state((0.05, 0.0), 2 + k))
    before = len(control.publisher.commands)

    def take_time():
        control.clock.time += computing * MS

    meanwhile(control, take_time)
    control.clock.sent_at += MS
    control.clock.time += (under_way) * MS
    control.loop._due = control.clock.time + WATCHDOG  # another state had come just before
    control.go(state((0.05, 0.0), 9), after=MS)
    stamps = [stamp and stamp.nanosec for _, stamp in control.publisher.commands[before:]]
    assert stamps == ([9] if answered else [] if under_way > 50 else [None])


def test_a_command_that_is_late_on_its_way_counts_what_its_state_was_under_way(control):
    """A command sent too late, transport of its state included, is followed by the safe one."""
    for k in range(5):
        control.clock.sent_at = control.clock.time + PERIOD
        control.go(state((0.05, 0.0), 2 + k))
    before, command = len(control.publisher.commands), control.publisher.command

    def slowly(u, stamp):
        command(u, stamp)
        if stamp is not None:
            control.clock.time += 8 * MS

    control.publisher.command = slowly
    control.clock.sent_at += MS
    control.clock.time += 45 * MS
    control.loop._due = control.clock.time + WATCHDOG
    control.go(state((0.05, 0.0), 9), after=MS)
    assert [stamp and stamp.nanosec for _, stamp in control.publisher.commands[before:]] == [
        9,
        None,
    ]
    assert control.loop.mode == TIMED_OUT


def test_a_clock_of_the_sender_that_is_set_makes_no_state_old(control):
    """A sender's clock that is set by over a second does not make a state old."""
    for k, ahead in enumerate((0, 0, -3600, -3600, 3600, 3600)):
        control.clock.sent_at = control.clock.time + PERIOD + ahead * SECOND
        control.go(state((0.05, 0.0), 2 + k))
        assert control.publisher.commands[-1][1].nanosec == 2 + k
