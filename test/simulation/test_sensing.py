# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Simulated sensors: noise, resolution, delays, losses and seeds."""

import numpy as np
import pytest
from softrobot_dynamics.errors import ArgumentError, DescriptionError, UnknownNameError
from softrobot_dynamics.simulation.sensing import make_sensors, Sensing
from support.sensing import exact_sensing

pytestmark = pytest.mark.quick

NAMES, PERIOD, COUNT = ('a', 'b'), 1e-3, 20_000
Q, QD = np.array([0.3, -2.0]), np.array([1.0, 0.0])


def sensing(**given):
    """Return the Sensing of two coordinates."""
    return Sensing(make_sensors(NAMES, given), len(NAMES), PERIOD)


def heard(sensors, count=COUNT, q=Q, qd=QD):
    """Return what is heard in so many ticks of states that stay, None where nothing is."""
    return [sensors.sense(k, q, qd) for k in range(count)]


def test_exact_sensors_return_the_state_itself():
    """Exact sensors return the state at once, without a copy."""
    found = exact_sensing(2, PERIOD).sense(7, Q, QD)
    assert found.stamp == 7 and found.q is Q and found.qd is QD


def test_noise_and_bias_have_their_given_size():
    """Means and deviations are within four standard errors, without correlation."""
    given = {'noise': [1e-3, 2e-2], 'velocity_noise': 0.1, 'bias': [0.0, 0.5], 'seed': 3}
    states = heard(sensing(**given, velocity_bias=-0.2))
    errors = np.array([[*(s.q - Q), *(s.qd - QD)] for s in states])
    std = np.array([1e-3, 2e-2, 0.1, 0.1])
    assert (abs(errors.mean(axis=0) - [0.0, 0.5, -0.2, -0.2]) < 4.0 * std / COUNT**0.5).all()
    assert errors.std(axis=0) == pytest.approx(std, rel=4.0 / (2 * COUNT) ** 0.5)
    others = np.corrcoef(np.hstack([errors[1:], errors[:-1]]).T) - np.eye(8)
    assert abs(others).max() < 5.0 / COUNT**0.5


def test_equal_seeds_give_equal_noise():
    """Equal seeds give the same noise, after a restart too, and losses do not shift it."""
    given = {'noise': 1e-3, 'jitter': 3e-3, 'dropout': 0.2}
    one, other = sensing(**given, seed=1), sensing(**given, seed=2)

    def spelled(sensors, **changes):
        return [s and (s.stamp, s.q.tobytes(), s.qd.tobytes()) for s in heard(sensors, 300)]

    first = spelled(one)
    one.begin()
    assert spelled(one) == first == spelled(sensing(**given, seed=1)) != spelled(other)
    whole = {s.stamp: s.q for s in heard(sensing(noise=1e-3, seed=1), 300)}
    some = [s for s in heard(sensing(noise=1e-3, dropout=0.5, seed=1), 300) if s]
    assert all((s.q == whole[s.stamp]).all() for s in some) and 100 < len(some) < 200


def test_values_are_rounded_to_the_resolution():
    """Values are rounded to the nearest multiple of the resolution, unless it is zero."""
    sensors = sensing(resolution=[0.25, 0.0], velocity_resolution=0.5, noise=0.3, bias=0.01)
    positions = np.array([s.q for s in heard(sensors, 200)])
    assert np.array_equal(positions[:, 0] % 0.25, np.zeros(200))
    assert len(np.unique(positions[:, 0])) > 4 and len(np.unique(positions[:, 1])) == 200
    found = sensing(resolution=[0.25, 0.0], velocity_resolution=0.5).sense(0, Q, QD + 0.2)
    assert found.q.tolist() == [0.25, -2.0] and found.qd.tolist() == [1.0, 0.0]


@pytest.mark.parametrize('delay, ticks', [(2e-3, 2), (2.1e-3, 3), (3 * 1e-3, 3), (1e-5, 1)])
def test_a_delay_is_in_whole_periods_with_the_state_s_own_stamp(delay, ticks):
    """A delay is rounded up to whole periods, and states keep their stamps."""
    states = heard(sensing(delay=delay), 20)
    assert [s and s.stamp for s in states] == [None] * ticks + list(range(20 - ticks))


def test_jitter_delays_each_state_differently_and_none_is_sensed_twice():
    """Jitter is uniform, overtaken states are lost, and none is returned twice."""
    states = heard(sensing(delay=1e-3, jitter=3e-3, seed=5), 5000)
    late = np.array([k - s.stamp for k, s in enumerate(states) if s])
    stamps = [s.stamp for s in states if s]
    assert set(late) == {2, 3, 4} and np.all(np.diff(stamps) > 0)
    assert 0.2 < 1.0 - len(stamps) / 5000 < 0.5


@pytest.mark.parametrize(
    'rate, ticks', [(200.0, [0, 5, 10, 15]), (300.0, [0, 4, 7, 10, 14, 17]), (50.0, [0])]
)
def test_states_are_measured_at_the_sensor_rate(rate, ticks):
    """States are measured at the sensor rate, the first one included, with own stamps."""
    assert [s.stamp for s in heard(sensing(rate=rate), 20) if s] == ticks
    states = heard(sensing(rate=rate, delay=2e-3), 22)
    assert [(k, s.stamp) for k, s in enumerate(states) if s] == [(k + 2, k) for k in ticks]
    assert sum(s is not None for s in heard(sensing(rate=rate), 3000)) == 3 * rate


def test_states_measured_more_seldom_are_those_of_the_others():
    """Bit by bit, with noise and losses; a rate that is that of the robot leaves none out."""
    given = {'noise': 1e-3, 'dropout': 0.3, 'seed': 4}
    whole = {s.stamp: s.q.tobytes() for s in heard(sensing(**given), 1000) if s}
    for rate, every in ((250.0, 4), (1000.0, 1)):
        sensors = sensing(**given, rate=rate)
        some = {s.stamp: s.q.tobytes() for s in heard(sensors, 1000) if s}
        assert some == {k: q for k, q in whole.items() if k % every == 0}
        sensors.begin()
        assert {s.stamp: s.q.tobytes() for s in heard(sensors, 1000) if s} == some


def test_states_cannot_be_measured_more_often_than_the_robot_has_them():
    """A sensor rate above the simulation's is refused with the highest one."""
    with pytest.raises(ArgumentError, match='sensors.rate: 1001.0, expected .* 1000 Hz'):
        sensing(rate=1001.0)


@pytest.mark.parametrize('share', [0.0, 0.1, 0.7, 1.0])
def test_losses_are_binomial(share):
    """The number of losses is within four standard deviations of a binomial distribution."""
    lost = sum(s is None for s in heard(sensing(dropout=share, noise=1e-9)))
    assert abs(lost / COUNT - share) <= 4.0 * (share * (1.0 - share) / COUNT) ** 0.5


@pytest.mark.parametrize(
    'given, words',
    [
        ({'noise': -1.0}, 'sensors.noise: -1.0, expected a number >= 0'),
        ({'noise': [0.1, 0.1, 0.1]}, 'sensors.noise: .* expected a number, or 2'),
        ({'bias': np.nan}, 'sensors.bias: nan'),
        ({'dropout': 1.5}, 'sensors.dropout: 1.5, expected a number .* 1'),
        ({'rate': -5.0}, 'sensors.rate: -5.0, expected a number >= 0'),
        ({'delay': -1e-3}, 'sensors.delay: -0.001'),
        ({'seed': -1}, 'sensors.seed: -1, expected a whole number'),
    ],
)
def test_wrong_values_are_refused(given, words):
    """Wrong values are refused by name with what would be right."""
    with pytest.raises(DescriptionError, match=words):
        sensing(**given)


def test_an_unknown_field_of_sensors_is_refused():
    """An unknown field of sensors is refused with the known ones."""
    with pytest.raises(UnknownNameError, match='nois.*velocity_noise'):
        sensing(nois=1.0)
