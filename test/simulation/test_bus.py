# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A bus whose drives take commands in cycles, against schedules made by hand."""

import math

import numpy as np
import pytest
from softrobot_dynamics.errors import DescriptionError, UnknownNameError
from softrobot_dynamics.simulation.bus import HeldOverBus, make_bus, Stretch
from softrobot_dynamics.simulation.periodic_instants import PeriodicInstants

pytestmark = pytest.mark.quick

FIRST = np.array([-1.0])


def held(given, durations, u=FIRST):
    """Return (command, duration) as held, of commands 0, 1, 2, … that are newest so long."""
    bus = HeldOverBus(make_bus(given), u)
    arrived = [Stretch(np.array([float(k)]), duration) for k, duration in enumerate(durations)]
    return [(float(u[0]), duration) for u, duration in bus.stretches(arrived)]


def near(*stretches):
    """Return what (command, duration) in ms are to be, to a nanosecond."""
    return [(u, pytest.approx(1e-3 * duration, abs=1e-9)) for u, duration in stretches]


@pytest.mark.parametrize(
    'given, durations, expected',
    [
        ({}, (3, 4), [(0, 3), (1, 4)]),
        ({'rate': 500.0}, (1,) * 5, [(0, 2), (2, 2), (4, 1)]),
        ({'rate': 500.0, 'phase': 1e-3}, (1,) * 4, [(-1, 1), (1, 2), (3, 1)]),
        ({'rate': 500.0, 'phase': 5e-3}, (1,) * 2, [(-1, 1), (1, 1)]),
        ({'rate': 250.0, 'phase': 0.5e-3}, (3, 3), [(-1, 0.5), (0, 4), (1, 1.5)]),
        ({'rate': 1000.0}, (2.5, 0.6), [(0, 3), (1, 0.1)]),
    ],
)
def test_the_newest_is_taken_at_each_instant_and_held(given, durations, expected):
    """A command that arrives at the instant of a cycle is taken, and held until the next one."""
    found = held(given, [1e-3 * each for each in durations])
    assert found == near(*expected)


@pytest.mark.parametrize('rate, phase', [(100.0, 0.0), (73.0, 2.1e-3), (999.0, 7e-4)])
def test_every_moment_has_the_command_of_the_last_instant(rate, phase):
    """At each time the command of the last bus cycle acts, over a thousand commands."""
    period, count = 1e-3, 1000
    found = held({'rate': rate, 'phase': phase}, [period] * count)
    assert sum(duration for _, duration in found) == pytest.approx(count * period, abs=1e-9)
    now = 0.0
    for command, duration in found:
        moment, now = now + 0.5 * duration, now + duration
        taken = math.floor((moment - phase) * rate) / rate + phase
        before = math.floor(taken / period + 1e-6) if taken >= 0.0 else -1
        assert command == before


def test_cycles_do_not_drift_from_those_of_the_robot():
    """After a million periods each fifth one still has its bus cycle."""
    cycles = PeriodicInstants(200.0)
    for _ in range(200_000):
        assert [len(cycles.over(1e-3)) for _ in range(5)] == [1, 0, 0, 0, 0]
    cycles.begin()
    assert [cycles.come(1e-3) for _ in range(7)] == [True, False, False, False, False, True, False]


def test_own_commands_of_drives_act_at_once():
    """A drive's own command acts at once until the next cycle, which it does not shift."""
    bus = HeldOverBus(make_bus({'rate': 250.0}), FIRST)
    own, told = np.array([9.0]), [Stretch(np.array([3.0]), 3e-3)]
    assert [u[0] for u, _ in bus.stretches(told)] == [3.0]
    bus.force(own)
    assert [(u[0], round(d, 9)) for u, d in bus.stretches(told)] == [(9.0, 1e-3), (3.0, 2e-3)]
    bus.begin(own)
    assert [u[0] for u, _ in bus.stretches(told)] == [3.0]


@pytest.mark.parametrize(
    'given, error, words',
    [
        ({'rate': -1.0}, DescriptionError, 'bus.rate: -1.0, expected a number'),
        ({'rate': np.nan}, DescriptionError, 'bus.rate: nan'),
        ({'rate': 100.0, 'phase': -1e-3}, DescriptionError, 'bus.phase: -0.001'),
        ({'phase': 1e-3}, DescriptionError, 'bus.phase: 0.001, expected 0, .* no bus.rate'),
        ({'rates': 1.0}, UnknownNameError, 'rate'),
    ],
)
def test_wrong_values_are_refused(given, error, words):
    """Wrong values are refused by name with what would be right."""
    with pytest.raises(error, match=words):
        make_bus(given)
