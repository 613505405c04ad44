# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Both loops under a clock of the test's own: what they answer, refuse, count and survive."""

import copy

import numpy as np
import pytest

pytest.importorskip('rclpy')

from linear_plant import (  # noqa: E402
    ACTUATORS,
    BOUNDS,
    controlled,
    Controller,
    COORDINATES,
    Model,
    PRETENSION,
    simulated,
)
from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.dynamics.wrenches import Wrench  # noqa: E402
from softrobot_dynamics.nodes import control_loop, declared_rows, simulation_loop  # noqa: E402
from softrobot_dynamics.nodes.control_loop import (  # noqa: E402
    ControlLoop,
    FAILED,
    RUNNING,
    STOPPED,
    TIMED_OUT,
    WAITING,
)
from softrobot_dynamics.nodes.deadlines import Schedule  # noqa: E402
from softrobot_dynamics.nodes.judging import FOLLOWS, StateJudge  # noqa: E402
from softrobot_dynamics.nodes.messaging import messages  # noqa: E402
from softrobot_dynamics.nodes.orders import Hold, Once, Orders  # noqa: E402
from softrobot_dynamics.nodes.reference_time import ReferenceTime  # noqa: E402
from softrobot_dynamics.nodes.settings import settings_of  # noqa: E402
from softrobot_dynamics.nodes.simulation_loop import DIVERGED, DRIVEN, IDLE, SimulationLoop  # noqa: E402
from softrobot_dynamics.simulation.sensing import make_sensors, perfect, Sensing  # noqa: E402

pytestmark = pytest.mark.quick

PERIOD = 1_000_000
WATCHDOG = 50 * PERIOD
ROWS = (*declared_rows.controller_rows(), *declared_rows.configured_rows(Controller, Model()))
VALUES = {row.name: row.default for row in ROWS}
SAFE = [PRETENSION, PRETENSION]


class Clock:
    """A steady clock that only the test moves, and an inbox whose messages it brings."""

    def __init__(self, monkeypatch):
        self.time, self.due, self.woken = 10_000 * PERIOD, [], False
        for module in (control_loop, simulation_loop):
            monkeypatch.setattr(module, 'now', lambda: self.time)
            monkeypatch.setattr(module, 'sleep_until', self.sleep_until)
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

    def failed(self, what, error):
        self.words.append(what)

    def slipped(self, late):
        self.words.append(f'slipped {late}')

    def flush(self):
        self.words.append('flushed')


class Record:
    """Keeps the rows that are added: moment, stamp and the columns."""

    def __init__(self):
        self.rows = []

    def add(self, *values):
        self.rows.append(copy.deepcopy(values))

    def columns(self, *names):
        """Return {name: one value a row}."""
        return dict(zip(('moment', 'stamp', *names), zip(*self.rows, strict=True), strict=True))


def state(q=(0.0, 0.0), stamp=0, names=COORDINATES):
    """Return a state message."""
    message = JointState(name=list(names), position=list(q), velocity=[0.0] * len(q))
    message.header.stamp = messages.stamped(stamp)
    return message


class Believing(StateJudge):
    """Believes the first state, and of later ones all that are in order: they may jump."""

    def __init__(self):
        super().__init__(BOUNDS._replace(unit=np.full(2, 1e-300)))

    def check(self, q, qd, stamp, arrival):
        """As StateJudge.check."""
        if not self._believed.count:
            self._believed.begin(q, qd, stamp, arrival)
            return FOLLOWS
        return super().check(q, qd, stamp, arrival)


class Control:
    """A control loop, driven by the test."""

    def __init__(self, monkeypatch, judge=Believing, rate_limit=None, **changes):
        self.clock, self.outlet = Clock(monkeypatch), Outlet()
        self.plant = controlled(VALUES)._replace(judge=judge)
        if rate_limit is not None:
            model = self.plant.model._replace(rate_limit=rate_limit)
            self.plant = self.plant._replace(model=model)
        settings = settings_of(Controller, self.plant.model, None, VALUES)
        self.loop = ControlLoop(
            self.plant,
            self.clock,
            messages.StateReader(COORDINATES),
            self.outlet,
            Orders(settings, Hold())._replace(**changes),
            period=PERIOD,
            watchdog=WATCHDOG,
            record=Record(),
        )
        self.loop._due = self.clock.time + WATCHDOG

    def go(self, message=None, after=PERIOD):
        """Let the loop wait once, with a message underway or none."""
        if message is not None:
            self.clock.bring(message, after)
        self.loop._cycle()
        return self.outlet.commands[-1][0] if self.outlet.commands else None


@pytest.fixture
def control(monkeypatch):
    """Return a control loop that has not seen a state yet."""
    return Control(monkeypatch)


def test_a_state_is_answered_with_its_stamp(control):
    """The first one is what is held: no error, no command; the next ones are controlled."""
    assert control.go(state((1.0, -1.0), 5)) == [0.0, 0.0]
    assert control.go(state((1.1, -1.0), 6)) == pytest.approx([-10.0, 0.0])
    stamps = [
        messages.stamp_of(JointState()) if s is None else s.nanosec
        for _, s in control.outlet.commands
    ]
    assert stamps == [5, 6] and control.loop.mode == RUNNING


@pytest.mark.parametrize(
    'bad, cause',
    [
        (state((1.0,), 7, ('x',)), 'wrong size'),
        (state((1.0, 2.0), 7, ('x', 'z')), 'wrong name'),
        (state((np.nan, 0.0), 7), 'not a number'),
        (state((0.0, 0.0), 5), 'out of order'),
    ],
)
def test_a_bad_state_is_counted_and_never_answered(control, bad, cause):
    """And the next good one is answered as if nothing had been."""
    control.go(state(stamp=6))
    sent = len(control.outlet.commands)
    if cause == 'wrong size':
        bad.name = list(COORDINATES)
    control.go(bad)
    assert len(control.outlet.commands) == sent
    assert control.loop.tally.refused == {cause: 1} and control.loop.mode == RUNNING
    control.go(state(stamp=8))
    assert len(control.outlet.commands) == sent + 1


def test_bad_states_do_not_feed_the_watchdog(control):
    """A stream of them is as good as none."""
    control.go(state(stamp=1))
    for _ in range(49):
        control.go(state((np.nan, 0.0)))
    assert control.loop.mode == RUNNING
    control.go(state((np.nan, 0.0)))
    assert control.loop.mode == TIMED_OUT and control.outlet.commands[-1] == (SAFE, None)


def test_a_stall_of_ten_milliseconds_is_ridden_through(control):
    """It is counted as missed states and trips nothing."""
    for k in range(5):
        control.go(state(stamp=1 + k * PERIOD))
    control.go(state(stamp=1 + 15 * PERIOD), after=11 * PERIOD)
    assert control.loop.mode == RUNNING and control.loop.tally.counts['timeouts'] == 0
    assert control.loop.tally.counts['missed'] == 10


def test_without_states_the_safe_command_goes_out_and_is_repeated(control):
    """At the watchdog time, and once in every one after it; one trip is one trip."""
    control.go(state((1.0, 1.0), 1))
    begin = control.clock.time
    for k in range(1, 4):
        assert control.go() == SAFE
        assert control.clock.time == begin + k * WATCHDOG
    assert control.loop.tally.counts['timeouts'] == 1
    assert control.outlet.commands[-1][1] is None


def test_states_that_come_back_are_answered_again(control):
    """From the present state on, even with stamps of an earlier time: a robot started anew."""
    control.go(state((1.0, 1.0), 100))
    control.go()
    assert control.go(state((2.0, 2.0), 1)) == [0.0, 0.0]  # held where it is now
    assert control.loop.mode == RUNNING
    assert control.plant.controller.calls[-1] == 'start'


def test_what_may_have_lain_there_is_stale(control):
    """After a stall longer than the watchdog, a waiting state may be of any age: not acted on."""
    control.go(state(stamp=1))
    control.clock.bring(state(stamp=2), after=PERIOD)
    control.clock.wait, wait = lambda timeout: _stall(control.clock, wait), control.clock.wait
    control.loop._cycle()
    control.clock.wait = wait
    assert control.loop.tally.refused == {'stale': 1} and control.loop.mode == TIMED_OUT
    control.go(state(stamp=3))
    assert control.loop.mode == RUNNING


def _stall(clock, wait):
    message = wait(PERIOD * 2)
    clock.time += 2 * WATCHDOG
    return message


def test_before_any_state_the_safe_command_is_all_there_is(control):
    """But that is no trip of the watchdog."""
    assert control.go() == SAFE
    assert control.loop.mode == WAITING and control.loop.tally.counts['timeouts'] == 0


def test_a_reference_for_once_is_not_begun_anew(control):
    """After a pause its time has gone by: the outputs are held, until another one is ordered."""
    control.go(state((1.0, 1.0), 1))
    control.loop.order(reference=Once(np.array([0.5, 0.5])))
    for stamp in (2, 3):
        assert control.go(state((1.0, 1.0), stamp)) == [-10.0, -10.0]
    control.go()
    assert control.loop.mode == TIMED_OUT
    for stamp in (4, 5):
        assert control.go(state((0.8, 0.8), stamp)) == [0.0, 0.0]
    control.loop.order(reference=Once(np.array([0.7, 0.9])))
    assert control.go(state((0.8, 0.8), 6)) == pytest.approx([-10.0, 10.0])


def test_a_failing_controller_means_the_safe_command(control):
    """Whether it says so or raises; the loop goes on and recovers."""
    control.go(state(stamp=1))
    assert control.go(state((9.0, 0.0), 2)) == SAFE and control.loop.mode == FAILED
    control.plant.controller.compute, compute = None, control.plant.controller.compute
    assert control.go(state(stamp=3)) == SAFE
    control.plant.controller.compute = compute
    assert control.go(state(stamp=4)) == [0.0, 0.0] and control.loop.mode == RUNNING
    assert control.loop.tally.counts['failures'] == 2


def test_the_emergency_stop_is_latched(control):
    """It counts from the next state on, until released; then the outputs are held."""
    control.go(state(stamp=1))
    control.loop.order(emergency=True)
    for k in range(3):
        assert control.go(state((0.5, 0.5), 2 + k)) == SAFE and control.loop.mode == STOPPED
    control.loop.order(emergency=False, reference=Hold())
    assert control.go(state((0.7, 0.7), 9)) == [0.0, 0.0]


def test_an_emergency_does_not_wait_for_a_state(control):
    """Without states the safe command goes out when the loop is woken."""
    control.go(state(stamp=1))
    control.loop.order(emergency=True)
    control.clock.time += PERIOD
    control.clock.wait = lambda timeout: None
    assert control.go() == SAFE and control.loop.mode == STOPPED


def test_an_emergency_before_activation_counts(monkeypatch):
    """Orders may begin with one."""
    control = Control(monkeypatch, emergency=True)
    assert control.go(state(stamp=1)) == SAFE and control.loop.mode == STOPPED


def test_an_emergency_before_any_state_sends_the_safe_command_at_once(monkeypatch):
    """A loop that begins in one wakes itself; the first state gives the posture to carry."""
    control = Control(monkeypatch, emergency=True)
    loop, clock, postures = control.loop, control.clock, []
    begin = control.plant.safe.begin
    control.plant.safe.begin = lambda q, u: (postures.append(q), begin(q, u))
    waits = iter([None, 'leave'])

    def wait(timeout):
        assert clock.woken
        loop._leaving = next(waits) == 'leave'

    monkeypatch.setattr(clock, 'wake', lambda: setattr(clock, 'woken', True))
    monkeypatch.setattr(clock, 'wait', wait)
    started = clock.time
    loop.run()
    assert control.outlet.commands[0][0] == SAFE and clock.time == started
    monkeypatch.undo()
    loop._receive(state((0.2, 0.3), 1), clock.time, clock.time)
    assert postures[0] is None and list(postures[-1]) == [0.2, 0.3]
    assert loop.mode == STOPPED


def test_new_orders_count_from_the_next_state(control):
    """Settings and references, without a new start."""
    control.go(state(stamp=1))
    control.plant.controller.calls.clear()
    control.loop.order(reference=np.array([0.01, 0.0]))
    assert control.go(state(stamp=2)) == pytest.approx([1.0, 0.0])
    settings = control.loop.orders.settings
    control.loop.order(settings=settings.replace(p=2.0 * settings.p))
    assert control.go(state(stamp=3)) == pytest.approx([2.0, 0.0])
    assert control.plant.controller.calls == ['follow', 'use']


def test_holding_holds_what_is_there_when_it_is_taken_up(control):
    """Each hold anew."""
    control.go(state(stamp=1))
    for k, x in enumerate((0.2, 0.4)):
        control.loop.order(reference=Hold())
        assert control.go(state((x, 0.0), 2 + k)) == [0.0, 0.0]


def test_the_end_is_a_safe_command_that_has_been_delivered(control):
    """Whatever was before."""
    control.go(state((1.0, 1.0), 1))
    control.loop.finish()
    assert control.outlet.commands[-1] == (SAFE, None) and control.outlet.words[-1] == 'flushed'


def test_an_emergency_counts_while_states_are_refused(control):
    """It waits for no valid one, nor for the watchdog."""
    control.go(state(stamp=1))
    control.loop.order(emergency=True)
    assert control.go(state((np.nan, 0.0), 2)) == SAFE and control.loop.mode == STOPPED


@pytest.fixture
def slow(monkeypatch):
    """Return a loop whose actuators take 0.1 a tick, after it has commanded -5 to both."""
    control = Control(monkeypatch, rate_limit=np.array([100.0, 100.0]))
    control.go(state(stamp=1))
    for k in range(60):
        control.go(state((0.05, 0.05), 2 + k))
    assert control.outlet.commands[-1][0] == pytest.approx([-5.0, -5.0])
    control.outlet.commands.clear()
    return control


def assert_led(commands, begin, end, step=0.1):
    """No command is farther than a step from the one before, and the last is `end`."""
    sent = np.array([begin] + [u for u, _ in commands])
    assert np.abs(np.diff(sent, axis=0)).max() <= step * (1.0 + 1e-6)
    assert sent[-1] == pytest.approx(end)


def test_an_emergency_stop_is_led_at_the_rate_of_the_actuators(slow):
    """It begins at once; states answered on the way do not make it faster, none do not slower."""
    slow.loop.order(emergency=True)
    slow.clock.time += PERIOD
    for k in range(40):
        slow.go(state((0.05, 0.05), 100 + k) if k < 20 else None, after=PERIOD // 2)
    assert slow.outlet.commands[0][0] != [-5.0, -5.0]
    for _ in range(60):
        slow.go()
    assert_led(slow.outlet.commands, [-5.0, -5.0], SAFE)


def test_the_end_and_a_silence_are_led_there_too(slow):
    """The watchdog's safe command by its own ticks, the last one before the loop is left."""
    slow.go()
    assert slow.loop.mode == TIMED_OUT
    begin = slow.clock.time
    for _ in range(20):
        slow.go()
    assert slow.clock.time == begin + 20 * PERIOD
    slow.loop.finish()
    assert_led(slow.outlet.commands, [-5.0, -5.0], SAFE)
    assert slow.clock.time < begin + 60 * PERIOD


def test_safety_goes_before_the_rates_in_the_end(monkeypatch):
    """Where they would need more than half a second, the last command is the safe one anyway."""
    control = Control(monkeypatch, rate_limit=np.array([1.0, 1.0]))
    control.go(state(stamp=1))
    control.loop._limiter.last[:] = -5.0
    begin = control.clock.time
    control.loop.finish()
    assert control.outlet.commands[-1] == (SAFE, None)
    assert 500 * PERIOD <= control.clock.time - begin <= 502 * PERIOD
    sent = np.array([u for u, _ in control.outlet.commands])
    assert np.abs(np.diff(sent[1:-1], axis=0)).max() <= 1.001e-3


def test_narrower_limits_are_approached_at_the_rate(slow):
    """A live change of a limit does not make the command jump; it gets there and stays."""
    settings = slow.loop.orders.settings
    slow.loop.order(settings=settings.replace(lower=np.array([-2.0, -10.0])))
    for k in range(40):
        slow.go(state((0.05, 0.05), 100 + k))
    assert_led(slow.outlet.commands, [-5.0, -5.0], [-2.0, -5.0])


def test_no_number_and_nothing_beyond_the_limits_goes_out(control):
    """Whatever a law returns and calls well."""
    control.go(state(stamp=1))
    compute = control.plant.controller.compute
    q, far = np.zeros(2), np.array([99.0, -99.0])
    for k, value in enumerate((np.nan, np.inf)):
        u = np.array([value, 0.0])
        control.plant.controller.compute = lambda *_, u=u: compute(0.0, q, q)._replace(u=u)
        assert control.go(state(stamp=2 + k)) == SAFE and control.loop.mode == FAILED
    control.plant.controller.compute = lambda *_: compute(0.0, q, q)._replace(u=far)
    assert control.go(state(stamp=9)) == pytest.approx([10.0, -9.5])  # limit and rate


def test_a_loop_that_breaks_leaves_a_safe_command(control):
    """And says so: nothing ends it in silence."""
    control.clock.wait = None
    control.loop.run()
    assert isinstance(control.loop.error, TypeError)
    assert control.outlet.commands[-1] == (SAFE, None)


def test_every_tick_is_recorded(control):
    """With what was seen, sent and wanted, when, and by which mode."""
    for k in range(3):
        control.go(state((0.1 * k, 0.0), 1 + k * PERIOD))
    control.loop.order(emergency=True)
    control.go(state((0.3, 0.0), 1 + 3 * PERIOD))
    names = 'q', 'qd', 'u', 'y', 'y_rate', 'y_d', 'y_d_rate', 'y_d_acceleration', 't', 'mode'
    columns = control.loop.record.columns(*names)
    assert columns['t'] == pytest.approx([0.0, 1e-3, 2e-3, 3e-3])
    assert columns['stamp'] == tuple(1 + k * PERIOD for k in range(4))
    assert np.diff(columns['moment']).tolist() == [PERIOD] * 3
    assert [q[0] for q in columns['q']] == pytest.approx([0.0, 0.1, 0.2, 0.3])
    u = [u[0] for u in columns['u']]  # the last one on its way to the safe one
    assert u == pytest.approx([0.0, -10.0, -10.0, 0.0], abs=1e-6)
    assert [y[0] for y in columns['y'][:3]] == pytest.approx([0.0, 0.1, 0.2])
    assert [y[0] for y in columns['y_d'][:3]] == [0.0, 0.0, 0.0]
    assert np.isnan([columns[name][3] for name in ('y', 'y_rate', 'y_d', 'y_d_rate')]).all()
    assert columns['mode'] == (RUNNING, RUNNING, RUNNING, STOPPED)


def test_reference_time_follows_stamps_and_stands_still_with_them():
    """Late arrivals do not shake it; where stamps make no sense, arrivals count."""
    time = ReferenceTime(WATCHDOG)
    steps = [
        (100, 0),
        (100 + PERIOD, PERIOD + 300_000),
        (100 + 2 * PERIOD, 12 * PERIOD),
        (5, 13 * PERIOD),
        (0, 14 * PERIOD),
        (0, 15 * PERIOD),
        (2 * WATCHDOG, 16 * PERIOD),
    ]
    times = [time.advance(*step) for step in steps]
    assert times == pytest.approx([0.0, 1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3])


class Simulation:
    """A simulation loop, driven by the test; `answer` is the command for every state, or None."""

    def __init__(
        self, monkeypatch, record=None, waits=False, timing='lockstep', pace=1.0, sensing=None
    ):
        self.clock, self.outlet = Clock(monkeypatch), Outlet()
        self.plant = simulated({})
        self.epoch = 1_000 * messages.SECOND
        self.loop = SimulationLoop(
            self.plant,
            sensing or perfect(2, 1e-3),
            self.clock,
            messages.CommandReader(ACTUATORS),
            self.outlet,
            Schedule(rate=1000.0, timeout=50, timing=timing, waits=waits, pace=pace),
            epoch=self.epoch,
            record=record,
        )
        self.loop.deadlines.put(self.clock.time + PERIOD)
        self.loop._publish()

    def command(self, u, stamp=None):
        """Return a command that answers the last state, unless another stamp is given."""
        message = JointState(name=list(ACTUATORS), effort=list(u))
        message.header.stamp = messages.stamped(
            self.outlet.states[-1][2] if stamp is None else stamp
        )
        return message

    def go(self, u=None, after=PERIOD // 4, stamp=None):
        """Run one cycle, with a command underway or none."""
        if u is not None:
            self.clock.bring(self.command(u, stamp), after)
        self.loop._cycle()


@pytest.fixture
def simulation(monkeypatch):
    """Return a simulation loop that has published its first state."""
    return Simulation(monkeypatch)


def test_a_robot_may_wait_for_its_controller(monkeypatch):
    """It stands until a command answers it, safe ones do not, and sets out at its own rates."""
    record = Record()
    simulation = Simulation(monkeypatch, record, waits=True)
    simulation.plant.simulator.qd[:] = 2.0, -1.0
    for u, stamp in ((None, None), ((9.0, 9.0), 5 * messages.SECOND), (None, None)):
        simulation.go(u, stamp=stamp)
        q, qd, _ = simulation.outlet.states[-1]
        assert (list(q), list(qd)) == ([0.0, 0.0], [0.0, 0.0])
    stamps = [stamp for *_, stamp in simulation.outlet.states]
    assert np.diff(stamps).tolist() == [PERIOD] * 3 and not record.rows
    simulation.go((1.0, 0.0))
    q, qd, _ = simulation.outlet.states[-1]
    assert q[0] > 1e-3 and qd[0] > 1.9 and len(record.rows) == 1


def test_each_state_leaves_at_its_deadline(simulation):
    """With a stamp one period after the last, answered or not."""
    begin = simulation.clock.time
    for k in range(4):
        simulation.go((1.0, 0.0) if k % 2 else None)
        assert simulation.clock.time == begin + (k + 1) * PERIOD
    stamps = [stamp for *_, stamp in simulation.outlet.states]
    assert stamps == [simulation.epoch + k * PERIOD for k in range(5)]


def test_the_command_moves_the_robot(simulation):
    """From its first tick on, by name."""
    message = simulation.command((3.0, 0.0))
    message.name = ['right', 'left']
    simulation.clock.bring(message, 1)
    simulation.loop._cycle()
    assert simulation.outlet.states[-1][1] == pytest.approx([0.0, 3e-3])
    assert simulation.loop.mode == DRIVEN


class Steps:
    """Keeps the steps that a simulator is told to make."""

    def __init__(self, simulator):
        self.made, self._step = [], simulator.step
        simulator.step = self.step

    def step(self, u, dt, wrenches=None):
        """Make a step, and keep it."""
        self.made.append((u.tolist(), pytest.approx(dt, abs=1e-12)))
        self._step(u, dt)


ONE, TWO, WHOLE = [1.0, 0.0], [2.0, 0.0], 1e-3


@pytest.mark.parametrize(
    'timing, expected',
    [
        ('lockstep', [(ONE, WHOLE), (TWO, WHOLE), (TWO, WHOLE)]),
        ('arrival', [(SAFE, 3e-4), (ONE, 7e-4), (ONE, 6e-4), (TWO, 4e-4), (TWO, WHOLE)]),
        ('next_period', [(SAFE, WHOLE), (ONE, WHOLE), (TWO, WHOLE)]),
    ],
)
def test_a_command_acts_when_it_should(monkeypatch, timing, expected):
    """The step is split where it arrives, or not; what was in force before acts until then."""
    simulation = Simulation(monkeypatch, timing=timing)
    steps = Steps(simulation.plant.simulator)
    simulation.go(ONE, after=3 * PERIOD // 10)
    simulation.go(TWO, after=6 * PERIOD // 10)
    simulation.go()
    assert steps.made == expected
    simulation.loop.reset(patience=0.0)
    steps.made.clear()
    simulation.go()
    assert steps.made == [(SAFE, WHOLE)]


def test_a_late_answer_acts_from_when_it_comes(monkeypatch):
    """One to the state before last, while none to the last comes; its round trip is none."""
    record = Record()
    simulation = Simulation(monkeypatch, record, timing='arrival')
    steps = Steps(simulation.plant.simulator)
    simulation.go(ONE, after=1)
    first = simulation.outlet.states[0][2]
    late = simulation.outlet.states[-1][2]
    simulation.go()
    steps.made.clear()
    simulation.clock.bring(simulation.command(TWO, stamp=late), 2 * PERIOD // 10)
    simulation.loop._cycle()
    assert late > first and steps.made == [(ONE, 2e-4), (TWO, 8e-4)]
    names = 'q', 'qd', 'u', 't', 'round_trip', 'late', 'mode'
    columns = record.columns(*names)
    assert columns['u'][-1].tolist() == TWO and np.isnan(columns['round_trip'][-1])


def test_a_robot_that_waited_sets_out_under_its_first_command(monkeypatch):
    """However late it came: nobody held it in between."""
    simulation = Simulation(monkeypatch, waits=True, timing='arrival')
    steps = Steps(simulation.plant.simulator)
    simulation.go()
    simulation.go(ONE, after=5 * PERIOD // 10)
    assert sum(dt.expected for _, dt in steps.made) == pytest.approx(WHOLE)
    assert {tuple(u) for u, _ in steps.made} == {tuple(ONE)}


def test_stamps_keep_to_the_clock_until_somebody_drives(monkeypatch):
    """A slip counts as time before, and stops the time of a robot that is driven."""
    simulation = Simulation(monkeypatch)
    for u, passed in ((None, 4 * PERIOD), (ONE, PERIOD)):
        if u:
            simulation.go(u)
        before = simulation.outlet.states[-1][2]
        simulation.clock.overslept = 3 * PERIOD
        simulation.go(u)
        assert simulation.outlet.states[-1][2] - before == passed


def test_stamps_begin_when_states_do(monkeypatch):
    """What passes between making the loop and running it is no delay of the states."""
    simulation = Simulation(monkeypatch)
    simulation.clock.time += 7 * PERIOD
    monkeypatch.setattr(simulation.loop, '_cycle', simulation.loop.leave)
    simulation.loop.run()
    assert simulation.outlet.states[-1][2] == simulation.epoch + 7 * PERIOD


def test_ticks_are_missed_only_while_commands_come(simulation):
    """Before the first command there is nobody to miss; later a late answer is a miss."""
    simulation.go()
    assert simulation.loop.tally.counts['missed'] == 0
    simulation.go((1.0, 1.0))
    simulation.go()
    counts = simulation.loop.tally.counts
    assert (counts['missed'], counts['answered'], counts['ticks']) == (1, 1, 3)
    assert simulation.loop.mode == DRIVEN  # the last command stays in force


def test_without_commands_for_long_the_robot_is_safe_by_itself(simulation):
    """Until commands return."""
    simulation.go((4.0, 4.0))
    for _ in range(49):
        simulation.go()
    assert simulation.loop.mode == DRIVEN
    same = copy.deepcopy(simulation.plant.simulator)
    simulation.go()
    same.step(np.array(SAFE), 1e-3)
    assert simulation.plant.simulator.qd.tolist() == same.qd.tolist()
    simulation.go((0.0, 0.0))
    assert simulation.loop.mode == DRIVEN and simulation.loop.tally.counts['timeouts'] == 1


def test_before_the_first_command_the_safe_one_does_not_fade(simulation):
    """A robot that nobody drives yet does not sag; one that has lost its driver may."""
    asked, at = [], simulation.plant.safe.at
    simulation.plant.safe.at = lambda elapsed: asked.append(elapsed) or at(elapsed)
    for _ in range(3):
        simulation.go()
    assert asked == [0.0, 0.0, 0.0]
    simulation.go((0.0, 0.0))
    for _ in range(60):
        simulation.go()
    assert asked[-1] == pytest.approx(asked[-2] + 1e-3) and asked[-1] > 5e-3


@pytest.mark.parametrize(
    'u, stamp, cause',
    [
        ((1.0, np.nan), None, 'not a number'),
        ((1.0,), None, 'wrong size'),
        ((1.0, 1.0), 0, 'out of order'),
        ((1.0, 1.0), -60, 'stale'),
    ],
)
def test_bad_commands_are_counted_and_not_applied(simulation, u, stamp, cause):
    """The last good one stays in force; `stamp` in periods from the last state."""
    for _ in range(70):
        simulation.go((2.0, 2.0))
    if cause == 'out of order':
        simulation.clock.bring(simulation.command((2.0, 2.0)), 1)
    if stamp is not None:
        stamp = simulation.outlet.states[-1][2] + stamp * PERIOD
    simulation.clock.bring(simulation.command(u, stamp), 2)
    if cause == 'out of order':  # the first answers, so the second is met in the next cycle
        simulation.loop._cycle()
        simulation.clock.due = [(simulation.clock.time, simulation.command(u, stamp))]
    simulation.loop._cycle()
    assert simulation.loop.tally.refused == {cause: 1}
    assert simulation.loop._u.tolist() == [2.0, 2.0]


def test_a_safe_command_from_outside_is_applied_without_being_an_answer(simulation):
    """It has a stamp that is no state's."""
    simulation.go((1.5, 1.5), stamp=simulation.epoch + 12_345)
    assert simulation.loop._u.tolist() == [1.5, 1.5]
    assert simulation.loop.tally.counts['answered'] == 0


def test_commands_are_kept_within_the_limits(simulation):
    """As an actuator would; and counted."""
    simulation.go((99.0, -99.0))
    assert simulation.loop._u.tolist() == [10.0, -10.0]
    assert simulation.loop.tally.counts['clipped'] == 1


def test_waking_late_moves_all_deadlines(simulation):
    """After 10 ms too much, no burst: the next state is a period later; it is counted and said."""
    simulation.go((1.0, 1.0))
    simulation.clock.overslept = 10 * PERIOD
    simulation.go((1.0, 1.0))
    late = simulation.clock.time
    for k in range(3):
        simulation.go((1.0, 1.0))
        assert simulation.clock.time == late + (k + 1) * PERIOD
    assert simulation.loop.tally.counts['slips'] == 1
    assert simulation.loop.deadlines.slipped == 10 * PERIOD
    assert f'slipped {10 * PERIOD}' in simulation.outlet.words
    assert simulation.loop.mode == DRIVEN


def test_waking_a_little_late_keeps_the_deadlines(simulation):
    """But the next state leaves the controller most of a period."""
    begin = simulation.clock.time
    simulation.clock.overslept = 8 * PERIOD // 10
    simulation.go((1.0, 1.0))
    woken = simulation.clock.time
    simulation.go((1.0, 1.0))
    assert simulation.clock.time == woken + 7 * PERIOD // 10
    simulation.go((1.0, 1.0))
    simulation.go((1.0, 1.0))
    assert simulation.clock.time == begin + 4 * PERIOD
    assert simulation.loop.tally.counts['slips'] == 0


def test_time_stands_still_in_a_pause_and_goes_on_as_if_it_had_not(monkeypatch):
    """A single period passes when it is asked for; the last command is in force afterwards."""
    other = Simulation(monkeypatch)
    for u in (ONE, ONE, ONE, ONE, TWO):  # without a pause
        other.go(u)
    simulation = Simulation(monkeypatch)  # its clock is the one that counts from now on
    for _ in range(3):
        simulation.go(ONE)
    simulation.loop.pause(True, patience=0.0)
    for _ in range(200):
        simulation.go()
    assert len(simulation.outlet.states) == 4 and simulation.loop.mode == DRIVEN
    simulation.loop.step(patience=0.0)
    simulation.go()
    assert len(simulation.outlet.states) == 5
    simulation.go(TWO)  # taken, and in force when time passes again
    simulation.loop.pause(False, patience=0.0)
    simulation.go()
    assert np.array_equal(simulation.outlet.states[-1][0], other.outlet.states[-1][0])
    assert simulation.outlet.states[-1][2] == simulation.epoch + 5 * PERIOD
    assert not any(words.startswith('slipped') for words in simulation.outlet.words)


@pytest.mark.parametrize('pace, interval', [(0.5, 2 * PERIOD), (4.0, PERIOD // 4)])
def test_time_passes_faster_or_slower(monkeypatch, pace, interval):
    """States leave at other intervals, with the same stamps; the age of commands is simulated."""
    simulation = Simulation(monkeypatch, pace=pace)
    begin = simulation.clock.time + PERIOD
    simulation.go(ONE, after=interval // 3)
    for k in range(49):
        simulation.go()
        assert simulation.clock.time == begin + (k + 1) * interval
    stamps = [stamp for *_, stamp in simulation.outlet.states]
    assert stamps == [simulation.epoch + k * PERIOD for k in range(51)]
    assert simulation.loop.mode == DRIVEN
    simulation.go()
    assert simulation.loop.mode == simulation_loop.TIMED_OUT


def test_time_passes_as_fast_as_answers_come(monkeypatch):
    """And waits a while for one that does not come; the motion is that of real time."""
    commands = [TWO if k % 3 else ONE for k in range(20)]
    real = Simulation(monkeypatch)
    for u in commands:
        real.go(u)
    fast = Simulation(monkeypatch, pace=0.0)
    fast.loop.deadlines.next = fast.clock.time + 50 * PERIOD
    for u in commands:
        before = fast.clock.time
        fast.go(u, after=PERIOD // 50)
        assert fast.clock.time == before + PERIOD // 50
    for one, another in zip(fast.outlet.states, real.outlet.states, strict=True):
        assert np.array_equal(one[0], another[0]) and np.array_equal(one[1], another[1])
    before = fast.clock.time
    fast.go()
    assert fast.clock.time == before + 50 * PERIOD and len(fast.outlet.states) == 22


def sensing(**given):
    """Return the Sensing of the two masses."""
    return Sensing(make_sensors(('x', 'y'), given), 2, 1e-3)


def test_a_state_heard_late_keeps_its_stamp_and_is_answered(monkeypatch):
    """Two periods later; the robot has gone on; what is not heard is not missed."""
    simulation = Simulation(monkeypatch, sensing=sensing(delay=2e-3, bias=[0.5, 0.0]))
    for _ in range(2):
        assert not simulation.outlet.states
        simulation.go()
    for k in range(3):
        q, _, stamp = simulation.outlet.states[-1]
        assert stamp == simulation.epoch + k * PERIOD and len(simulation.outlet.states) == k + 1
        simulation.go((2.0, 0.0))
    assert simulation.outlet.states[0][0].tolist() == [0.5, 0.0]
    counts = simulation.loop.tally.counts
    assert counts['answered'] == 3 and counts['missed'] == 0


def test_lost_states_are_no_missed_ticks_and_do_not_stop_a_robot_without_pace(monkeypatch):
    """Time goes on at once where there is nothing to answer; the last command stays."""
    simulation = Simulation(monkeypatch, pace=0.0, sensing=sensing(dropout=0.5, seed=2))
    begin, answered = simulation.clock.time, 0
    for _ in range(200):
        there = simulation.loop._heard is not None
        answered += there
        simulation.go((2.0, 0.0) if there else None, after=1000)
    assert 70 < answered < 130 and simulation.clock.time - begin == 1000 * answered
    counts = simulation.loop.tally.counts
    assert counts['answered'] == answered and counts['missed'] == 0
    assert simulation.loop.mode == DRIVEN and counts['ticks'] == 200


def test_a_robot_is_pushed_and_put_elsewhere(simulation):
    """By wrenches from the next period on; a state is taken up at rest under the safe command."""
    simulation.go(ONE)
    simulation.loop.wrenches = {'cart': [Wrench(np.array([0.0, 0.0, 0.0, 5.0, 0.0, 0.0]))]}
    before = simulation.outlet.states[-1][1].copy()
    simulation.go([0.0, 0.0])
    assert simulation.outlet.states[-1][1] - before == pytest.approx([5e-3, 5e-3], rel=1e-3)
    simulation.loop.wrenches = None
    place = np.array([3.0, -2.0]), np.array([0.5, 0.0])
    simulation.loop.reset(*place, patience=0.0)
    simulation.go()
    q, qd, stamp = simulation.outlet.states[-1]
    assert q == pytest.approx(place[0], abs=1e-3) and qd == pytest.approx(place[1], abs=2e-3)
    assert stamp == simulation.epoch + 3 * PERIOD and simulation.loop.mode == IDLE


def test_a_divergence_stops_the_robot_until_a_reset(simulation):
    """No state goes out meanwhile; afterwards stamps go on."""
    simulation.plant.simulator.q[:] = 99.9999
    simulation.plant.simulator.qd[:] = 10.0
    simulation.go((10.0, 10.0))
    published = len(simulation.outlet.states)
    simulation.go((10.0, 10.0))
    assert simulation.loop.mode == DIVERGED and len(simulation.outlet.states) == published
    assert 'diverged' in str(simulation.loop.error)
    simulation.loop.reset(patience=0.0)
    simulation.go()
    assert simulation.loop.mode == IDLE and simulation.loop.error is None
    assert simulation.outlet.states[-1][2] > simulation.outlet.states[-2][2]
    assert abs(simulation.outlet.states[-1][0]).max() < 1.0


def test_the_record_has_round_trips_and_misses(monkeypatch):
    """A missed tick is nan; so is none that was answered."""
    simulation = Simulation(monkeypatch, Record())
    simulation.go((1.0, 2.0), after=300_000)
    simulation.go()
    simulation.clock.overslept = 5_000
    simulation.go((1.0, 2.0), after=200_000)
    columns = simulation.loop.record.columns('q', 'qd', 'u', 't', 'round_trip', 'late', 'mode')
    assert columns['round_trip'] == pytest.approx([3e-4, np.nan, 2e-4], nan_ok=True)
    assert columns['late'] == pytest.approx([0.0, 0.0, 5e-6])
    assert np.array(columns['u']).tolist() == [[1.0, 2.0]] * 3
    assert columns['t'] == pytest.approx([0.0, 1e-3, 2e-3])
    assert columns['stamp'] == tuple(simulation.epoch + k * PERIOD for k in range(3))
    assert columns['mode'] == (DRIVEN,) * 3
