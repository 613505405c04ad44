# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The simulation loop in simulated time: states, commands, counters and failures."""

import copy

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.dynamics.wrenches import Wrench  # noqa: E402
from softrobot_dynamics.loops import simulation_loop  # noqa: E402
from softrobot_dynamics.loops.deadlines import Schedule  # noqa: E402
from softrobot_dynamics.loops.message_fields import SECOND  # noqa: E402
from softrobot_dynamics.loops.simulation_loop import DIVERGED, DRIVEN, IDLE, SimulationLoop  # noqa: E402
from softrobot_dynamics.nodes.messaging.command_messages import CommandReader  # noqa: E402
from softrobot_dynamics.nodes.messaging.message_values import stamped  # noqa: E402
from softrobot_dynamics.simulation.bus import make_bus  # noqa: E402
from softrobot_dynamics.simulation.sensing import make_sensors, Sensing  # noqa: E402
from support.linear_plant import ACTUATORS, simulated  # noqa: E402
from support.loops import Clock, Outlet, PERIOD, Record, SAFE  # noqa: E402
from support.sensing import exact_sensing  # noqa: E402

pytestmark = pytest.mark.quick


class Simulation:
    """A simulation loop, driven by the test; `answer` is the command for every state, or None."""

    def __init__(
        self, monkeypatch, record=None, waits=False, timing='lockstep', pace=1.0, sensing=None,
        **bus,
    ):  # fmt: skip
        self.clock, self.publisher = Clock(monkeypatch), Outlet()
        self.plant = simulated({})
        self.epoch = 1_000 * SECOND
        self.loop = SimulationLoop(
            self.plant,
            sensing or exact_sensing(2, 1e-3),
            self.clock,
            CommandReader(ACTUATORS),
            self.publisher,
            Schedule(
                rate=1000.0, timeout=50, timing=timing, waits=waits, pace=pace, bus=make_bus(bus)
            ),  # fmt: skip
            epoch=self.epoch,
            record=record,
        )
        self.loop.deadlines.start(self.clock.time + PERIOD)
        self.loop._publish()

    def command(self, u, stamp=None):
        """Return a command that answers the last state, unless another stamp is given."""
        message = JointState(name=list(ACTUATORS), effort=list(u))
        message.header.stamp = stamped(self.publisher.states[-1][2] if stamp is None else stamp)
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
    """A waiting robot stands until a command answers it, and starts with its own rates."""
    record = Record()
    simulation = Simulation(monkeypatch, record, waits=True)
    simulation.plant.simulator.qd[:] = 2.0, -1.0
    for u, stamp in ((None, None), ((9.0, 9.0), 5 * SECOND), (None, None)):
        simulation.go(u, stamp=stamp)
        q, qd, _ = simulation.publisher.states[-1]
        assert (list(q), list(qd)) == ([0.0, 0.0], [0.0, 0.0])
    stamps = [stamp for *_, stamp in simulation.publisher.states]
    assert np.diff(stamps).tolist() == [PERIOD] * 3 and not record.rows
    simulation.go((1.0, 0.0))
    q, qd, _ = simulation.publisher.states[-1]
    assert q[0] > 1e-3 and qd[0] > 1.9 and len(record.rows) == 1


def test_each_state_leaves_at_its_deadline(simulation):
    """Each state leaves one period after the last, answered or not."""
    begin = simulation.clock.time
    for k in range(4):
        simulation.go((1.0, 0.0) if k % 2 else None)
        assert simulation.clock.time == begin + (k + 1) * PERIOD
    stamps = [stamp for *_, stamp in simulation.publisher.states]
    assert stamps == [simulation.epoch + k * PERIOD for k in range(5)]


def test_the_command_moves_the_robot(simulation):
    """A command moves the robot by name from its first tick on."""
    message = simulation.command((3.0, 0.0))
    message.name = ['right', 'left']
    simulation.clock.bring(message, 1)
    simulation.loop._cycle()
    assert simulation.publisher.states[-1][1] == pytest.approx([0.0, 3e-3])
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
COLUMNS = 'q', 'qd', 'u', 't', 'round_trip', 'late', 'mode', 'asked'  # of the record, in its order
THREE, FOUR = [3.0, 0.0], [4.0, 0.0]


@pytest.mark.parametrize(
    'timing, expected',
    [
        ('lockstep', [(ONE, WHOLE), (TWO, WHOLE), (TWO, WHOLE)]),
        ('arrival', [(SAFE, 3e-4), (ONE, 7e-4), (ONE, 6e-4), (TWO, 4e-4), (TWO, WHOLE)]),
        ('next_period', [(SAFE, WHOLE), (ONE, WHOLE), (TWO, WHOLE)]),
    ],
)
def test_a_command_acts_when_it_should(monkeypatch, timing, expected):
    """A command acts from its arrival within a step, and the one before until then."""
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


@pytest.mark.parametrize(
    'timing, phase, expected',
    [
        ('lockstep', 0.0, [ONE, ONE, ONE, FOUR, FOUR, FOUR]),
        ('arrival', 0.0, [SAFE, SAFE, SAFE, THREE, THREE, THREE]),
        ('arrival', 4e-4, [SAFE, ONE, ONE, ONE, ONE, FOUR, FOUR, FOUR]),
        ('next_period', 4e-4, [SAFE, SAFE, SAFE, SAFE, THREE, THREE, THREE]),
    ],
)
def test_drives_take_the_newest_command_in_each_bus_cycle(monkeypatch, timing, phase, expected):
    """Every third state the drives take the newest command, and none in between."""
    simulation = Simulation(monkeypatch, timing=timing, rate=1000.0 / 3.0, phase=phase)
    steps = Steps(simulation.plant.simulator)
    for u in (ONE, TWO, THREE, FOUR, TWO, ONE):
        simulation.go(u, after=2 * PERIOD // 10)
    assert [u for u, _ in steps.made] == expected
    assert sum(dt.expected for _, dt in steps.made) == pytest.approx(6 * WHOLE)
    for _ in range(49):
        simulation.go()
    steps.made.clear()
    simulation.go()
    simulation.go()
    assert [u for u, _ in steps.made] == [SAFE, SAFE]


def test_states_that_are_measured_seldom_are_all_answered(monkeypatch):
    """With one state in five, ticks without a state are not missed, and late answers count."""
    simulation = Simulation(monkeypatch, timing='arrival', sensing=sensing(rate=200.0))
    for _ in range(20):
        simulation.go(ONE if simulation.loop._stamps.published_stamp is not None else None)
    stamps = [stamp for *_, stamp in simulation.publisher.states]
    assert stamps == [simulation.epoch + 5 * k * PERIOD for k in range(5)]
    counts = simulation.loop.statistics.counts
    assert (counts['answered'], counts['missed'], counts['ticks']) == (4, 0, 20)
    assert simulation.loop.mode == DRIVEN


def test_a_late_answer_acts_from_when_it_comes(monkeypatch):
    """A late answer to the state before last acts from its arrival, if no newer one came."""
    record = Record()
    simulation = Simulation(monkeypatch, record, timing='arrival')
    steps = Steps(simulation.plant.simulator)
    simulation.go(ONE, after=1)
    first = simulation.publisher.states[0][2]
    late = simulation.publisher.states[-1][2]
    simulation.go()
    steps.made.clear()
    simulation.clock.bring(simulation.command(TWO, stamp=late), 2 * PERIOD // 10)
    simulation.loop._cycle()
    assert late > first and steps.made == [(ONE, 2e-4), (TWO, 8e-4)]
    columns = record.columns(*COLUMNS)
    assert columns['u'][-1].tolist() == TWO and np.isnan(columns['round_trip'][-1])


def test_a_robot_that_waited_sets_out_under_its_first_command(monkeypatch):
    """A waiting robot starts under its first command, however late that comes."""
    simulation = Simulation(monkeypatch, waits=True, timing='arrival')
    steps = Steps(simulation.plant.simulator)
    simulation.go()
    simulation.go(ONE, after=5 * PERIOD // 10)
    assert sum(dt.expected for _, dt in steps.made) == pytest.approx(WHOLE)
    assert {tuple(u) for u, _ in steps.made} == {tuple(ONE)}


def test_stamps_follow_the_clock_until_a_command_comes(monkeypatch):
    """Without commands a slip advances stamps; with commands it stops the robot's time."""
    simulation = Simulation(monkeypatch)
    for u, passed in ((None, 4 * PERIOD), (ONE, PERIOD)):
        if u:
            simulation.go(u)
        before = simulation.publisher.states[-1][2]
        simulation.clock.overslept = 3 * PERIOD
        simulation.go(u)
        assert simulation.publisher.states[-1][2] - before == passed
    behind = simulation.clock.time - simulation.publisher.states[-1][2]
    while simulation.loop.mode == DRIVEN:
        simulation.go()
    simulation.go()
    assert simulation.clock.time - simulation.publisher.states[-1][2] == behind - 3 * PERIOD


def test_stamps_begin_when_states_do(monkeypatch):
    """Stamps begin with the first state, however long after construction."""
    simulation = Simulation(monkeypatch)
    simulation.clock.time += 7 * PERIOD
    monkeypatch.setattr(simulation.loop, '_cycle', simulation.loop.leave)
    simulation.loop.run()
    assert simulation.publisher.states[-1][2] == simulation.epoch + 7 * PERIOD


def test_ticks_are_missed_only_while_commands_come(simulation):
    """Before the first command no tick is missed; later a late answer is a miss."""
    simulation.go()
    assert simulation.loop.statistics.counts['missed'] == 0
    simulation.go((1.0, 1.0))
    simulation.go()
    counts = simulation.loop.statistics.counts
    assert (counts['missed'], counts['answered'], counts['ticks']) == (1, 1, 3)
    assert simulation.loop.mode == DRIVEN  # the last command stays in force


def test_without_commands_for_long_the_robot_is_safe_by_itself(simulation):
    """Without commands the simulation applies its safe command until they return."""
    simulation.go((4.0, 4.0))
    for _ in range(49):
        simulation.go()
    assert simulation.loop.mode == DRIVEN
    same = copy.deepcopy(simulation.plant.simulator)
    simulation.go()
    same.step(np.array(SAFE), 1e-3)
    assert simulation.plant.simulator.qd.tolist() == same.qd.tolist()
    simulation.go((0.0, 0.0))
    assert simulation.loop.mode == DRIVEN and simulation.loop.statistics.counts['timeouts'] == 1


def test_before_the_first_command_the_safe_one_does_not_fade(simulation):
    """Before the first command the safe one is constant; after a loss it may fade."""
    asked, own = [], simulation.plant.safe.holding
    simulation.plant.safe.holding = lambda q, qd, t: asked.append(t) or own(q, qd, t)
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
    """Bad commands are counted and not applied: the last good one stays in force."""
    for _ in range(70):
        simulation.go((2.0, 2.0))
    if cause == 'out of order':
        simulation.clock.bring(simulation.command((2.0, 2.0)), 1)
    if stamp is not None:
        stamp = simulation.publisher.states[-1][2] + stamp * PERIOD
    simulation.clock.bring(simulation.command(u, stamp), 2)
    if cause == 'out of order':  # the first answers, so the second is met in the next cycle
        simulation.loop._cycle()
        simulation.clock.due = [(simulation.clock.time, simulation.command(u, stamp))]
    simulation.loop._cycle()
    assert simulation.loop.statistics.refused == {cause: 1}
    assert simulation.loop.commands.drives.u.tolist() == [2.0, 2.0]


def test_a_safe_command_from_outside_is_applied_without_being_an_answer(simulation):
    """A safe command, whose stamp is of no state, is applied but answers none."""
    simulation.go((1.5, 1.5), stamp=simulation.epoch + 12_345)
    assert simulation.loop.commands.drives.u.tolist() == [1.5, 1.5]
    assert simulation.loop.statistics.counts['answered'] == 0


def test_commands_are_kept_within_the_limits(simulation):
    """Commands are limited as by an actuator, and counted."""
    simulation.go((99.0, -99.0))
    assert simulation.loop.commands.drives.u.tolist() == [10.0, -10.0]
    assert simulation.loop.statistics.counts['clipped'] == 1


def test_waking_late_moves_all_deadlines(simulation):
    """After waking 10 ms late, deadlines move, and the delay is counted and reported."""
    simulation.go((1.0, 1.0))
    simulation.clock.overslept = 10 * PERIOD
    simulation.go((1.0, 1.0))
    late = simulation.clock.time
    for k in range(3):
        simulation.go((1.0, 1.0))
        assert simulation.clock.time == late + (k + 1) * PERIOD
    assert simulation.loop.statistics.counts['slips'] == 1
    assert simulation.loop.deadlines.slipped == 10 * PERIOD
    assert f'slipped {10 * PERIOD}' in simulation.publisher.words
    assert simulation.loop.mode == DRIVEN


@pytest.mark.parametrize('u', [ONE, None])
def test_a_machine_that_is_too_slow_for_a_driven_robot_is_reported(simulation, u):
    """A machine that loses a fifth of the time for four seconds is reported, with pace 0.8."""
    for _ in range(480):
        simulation.clock.overslept = 2 * PERIOD
        for _ in range(8):
            simulation.go(u)
    assert ('passes at 0.8 of real time, not at 1' in simulation.loop.slowness()) == bool(u)
    assert (simulation.loop.slowness() in simulation.publisher.words) == bool(u)


class Unanswered:
    """A Sensing of which an estimator makes what is answered."""

    answered = False

    def __init__(self, sensing):
        self.begin, self.sense = sensing.begin, sensing.sense


def test_short_stalls_are_made_up_for_where_an_estimator_counts_on_the_clock(monkeypatch):
    """After 10 periods nothing slips, and stamps are up with the clock 40 periods later."""
    simulation = Simulation(monkeypatch, sensing=Unanswered(exact_sensing(2, 1e-3)))
    simulation.go(ONE)
    ahead = simulation.publisher.states[-1][2] - simulation.clock.time
    simulation.clock.overslept = 10 * PERIOD
    for _ in range(40):
        simulation.go(ONE)
    assert simulation.publisher.states[-1][2] - simulation.clock.time == ahead
    assert simulation.loop.deadlines.slipped == 0
    simulation.clock.overslept = 51 * PERIOD
    simulation.go(ONE)
    assert simulation.loop.deadlines.slipped == 51 * PERIOD


def test_waking_a_little_late_keeps_the_deadlines(simulation):
    """After waking a little late, the next state still leaves most of a period to answer."""
    begin = simulation.clock.time
    simulation.clock.overslept = 8 * PERIOD // 10
    simulation.go((1.0, 1.0))
    woken = simulation.clock.time
    simulation.go((1.0, 1.0))
    assert simulation.clock.time == woken + 7 * PERIOD // 10
    simulation.go((1.0, 1.0))
    simulation.go((1.0, 1.0))
    assert simulation.clock.time == begin + 4 * PERIOD
    assert simulation.loop.statistics.counts['slips'] == 0


def test_a_pause_stops_time_without_a_gap(monkeypatch):
    """In a pause time stops but for single steps, and then goes on with the last command."""
    other = Simulation(monkeypatch)
    for u in (ONE, ONE, ONE, ONE, TWO):  # without a pause
        other.go(u)
    simulation = Simulation(monkeypatch)  # its clock is the one that counts from now on
    for _ in range(3):
        simulation.go(ONE)
    simulation.loop.pause(True, patience=0.0)
    for _ in range(200):
        simulation.go()
    assert len(simulation.publisher.states) == 4 and simulation.loop.mode == DRIVEN
    simulation.loop.step(patience=0.0)
    simulation.go()
    assert len(simulation.publisher.states) == 5
    simulation.go(TWO)  # taken, and in force when time passes again
    simulation.loop.pause(False, patience=0.0)
    simulation.go()
    assert np.array_equal(simulation.publisher.states[-1][0], other.publisher.states[-1][0])
    assert simulation.publisher.states[-1][2] == simulation.epoch + 5 * PERIOD
    assert not any(words.startswith('slipped') for words in simulation.publisher.words)


@pytest.mark.parametrize('pace, interval', [(0.5, 2 * PERIOD), (4.0, PERIOD // 4)])
def test_time_passes_faster_or_slower(monkeypatch, pace, interval):
    """States leave at other intervals, with the same stamps; the age of commands is simulated."""
    simulation = Simulation(monkeypatch, pace=pace)
    begin = simulation.clock.time + PERIOD
    simulation.go(ONE, after=interval // 3)
    for k in range(49):
        simulation.go()
        assert simulation.clock.time == begin + (k + 1) * interval
    stamps = [stamp for *_, stamp in simulation.publisher.states]
    assert stamps == [simulation.epoch + k * PERIOD for k in range(51)]
    assert simulation.loop.mode == DRIVEN
    simulation.go()
    assert simulation.loop.mode == simulation_loop.TIMED_OUT


def test_time_passes_as_fast_as_answers_come(monkeypatch):
    """Without real time each answer advances time, and the motion is the same."""
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
    for one, another in zip(fast.publisher.states, real.publisher.states, strict=True):
        assert np.array_equal(one[0], another[0]) and np.array_equal(one[1], another[1])
    before = fast.clock.time
    fast.go()
    assert fast.clock.time == before + 50 * PERIOD and len(fast.publisher.states) == 22


def test_without_pace_a_safe_command_does_not_stop_the_robot(monkeypatch):
    """
    A controller that sends safe commands gets a state each period, until it answers one.

    It needs several states before it answers again, and would wait for ever for the second one.
    """
    simulation = Simulation(monkeypatch, pace=0.0)
    simulation.go(ONE)
    before = simulation.clock.time
    simulation.go(TWO, after=20 * PERIOD, stamp=simulation.epoch + 12_345)
    assert simulation.clock.time == before + 20 * PERIOD  # the state was given up at once
    for _ in range(3):
        before = simulation.clock.time
        simulation.go()
        assert simulation.clock.time == before + PERIOD
    assert simulation.loop.mode == DRIVEN and simulation.loop.commands.drives.u.tolist() == TWO
    simulation.go(ONE)
    before = simulation.clock.time
    simulation.go()
    assert simulation.clock.time == before + 50 * PERIOD  # answers are waited for again


def sensing(**given):
    """Return the Sensing of the two masses."""
    return Sensing(make_sensors(('x', 'y'), given), 2, 1e-3)


def test_a_delayed_state_keeps_its_stamp(monkeypatch):
    """A state delayed by two periods keeps its stamp and is answered."""
    simulation = Simulation(monkeypatch, sensing=sensing(delay=2e-3, bias=[0.5, 0.0]))
    for _ in range(2):
        assert not simulation.publisher.states
        simulation.go()
    for k in range(3):
        q, _, stamp = simulation.publisher.states[-1]
        assert stamp == simulation.epoch + k * PERIOD and len(simulation.publisher.states) == k + 1
        simulation.go((2.0, 0.0))
    assert simulation.publisher.states[0][0].tolist() == [0.5, 0.0]
    counts = simulation.loop.statistics.counts
    assert counts['answered'] == 3 and counts['missed'] == 0


def test_the_record_marks_ticks_without_a_state(monkeypatch):
    """With states at half the rate the record marks ticks without a state."""
    simulation = Simulation(monkeypatch, Record(), sensing=sensing(rate=500.0))
    for k in range(6):
        simulation.go(*([(2.0, 0.0)] * (k % 2 == 0)))
    columns = simulation.loop.record.columns(*COLUMNS)
    assert columns['asked'] == (1, 0, 1, 0, 1, 0)
    assert np.isnan(columns['round_trip']).tolist() == [False, True] * 3
    assert simulation.loop.statistics.counts['missed'] == 0


def test_lost_states_are_no_missed_ticks_and_do_not_stop_a_robot_without_pace(monkeypatch):
    """Without real time, lost states do not stop time and are not missed ticks."""
    simulation = Simulation(monkeypatch, pace=0.0, sensing=sensing(dropout=0.5, seed=2))
    begin, answered = simulation.clock.time, 0
    for _ in range(200):
        there = simulation.loop._stamps.published_stamp is not None
        answered += there
        simulation.go((2.0, 0.0) if there else None, after=1000)
    assert 70 < answered < 130 and simulation.clock.time - begin == 1000 * answered
    counts = simulation.loop.statistics.counts
    assert counts['answered'] == answered and counts['missed'] == 0
    assert simulation.loop.mode == DRIVEN and counts['ticks'] == 200


def test_states_of_a_part_that_no_command_answers_do_not_stop_a_robot_without_pace(monkeypatch):
    """Without real time, states that nobody answers, of a faster part, are not waited for."""
    simulation, publish = Simulation(monkeypatch, pace=0.0), Outlet.state
    monkeypatch.setattr(
        simulation.publisher,
        'state',
        lambda *state: (
            publish(simulation.publisher, *state) or len(simulation.publisher.states) % 4 == 1
        ),
    )
    begin = simulation.clock.time
    for k in range(80):
        simulation.go((2.0, 0.0) if k % 4 == 0 else None, after=1000)
    assert simulation.clock.time - begin == 1000 * 20
    counts = simulation.loop.statistics.counts
    assert counts['answered'] == 20 and counts['ticks'] == 80 and counts['missed'] == 0


def test_a_robot_is_pushed_and_put_elsewhere(simulation):
    """Wrenches act from the next period; a set state starts at rest and safe."""
    simulation.go(ONE)
    simulation.loop.wrenches = {'cart': [Wrench(np.array([0.0, 0.0, 0.0, 5.0, 0.0, 0.0]))]}
    before = simulation.publisher.states[-1][1].copy()
    simulation.go([0.0, 0.0])
    assert simulation.publisher.states[-1][1] - before == pytest.approx([5e-3, 5e-3], rel=1e-3)
    simulation.loop.wrenches = None
    place = np.array([3.0, -2.0]), np.array([0.5, 0.0])
    simulation.loop.reset(*place, patience=0.0)
    simulation.go()
    q, qd, stamp = simulation.publisher.states[-1]
    assert q == pytest.approx(place[0], abs=1e-3) and qd == pytest.approx(place[1], abs=2e-3)
    assert stamp == simulation.epoch + 3 * PERIOD and simulation.loop.mode == IDLE


def test_a_divergence_stops_the_robot_until_a_reset(simulation):
    """After a divergence no state goes out until a reset; then stamps go on."""
    simulation.plant.simulator.q[:] = 99.9999
    simulation.plant.simulator.qd[:] = 10.0
    simulation.go((10.0, 10.0))
    published = len(simulation.publisher.states)
    simulation.go((10.0, 10.0))
    assert simulation.loop.mode == DIVERGED and len(simulation.publisher.states) == published
    assert 'diverged' in str(simulation.loop.error)
    simulation.loop.reset(patience=0.0)
    simulation.go()
    assert simulation.loop.mode == IDLE and simulation.loop.error is None
    assert simulation.publisher.states[-1][2] > simulation.publisher.states[-2][2]
    assert abs(simulation.publisher.states[-1][0]).max() < 1.0


def test_the_record_has_round_trips_and_misses(monkeypatch):
    """A missed tick is nan; so is none that was answered."""
    simulation = Simulation(monkeypatch, Record())
    simulation.go((1.0, 2.0), after=300_000)
    simulation.go()
    simulation.clock.overslept = 5_000
    simulation.go((1.0, 2.0), after=200_000)
    columns = simulation.loop.record.columns(*COLUMNS)
    assert columns['round_trip'] == pytest.approx([3e-4, np.nan, 2e-4], nan_ok=True)
    assert columns['late'] == pytest.approx([0.0, 0.0, 5e-6])
    assert np.array(columns['u']).tolist() == [[1.0, 2.0]] * 3
    assert columns['t'] == pytest.approx([0.0, 1e-3, 2e-3])
    assert columns['stamp'] == tuple(simulation.epoch + k * PERIOD for k in range(3))
    assert columns['mode'] == (DRIVEN,) * 3
