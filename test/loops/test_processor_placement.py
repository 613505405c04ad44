# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Simulation and controller share a processor where their work leaves room on it."""

from collections import Counter
from types import SimpleNamespace

import pytest
from softrobot_dynamics.demo.rates import share_one
from softrobot_dynamics.loops import processor_placement, realtime
from softrobot_dynamics.loops.processor_placement import SharedProcessor
from softrobot_dynamics.loops.simulation_loop import DRIVEN, IDLE
from softrobot_dynamics.loops.statistics import Window

PERIOD = 1_000_000  # [ns]


@pytest.fixture
def moves(monkeypatch):
    """Return the processors that this process has moved to; the one that is free is 7."""
    found = []
    monkeypatch.setattr(realtime, 'own_processor', lambda: 7)
    monkeypatch.setattr(realtime, 'move_to', found.append)
    return found


def driven(work, answered=300, missed=0, pace=1.0, mode=DRIVEN):
    """Return a simulation loop that took `work` [ns] from each state to the next one."""
    window = Window()
    for _ in range(answered):
        window.add(work)
    counts = Counter(answered=answered, missed=missed)
    statistics = SimpleNamespace(counts=counts)
    return SimpleNamespace(statistics=statistics, work=window, mode=mode, pace=pace, period=PERIOD)


def test_a_simulation_stays_where_the_work_of_both_fits_into_a_period(moves):
    """If both take 0.8 of 1 ms, they stay on one processor, which is logged once."""
    shared = SharedProcessor(3)
    words = shared.decide(driven(800_000))
    assert 'share processor 3: 0.80 of 1 ms' in words
    assert shared.decide(driven(800_000)) is None and moves == []


@pytest.mark.parametrize(
    'loop',
    [
        driven(860_000),
        driven(500_000, answered=100, missed=101),
        driven(0, answered=0, missed=300),
    ],
    ids=['work', 'missed', 'no answer'],
)
def test_a_simulation_leaves_a_processor_that_the_work_of_both_fills(moves, loop):
    """At 86 % of a period, or more missed ticks than answers, it leaves, which is logged once."""
    shared = SharedProcessor(3)
    assert 'a processor each' in shared.decide(loop)
    assert shared.decide(loop) is None and moves == [7]


def test_a_simulation_that_stayed_leaves_once_the_work_grows(moves):
    """A heavier robot or law, later on, makes a simulation leave that stayed at first."""
    shared = SharedProcessor(3)
    shared.decide(driven(500_000))
    assert 'a processor each' in shared.decide(driven(900_000)) and moves == [7]


@pytest.mark.parametrize(
    ('processor', 'loop'),
    [
        (None, driven(900_000)),
        (3, driven(900_000, answered=10)),
        (3, driven(900_000, mode=IDLE)),
        (3, driven(900_000, pace=0.0)),
    ],
    ids=['not shared', 'too early', 'not driven', 'as fast as answers come'],
)
def test_nothing_is_decided_without_a_loop_that_keeps_time(moves, processor, loop):
    """Without a shared processor, 200 driven ticks or a pace nothing is decided."""
    assert SharedProcessor(processor).decide(loop) is None and moves == []


def test_a_slow_simulation_has_more_time(moves):
    """At a tenth of real time 0.9 ms of work are 9 % of a period."""
    assert 'share' in SharedProcessor(3).decide(driven(900_000, pace=0.1)) and moves == []


def test_without_another_processor_a_simulation_stays(monkeypatch, moves):
    """Without another processor nothing moves and nothing is logged."""
    monkeypatch.setattr(realtime, 'own_processor', lambda: None)
    assert SharedProcessor(3).decide(driven(900_000)) is None and moves == []


def test_nodes_of_a_demo_share_a_processor_if_their_work_fits():
    """At 1 kHz 0.3 and 0.35 ms share one, 0.4 and 0.35 do not, nor does a loop with estimator."""
    assert share_one((0.3e-3, 0.35e-3), 1000.0)
    assert not share_one((0.4e-3, 0.35e-3), 1000.0)
    assert not share_one((0.1e-3, 0.1e-3, 0.1e-3), 1000.0)
    assert processor_placement.SHARED_LOAD == 0.7
