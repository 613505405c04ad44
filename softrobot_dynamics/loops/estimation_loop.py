# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The estimation loop: one thread that publishes the estimated state at every deadline.

First the state goes out, of what was measured until then; what has come meanwhile is taken in
after it, so that no measurement, however late it was true, holds up the state of its period. Time
is that of the sensors' stamps, see `SensorClock`; it may pass faster or slower than real time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import contextlib

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array
from softrobot_dynamics.errors import (
    ArgumentError,
    MessageError,
    NotConvergedError,
    SimulationDivergedError,
    SingularMassError,
)
from softrobot_dynamics.estimation.effort_measurements import Effort
from softrobot_dynamics.estimation.estimator import Estimator
from softrobot_dynamics.estimation.shape_fit import Shape
from softrobot_dynamics.loops.contracts import EstimationOutput
from softrobot_dynamics.loops.deadlines import Deadlines, EstimationSchedule, LostTime
from softrobot_dynamics.loops.message_fields import SECOND
from softrobot_dynamics.loops.realtime import now, sleep_until
from softrobot_dynamics.loops.sensor_clock import PaceMonitor, StampValidator
from softrobot_dynamics.loops.sensor_streams import (
    Availability,
    CommandStream,
    complaint,
    ObservabilityCheck,
    Stream,
)
from softrobot_dynamics.loops.statistics import Window
from softrobot_dynamics.loops.thread import Loop

WAITING, SETTLING, RUNNING = range(3)
MODES = 'waiting for sensors', 'settling', 'estimating'

_MAX_NOISE_RATIO = 20.0  # of a measurement's noise; raised further, it says nothing of the posture
_COLLISION_FALSE_ALARM_PROBABILITY = 1e-6  # of one evaluation
_COLLISION_RELEASE_RATIO = 0.5  # of the force of a collision; below it the collision has ended
_MAX_SHARED_MESSAGES = 32  # of a topic of many nodes, read in one cycle


class EstimationLoop(Loop):
    """
    Reads `streams` of measurements and commands, and publishes the estimated state.

    Streams of efforts take the place of commands while something comes there.
    `fit` finds the posture to begin with; `sufficient` says which sensors are enough. `publisher`
    takes away states and reports. With too few sensors no state goes out.
    """

    modes, healthy = MODES, (SETTLING, RUNNING)
    _publisher: EstimationOutput

    def __init__(
        self,
        estimator: Estimator,
        fit: Callable[..., Shape],
        streams: Sequence[Stream],
        commands: CommandStream,
        publisher: EstimationOutput,
        plan: EstimationSchedule,
        sufficient: ObservabilityCheck,
    ) -> None:
        super().__init__('estimation', commands.inbox, publisher)
        self.lateness, self.update_times = Window(), Window()
        self.lacking: tuple[str, ...] = ()  # coordinates that the sensors there do not observe
        named = [s.sensor.name for s in streams if getattr(s.sensor, 'change', 1.0) is not None]
        self.squares = {name: np.zeros(2) for name in named}  # sums: squares, numbers
        self._estimator, self._fit = estimator, fit
        efforts = [each.sensor for each in streams if isinstance(each.sensor, Effort)]
        sizes = self._effort_sizes = {each.name: len(each.names) for each in efforts}
        self.sensors, self.efforts = (
            Availability([s for s in streams if (s.sensor.name in sizes) is own], plan.timeout)
            for own in (False, True)
        )
        self._reader, self._plan, self._sufficient = commands.reader, plan, sufficient
        self._u = commands.initial.copy()
        self._deadlines, self._interval = Deadlines(), round(plan.period / plan.pace)
        self._lost, self._pace_monitor = LostTime(), PaceMonitor()
        longest = [each.patience(plan.timeout) for each in streams]
        names = [each.sensor.name for each in streams]
        self._stamps = StampValidator(names, max((SECOND, *longest)))
        self._forget()

    def _forget(self) -> None:
        """Forget the time and all measurements."""
        self._stamps.begin()
        self._clock, self._epoch = self._stamps.clock, 0
        self._first: dict[str, ArrayLike] = {}  # the newest values, until there are enough
        self.sensors.forget()
        self.efforts.forget()
        self._since = self._reported = 0
        self._collision = False  # something pushes harder than it may

    def _begin(self) -> None:
        self._deadlines.start(now() + self._interval)

    def _now(self) -> int:
        """Return the steady time [ns] that passes as the time of the sensors does."""
        return now() if self._plan.pace == 1.0 else round(self._plan.pace * now())

    def _cycle(self) -> None:
        """Publish the state at the deadline, then process the messages that have come."""
        sleep_until(self._deadlines.next)
        woken = now()
        self.lateness.add(woken - self._deadlines.next)
        slip = self._deadlines.advance(woken, self._interval)
        self.statistics.count('slips', slip > 0)
        if self._lost.add(woken, slip):
            self._publisher.slow(self.slowness())
        self._take_command()
        if self.mode == RUNNING:
            self._publish_state()
        before = self.statistics.counts['measurements']
        for stream in (*self.efforts.streams, *self.sensors.streams):  # these depend on efforts
            self._read_stream(stream)
        if self._plan.collision and self.mode == RUNNING:
            if self.statistics.counts['measurements'] > before:
                self._stop_on_collision()
        self._check_sensors()

    def _take_command(self) -> None:
        """Read the command that was sent last, of each part if it comes in parts."""
        taken = 0
        for _ in self._reader.places:
            try:
                if (message := self._inbox.wait(0)) is None:
                    break
                values, _ = self._reader.read(message)
                self._u = self._u.copy()
                self._u[self._reader.places[self._reader.part]] = values
                taken += 1
            except MessageError as error:
                self._refuse(error)
        if taken and self.mode != WAITING:
            at = self._seconds(self._clock.at(self._now())) + self._plan.delay
            self._estimator.command(at, self._u)

    def _publish_state(self) -> None:
        """Publish the state of this moment."""
        stamp = self._clock.at(self._now())
        try:
            found = self._estimator.estimate(self._seconds(stamp))
        except (SimulationDivergedError, SingularMassError, ArgumentError) as error:
            self._restart_estimator(error)
            return
        if not (np.isfinite(found.q).all() and np.isfinite(found.qd).all()):
            self._restart_estimator('the state is not finite')
            return
        self.statistics.count('ticks')
        self._publisher.state(found.q, found.qd, stamp)

    def _stop_on_collision(self) -> None:
        """Request a stop of the robot if an external force exceeds the allowed one."""
        push, limit = self._estimator.push(self._plan.body), self._plan.collision
        size, before = float(np.linalg.norm(push.value)), self._collision
        if push.probability < _COLLISION_FALSE_ALARM_PROBABILITY and size > (
            _COLLISION_RELEASE_RATIO * limit if before else limit
        ):
            self._collision = True
            self.statistics.count('collisions', not before)
            self._publisher.collided(self._plan.body, size, before)
        else:
            self._collision = False

    def _read_stream(self, stream: Stream) -> None:
        """Process the newest measurement of a sensor since the last time."""
        newest = None
        for _ in range(_MAX_SHARED_MESSAGES if stream.shared else 1):
            try:
                if (message := stream.inbox.wait(0)) is None:
                    break
                arrival = self._now() - round(self._plan.pace * stream.inbox.age())
                stamp, value = stream.read(message, arrival, self._predicted)
                if value is not None:
                    newest = stamp, value, arrival
                else:
                    self.statistics.count('unseen', not stream.shared)
            except MessageError as error:
                self._refuse(error, stream.sensor.name)
        if newest is not None:
            self._process_measurement(stream.sensor.name, *newest)

    def _process_measurement(self, name: str, stamp: int, value: ArrayLike, arrival: int) -> None:
        """Process a value with a stamp [ns] that came at an arrival [ns, steady clock]."""
        if stamp and self._pace_monitor.add(name, stamp, arrival):
            self._publisher.slow(self.slowness())
        try:
            self._stamps.check(name, stamp, arrival)
        except MessageError as error:
            self._refuse(error, name)
            return
        self._stamps.accept(name, stamp, arrival)
        own = self._availability(name)
        own.came[name] = arrival
        if self.mode == WAITING:
            self._first[name] = value
            own.accepted[name] = arrival
        else:
            self._measure(name, stamp, value, arrival)

    def _predicted(self, sensor: str, time: int) -> Array:
        """Return the value that a sensor should measure at a time [ns]."""
        if self.mode != WAITING:
            with contextlib.suppress(ArgumentError, SimulationDivergedError, SingularMassError):
                return self._estimator.predicted(sensor, self._seconds(time))
        return self._estimator.predicted(sensor)

    def _measure(self, name: str, stamp: int, value: ArrayLike, arrival: int) -> None:
        """Correct the estimate by a measurement."""
        begin = now()
        try:
            found = self._estimator.measure(self._seconds(stamp), name, value)
        except (SimulationDivergedError, SingularMassError) as error:
            self._restart_estimator(error)
            return
        self.update_times.add(now() - begin)
        if found.too_old:
            self._refuse(MessageError('stale: older than what is kept'), name)
            return
        self.statistics.count('measurements')
        self.statistics.count('outliers', found.outliers)
        self.statistics.count('late', found.late)
        if found.coarse:
            self.statistics.count('coarse')
            self._publisher.far_off(name, found.coarse)
        if found.numbers or 0.0 < found.coarse < _MAX_NOISE_RATIO:
            self._availability(name).accepted[name] = arrival
            if name in self.squares:
                self.squares[name] += found.square, found.numbers

    def _check_sensors(self) -> None:
        """See who is there, begin or end accordingly, and report now and then."""
        moment = self._now()
        self.sensors.check(moment)
        self._check_efforts(moment)
        if self.mode == WAITING:
            self._try_to_begin(moment)
            return
        if lacking := self._unobserved(self.sensors.there):
            self._restart_estimator(f'{self.complaint()}: no sensor observes {", ".join(lacking)}')
            self.lacking = lacking
            return
        if self.mode == SETTLING and moment - self._since > self._plan.settling:
            self._enter(RUNNING)
        if self.mode == RUNNING and moment - self._reported > self._plan.report:
            self._reported = moment
            self._publisher.report(self._estimator, self._clock.at(moment), self._epoch)

    def _check_efforts(self, moment: int) -> None:
        """Use commands again in place of efforts whose measurements are missing."""
        before = self.efforts.missing
        self.efforts.check(moment)
        if self.mode == WAITING:
            return
        for name in self.efforts.missing:
            if name not in before:
                unknown = np.full(self._effort_sizes[name], np.nan)
                self._measure(name, self._clock.at(moment), unknown, moment)

    def _availability(self, name: str) -> Availability:
        """Return that of the sensors, or of the efforts."""
        return self.efforts if name in self._effort_sizes else self.sensors

    def _unobserved(self, there: Sequence[str]) -> tuple[str, ...]:
        """Return the coordinates that these sensors do not observe."""
        if len(there) == len(self.sensors.streams):
            return ()  # what all of them do not tell was allowed or refused before
        try:
            return self._sufficient.lacking(there)
        except SingularMassError:
            return tuple(self._estimator.model.coordinate_names)

    def _try_to_begin(self, moment: int) -> None:
        """Begin with the posture that fits the first measurements, if these are enough."""
        there = self.sensors.there
        self.lacking = self._unobserved(there)
        self._since = self._since if there else 0
        if not there or self.lacking:
            return
        self._since = self._since or moment
        if self.sensors.missing and moment - self._since < self._plan.settling:
            return  # they may be about to come
        values = {name: self._first[name] for name in (*there, *self.efforts.there)}
        try:
            q = self._fit(values, u=self._u).q
        except (NotConvergedError, ArgumentError, np.linalg.LinAlgError):
            q = None  # then the initial one: the measurements that follow will tell
        time = self._clock.at(self._now())
        self._epoch = time - SECOND
        seen = max(each.sensor.delay for each in self.sensors.streams)  # what comes next is as old
        self._estimator.begin(self._seconds(time) - seen, q=q, u=self._u)
        self._since = self._now()
        self._enter(SETTLING)

    def _restart_estimator(self, why: object) -> None:
        """Publish no state until the estimator has restarted."""
        self.statistics.count('losses')
        self._publisher.lost(str(why))
        self._forget()
        self._enter(WAITING)

    def complaint(self) -> str:
        """Return in words which sensors and efforts are missing, '' if none is."""
        return complaint(self.sensors, self.efforts)

    def slowness(self) -> str:
        """Return in words a wrong pace of this loop or of the sensors, '' if there is none."""
        warning = self._pace_monitor.in_words(self._plan.pace)
        if not (share := self._lost.share):
            return warning
        lost = f'{share:.0%} of the time passed while this node had no processor: this machine'
        lost = f'{lost} cannot keep the rates of its nodes; lower `rate`'
        return f'{lost}; {warning}' if warning else lost

    def _refuse(self, error: MessageError, sensor: str = 'commands') -> None:
        super()._refuse(MessageError(f'{error.reason} ({sensor})'))

    def _seconds(self, stamp: int) -> float:
        """Return the time [s] of the estimator, small numbers, so that none is lost."""
        return (stamp - self._epoch) * 1e-9
