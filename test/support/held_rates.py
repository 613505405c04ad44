# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Choose the highest rate that this machine holds for a test in real time."""

import pytest
from softrobot_dynamics.demo import rates

SLOW = 100.0, 50.0, 25.0  # [Hz] at which the laws of the shipped robots still do what they promise
WORK = 1e-3  # [s] that a node computes in a tick, on a machine that takes its time


def held_rate(processes):
    """Return the rate [Hz] that bare processes hold here; the test is skipped if there is none."""
    found = rates.held([WORK] * processes, SLOW)
    if found.late > rates.MAX_LATE_FRACTION:
        pytest.skip(found.in_words())
    return found.rate
