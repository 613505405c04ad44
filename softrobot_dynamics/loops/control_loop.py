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
from softrobot_dynamics.controllers.contract import Command
from softrobot_dynamics.errors import MessageError, SoftRobotError
from softrobot_dynamics.loops.contracts import (
    ControlledPlant,
    ControlOutput,
    MessageInbox,
    TickRecord,
)
from softrobot_dynamics.loops.driver import LATE_SOLUTION, STATE_DELAY
from softrobot_dynamics.loops.message_contracts import Stamp
from softrobot_dynamics.loops.message_fields import SECOND
from softrobot_dynamics.loops.orders import NO_ORDERS, Orders
from softrobot_dynamics.loops.realtime import now
from softrobot_dynamics.loops.solution_thread import predictive_laws, recorded_figures
from softrobot_dynamics.loops.state_parts import StateParts
from softrobot_dynamics.loops.state_reader import StateReader
from softrobot_dynamics.loops.state_stream import StateStream
from softrobot_dynamics.loops.statistics import Window
from softrobot_dynamics.loops.watchdog import FAILED, GuardedLoop, RUNNING, STOPPED


class ReferenceTime:
    """
    The time along the reference [s], which advances by the stamps of the states.

    So it is free of the jitter of arrival, and stands still while a simulation does. A step that
    stamps cannot have (none given, set back, beyond `limit` [ns]) is taken from the arrivals.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._stamp = 0
        self._arrival: int | None = None
        self.seconds = 0.0

    def advance(self, stamp: int, arrival: int) -> float:
        """Return the time of the state with this stamp [ns] and steady arrival time [ns]."""
        if self._arrival is not None:
            step = stamp - self._stamp
            if not 0 < step < self._limit:
                step = arrival - self._arrival
            self.seconds += step * 1e-9
        self._stamp, self._arrival = stamp, arrival
        return self.seconds


_REPORT_PERIOD = 50_000_000  # of ~/controller_state and ~/reference [ns]


class ControlLoop(GuardedLoop):
    """
    One activation of the controller.

    `plant` has the controller, the safe command, `hold`, a function of (q, qd) that returns the
    reference to stay there, and `validator`, which makes a StateValidator; `inbox` brings states,
    of which `states` reads (q, qd), or which it puts together if they come in parts; `publisher`
    takes away commands and reports. `period` and `watchdog` in ns.
    """

    _inbox: MessageInbox[Any]

    def __init__(
        self,
        plant: ControlledPlant,
        inbox: MessageInbox[Any],
        states: StateReader | StateParts,
        publisher: ControlOutput,
        orders: Orders,
        *,
        period: int,
        watchdog: int,
        record: TickRecord | None = None,
    ) -> None:
        super().__init__(inbox, publisher, plant, orders, period, watchdog)
        self.round_times, self.compute_times = Window(), Window()
        self.steps = Window()  # from one valid state to the next
        self.command: Command | None = None  # the last one computed
        self.last_stamp = 0  # of the last valid state [ns]
        self.soonest: float = inf  # the least time from a stamp, by its clock, to an arrival [ns]
        self.record = record
        self.phase = ''  # that the controller is in
        self.states = (
            states
            if isinstance(states, StateParts)
            else StateStream(states, plant.validator(), period)
        )
        self._arrival = self._expires = 0  # of the last valid state, and when it is too old [ns]
        self._time = ReferenceTime(watchdog)
        self._delay = self._estimated = 0  # [ns] of states; of estimated velocities
        self._moved = self._delay_changed = False
        self._previous_command = np.full(plant.model.m, nan)  # for the record
        self._next_report = 0
        self._predictive = predictive_laws(self.driver.law)

    def count_from(self, u: Vector) -> None:
        """Count rate limits from u (m,), the last command of the activation before."""
        self.driver.limiter.last[:], self.driver.limiter.has_last = u, True

    @property
    def ignored_names(self) -> tuple[str, ...]:
        """The names in the last state that are none of the robot's coordinates."""
        return self.states.ignored

    def place(self) -> tuple[Vector | None, Vector | None]:
        """Return the last valid q (n,) and the last command sent (m,); None before the first."""
        q, command = self._q, self.command
        return None if q is None else q.copy(), None if command is None else command.u.copy()

    def _begin(self) -> None:
        self._due = now() + self.watchdog

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
            self._refuse(error)
            self._inbox.rest()
        with self._sending:
            self._keep_safe(arrival)

    def _receive(self, message: Any, arrival: int) -> None:
        """Take a message; with a complete state, compute and send the command."""
        self._forget_what_was(arrival)
        states = self.states
        complete = states.take(message, self._inbox, arrival, self._due, self.watchdog)
        if states.expires > arrival:  # else a part is missing
            self._due = self._expires = states.expires
        if not complete:
            return
        moved, states.moved = states.moved, False
        self._moved |= moved
        (q, qd), stamp = states.state(), states.stamp
        if self._q is None:
            with self._sending:
                self.driver.forget_safe()  # it began without a posture, and restarts with one
        self.last_valid, self.last_stamp, self._q = arrival, stamp, q
        self.soonest = min(inf if moved else self.soonest, arrival - stamp)
        before = self._time.seconds
        t = self._time.advance(stamp, arrival)
        step = round((t - before) * 1e9)
        self.steps.add(step)
        if 2 * step >= 3 * self.period:
            self.statistics.count('missed', round(step / self.period) - 1)
        if states.delay != self._delay:
            self._expect_delay(states.delay, states.lateness)
        self._tick(states.header.stamp, t - self.driver.state_delay, q, qd, arrival)
        if arrival - self._arrival < self.period // 2:  # others would never have their turn
            self._inbox.rest()
        self._arrival = arrival

    def _expect_delay(self, delay: int, estimated: int) -> None:
        """Have the law compensate a delay of the states [ns], and of estimated velocities."""
        self._delay, seconds = delay, delay * 1e-9
        self.driver.expect_delay(seconds)
        if estimated != self._estimated:
            self._estimated, self._delay_changed = estimated, True
        if self.record is not None:
            self.record.note({STATE_DELAY: seconds})

    def _forget_what_was(self, arrival: int) -> None:
        """Discard all states from before the watchdog ran out, if it did."""
        times, self._forgotten = self._forgotten, 0
        for _ in range(min(times, 2)):  # a second time in turn forgets all, a third no more
            self.states.forget(arrival)

    def _silent(self, moment: int) -> tuple[str, ...]:
        return self.states.silent(moment)

    def _tick(self, stamp: Stamp, t: float, q: Vector, qd: Vector, arrival: int) -> None:
        """Answer one valid state."""
        sent_at, last_command = self._sent_at, self.driver.last_command
        self._previous_command[:] = nan if last_command is None else last_command
        self.driver.taken_up = NO_ORDERS
        mode, stopped = self.mode, self.orders.emergency
        command = None if stopped else self._compute(t, q, qd)
        computed = now()
        with self._sending:
            if (self.mode, self._sent_at) != (mode, sent_at):
                return  # another thread sent a safe command meanwhile, from which rates count
            u = self._safe_now(STOPPED, arrival) if stopped else self._answer(command, arrival)
            if now() > self._expires:  # nobody may act on that state any more
                self._time_out(now())
                return
            u = self._send(u, stamp, arrival)
            sent = now()
            if sent > self._expires:
                u = u.copy()  # for the record: the driver's own array will hold the safe command
                self._time_out(sent)
        self.statistics.count('ticks')
        self.compute_times.add(computed - arrival)
        self.round_times.add(sent - arrival)
        if sent - arrival > self.period:
            self.statistics.count('overruns')
        self._write(arrival, stamp, t, q, qd, u)
        if self.mode == RUNNING and sent >= self._next_report and self.command is not None:
            self._next_report = sent + _REPORT_PERIOD
            self._publisher.report(stamp, self.command)

    def _compute(self, t: float, q: Vector, qd: Vector) -> Command | None:
        """Return the law's Command for a state, None if there is none."""
        restart = self.mode != RUNNING or self._moved or self._delay_changed
        if self._moved and self.mode == RUNNING:
            self._publisher.moved()
        self._moved = self._delay_changed = False
        try:
            command = self.driver.compute(self.orders, t, q, qd, restart=restart)
            if command is None and (why := self.driver.law.failure):
                self._publisher.failed('no command', SoftRobotError(why))
            return command
        except Exception as error:  # a law may raise what it likes; the loop goes on
            self._publisher.failed('the controller failed', error)
        return None

    def _answer(self, command: Command | None, arrival: int) -> Vector:
        """Return the command for one state: the controller's, or the safe one."""
        if command is None:
            self.statistics.count('failures')
            return self._safe_now(FAILED, arrival)
        u = self.driver.choose(command, self._q, arrival)
        if self.mode != RUNNING:
            self._enter(RUNNING)
        self.command = command
        if self.driver.law.phase != self.phase:
            self.phase = self.driver.law.phase
            self._publisher.phase(self.phase)
        if command.saturated:
            self.statistics.count('saturated')
        return u

    def _write(
        self, arrival: int, stamp: Stamp, t: float, q: Vector, qd: Vector, u: Vector
    ) -> None:
        """Append a tick to the record, with the law's outputs if its command was sent."""
        if (record := self.record) is None:
            return
        for place, law in enumerate(self._predictive):
            if (late := law.schedule.late_solution) is not None:
                record.note(dict(zip(LATE_SOLUTION, (place, *late))))
                law.schedule.late_solution = None
        law_outputs: tuple[Vector | float, ...] = (nan,) * 5
        if self.mode == RUNNING and (command := self.command) is not None:
            law_outputs = command.y, command.velocity, *command.desired
        tick_values = t, self.mode, self.driver.taken_up, self._previous_command
        moment = stamp.sec * SECOND + stamp.nanosec
        solved = recorded_figures(self._predictive)
        record.add(arrival, moment, q, qd, u, *law_outputs, *tick_values, *solved)
