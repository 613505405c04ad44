# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Deadlines after waking late, and the time that is lost on a machine that is too slow."""

import pytest
from softrobot_dynamics.loops.deadlines import Deadlines, LostTime

pytestmark = pytest.mark.quick

MS = 1_000_000  # [ns]
PERIOD = 2 * MS


@pytest.mark.parametrize('patience, slip', [(0, 9 * MS), (50 * MS, 0)])
def test_a_stall_moves_the_grid_or_is_made_up_for(patience, slip):
    """Without patience deadlines move by the stall; with it they come faster until it is over."""
    deadlines = Deadlines(patience)
    deadlines.start(0)
    assert deadlines.advance(9 * MS, PERIOD) == slip
    met = []
    for _ in range(20):
        met.append(deadlines.next)
        assert deadlines.advance(deadlines.next, PERIOD) == 0
    assert min(b - a for a, b in zip(met, met[1:])) >= 0.7 * PERIOD - 1
    assert met[-1] == 20 * PERIOD + slip


def test_a_longer_stall_than_patience_moves_the_grid():
    """A stall longer than the patience moves the deadlines."""
    deadlines = Deadlines(50 * MS)
    deadlines.start(0)
    assert deadlines.advance(51 * MS, PERIOD) == 51 * MS == deadlines.slipped


def test_lost_time_is_reported_if_it_lasts():
    """Lost time is reported if it lasts for four seconds; a single stall of any length is not."""
    lost = LostTime()
    assert not lost.add(0, 0)
    assert not lost.add(1000 * MS, 300 * MS) and not lost.add(2000 * MS, 0)
    assert not lost.add(4000 * MS, 0) and lost.share == 0.0
    assert not lost.add(6000 * MS, 200 * MS) and lost.share == 0.0
    assert not lost.add(7000 * MS, 500 * MS) and lost.add(8000 * MS, 0)
    assert lost.share == 0.25
    assert not lost.add(10_000 * MS, 90 * MS) and lost.share == 0.0
