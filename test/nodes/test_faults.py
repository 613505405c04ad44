# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Faults around a running controller, over real DDS; docs/faults.md is the list."""

import contextlib
import signal
import threading
import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.loops.message_fields import SECOND, stamp_of  # noqa: E402
from softrobot_dynamics.loops.realtime import now, sleep_until  # noqa: E402
from softrobot_dynamics.loops.state_validation import MIN_CONSISTENT_TIME  # noqa: E402
from softrobot_dynamics.nodes.messaging.message_values import stamped  # noqa: E402
from support.linear_plant import COORDINATES  # noqa: E402
from support.node_processes import RATE, SAFE, starting  # noqa: E402
from support.observer import CONTROLLER, Observer  # noqa: E402

pytestmark = pytest.mark.realtime

WATCHDOG = 200  # periods: 2 s, longer than this test's own process is ever kept waiting
PERIOD = round(SECOND / RATE)  # [ns]
HOUR = 3600 * SECOND  # by which the sender's clock is set
LATE = 30.0  # [s] that a machine with other work may take on top


class Sender(threading.Thread):
    """A robot at rest at `q`, whose states come at the rate; what is wrong with them is set."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self._publisher = node.create_publisher(JointState, 'joint_states', 10)
        self.q, self.offset, self.silent, self._leaving = (0.1, 0.1), 0, False, False
        self.stamps = [0]  # of all that was sent as it should be [ns]
        self._wrong, self._left, self.wrong_stamps = None, 0, set()

    def run(self):
        """Send until told to leave."""
        turn = 0
        while not self._leaving:
            sleep_until(now() + PERIOD)  # never sooner: in no time a wrong rate leads nowhere
            turn += 1
            if self._left and turn % 2:
                self._send_wrong()
            elif not self.silent:
                self._publisher.publish(self.state())

    def state(self, **changes):
        """Return the state of the robot now, by its clock."""
        stamp = time.time_ns() + self.offset
        fields = {'name': list(COORDINATES), 'position': list(self.q), 'velocity': [0.0, 0.0]}
        message = JointState(**{**fields, **changes})
        message.header.stamp = stamped(stamp)
        self.stamps += [] if changes else [stamp]
        return message

    def begin_wrong(self, wrong, count=20):
        """Let `wrong(self)` be sent in between so often, instead of every other state."""
        self._wrong, self._left = wrong, count

    def wrong_is_over(self):
        """Tell whether that is over."""
        return not self._left

    def _send_wrong(self):
        message = self._wrong(self)
        if isinstance(message, JointState) and stamp_of(message) not in self.stamps:
            self.wrong_stamps.add(stamp_of(message))
        self._publisher.publish(message)
        self._left -= 1

    def be_well(self):
        """Send what is right again, whatever a test that failed left behind."""
        self.q, self.silent, self._left = (0.1, 0.1), False, 0

    def leave(self):
        """End the thread."""
        self._leaving = True
        self.join()


class Fixture:
    """A controller that answers a Sender, and an Observer of both."""

    def __init__(self, observer, sender, controller, log):
        self.observer, self.sender, self.controller = observer, sender, controller
        self._log = log

    def until_running(self):
        """Wait until the newest states are answered by the law."""
        begin = time.time_ns() + self.sender.offset
        self.observer.until(lambda: self.answered_since(begin), 'an answer')

    def answered_since(self, stamp):
        """Return the stamps of states from a moment on that were answered [ns]."""
        known = set(self.sender.stamps)
        found = (stamp_of(command) for command in self.observer.commands)
        return [each for each in found if 0 <= each - stamp < HOUR // 2 and each in known]

    def count(self, key):
        """Return a number of the diagnostics."""
        return self.observer.value(CONTROLLER, key)

    def grown(self, key):
        """Wait for diagnostics in which a number is greater than it was."""
        before = self.count(key)
        return lambda: self.count(key) > before

    def logged(self, words):
        """Tell whether the controller said so."""
        return words in self._log.read_text(encoding='utf-8')

    def wait(self, seconds):
        """Let time pass, listening."""
        end = time.monotonic() + seconds
        self.observer.until(lambda: time.monotonic() > end, 'time')


@pytest.fixture
def rig(running):
    """Return a controller that has been answering states, which one test leaves to the next."""
    yield running
    running.sender.be_well()


@pytest.fixture(scope='module')
def running(tmp_path_factory):
    """Return a controller that has been answering states for a moment."""
    folder, observer = tmp_path_factory.mktemp('faults'), Observer()
    observer.ignore('/joint_states')  # it would choke on bytes that are no message
    sender = Sender(observer.node)
    with contextlib.ExitStack() as stack:
        stack.callback(observer.close)
        run = stack.enter_context(starting(folder))
        sender.start()
        stack.callback(sender.leave)
        controller = run(
            'controller', autostart='true', robot='limited', watchdog_periods=WATCHDOG
        )
        rig = Fixture(observer, sender, controller, folder / 'controller.log')
        rig.until_running()
        observer.until(lambda: observer.words().get(CONTROLLER), 'diagnostics')
        yield rig


def stamped_by(ahead):
    """Return what makes a state whose stamp is so much ahead [ns]."""

    def make(sender):
        state = sender.state(effort=[0.0, 0.0])
        state.header.stamp = stamped(stamp_of(state) + ahead)
        return state

    return make


def again(sender):
    """Return the last state once more."""
    state = sender.state(effort=[0.0, 0.0])
    state.header.stamp = stamped(sender.stamps[-1])
    return state


WRONG = {
    'wrong size': lambda sender: sender.state(position=[0.1]),
    'wrong name': lambda sender: sender.state(name=['shoulder', 'elbow']),
    'not a number': lambda sender: sender.state(position=[np.nan, -np.inf]),
    'unreadable': lambda sender: b'\x00\x01\x00\x00' + bytes(range(200, 230)),
    'contradiction': lambda sender: sender.state(velocity=[19.0, 0.0]),
    'too fast': lambda sender: sender.state(velocity=[21.0, 0.0]),
    'out of order': stamped_by(-SECOND),
    'from the future': stamped_by(10 * SECOND),
}


def test_wrong_states_are_refused_counted_and_never_answered(rig):
    """Wrong states of each kind are refused and counted; good ones in between are answered."""
    rig.sender.begin_wrong(again)
    rig.observer.until(rig.sender.wrong_is_over, 'states that come twice')
    for wrong in WRONG.values():
        begin = time.time_ns()
        rig.sender.begin_wrong(wrong)
        rig.observer.until(rig.sender.wrong_is_over, 'wrong states')
        rig.observer.until(
            lambda begin=begin: len(rig.answered_since(begin)) >= 3, 'answers to good ones'
        )

    def counted():
        left = [cause for cause in WRONG if not rig.count(f'refused: {cause}') >= 1]
        if left and rig.sender.wrong_is_over():  # overtaken, all of them, on a busy machine
            rig.sender.begin_wrong(WRONG[left[0]])
        return not left

    rig.observer.until(counted, 'all counts')
    rig.observer.until(rig.sender.wrong_is_over, 'good states only')
    answered = [stamp_of(command) for command in rig.observer.commands]
    assert not rig.sender.wrong_stamps & set(answered)
    assert len(set(answered)) == len(answered)
    assert np.isfinite([command.effort for command in rig.observer.commands]).all()


def test_a_short_silence_is_ridden_through(rig):
    """After a short silence ticks count as missed, and no safe command goes out."""
    missed = rig.grown('missed ticks')
    rig.observer.commands.clear()
    rig.sender.silent = True
    rig.wait(0.3 * WATCHDOG / RATE)
    rig.sender.silent = False
    rig.observer.until(missed, 'missed ticks')
    assert SAFE not in [command.effort.tolist() for command in rig.observer.commands]


def test_a_long_silence_is_answered_by_the_safe_command_in_time(rig):
    """The safe command goes out at the watchdog time, and the law resumes with states."""
    rig.observer.commands.clear()
    rig.sender.silent = True
    commands = rig.observer.commands
    rig.observer.until(lambda: commands and commands[-1].effort.tolist() == SAFE, 'safe')
    first = next(c for c in commands if stamp_of(c) not in rig.sender.stamps)
    passed = (stamp_of(first) - rig.sender.stamps[-1]) * 1e-9
    assert -2.0 / RATE < passed - WATCHDOG / RATE < LATE
    rig.sender.silent = False
    rig.until_running()
    assert rig.logged('no valid state (before: running)')


@pytest.mark.parametrize('jump', [HOUR, -2 * HOUR])
def test_a_clock_that_is_set_is_accepted_after_a_while(rig, jump):
    """A set clock is accepted after states agree for 40 ms, without a safe command."""
    rig.observer.commands.clear()
    count = len(rig.sender.stamps)
    rig.sender.offset += jump
    begin = time.time_ns() + rig.sender.offset
    rig.observer.until(lambda: len(rig.sender.stamps) > count + 1, 'states')
    first = next(stamp for stamp in rig.sender.stamps if abs(stamp - begin) < SECOND)
    rig.observer.until(lambda: rig.answered_since(first), 'an answer')
    answer = min(rig.answered_since(first))
    assert 0.5 * MIN_CONSISTENT_TIME < answer - first < MIN_CONSISTENT_TIME + LATE * SECOND
    assert SAFE not in [command.effort.tolist() for command in rig.observer.commands]


def test_a_robot_that_was_moved_is_accepted_after_a_while(rig):
    """A moved robot is accepted after 40 ms and held where it stands, as the log says."""
    begin = time.time_ns() + rig.sender.offset
    rig.sender.q = (1.0, -1.0)
    rig.until_running()
    rig.observer.until(lambda: rig.logged('the robot was moved'), 'the word')
    answers = rig.answered_since(begin)
    gap = np.diff([begin, *answers]).max()
    assert 0.5 * MIN_CONSISTENT_TIME < gap < MIN_CONSISTENT_TIME + LATE * SECOND
    assert rig.observer.commands[-1].effort.tolist() == [0.0, 0.0]


def test_a_controller_that_was_stopped_acts_on_no_state_older_than_the_watchdog(rig):
    """SIGSTOP for longer: first the safe command, then states that are young enough."""
    trips = rig.grown('watchdog trips')
    rig.controller.send_signal(signal.SIGSTOP)
    rig.wait(1.5 * WATCHDOG / RATE)
    going_on = time.time_ns() + rig.sender.offset
    rig.observer.commands.clear()
    rig.controller.send_signal(signal.SIGCONT)
    rig.until_running()
    safe = [command.effort.tolist() for command in rig.observer.commands].index(SAFE)
    assert safe <= 1  # one may have been on its way
    del rig.observer.commands[:safe]
    assert min(rig.answered_since(going_on - HOUR // 4)) > going_on - WATCHDOG * PERIOD
    rig.observer.until(trips, 'a trip of the watchdog')


def test_a_law_that_takes_too_long_is_counted(rig):
    """Beyond |q| = 4 a command takes longer than a period: every answer counts as an overrun."""
    overrun = rig.grown('overrun ticks')
    rig.sender.q = (4.5, 0.0)
    rig.observer.until(overrun, 'overruns')
    rig.until_running()


def test_a_law_that_finds_no_command_is_replaced_by_the_safe_one(rig):
    """Beyond |q| = 5 the safe command replaces the law's until the law finds one again."""
    failures = rig.grown('failures')
    rig.sender.q = (5.5, 0.0)
    commands = rig.observer.commands
    rig.observer.until(lambda: commands[-1].effort.tolist() == SAFE, 'the safe command')
    rig.observer.until(failures, 'failures')
    assert rig.logged('no command found (before: running)')
    rig.sender.q = (0.1, 0.1)
    rig.observer.until(lambda: commands[-1].effort.tolist() == [0.0, 0.0], 'the law')
