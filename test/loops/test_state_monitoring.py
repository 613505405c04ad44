# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Reports on messages: rate-limited, fully counted, with the median rate."""

import functools
from math import inf
from queue import SimpleQueue
import threading
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time  # noqa: E402
from softrobot_dynamics.loops import state_monitoring
from softrobot_dynamics.loops.message_fields import SECOND  # noqa: E402
from softrobot_dynamics.loops.state_monitoring import StateMonitor, wrong_rate  # noqa: E402
from softrobot_dynamics.loops.statistics import LoopStatistics, Throttle, Window  # noqa: E402
from softrobot_dynamics.loops.watchdog import FAILED, RUNNING, STOPPED  # noqa: E402
from softrobot_dynamics.nodes import diagnostics, loop_log  # noqa: E402
from softrobot_dynamics.nodes.control_report import report_on  # noqa: E402
from softrobot_dynamics.nodes.diagnostics import ERROR, OK, WARN  # noqa: E402

pytestmark = pytest.mark.quick

PERIOD = 1_000_000


class Logger:
    """Keeps what is logged."""

    def __init__(self):
        self.warnings, self.infos = [], []
        self.warning, self.info = self.warnings.append, self.infos.append


def test_one_line_per_second_and_cause():
    """The first line of a cause is logged at once, further ones once a second with a count."""
    throttle = Throttle()
    said = [throttle.passes('a', k * PERIOD) for k in range(2001)]
    assert said == [0] + [None] * 999 + [999] + [None] * 999 + [999]
    assert throttle.passes('b', 5) == 0


def test_the_end_of_a_mode_is_logged_like_its_start(monkeypatch):
    """The end of a mode is logged like its start; frequent changes once a second."""
    clock = SimpleNamespace(time=0)
    monkeypatch.setattr(loop_log, 'now', lambda: clock.time)
    logger = Logger()
    told = []
    node = SimpleNamespace(get_logger=lambda: logger)
    words = loop_log.LoopLog(node, lambda: told.append(clock.time))
    words.entered('running', 'waiting', True)
    assert logger.infos == ['running (before: waiting)'] and logger.warnings == []
    for _ in range(500):
        words.entered('failed', 'running', False)
        words.entered('running', 'failed', True)
    assert logger.warnings == ['failed (before: running)', 'running (before: failed)']
    clock.time += SECOND
    words.entered('failed', 'running', False)
    assert logger.warnings[-1].endswith('; 499 more since the last line')
    assert told == 1001 * [0] + [SECOND]  # of every change


@pytest.mark.parametrize(
    'step, words', [(1.0, ''), (1.05, ''), (4.0, 'states come at 250 Hz'), (0.5, 'at 2000 Hz')]
)
def test_the_rate_is_that_of_most_states(step, words):
    """Stalls and bursts of a fifth of the states do not count."""
    window = Window()
    for k in range(50):
        window.add(round(PERIOD * (step, step, step, step, 30.0 * (k % 2))[k % 5]))
    found = wrong_rate(window, PERIOD)
    assert words in found and bool(words) == bool(found)
    assert not words or '`rate` is 1000 Hz' in found
    assert ('set `rate` to 250' in found) is (step == 4.0)


def quiet_loop(**given):
    """Return what is looked at of a loop to which nothing has come yet."""
    orders = SimpleNamespace(settings=SimpleNamespace(delay=0.0))
    states = SimpleNamespace(estimated=(), silent=lambda moment: (), delay=0, lateness=0)
    known = {'steps': Window(), 'period': PERIOD, 'last_stamp': 0, 'last_valid': None}
    known |= {'soonest': inf, 'mode': RUNNING, 'ignored_names': (), 'held': str}
    known['driver'] = SimpleNamespace(law=SimpleNamespace(figures=dict, relaxed={}, warning=''))
    return SimpleNamespace(
        **{**known, 'round_times': Window(), 'orders': orders, 'states': states, **given}
    )


@pytest.mark.parametrize(
    'behind, known, words',
    [
        (0.2, 0.0, ''),  # [ms]: less than half a period
        (2.0, 0.0, 'commands leave 2.3 ms after the stamps'),
        (2.0, 2.0, ''),
        (2.0, 1.0, '`delay` is 1 ms'),
        (0.2, 4.5, 'the law predicts 2 ms too far ahead'),  # the actuators have 2 ms
        (0.2, 3.5, ''),  # a bus with a cycle
        (80.0, 0.0, ''),  # the stamps of another clock
        (-5.0, 0.0, ''),
    ],
)
def test_an_unknown_delay_is_reported(monkeypatch, behind, known, words):
    """A delay that the law ignores is reported if most recent checks saw it."""
    monkeypatch.setattr(state_monitoring, 'now', lambda: 0)
    logger, here = Logger(), 10**18
    clock = SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=here))
    node = SimpleNamespace(get_logger=lambda: logger, get_clock=lambda: clock)
    loop = quiet_loop(last_valid=0)
    loop.orders.settings.delay = known * 1e-3
    for _ in range(30):
        loop.round_times.add(300_000)
    actuators = [SimpleNamespace(lag=0.0005, delay=delay) for delay in (0.001, 0.0015)]
    watch, found = StateMonitor(node, '/joint_states', actuators), []
    for k in range(2 * state_monitoring.DELAY_SAMPLES):
        late = behind + 6.0  # a simulation that has slipped
        loop.last_stamp = here - round(late * 1e6)
        loop.soonest = -here + round(behind * 1e6)  # between two looks, before it slipped
        found = watch.check(loop, False)
        assert k >= state_monitoring.DELAY_SAMPLES - 1 or not found
    assert [words in each for each in found] == [True] * bool(words)
    assert len(logger.warnings) == bool(words)
    loop.mode = STOPPED  # the safe command answers nothing
    assert watch.check(loop, False) == []
    loop.mode = RUNNING
    del loop.orders.settings.delay
    assert watch.check(loop, False) == []


def test_joints_of_others_are_named_once(monkeypatch):
    """A gripper's joints among the states are ignored, which one warning says."""
    clock = SimpleNamespace(time=0)
    monkeypatch.setattr(state_monitoring, 'now', lambda: clock.time)
    logger = Logger()
    watch = StateMonitor(SimpleNamespace(get_logger=lambda: logger), '/joint_states')
    for _ in range(3):
        assert watch.check(quiet_loop(ignored_names=('grip', 'lift')), False) == []
        clock.time += 3600 * 10**9
    assert [words for words in logger.warnings if 'ignored: grip, lift' in words]
    assert len(logger.warnings) == 1


@pytest.mark.parametrize('age, said', [(8, False), (12, True)])
def test_a_part_that_is_old_at_the_ticks_is_named(monkeypatch, age, said):
    """A part of the states more than 10 ms older than the ticks is reported, with what helps."""
    monkeypatch.setattr(state_monitoring, 'now', lambda: 0)
    logger, ages = Logger(), [Window(), Window()]
    parts = [SimpleNamespace(name=name) for name in ('arm', 'soft')]
    loop = quiet_loop()
    loop.states.parts, loop.states.ages = parts, ages
    watch = StateMonitor(SimpleNamespace(get_logger=lambda: logger), '/joint_states')
    for _ in range(30):
        ages[0].add(0)
        ages[1].add(age * 10**6)
    found = watch.check(loop, False)
    expected = f'states of soft are {age} ms older', 'states.tick: soft'
    assert [all(words in each for words in expected) for each in found] == [True] * said
    assert logger.warnings == found


def test_several_publishers_are_named_when_it_matters(monkeypatch):
    """Several publishers are named while states are refused, once a minute in the log."""
    clock = SimpleNamespace(time=0)
    monkeypatch.setattr(state_monitoring, 'now', lambda: clock.time)
    logger = Logger()
    names = [SimpleNamespace(node_namespace='/', node_name=name) for name in ('one', 'two')]
    node = SimpleNamespace(
        get_logger=lambda: logger,
        count_publishers=lambda topic: len(names),
        get_publishers_info_by_topic=lambda topic: names,
    )
    loop = quiet_loop()
    watch = StateMonitor(node, '/joint_states')
    assert watch.check(loop, False) == []
    for _ in range(3):
        assert watch.check(loop, True) == ['2 publishers of /joint_states: /one, /two']
    assert len(logger.warnings) == 1
    del names[1]
    assert watch.check(loop, True) == []


def reported_loop(mode):
    """Return what is reported of a loop in a mode, without commands yet."""
    given = {'error': None, 'phase': '', 'command': None, 'record': None}
    statistics = LoopStatistics()
    return quiet_loop(mode=mode, compute_times=Window(), statistics=statistics, **given)


def monitors(odd):
    """Return monitors of a loop that say what is odd about its states."""
    watch = SimpleNamespace(check=lambda *_: odd, offset=lambda _: 0.0, delay=lambda _: 0.0)
    return watch, SimpleNamespace(monitor=lambda _: '', last=0.0, last_of_changed_model=0.0)


@pytest.mark.parametrize(
    'mode, odd, timeouts, level, words',
    [
        (RUNNING, [], 0, OK, 'running'),
        (RUNNING, ['a delay'], 0, WARN, 'a delay'),
        (STOPPED, [], 0, WARN, 'emergency stop'),
        (STOPPED, ['a delay', 'a rate'], 0, WARN, 'emergency stop; a delay; a rate'),
        (STOPPED, [], 1, ERROR, 'emergency stop; the safe command was sent for a while'),
        (RUNNING, ['a rate'], 1, ERROR, 'the safe command was sent for a while; a rate'),
        (FAILED, ['a delay'], 0, ERROR, 'no command found: the safe command is sent'),
    ],
)
def test_the_mode_of_the_loop_comes_first(mode, odd, timeouts, level, words):
    """The mode of the loop comes first in its report, before all details."""
    loop = reported_loop(mode)
    loop.statistics.counts['timeouts'] += timeouts
    found = report_on(loop, *monitors(odd))
    assert found[:2] == (level, words) and report_on(None, *monitors([]))[1] == 'inactive'


def test_a_law_that_is_kept_from_its_task_warns():
    """A law's warning raises the diagnostic level of its loop to a warning."""
    loop = reported_loop(RUNNING)
    loop.driver.law.warning = 'tip cannot follow'
    assert report_on(loop, *monitors([]))[:2] == (WARN, 'tip cannot follow')
    assert report_on(loop, *monitors(['a delay']))[:2] == (WARN, 'a delay; tip cannot follow')


def test_a_change_is_published_without_waiting_for_the_next_second(monkeypatch):
    """Changes within a tenth of a second are published once, and none after the end."""
    published, said = (
        SimpleQueue(),
        SimpleNamespace(publish=lambda message: published.put(message)),
    )
    clock = SimpleNamespace(now=lambda: SimpleNamespace(to_msg=Time))
    node = SimpleNamespace(
        get_fully_qualified_name=lambda: '/node',
        get_clock=lambda: clock,
        destroy_publisher=lambda _: None,
    )
    monkeypatch.setattr(diagnostics, 'publisher', lambda *_: said)
    monkeypatch.setattr(diagnostics, '_REPORT_PERIOD', 1e6)
    status = diagnostics.Diagnostics(node, 'part', 'robot', lambda: (OK, 'well', {'x': 1.0}))
    passed, waited = threading.Event(), []  # however long this process is kept waiting
    ways = iter([passed.wait, functools.partial(threading.Event.wait, status._closed)])
    monkeypatch.setattr(status._closed, 'wait', lambda time: waited.append(time) or next(ways)())
    for _ in range(3):
        status.changed()
    passed.set()
    (found,) = published.get(timeout=300.0).status
    assert (found.name, found.message, found.values[0].value) == ('/node: part', 'well', '1')
    status.changed()
    status.close()
    assert published.empty() and set(waited) == {0.1}
