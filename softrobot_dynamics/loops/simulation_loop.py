# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The simulation loop: one thread that publishes a state at every deadline and steps to the next.

The deadlines are absolute. A command that answers the last state lets the step be computed at
once, so that the next state leaves exactly at its deadline; without one, the step is computed at
the deadline with the command that was. `timing` says from when on a command acts; one that comes
after the answer counts from the next state on; `deadlines`, what happens after waking late. Time
may pass faster or slower than real time, or as fast as answers come, and stand still.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.wrenches import Wrenches
from softrobot_dynamics.errors import MessageError, SimulationDivergedError
from softrobot_dynamics.loops import contracts
from softrobot_dynamics.loops.command_reception import CommandReception, StateStamps
from softrobot_dynamics.loops.deadlines import Deadlines, LostTime, Schedule
from softrobot_dynamics.loops.realtime import now, sleep_until
from softrobot_dynamics.loops.statistics import Window
from softrobot_dynamics.loops.thread import Loop, Requests

IDLE, DRIVEN, TIMED_OUT, DIVERGED = range(4)
MODES = (
    'safe command: no command yet',
    'driven by commands',
    'safe command: the last command is too old',
    'diverged, waiting for a reset',
)

_LISTENING_TIME = 50_000_000  # [ns] at a stretch for commands, while time stands still
_MAX_CATCH_UP = 50_000_000  # [ns] that are made up for where an estimator counts on a steady clock


class SimulationLoop(Loop):
    """
    One simulated robot.

    `plant` has the simulator and the safe command; `sensing` hears what is published of its
    states; `inbox` brings commands, which `reader` turns into (u, stamp), see
    :class:`CommandReception`; `publisher` takes away states. `schedule` says when, see
    :class:`Schedule`; its `pace`, and the `timeout` of the `commands`, may change. `epoch`: the
    stamp of the first state [ns]; later ones are stamped with the simulated time that has passed
    since; what passes until `run` begins, and what the loop has slipped, as soon as nobody drives
    the robot, is added. `wrenches` of the attribute act from outside, as `Simulator.step` takes
    them, which has to be prepared for them. The attribute `snapshot` copies what another thread
    has asked it for, after a step. A robot that waits for commands sets out at its initial rates
    when one answers it.
    """

    modes, healthy = MODES, (IDLE, DRIVEN)
    _publisher: contracts.SimulationOutput

    def __init__(
        self,
        plant: contracts.SimulatedPlant,
        sensing: contracts.StateSensing,
        inbox: contracts.MessageInbox[object],
        reader: contracts.CommandSource,
        publisher: contracts.SimulationOutput,
        schedule: Schedule,
        epoch: int,
        record: contracts.TickRecord | None = None,
    ) -> None:
        super().__init__('simulation', inbox, publisher)
        self.round_trips, self.lateness = Window(), Window()
        self.work = Window()  # from a state to the next one, ready to be published
        self.paused = False
        self.pace = schedule.pace
        self.wrenches: Wrenches | None = None
        self.snapshot: contracts.StepSnapshot | None = None
        self._row: tuple[Any, ...] | None = None
        self._state_published = 1  # whether a state left in the tick of that row
        self.record, self._lost = record, LostTime()
        self.deadlines = Deadlines(0 if sensing.answered else _MAX_CATCH_UP)
        self._simulator, self._sensing = plant.simulator, sensing
        self._created_at = now()
        self._stamps = StateStamps(epoch, schedule.rate)
        self._stamp_lag = 0  # [ns] of stamps behind the clock, since somebody drives the robot
        self.commands = CommandReception(plant, reader, self._stamps, schedule)
        self.period = self._stamps.period
        self._requests = Requests(inbox)

    # For any thread; each returns whether it was done within `patience` [s]

    def reset(
        self, q: ArrayLike | None = None, qd: ArrayLike | None = None, patience: float = 1.0
    ) -> bool:
        """Restart at a state, by default the initial one, under the safe command."""
        return self._requests.ask(lambda: self._start_anew(q, qd), patience)

    def pause(self, on: bool, patience: float = 1.0) -> bool:
        """Pause the simulated time, or continue it."""
        return self._requests.ask(lambda: self._pause(on), patience)

    def step(self, patience: float = 1.0) -> bool:
        """While it stands still: let one period pass."""
        return self._requests.ask(self._step_and_publish, patience)

    @property
    def unsettled(self) -> int:
        """Number of steps whose forces of contact miss their law, see ``Simulator``."""
        return self._simulator.unsettled

    def mode_in_words(self) -> str:
        """Return the mode in words, with the parts of commands that do not come."""
        parts = self.commands.silent() if self.mode in (IDLE, TIMED_OUT) else ()
        return super().mode_in_words() + (f' ({", ".join(parts)})' if parts else '')

    def slowness(self) -> str:
        """Return by how much time passes more slowly than asked for, '' if it does not."""
        if not (share := self._lost.share):
            return ''
        return (
            f'simulated time passes at {self.pace * (1.0 - share):.2g} of real time, not at'
            f' {self.pace:g}: this machine cannot keep the rates of its nodes; lower `rate`, or'
            ' `real_time_factor` (the same for an estimator), or use more processors'
        )

    # For the loop's own thread

    def _begin(self) -> None:
        """Publish the first state."""
        begin = now()
        self._stamps.shift(begin - self._created_at)
        self.deadlines.start(begin + self._interval())
        self._publish()

    def _cycle(self) -> None:
        """Go from one deadline to the next."""
        self._requests.carry_out()
        if self.paused:
            self.deadlines.next = now() + _LISTENING_TIME
        round_trip = self._receive_commands()
        if self._leaving or self.paused:
            return
        answered = round_trip is not None
        if answered:
            self._step(round_trip)
            self.work.add(now() - self._stamps.published)
            if self.pace > 0.0:
                sleep_until(self.deadlines.next)
        woken = now()
        if self.pace == 0.0:  # whenever that is
            self.deadlines.start(woken)
        if not answered:
            free = not self._sensing.answered  # loops that keep time by themselves
            self._step(self.commands.age(woken) if free else None)
        late, slip = woken - self.deadlines.next, self._plan(woken)
        self._publish()
        self._record_period(late, slip)

    def _receive_commands(self) -> int | None:
        """Take commands until one answers the last state or the deadline is there."""
        while not (self._leaving or (self.paused and self._requests)):
            try:
                message = self._inbox.wait(self.deadlines.next - now())
                arrival = now()
                if message is not None:
                    left = self.commands.missing
                    if self._receive(message, arrival) and not self.paused:
                        self._catch_up()
                        return arrival - self._stamps.published
                    if self.commands.missing in (0, left):  # else others are on their way
                        self._inbox.rest()
                    if self.pace == 0.0 and not (
                        self.commands.led or self.paused
                    ):  # no answer will come
                        soon = self._stamps.published + self._interval()
                        self.deadlines.next = min(self.deadlines.next, soon)
            except MessageError as error:
                arrival = now()
                self._refuse(error)
                self._inbox.rest()
            if arrival >= self.deadlines.next:
                return None
        return None

    def _catch_up(self) -> None:
        """Take the other parts that are there: one without a stamp may have been an older one."""
        for _ in range(1, self.commands.parts):
            try:
                if (message := self._inbox.wait(0)) is None:
                    return
                self._receive(message, now())
            except MessageError as error:
                self._refuse(error)

    def _receive(self, message: object, arrival: int) -> bool:
        """Take a command; return whether all parts answer the last state, and end the wait."""
        complete = self.commands.receive(message, arrival, self.pace)
        self.statistics.count('clipped', self.commands.clipped)
        return self._sensing.answered and complete

    def _step(self, round_trip: int | None) -> None:
        """Apply the command, or the safe one, for one period; `round_trip` [ns] if answered."""
        if self.mode == DIVERGED:
            return
        if self.commands.waits:
            self._stamps.advance()
            return
        moment, simulator = now(), self._simulator
        stretches = self.commands.stretches(self._safe_command())
        if self.record is not None:
            trip = np.nan if round_trip is None else round_trip * 1e-9
            state = simulator.q.copy(), simulator.qd.copy()
            self._row = moment, self._stamps.newest, *state, stretches[-1].u, simulator.time, trip
            self._state_published = int(self._stamps.published_stamp is not None)
        try:
            for stretch in stretches:
                simulator.step(*stretch, self.wrenches)
        except SimulationDivergedError as error:
            self._stop(error)
            return
        self._stamps.advance()
        self._count(round_trip)

    def _safe_command(self) -> Vector | None:
        """Return the safe command, None under commands; notice that they come or stay away."""
        drives, stamp = self.commands.drives, self._stamps.newest
        if drives.commanded_since(self.commands.oldest):
            self._enter(DRIVEN)
            return None
        if drives.begin_safe(stamp):
            self.statistics.count('timeouts')
            self._enter(TIMED_OUT)
        return drives.safe_command(stamp)

    def _count(self, round_trip: int | None) -> None:
        self.statistics.count('ticks')
        if round_trip is not None:
            self.statistics.count('answered')
            self.round_trips.add(round_trip)
        elif self.mode == DRIVEN and self._stamps.published_stamp is not None:
            self.statistics.count('missed')
        if self.mode != DRIVEN:
            self.statistics.count('safe')

    def _plan(self, woken: int) -> int:
        """Set the deadline after that for which it woke at `woken` [ns]; return a slip or 0."""
        slip = self.deadlines.advance(woken, self._interval())
        self._stamp_lag += slip if self.pace == 1.0 else 0
        if self.mode != DRIVEN:  # no one counts on its time: stamps keep to the clock
            self._stamps.shift(self._stamp_lag)
            self._stamp_lag = 0
        return slip

    def _record_period(self, late: int, slip: int) -> None:
        """Count and record the last period, begun `late` [ns]: while the controller computes."""
        self.lateness.add(late)
        held = self.pace > 0.0 and self.mode == DRIVEN  # else stamps keep to the clock
        if self._lost.add(now(), slip if held else 0):
            self._publisher.slow(self.slowness())
        if self.record is not None and self._row is not None and self.mode != DIVERGED:
            if self.pace == 0.0:
                self.record.wait_for_room()
            self.record.add(*self._row, late * 1e-9, self.mode, self._state_published)
        if slip:
            self.statistics.count('slips')
            self._publisher.slipped(slip)

    def _interval(self) -> int:
        """
        Return how long to wait for an answer [ns] of real time.

        A controller that sends safe commands needs more than one state before it answers again.
        """
        led = self.mode == DRIVEN and self.commands.led
        patience = self.commands.timeout if led else 1.0
        return round(self.period / self.pace if self.pace > 0.0 else self.period * patience)

    def _publish(self) -> None:
        """Publish the state of this deadline, and the measurements with it."""
        if self.mode == DIVERGED:
            return
        stamps, simulator = self._stamps, self._simulator
        stamps.published = now()
        rates = 0.0 * simulator.qd if self.commands.waits else simulator.qd  # it stands so long
        self._publisher.time(stamps.newest)
        state = self._sensing.sense(stamps.newest, simulator.q, rates)
        stamps.published_stamp = state and state.stamp
        self.commands.expect_answers()
        if state is not None:
            if self._publisher.state(state.q, state.qd, state.stamp) is False:
                stamps.published_stamp = None  # of a part that no command answers
        if self.snapshot is not None and self.snapshot.requested:
            self.snapshot.take(stamps.newest)
        if stamps.published_stamp is None and self.pace == 0.0:  # nothing to wait for
            self.deadlines.next = stamps.published

    def _stop(self, error: Exception) -> None:
        """Stay at the last good state and publish nothing, until a reset."""
        self.error = error
        self._publisher.failed('the simulation stopped at its last good state', error)
        self._enter(DIVERGED)

    def _pause(self, on: bool) -> None:
        """Pause, or continue with the next period as if no time had passed."""
        self.paused = on
        self.deadlines.start(now() + self._interval())

    def _step_and_publish(self) -> None:
        """Simulate one period and publish its state."""
        self._step(None)
        self._row = None
        self._publish()

    def _start_anew(self, q: ArrayLike | None, qd: ArrayLike | None) -> None:
        """Carry out a reset: a state under the safe command; stamps go on."""
        self._simulator.reset(q, qd)
        self._sensing.begin()
        self.error = self._row = None
        self.commands.restart()
        self._enter(IDLE)
        if self.paused:
            self._stamps.advance()
            self._publish()
