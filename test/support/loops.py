# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Clock, publishers and records for control and simulation loops in simulated time."""

import copy

from softrobot_dynamics.loops import control_loop, simulation_loop, watchdog
from softrobot_dynamics.nodes.messaging.inbox import Sent
from support.linear_plant import PRETENSION

PERIOD = 1_000_000  # [ns]
SAFE = [PRETENSION, PRETENSION]


class Clock:
    """A steady clock that only the test moves, and an inbox whose messages it brings."""

    def __init__(self, monkeypatch):
        self.time, self.due, self.woken = 10_000 * PERIOD, [], False
        for module in (control_loop, watchdog, simulation_loop):
            monkeypatch.setattr(module, 'now', lambda: self.time)
        for module in (watchdog, simulation_loop):
            monkeypatch.setattr(module, 'sleep_until', self.sleep_until)
        self.sent_at = None  # [ns] of the message at hand, None: at once
        self.overslept = 0  # [ns] that the next sleep lasts too long

    def sleep_until(self, deadline):
        self.time = max(self.time, deadline) + self.overslept
        self.overslept = 0

    def bring(self, message, after):
        """Let a message arrive `after` ns from now."""
        self.due.append((self.time + after, message))
        self.due.sort(key=lambda entry: entry[0])

    def wait(self, timeout):
        """Return the newest message that is there, or the next one, or None at the time-out."""
        end, message = self.time + max(0, timeout), None
        if self.due and self.due[0][0] <= end:
            self.time = max(self.time, self.due[0][0])
            while self.due and self.due[0][0] <= self.time:  # the last of them, as depth is 1
                message = self.due.pop(0)[1]
            return message
        self.sleep_until(end)
        return None

    def sent(self):
        """Return when the message that was returned last was sent, and by whom."""
        return Sent(self.sent_at or self.time, b'robot')

    def rest(self):
        """Time passes only in waits."""

    def wake(self):
        """Nobody waits: loops run in the test's own thread."""


class Outlet:
    """Keeps what goes out."""

    def __init__(self):
        self.commands, self.reports, self.words, self.states = [], 0, [], []

    def command(self, u, stamp):
        self.commands.append((u.tolist(), stamp))

    def state(self, q, qd, stamp):
        self.states.append((q.copy(), qd.copy(), stamp))

    def time(self, stamp):
        """Nobody looks at the clock."""

    def report(self, stamp, command):
        self.reports += 1

    def entered(self, mode, before, well):
        self.words.append(mode)

    def refused(self, error):
        self.words.append(error.reason)

    def waiting(self, passed, last_refusal):
        self.words.append(f'waiting {passed}')

    def moved(self):
        self.words.append('moved')

    def failed(self, event, error):
        self.words.append(event)

    def ended(self, event, error):
        self.words.append(f'{event}: {error}')

    def slow(self, words):
        self.words.append(words)

    def slipped(self, late):
        self.words.append(f'slipped {late}')

    def flush(self):
        self.words.append('flushed')


class Record:
    """Keeps the rows that are added: moment, stamp and the columns."""

    def __init__(self):
        self.rows, self.notes = [], []

    def add(self, *values):
        self.rows.append(copy.deepcopy(values))

    def note(self, parameters):
        self.notes.append(parameters)

    def wait_for_room(self):
        """There is always room."""

    def columns(self, *names):
        """Return {name: one value a row}."""
        return dict(zip(('moment', 'stamp', *names), zip(*self.rows, strict=True), strict=True))
