# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The control loop in simulated time: what it answers, refuses and survives."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.loops.control_loop import (
    ControlLoop,  # noqa: E402
    ReferenceTime,  # noqa: E402
)
from softrobot_dynamics.loops.message_fields import stamp_of  # noqa: E402
from softrobot_dynamics.loops.orders import HoldOrder, OneTimeReference, TakenOrders  # noqa: E402
from softrobot_dynamics.loops.state_reader import StateReader  # noqa: E402
from softrobot_dynamics.loops.watchdog import FAILED, RUNNING, STOPPED, TIMED_OUT, WAITING  # noqa: E402
from support.control_loops import Control, state, WATCHDOG  # noqa: E402
from support.linear_plant import COORDINATES  # noqa: E402
from support.loops import PERIOD, SAFE  # noqa: E402

pytestmark = pytest.mark.quick


@pytest.fixture
def control(monkeypatch):
    """Return a control loop that has not seen a state yet."""
    return Control(monkeypatch)


def test_a_state_is_answered_with_its_stamp(control):
    """The first state is held without error, and the next ones are controlled."""
    assert control.go(state((1.0, -1.0), 5)) == [0.0, 0.0]
    assert control.go(state((1.1, -1.0), 6)) == pytest.approx([-10.0, 0.0])
    stamps = [
        stamp_of(JointState()) if s is None else s.nanosec for _, s in control.publisher.commands
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
    """A bad state is counted and not answered, and the next valid one is."""
    control.go(state(stamp=6))
    sent = len(control.publisher.commands)
    if cause == 'wrong size':
        bad.name = list(COORDINATES)
    control.go(bad)
    assert len(control.publisher.commands) == sent
    assert control.loop.statistics.refused == {cause: 1} and control.loop.mode == RUNNING
    control.go(state(stamp=8))
    assert len(control.publisher.commands) == sent + 1


def test_bad_states_do_not_feed_the_watchdog(control):
    """A stream of bad states does not keep the watchdog from running out."""
    control.go(state(stamp=1))
    for _ in range(49):
        control.go(state((np.nan, 0.0)))
    assert control.loop.mode == RUNNING
    control.go(state((np.nan, 0.0)))
    assert control.loop.mode == TIMED_OUT and control.publisher.commands[-1] == (SAFE, None)


def test_a_stall_of_ten_milliseconds_trips_nothing(control):
    """A stall of 10 ms is counted as missed states and trips no watchdog."""
    for k in range(5):
        control.go(state(stamp=1 + k * PERIOD))
    control.go(state(stamp=1 + 15 * PERIOD), after=11 * PERIOD)
    assert control.loop.mode == RUNNING and control.loop.statistics.counts['timeouts'] == 0
    assert control.loop.statistics.counts['missed'] == 10


def test_without_states_the_safe_command_goes_out_and_is_repeated(control):
    """Without states the safe command goes out once in every watchdog time, as one trip."""
    control.go(state((1.0, 1.0), 1))
    begin = control.clock.time
    for k in range(1, 4):
        assert control.go() == SAFE
        assert control.clock.time == begin + k * WATCHDOG
    assert control.loop.statistics.counts['timeouts'] == 1
    assert control.publisher.commands[-1][1] is None


def test_states_that_come_back_are_answered_again(control):
    """States after a silence are answered again, even with earlier stamps."""
    control.go(state((1.0, 1.0), 100))
    control.go()
    assert control.go(state((2.0, 2.0), 1)) == [0.0, 0.0]  # held where it is now
    assert control.loop.mode == RUNNING
    assert control.plant.controller.calls[-1] == 'start'


@pytest.mark.parametrize('after, sent', [('resume', [-10.0, -10.0]), ('hold', [0.0, 0.0])])
def test_after_a_loss_of_states_the_reference_is_resumed_or_the_robot_held(control, after, sent):
    """After a loss of states the loop resumes or holds, as `after_loss` says; new orders count."""
    control.loop.order(reference=np.array([0.5, 0.5]))
    control.loop.after_loss = after
    control.go(state((1.0, 1.0), 1))
    control.go()
    assert control.loop.mode == TIMED_OUT
    assert control.go(state((1.5, 1.5), 2)) == sent and control.loop.mode == RUNNING
    assert ('`after_loss`' in control.loop.held()) == (after == 'hold')
    control.go()
    control.loop.order(reference=np.array([0.6, 0.6]))
    assert max(control.go(state((1.6, 1.6), 3))) < -9.0 and not control.loop.held()


def test_a_state_that_waited_through_a_stall_is_stale(control):
    """After a stall longer than the watchdog, a state that waited is not acted on."""
    control.go(state(stamp=1))
    control.clock.bring(state(stamp=2), after=PERIOD)
    control.clock.wait, wait = lambda timeout: _stall(control.clock, wait), control.clock.wait
    control.loop._cycle()
    control.clock.wait = wait
    assert control.loop.statistics.refused == {'stale': 1} and control.loop.mode == TIMED_OUT
    control.go(state(stamp=3))
    assert control.loop.mode == RUNNING


def kept_from_running(control, call):
    """Return what makes a call for another, and takes twice the watchdog time."""

    def stopped(*arguments):
        control.clock.time += 2 * WATCHDOG
        return call(*arguments)

    return stopped


def test_a_command_computed_too_late_is_not_sent(control):
    """Instead of a late command the safe one is sent, and the law resumes with a state."""
    control.go(state((1.0, 1.0), 1))
    sent, compute = len(control.publisher.commands), control.plant.controller.compute
    control.plant.controller.compute = kept_from_running(control, compute)
    assert control.go(state((1.0, 1.0), 2)) == SAFE and control.loop.mode == TIMED_OUT
    assert (
        len(control.publisher.commands) == sent + 1
        and control.loop.statistics.counts['timeouts'] == 1
    )
    control.plant.controller.compute = compute
    control.go(state((1.0, 1.0), 3))
    assert control.loop.mode == RUNNING


def test_a_command_that_took_too_long_on_its_way_is_followed_by_the_safe_one(control):
    """A command that was published too late is followed at once by the safe command."""
    control.go(state((1.0, 1.0), 1))
    send = control.publisher.command
    control.publisher.command = kept_from_running(control, send)
    control.go(state((1.0, 1.0), 2))
    assert control.publisher.commands[-2][1] is not None
    assert control.publisher.commands[-1] == (SAFE, None) and control.loop.mode == TIMED_OUT
    answered, _ = control.publisher.commands[-2]
    assert answered != SAFE and control.loop.record.rows[-1][4].tolist() == answered


def test_an_answer_is_dropped_where_the_guard_sent_a_safe_command_meanwhile(monkeypatch):
    """An answer is dropped if the guard sent a safe command meanwhile; the next one is not."""
    control = Control(monkeypatch, rate_limit=np.full(2, 10.0))
    for k in range(1, 60):
        control.go(state((1.0, 1.0), k))
    control.go()
    assert control.loop.mode == TIMED_OUT and control.loop._next_step is not None
    compute = control.plant.controller.compute

    def interrupted(*arguments):
        control.clock.time = control.loop._next_step
        control.loop._keep_safe(control.clock.time)
        return compute(*arguments)

    control.plant.controller.compute = interrupted
    rows, sent = len(control.loop.record.rows), len(control.publisher.commands)
    control.go(state((1.0, 1.0), 60), after=PERIOD // 10)
    assert len(control.loop.record.rows) == rows
    assert [stamp for _, stamp in control.publisher.commands[sent:]] == [None]
    control.plant.controller.compute = compute
    control.go(state((1.0, 1.0), 61))
    assert control.loop.mode == RUNNING


def test_a_state_that_waited_while_the_loop_did_not_run_is_stale(control):
    """A state that waited while the loop did not run is stale, at any point of its cycle."""
    control.go(state(stamp=1))
    control.clock.bring(state(stamp=2), PERIOD)
    control.clock.time += 2 * WATCHDOG
    control.loop._cycle()
    assert control.loop.statistics.refused == {'stale': 1} and control.loop.mode == TIMED_OUT


def test_states_that_waited_are_stale_also_where_the_guard_was_first(control):
    """States sent before a stop of the process are not answered after it."""
    for k in range(1, 60):
        control.go(state(stamp=k))
    control.clock.time += 2000 * PERIOD
    control.loop._keep_safe(control.clock.time)
    count = len(control.publisher.commands)
    for k in range(60, 70):
        control.clock.sent_at = control.clock.time - 1200 * PERIOD  # of 2000 that passed
        control.go(state(stamp=k), after=PERIOD // 20)
    assert control.loop.statistics.refused == {'stale': 10}
    assert all(u == SAFE for u, _ in control.publisher.commands[count:])
    control.clock.sent_at = None
    control.go(state(stamp=2000))
    assert control.loop.mode == RUNNING


def _stall(clock, wait):
    message = wait(PERIOD * 2)
    clock.time += 2 * WATCHDOG
    return message


def test_before_any_state_the_safe_command_is_sent(control):
    """Before any state the safe command is sent without a trip of the watchdog."""
    assert control.go() == SAFE
    assert control.loop.mode == WAITING and control.loop.statistics.counts['timeouts'] == 0


def test_a_finished_reference_is_not_restarted(control):
    """A reference that ended in a pause is not restarted: the outputs are held."""
    control.go(state((1.0, 1.0), 1))
    control.loop.order(reference=OneTimeReference(np.array([0.5, 0.5])))
    for stamp in (2, 3):
        assert control.go(state((1.0, 1.0), stamp)) == [-10.0, -10.0]
    control.go()
    assert control.loop.mode == TIMED_OUT
    for stamp in (4, 5):
        assert control.go(state((0.8, 0.8), stamp)) == [0.0, 0.0]
    control.loop.order(reference=OneTimeReference(np.array([0.7, 0.9])))
    assert control.go(state((0.8, 0.8), 6)) == pytest.approx([-10.0, 10.0])


def test_a_failing_controller_means_the_safe_command(control):
    """If the law reports failure or raises, the safe command is sent until it recovers."""
    control.go(state(stamp=1))
    assert control.go(state((9.0, 0.0), 2)) == SAFE and control.loop.mode == FAILED
    control.plant.controller.compute, compute = None, control.plant.controller.compute
    assert control.go(state(stamp=3)) == SAFE
    control.plant.controller.compute = compute
    assert control.go(state(stamp=4)) == [0.0, 0.0] and control.loop.mode == RUNNING
    assert control.loop.statistics.counts['failures'] == 2


def test_a_law_says_why_it_has_no_command(control, monkeypatch):
    """The reason of a law without a command is logged, by itself and before the change of mode."""
    control.go(state(stamp=1))
    control.go(state((9.0, 0.0), 2))
    assert 'no command' not in control.publisher.words
    monkeypatch.setattr(type(control.plant.controller), 'failure', 'no plan covers the time')
    control.go(state((9.0, 0.0), 3))
    assert control.publisher.words[-1] == 'no command'


def test_the_emergency_stop_is_latched(control):
    """An emergency stop holds from the next state until released; then outputs are held."""
    control.go(state(stamp=1))
    control.loop.order(emergency=True)
    for k in range(3):
        assert control.go(state((0.5, 0.5), 2 + k)) == SAFE and control.loop.mode == STOPPED
    control.loop.order(emergency=False, reference=HoldOrder())
    assert control.go(state((0.7, 0.7), 9)) == [0.0, 0.0]


def test_an_emergency_does_not_wait_for_a_state(control):
    """Without states an emergency stop sends the safe command when the loop is woken."""
    control.go(state(stamp=1))
    control.loop.order(emergency=True)
    control.clock.time += PERIOD
    control.clock.wait = lambda timeout: None
    assert control.go() == SAFE and control.loop.mode == STOPPED


def test_an_emergency_before_activation_counts(monkeypatch):
    """An emergency stop that is ordered before activation holds from the first state on."""
    control = Control(monkeypatch, emergency=True)
    assert control.go(state(stamp=1)) == SAFE and control.loop.mode == STOPPED


def test_an_emergency_before_any_state_sends_the_safe_command_at_once(monkeypatch):
    """A loop that begins in an emergency sends the safe command without waiting for a state."""
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
    assert control.publisher.commands[0][0] == SAFE and clock.time == started
    loop._receive(state((0.2, 0.3), 1), clock.time)
    assert postures[0] is None and list(postures[-1]) == [0.2, 0.3]
    assert loop.mode == STOPPED


def test_new_orders_count_from_the_next_state(control):
    """New settings and references count from the next state, without a restart of the law."""
    control.go(state(stamp=1))
    control.plant.controller.calls.clear()
    control.loop.order(reference=np.array([0.01, 0.0]))
    assert control.go(state(stamp=2)) == pytest.approx([1.0, 0.0])
    settings = control.loop.orders.settings
    control.loop.order(settings=settings.replace(p=2.0 * settings.p))
    assert control.go(state(stamp=3)) == pytest.approx([2.0, 0.0])
    assert control.plant.controller.calls == ['follow', 'use']


def test_each_hold_keeps_the_present_outputs(control):
    """Each hold keeps the outputs at the time it takes effect."""
    control.go(state(stamp=1))
    for k, x in enumerate((0.2, 0.4)):
        control.loop.order(reference=HoldOrder())
        assert control.go(state((x, 0.0), 2 + k)) == [0.0, 0.0]


def test_the_end_is_a_safe_command_that_has_been_delivered(control):
    """The loop ends with a safe command that has been delivered, in any mode."""
    control.go(state((1.0, 1.0), 1))
    control.loop.finish()
    assert (
        control.publisher.commands[-1] == (SAFE, None) and control.publisher.words[-1] == 'flushed'
    )


def test_an_emergency_counts_while_states_are_refused(control):
    """While states are refused an emergency stop acts without a valid state or the watchdog."""
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
    assert control.publisher.commands[-1][0] == pytest.approx([-5.0, -5.0])
    control.publisher.commands.clear()
    return control


def assert_led(commands, begin, end, step=0.1):
    """No command is farther than a step from the one before, and the last is `end`."""
    sent = np.array([begin] + [u for u, _ in commands])
    assert np.abs(np.diff(sent, axis=0)).max() <= step * (1.0 + 1e-6)
    assert sent[-1] == pytest.approx(end)


def test_an_activation_goes_on_from_the_last_command_of_the_one_before(slow):
    """Rate limits of an activation count from the last command of the one before."""
    slow.loop.driver.limiter.has_last = False
    before = np.array([-4.0, 3.0])
    loop = ControlLoop(
        slow.plant, slow.clock, StateReader(COORDINATES), slow.publisher, slow.loop.orders,
        period=PERIOD, watchdog=WATCHDOG,
    )  # fmt: skip
    loop.count_from(before)
    assert loop.driver.last_command.tolist() == before.tolist()
    assert loop.driver.limit(np.zeros(2), PERIOD * 1e-9)[0] == pytest.approx([-3.9, 2.9])


def test_an_emergency_stop_is_led_at_the_rate_of_the_actuators(slow):
    """The safe command is approached at the actuators' rate limits, with or without states."""
    slow.loop.order(emergency=True)
    slow.clock.time += PERIOD
    for k in range(40):
        slow.go(state((0.05, 0.05), 100 + k) if k < 20 else None, after=PERIOD // 2)
    assert slow.publisher.commands[0][0] != [-5.0, -5.0]
    for _ in range(60):
        slow.go()
    assert_led(slow.publisher.commands, [-5.0, -5.0], SAFE)


def test_a_safe_command_between_two_ticks_grants_no_further_period_of_change(slow):
    """A tick just after a safe command changes what the time since that one allows."""
    slow.clock.time += PERIOD // 10
    slow.loop.order(emergency=True)
    slow.loop.order(emergency=False)
    slow.go(state((-0.05, -0.05), 100), after=4 * PERIOD // 10)
    first, second = (np.array(u) for u, _ in slow.publisher.commands)
    assert np.abs(first + 5.0) == pytest.approx(0.01) and slow.loop.mode == RUNNING
    assert np.abs(second - first) == pytest.approx(0.04)


def test_safe_commands_keep_rate_limits(slow):
    """Safe commands of the watchdog and at the end are approached at rate limits."""
    slow.go()
    assert slow.loop.mode == TIMED_OUT
    begin = slow.clock.time
    for _ in range(20):
        slow.go()
    assert slow.clock.time == begin + 20 * PERIOD
    slow.loop.finish()
    assert_led(slow.publisher.commands, [-5.0, -5.0], SAFE)
    assert slow.clock.time < begin + 60 * PERIOD


def test_safety_goes_before_the_rates_in_the_end(monkeypatch):
    """If rate limits would need over half a second, the last command is the safe one."""
    control = Control(monkeypatch, rate_limit=np.array([1.0, 1.0]))
    control.go(state(stamp=1))
    control.loop.driver.limiter.last[:] = -5.0
    begin = control.clock.time
    control.loop.finish()
    assert control.publisher.commands[-1] == (SAFE, None)
    assert 500 * PERIOD <= control.clock.time - begin <= 502 * PERIOD
    sent = np.array([u for u, _ in control.publisher.commands])
    assert np.abs(np.diff(sent[1:-1], axis=0)).max() <= 1.001e-3


def test_narrower_limits_are_approached_at_the_rate(slow):
    """Narrower limits set live are approached at the rate limit and then kept."""
    settings = slow.loop.orders.settings
    slow.loop.order(settings=settings.replace(lower=np.array([-2.0, -10.0])))
    for k in range(40):
        slow.go(state((0.05, 0.05), 100 + k))
    assert_led(slow.publisher.commands, [-5.0, -5.0], [-2.0, -5.0])


def test_only_finite_commands_within_limits_go_out(control):
    """Only finite commands within limits are sent, whatever a law returns as valid."""
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
    """A loop that fails sends a safe command and reports the failure."""
    control.clock.wait = None
    control.loop.run()
    assert isinstance(control.loop.error, TypeError)
    assert control.publisher.commands[-1] == (SAFE, None)


def test_every_tick_is_recorded(control):
    """Each tick is recorded with state, target, command, time and mode."""
    for k in range(3):
        control.go(state((0.1 * k, 0.0), 1 + k * PERIOD))
    control.loop.order(emergency=True)
    control.go(state((0.3, 0.0), 1 + 3 * PERIOD))
    names = 'q', 'qd', 'u', 'y', 'y_rate', 'y_d', 'y_d_rate', 'y_d_acceleration', 't', 'mode'
    columns = control.loop.record.columns(*names, 'orders', 'u_before')
    assert columns['orders'] == (
        TakenOrders.BEGAN | TakenOrders.TUNED | TakenOrders.HOLDS,
        0,
        0,
        0,
    )
    assert np.isnan(columns['u_before'][0]).all()
    assert np.array_equal(columns['u_before'][1:-1], columns['u'][:-2])
    *_, (_, _), (stopped, _), (_, _) = control.publisher.commands  # at once, between two ticks
    assert np.array_equal(columns['u_before'][-1], stopped)
    assert columns['t'] == pytest.approx([0.0, 1e-3, 2e-3, 3e-3])
    assert columns['stamp'] == tuple(1 + k * PERIOD for k in range(4))
    assert np.diff(columns['moment']).tolist() == [PERIOD] * 3
    assert [q[0] for q in columns['q']] == pytest.approx([0.0, 0.1, 0.2, 0.3])
    u = [u[0] for u in columns['u']]  # the last one on its way to the safe one
    assert u == pytest.approx([0.0, -10.0, -10.0, 0.0], abs=1e-4)
    assert [y[0] for y in columns['y'][:3]] == pytest.approx([0.0, 0.1, 0.2])
    assert [y[0] for y in columns['y_d'][:3]] == [0.0, 0.0, 0.0]
    assert np.isnan([columns[name][3] for name in ('y', 'y_rate', 'y_d', 'y_d_rate')]).all()
    assert columns['mode'] == (RUNNING, RUNNING, RUNNING, STOPPED)


def test_reference_time_follows_stamps_and_stands_still_with_them():
    """The reference follows stamps, not arrivals, unless stamps are invalid."""
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
