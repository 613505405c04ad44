# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The rate that a machine holds is measured and reported."""

import sys

import pytest
from softrobot_dynamics.demo import rates
from softrobot_dynamics.demo.rates import held, HeldRate
from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.evaluation.overload import CANDIDATE_RATES


@pytest.mark.realtime  # its processes go before all others
@pytest.mark.parametrize('processes', [2, 3])
def test_a_rate_is_held_only_if_a_tick_has_room_for_what_is_computed(processes):
    """A rate is not held if its period is shorter than the computation."""
    found = held([0.06 / processes] * processes, (100.0, 50.0))
    assert found.rate == 50.0 and found.late == 1.0
    assert found.tried == ((100.0, 1.0), (50.0, 1.0))
    assert 'holds no rate' in found.in_words() and '100%' in found.in_words()


@pytest.mark.alone
def test_the_highest_rate_that_is_held_is_taken():
    """The highest rate that is held is taken, and lower ones are not tried."""
    found = held([0.0, 0.0], (1e5, 20.0, 10.0))
    assert found.rate == 20.0 and found.late <= rates.MAX_LATE_FRACTION
    (fast, late), _ = found.tried
    assert fast == 1e5 and late > 0.5
    words = found.in_words()
    assert words.startswith('the demo runs at 20 Hz, the highest rate this machine holds')
    assert 'at 100000 Hz' in words


def test_the_first_rate_held_is_reported_alone():
    """If the first rate is held, the output names that rate and nothing else."""
    assert (
        HeldRate(CANDIDATE_RATES[0], 0.0, ((CANDIDATE_RATES[0], 0.0),)).in_words()
        == 'the demo runs at 1000 Hz'
    )


def test_a_ring_that_does_not_answer_is_an_error_that_says_what_to_do(monkeypatch):
    """A rate measurement without answers is an error with advice, not a traceback."""
    monkeypatch.setattr(sys, 'executable', '/bin/false')
    with pytest.raises(SoftRobotError, match='no rate could be measured.*--rate 100'):
        held([0.0, 0.0])
