# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The control loop: one thread, one command for every valid state, and a watchdog.

It owns the controller while it runs. Others tell it what to do by swapping `orders`, one immutable
object, which it takes up with the next state.
"""

from math import inf, nan
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.controllers.limiting import Limiter
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.nodes.judging import ANEW, UNCONFIRMED
from softrobot_dynamics.nodes.looping import Loop
from softrobot_dynamics.nodes.messaging.messages import SECOND, stamp_of
from softrobot_dynamics.nodes.orders import Hold, Once, Orders, Took, Toward
from softrobot_dynamics.nodes.realtime import now, sleep_until
from softrobot_dynamics.nodes.reference_time import ReferenceTime
from softrobot_dynamics.nodes.tally import Tally, Window
from softrobot_dynamics.references.piecewise import reaching, turn

WAITING, RUNNING, STOPPED, FAILED, TIMED_OUT = range(5)
MODES = (
    'waiting for the first state',
    'running',
    'emergency stop',
    'no command found',
    'no valid state',
)
_REPORT_PERIOD = 50_000_000  # of ~/controller_state and ~/reference [ns]
_REST = 500_000_000  # [ns] in which the rate limits may lead to the last safe command


class ControlLoop(Loop):
    """
    One activation of the controller.

    `plant` has the controller, the safe command, `hold`, a function of (q, qd) that returns the
    reference to stay there, and `judge`, which makes a judge of states; `inbox` brings states,
    which `reader` turns into (q, qd); `outlet` takes away commands and reports. `period` and
    `watchdog` in ns.
    """

    def __init__(
        self,
        plant: Any,
        inbox: Any,
        reader: Any,
        outlet: Any,
        orders: Orders,
        *,
        period: float,
        watchdog: float,
        record: Any = None,
    ) -> None:
        super().__init__('control', inbox, outlet)
        self.orders = self._taken = orders
        self.tally, self.round_times, self.compute_times = Tally(), Window(), Window()
        self.steps = Window()  # from one valid state to the next
        self.mode = WAITING
        self.command: Any = None  # the last one computed
        self.watchdog = watchdog
        self.last_valid: Any = None  # arrival of the last valid state [ns]
        self.last_stamp = 0  # of that state [ns]
        self.soonest: float = inf  # the least time from a stamp, by its clock, to an arrival [ns]
        self.record = record
        self.phase = ''  # that the controller is in
        self._controller, self._safe, self._hold = plant.controller, plant.safe, plant.hold
        self._reader, self.period = reader, period
        self._judge, self._time = plant.judge(), ReferenceTime(watchdog)
        self._q: Any = None
        self._toward: Any = None  # the last Reference for a Toward
        self._safe_since: Any = None
        self._limiter = Limiter(plant.model.lower, plant.model.upper)
        self._rate_limit = plant.model.rate_limit
        self._sent_at, self._next_step = now(), None  # of a safe command that is on its way
        self._began, self._moved = now(), False
        self._before, self._took = np.full(plant.model.m, nan), 0  # of a tick, for the record
        self._next_report = 0

    def order(self, **changes: Any) -> None:
        """Replace parts of the orders, and let the loop look at them at once."""
        self.orders = self.orders._replace(**changes)
        self._inbox.wake()

    def place(self) -> tuple[Vector | None, Vector | None]:
        """Return the last valid q (n,) and command sent (m,), None for what there is not yet."""
        q, command = self._q, self.command
        return None if q is None else q.copy(), None if command is None else command.u.copy()

    def finish(self) -> None:
        """End the thread and send a last safe command; the outlet has delivered it, or gave up."""
        super().finish()
        self._come_to_rest()
        self._outlet.flush()

    def _begin(self) -> None:
        self._due = now() + self.watchdog
        if self.orders.emergency:
            self._inbox.wake()

    def _fail(self) -> None:
        self._come_to_rest()

    def _cycle(self) -> None:
        """Wait for one message, and act on it or on its absence."""
        due = self._due if self._next_step is None else min(self._due, self._next_step)
        try:
            message = self._inbox.wait(due - now())
            arrival = now()
            if message is not None:
                self._receive(message, arrival)
        except MessageError as error:
            arrival = now()
            self.tally.refuse(error)
            self._outlet.refused(error)
        if self.orders.emergency and self.mode != STOPPED:
            self._enter(STOPPED, arrival)
            self._send_safe(arrival)
        elif self._next_step is not None and arrival >= self._next_step:
            self._send_safe(arrival)
        if arrival >= self._due:
            self._time_out(arrival)

    def _receive(self, message: Any, arrival: int) -> None:
        if arrival > self._due:  # kept from running: it may be of any age
            raise MessageError('stale: it may have arrived before the watchdog ran out')
        q, qd = self._reader.read(message)
        stamp = stamp_of(message)
        verdict = self._judge.check(q, qd, stamp, arrival)
        if verdict == UNCONFIRMED:
            return
        q, qd = self._judge.unwrapped(q, qd)
        self._moved |= verdict == ANEW
        self._due = arrival + self.watchdog
        if self._q is None:
            self._safe_since = None  # a safe command without a posture is begun anew with one
        self.last_valid, self.last_stamp, self._q = arrival, stamp, q
        self.soonest = min(inf if verdict == ANEW else self.soonest, arrival - stamp)
        before = self._time.seconds
        t = self._time.advance(stamp, arrival)
        step = round((t - before) * 1e9)
        self.steps.add(step)
        self.tally.count('missed', max(0, round(step / self.period) - 1))
        self._tick(message.header.stamp, t, q, qd, arrival)

    def _tick(self, stamp: Any, t: float, q: Vector, qd: Vector, arrival: int) -> None:
        """Answer one valid state."""
        self._before[:], self._took = self._limiter.last if self._limiter.known else nan, 0
        u = self._answer(t, q, qd, arrival)
        computed = now()
        if computed > self._due:  # kept from running: nobody may act on that state any more
            self._time_out(computed)
            return
        u = self._send(u, stamp, arrival)
        sent = now()
        self.tally.count('ticks')
        self.compute_times.add(computed - arrival)
        self.round_times.add(sent - arrival)
        if sent - arrival > self.period:
            self.tally.count('overruns')
        if self.record is not None:
            self._write(arrival, stamp, t, q, qd, u)
        if self.mode == RUNNING and sent >= self._next_report:
            self._next_report = sent + _REPORT_PERIOD
            self._outlet.report(stamp, self.command)
        if sent > self._due:
            self._time_out(sent)

    def _answer(self, t: float, q: Vector, qd: Vector, arrival: int) -> Any:
        """Return the command for one state: the controller's, or the safe one."""
        if self.orders.emergency:
            return self._safe_now(STOPPED, arrival)
        try:
            self._follow_orders(t, q, qd)
            command = self._controller.compute(t, q, qd)
        except Exception as error:  # a law may raise what it likes; the loop goes on
            self._outlet.failed('the controller failed', error)
            command = None
        if command is None or not command.ok or not np.isfinite(command.u @ command.u):
            self.tally.count('failures')
            return self._safe_now(FAILED, arrival)
        if self.mode != RUNNING:
            self._enter(RUNNING, None)
        self.command = command
        if self._controller.phase != self.phase:
            self.phase = self._controller.phase
            self._outlet.phase(self.phase)
        if command.saturated:
            self.tally.count('saturated')
        return command.u

    def _follow_orders(self, t: float, q: Vector, qd: Vector) -> None:
        """Take up new orders; begin anew at the present state after whatever was not running."""
        orders, taken = self.orders, self._taken
        self._taken = orders
        begin = self.mode != RUNNING or self._moved
        if self._moved and self.mode == RUNNING:
            self._outlet.moved()
        self._moved = False
        if begin or orders.settings is not taken.settings:
            self._controller.use(orders.settings)
            self._took |= Took.BEGAN | Took.TUNED if begin else Took.TUNED
        if begin or orders.reference is not taken.reference:
            reference, ramp = orders.reference, orders.ramp
            led = isinstance(reference, Once) and reference is not taken.reference
            if led:
                (reference,) = reference
            if isinstance(reference, (Hold, Once)):
                reference = self._hold(q, qd)
                self._took |= Took.HOLDS
            else:
                self._took |= Took.LED if led else Took.FOLLOWS
            if isinstance(reference, Toward):
                if not begin and self._turned(reference, t):
                    return
                reference = self._toward = reaching(self._controller.desired(t), *reference)
                ramp = orders.ramp if begin else 0.0
            self._controller.follow(reference, t, ramp)
        if begin:
            self._controller.start(q, qd, t, self._last_command())

    def _turned(self, toward: Toward, t: float) -> bool:
        """Turn what the law follows in place, if that was of the same kind: it takes no time."""
        plan, before = self._controller.plan, self._toward
        if before is None or plan.current is not before or t < plan.start + plan.ramp:
            return False
        turn(before, t - plan.start, self._controller.desired(t), *toward)
        return True

    def _enter(self, mode: int, moment: Any) -> None:
        """Change the mode; fix the safe command when one begins at `moment` [ns]."""
        if moment is None:
            self._safe_since = None
        elif self._safe_since is None:
            self._safe_since = moment
            self._safe.begin(self._q, self._last_command())
        before, self.mode = self.mode, mode
        if mode != before:
            self._outlet.entered(MODES[mode], MODES[before], mode == RUNNING)

    def _safe_now(self, mode: int, moment: Any) -> Any:
        self._enter(mode, moment)
        return self._safe.at((moment - self._safe_since) * 1e-9)

    def _send_safe(self, moment: Any) -> None:
        self._send(self._safe_now(self.mode, moment), None, moment)

    def _send(self, u: Vector, stamp: Any, moment: Any) -> Vector:
        """Send what the limits let through of u (m,); return it, the loop's own array."""
        if self._safe_since is None:
            rate, passed = self._taken.settings.rate, self.period
        else:  # as fast as the actuators allow: narrower limits are for work
            rate, passed = self._rate_limit, min(self.period, moment - self._sent_at)
        u, on_its_way = self._limiter.bring(u, rate, max(1, passed) * 1e-9)
        self._outlet.command(u, stamp)
        self._sent_at = moment
        self._next_step = moment + self.period if on_its_way and stamp is None else None
        return u

    def _last_command(self) -> Any:
        return self._limiter.last if self._limiter.known else None

    def _come_to_rest(self) -> None:
        """Lead to the safe command; when that takes too long, send it whatever the rates."""
        end = now() + _REST
        self._send_safe(now())
        while self._next_step is not None:
            sleep_until(self._next_step)
            self._limiter.known = self._next_step < end
            self._send_safe(now())

    def _time_out(self, moment: Any) -> None:
        """Send the safe command, now and at every further watchdog time without a state."""
        self._due = moment + self.watchdog
        self._judge.forget()
        if self.mode not in (WAITING, TIMED_OUT):
            self.tally.count('timeouts')
            self._enter(TIMED_OUT, moment)
        passed = moment - (self.last_valid or self._began)
        if self.mode != WAITING or passed > SECOND:  # at first, they are being discovered
            self._outlet.waiting(passed, self.tally.last_refusal)
        self._send_safe(moment)

    def _write(self, arrival: int, stamp: Any, t: float, q: Vector, qd: Vector, u: Any) -> None:
        """Append a tick to the record; what the law says counts while its command goes out."""
        y = velocity = nan
        desired = nan, nan, nan
        if self.mode == RUNNING:
            y, velocity, desired = self.command.y, self.command.velocity, self.command.desired
        stamp = stamp.sec * SECOND + stamp.nanosec
        told = t, self.mode, self._took, self._before
        self.record.add(arrival, stamp, q, qd, u, y, velocity, *desired, *told)
