# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Gating of measured efforts: spikes are rejected, plausible steps accepted."""

import itertools

import numpy as np
import pytest
from scipy.stats import chi2
import softrobot_dynamics as sd
from softrobot_dynamics.estimation.command_history import CommandHistory
from softrobot_dynamics.estimation.effort_measurements import Effort
from softrobot_dynamics.estimation.sensor_simulation import SimulatedSensors
from support.robots import compiled

NAN = np.nan
CABLES = [f't{k}' for k in range(1, 10)]
SENSORS = [{'name': 'cables', 'type': 'joint', 'names': CABLES, 'noise': 2e-4}]
GAUGES = {'name': 'gauges', 'names': CABLES, 'noise': 0.02, 'change': 20.0}


def readings(kept=10.0, **given):
    """Return Readings of two efforts, begun."""
    effort = Effort(name='g', names=('a', 'b'), **{'noise': 0.1, 'change': 5.0, **given})
    own = effort.measurements(kept)
    own.begin()
    return own


@pytest.mark.quick
def test_a_spike_is_rejected():
    """A spike of one actuator is rejected; the value before stays until the next valid one."""
    own = readings()
    assert own.add(0.0, np.array([2.0, 3.0])) == (0.0, 2, 0)
    square, numbers, outliers = own.add(0.01, np.array([2.1, 30.0]))
    assert square == pytest.approx(0.1**2 / (2 * 0.1**2 + 0.05**2))
    assert (numbers, outliers) == (1, 1)
    assert own.in_use.at(0.01).tolist() == [2.1, 3.0]
    assert own.add(0.02, np.array([50.0, 3.2]))[1:] == (1, 1)
    assert own.in_use.at(0.02).tolist() == [2.1, 3.2]


@pytest.mark.quick
def test_right_values_pass_as_often_as_the_gate_says():
    """Correct values with noise and changes pass the gate with its probability."""
    rng, own, count = np.random.default_rng(2), readings(gate=0.9), 2000
    out, before = 0, np.zeros(2)
    for _ in range(count):
        own.begin()
        own.add(0.0, before + 0.1 * rng.standard_normal(2))
        then = before + 5.0 * 0.03 * rng.standard_normal(2) + 0.1 * rng.standard_normal(2)
        out += own.add(0.03, then).outliers
    assert 0.09 < out / (2 * count) < 0.11


@pytest.mark.quick
def test_a_step_is_accepted_once_it_is_plausible():
    """A step is accepted when a change of six deviations explains it, after 10/(6*5) s."""
    own, most = readings(), np.sqrt(chi2.ppf(1.0 - 1e-9, 1))
    own.add(0.0, np.zeros(2))
    for k in range(1, 100):
        if not own.add(0.01 * k, np.full(2, 10.0)).outliers:
            break
    assert 0.01 * k == pytest.approx(10.0 / (most * 5.0), abs=0.01)
    assert own.in_use.at(0.01 * k).tolist() == [10.0, 10.0]
    assert own.in_use.at(0.01 * k - 1e-4).tolist() == [0.0, 0.0]


@pytest.mark.quick
def test_without_a_change_rate_everything_is_accepted():
    """Without a rate of change, or with a gate of 1, every value is accepted."""
    for own in (readings(change=None), readings(gate=1.0)):
        own.add(0.0, np.zeros(2))
        assert own.add(0.01, np.array([1e6, NAN]))[1:] == (1, 0)
        assert own.in_use.at(0.02) == pytest.approx([1e6, NAN], nan_ok=True)


@pytest.mark.quick
def test_without_measurements_commands_are_used():
    """The command is used until a measured value is accepted; the last values are kept."""
    own = readings()
    own.add(0.0, np.zeros(2))
    assert own.add(0.01, np.array([NAN, NAN])) == (0.0, 0, 0)
    assert np.isnan(own.in_use.at(0.01)).all()
    assert own.add(0.02, np.array([9.0, 0.1]))[1:] == (1, 1)
    assert own.in_use.at(0.02) == pytest.approx([NAN, 0.1], nan_ok=True)
    assert own.add(0.6, np.array([9.0, 0.1])).outliers == 0


@pytest.mark.quick
def test_the_order_of_arrival_does_not_matter():
    """The order of arrival does not change the result; a repeated value replaces the first."""
    events = [(0.0, [0.0, 0.0]), (0.01, [4.0, 0.1]), (0.02, [4.1, NAN]), (0.05, [0.1, 8.0])]
    found = []
    for order in itertools.permutations(events):
        own = readings()
        for time, values in order:
            own.add(time, np.array(values))
        own.add(0.05, np.array([0.1, 8.0]))
        found.append([own.in_use.at(t).tolist() for t in (0.005, 0.015, 0.025, 0.06)])
    assert found[0][1] == [0.0, 0.1] and found[0][3][0] == 0.1
    assert all(np.array_equal(each, found[0], equal_nan=True) for each in found)


@pytest.mark.quick
def test_old_values_are_dropped():
    """Old values and commands are dropped, and still older ones are ignored."""
    own, commands = readings(kept=0.1), CommandHistory(0.1)
    commands.begin(np.zeros(2))
    for k in range(400):
        own.add(1e-3 * k, np.full(2, 1e-3 * k))
        commands.add(1e-3 * k, np.full(2, 1e-3 * k))
    assert len(own._all) < 200
    assert own.add(0.1, np.full(2, 7.0)) == (0.0, 0, 0)
    commands.add(0.1, np.full(2, 7.0))
    for each in (own.in_use, commands):
        assert each.at(1.0).tolist() == [0.399, 0.399]


def test_a_spike_is_not_taken_for_a_push():
    """A spike is reported, and the estimate stays as without it."""
    model, told, looks = compiled('pcc_arm'), [], []
    q = sd.equilibrium(model, u=np.full(9, 3.0)).q
    for spiked, change in ((False, 20.0), (True, 20.0), (True, None)):
        own = sd.Estimator(model, {'sensors': SENSORS, 'efforts': [{**GAUGES, 'change': change}]})
        eyes = SimulatedSensors(model, own.settings.sensors, efforts=own.settings.efforts, seed=1)
        own.begin(0.0, q=q, u=np.full(9, 3.0))
        for k in range(30):
            for time, sensor, value in eyes.look(0.01 * k, q, 0.0 * q, np.full(9, 3.0)):
                if spiked and sensor == 'gauges' and k in (20, 28):
                    value = value + 30.0 * np.eye(9)[4]
                told.append(own.measure(time, sensor, value))
        looks.append(own.estimate(0.29))
    right, gated, taken = looks
    assert np.abs(gated.qd - right.qd).max() < 0.02 * np.abs(taken.qd - right.qd).max()
    of_gauges = [each for each in told[60:120] if each.sensor == 'gauges']
    assert sum(each.outliers for each in of_gauges) == 2
    assert {each.numbers for each in of_gauges} == {8, 9}
    squares, numbers = zip(*((each.square, each.numbers) for each in of_gauges[1:]))
    assert np.sum(squares) < chi2.ppf(0.999, np.sum(numbers))


def test_late_values_are_gated_at_their_stamps():
    """A late value is gated at its stamp, and all later ones are gated again."""
    model, found = compiled('pcc_arm'), []
    zeros = np.zeros(9)
    ramp = [(0.01 * k, 'gauges', zeros + 1.0 * k) for k in range(9)]
    looks = [(0.01 * k + 0.005, 'cables', zeros) for k in range(10)]
    for late in ((), (4, 5, 6)):
        slow = {**GAUGES, 'noise': 0.1, 'change': 10.0}
        own = sd.Estimator(model, {'sensors': SENSORS, 'efforts': [slow]})
        own.begin(0.0, u=zeros)
        early = [e for k, e in enumerate(ramp) if k not in late]
        told = [own.measure(*e) for e in sorted(early + looks, key=lambda e: e[0])]
        assert (sum(e.outliers for e in told if e.sensor == 'gauges') > 0) == bool(late)
        told += [own.measure(*ramp[k]) for k in late]
        assert all(e.late for e in told[-len(late) :]) or not late
        found.append(own.estimate(0.1, covariance=True))
    assert found[1].q == pytest.approx(found[0].q, abs=1e-12)
    assert found[1].covariance == pytest.approx(found[0].covariance, abs=1e-9)
    assert np.abs(found[0].q).max() > 1e-3
