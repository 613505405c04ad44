# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Watchdog of the control loop: the last check before publishing, shared by two threads.

The thread of the control loop sends the law's commands, and the safe command when that is due. A
guard of higher priority sends the safe command where the loop's thread is late, being busy with a
message or with the law; so does the thread that orders an emergency stop, at once. What a law has
computed meanwhile is not sent any more.
"""

from math import inf
import threading
from typing import Any

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.loops.contracts import ControlledPlant, ControlOutput, MessageInbox
from softrobot_dynamics.loops.driver import Driver
from softrobot_dynamics.loops.message_contracts import Stamp
from softrobot_dynamics.loops.message_fields import SECOND
from softrobot_dynamics.loops.orders import HoldOrder, Orders
from softrobot_dynamics.loops.realtime import apply_priority, now, SAFETY, sleep_until
from softrobot_dynamics.loops.thread import Loop

WAITING, RUNNING, STOPPED, FAILED, TIMED_OUT = range(5)
MODES = (
    'waiting for the first state',
    'running',
    'emergency stop',
    'no command found',
    'no valid state',
)
RESUME, HOLD = AFTER_LOSS = 'resume', 'hold'
_GUARD_DELAY = 1_000_000  # [ns] by which the loop's thread may be late before the guard acts
_REST_TIMEOUT = 500_000_000  # [ns] in which the rate limits may lead to the last safe command


class GuardedLoop(Loop):
    """
    A loop that sends commands, or the safe command in their place, in time.

    Its `driver` answers with the law and the safe command of the `plant`; `publisher` takes away
    commands; `period` and `watchdog` in ns. `after_loss` says what the law follows when states
    are back after the watchdog ran out: what is ordered, from its beginning (RESUME), or the
    outputs as they are then (HOLD). A subclass answers states in its `_cycle`, and calls
    `_keep_safe` there.
    """

    modes, healthy = MODES, (RUNNING,)
    _publisher: ControlOutput

    def __init__(
        self,
        inbox: MessageInbox[object],
        publisher: ControlOutput,
        plant: ControlledPlant,
        orders: Orders,
        period: int,
        watchdog: int,
    ) -> None:
        super().__init__('control', inbox, publisher)
        self.orders = orders
        self.driver = Driver(
            plant.model, plant.controller, plant.safe, orders, hold=plant.hold, unit=1e-9
        )
        self.period, self.watchdog, self.after_loss = period, watchdog, RESUME
        self.last_valid: int | None = None  # arrival of the last valid state [ns]
        self._q: Vector | None = None  # of that state
        self._began = self._sent_at = now()
        self._sent_safe = False  # whether the last command sent was the safe one
        self._due = self._began + watchdog
        self._next_step: int | None = None  # of a safe command that is on its way
        self._hold: HoldOrder | None = None  # that a loss of states has ordered
        self._forgotten = 0  # how often the watchdog ran out since the last state
        self._sending = threading.Lock()  # of what stands below `Under the lock`
        self._guarded = True
        self._alarm = threading.Event()  # something may be due earlier than the guard knows
        self._guard = threading.Thread(target=self._stand_guard, name='guard', daemon=True)

    # For other threads

    def held(self) -> str:
        """Return in words that the law holds the outputs as states were missing, '' if not."""
        if self.mode != RUNNING or self._hold is None or self.orders.reference is not self._hold:
            return ''
        return (
            'the outputs are held where the robot was, as states had been missing (`after_loss`);'
            ' `~/restart` follows the reference again'
        )

    def mode_in_words(self) -> str:
        """Return the mode in words, and whether the law holds the outputs."""
        return super().mode_in_words() + (f'; {held}' if (held := self.held()) else '')

    def order(self, **changes: Any) -> None:
        """Replace parts of the orders; an emergency stop acts at once, the rest with a state."""
        with self._sending:
            self.orders = self.orders._replace(**changes)
            if self.orders.emergency:
                self._keep_safe(now())
        self._inbox.wake()

    def start(self) -> None:
        """Start the thread and its guard."""
        self._due = now() + self.watchdog
        super().start()
        self._guard.start()

    def finish(self) -> None:
        """End the threads and send a last safe command; the publisher delivered it, or gave up."""
        super().finish()  # guarded as long as its thread takes to end
        self._guarded = False
        self._alarm.set()
        if self._guard.ident is not None:
            self._guard.join()
        self._come_to_rest()
        self._publisher.flush()

    # For the guard's thread

    def _stand_guard(self) -> None:
        """Send the safe command whenever the loop is late, until it ends."""
        apply_priority(SAFETY)
        while self._guarded and not self.error:
            moment = now()
            try:
                with self._sending:
                    if moment >= self._overdue():
                        self._keep_safe(moment)
                    pause = self._overdue() - now()
            except Exception as error:  # there must be a guard whatever happens
                self._publisher.failed('the guard failed', error)
                pause = self.watchdog
            if self._alarm.wait(max(0, pause) * 1e-9):
                self._alarm.clear()

    def _overdue(self) -> int:
        """Return when the guard has to act [ns]."""
        return _GUARD_DELAY + round(
            min(self._due, inf if (step := self._next_step) is None else step)
        )

    # For the loop's own thread, and for any once that has ended

    def _fail(self) -> None:
        self._come_to_rest()

    def _come_to_rest(self) -> None:
        """Lead to the safe command; when that takes too long, send it whatever the rates."""
        end = now() + _REST_TIMEOUT
        with self._sending:
            self._send_safe(now())
            while self._next_step is not None:
                sleep_until(self._next_step)
                self.driver.limiter.has_last = self._next_step < end
                self._send_safe(now())

    # Under the lock

    def _keep_safe(self, moment: int) -> None:
        """Send the safe command if that is due."""
        if self.orders.emergency and self.mode != STOPPED:
            self._enter(STOPPED, moment)
            self._send_safe(moment)
        elif self._next_step is not None and moment >= self._next_step:
            self._send_safe(moment)
        if moment >= self._due:
            self._time_out(moment)

    def _time_out(self, moment: int) -> None:
        """Send the safe command, now and at every further watchdog time without a state."""
        self._due = moment + self.watchdog
        self._forgotten += 1
        if self.mode not in (WAITING, TIMED_OUT):
            self.statistics.count('timeouts')
            self._enter(TIMED_OUT, moment)
            if self.after_loss == HOLD:  # what is ordered meanwhile counts
                self._hold = HoldOrder()
                self.orders = self.orders._replace(reference=self._hold)
        self._send_safe(moment)
        passed = moment - (self.last_valid or self._began)
        if self.mode != WAITING or passed > SECOND:  # at first, they are being discovered
            self._publisher.waiting(passed, self.statistics.last_refusal, *self._silent(moment))

    def _silent(self, moment: int) -> tuple[str, ...]:
        """Return the names of the parts of states that are missing, if they come in parts."""
        return ()

    def _enter(self, mode: int, moment: int | None = None) -> None:
        """Change the mode; fix the safe command when one begins at `moment` [ns]."""
        if moment is not None and self.driver.begin_safe(self._q, moment):
            self._alarm.set()
        super()._enter(mode)

    def _safe_now(self, mode: int, moment: int) -> Vector:
        self._enter(mode, moment)
        return self.driver.safe_command(moment)

    def _send_safe(self, moment: int) -> None:
        self._send(self._safe_now(self.mode, moment), None, moment)

    def _send(self, u: Vector, stamp: Stamp | None, moment: int) -> Vector:
        """Send u (m,) within its limits; return the command sent, the driver's own array."""
        passed, safe = self.period, self.driver.in_safe_command
        if safe or self._sent_safe:  # between two ticks there may be safe commands at any time
            passed = min(passed, moment - self._sent_at)
        u, on_its_way = self.driver.limit(u, max(1, passed) * 1e-9)
        if self.driver.sendable:  # else drives of joints do what they do without commands
            self._publisher.command(u, stamp)
        self._sent_at, self._sent_safe = moment, safe
        self._next_step = moment + self.period if on_its_way and stamp is None else None
        return self.driver.limiter.last
