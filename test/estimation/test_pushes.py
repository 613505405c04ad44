# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Detection of pushes: delay, and false alarms by noise."""

import functools

import numpy as np
import pytest
from scipy.stats import chi2
import softrobot_dynamics as sd
from softrobot_dynamics.estimation.sensor_simulation import SimulatedSensors
from support.robots import compiled

PERIOD, LOOK = 1e-3, 10  # [s], and periods from one look to the next
CERTAIN = 1e-6
TENSIONS = 1.0 + np.arange(9) % 4
GIVEN = {
    'sensors': [
        {'name': 'camera', 'type': 'pose', 'body': 'segment3'},
        {
            'name': 'cables',
            'type': 'joint',
            'names': [f't{k}' for k in range(1, 10)],
            'noise': 2e-4,
        },
    ],
    'disturbance': {'force': 0.05, 'moment': 5e-4},
}


@functools.cache
def arm():
    """Return an estimator of the shipped arm, and its posture under tension."""
    model = compiled('pcc_arm')
    return sd.Estimator(model, GIVEN), sd.equilibrium(model, u=TENSIONS).q


def looks(seed, span, force, start):
    """Yield (time, Push) of every look at an arm that a force (3,) pushes from a start [s] on."""
    own, rest = arm()
    robot = sd.Simulator(own.model, q=rest)
    eyes = SimulatedSensors(own.model, own.settings.sensors, seed=seed)
    wrench = {'segment3': sd.Wrench(np.concatenate([np.zeros(3), force]), None, 'base')}
    own.begin(0.0, q=rest, u=TENSIONS)
    for k in range(round(span / PERIOD) + 1):
        t = k * PERIOD
        for reading in eyes.look(t, robot.q, robot.qd, TENSIONS):
            own.measure(*reading)
        if k % LOOK == 0:
            yield t, own.push('segment3')
        robot.step(TENSIONS, PERIOD, wrench if t > start - 0.5 * PERIOD else None)


def wait(seed, size, start=0.4):
    """Return after which time [s] a push across the tip of a size [N] is found first."""
    angle = 2.0 * np.pi * np.random.default_rng(seed).uniform()
    force = size * np.array([np.cos(angle), np.sin(angle), 0.0])
    for t, push in looks(seed, start + 0.2, force, start):
        if push.probability < CERTAIN:
            return t - start
    return np.inf


def test_half_a_newton_is_found_within_50_ms():
    """Five samples find 0.5 N in any direction, at a false-alarm chance of one in a million."""
    waits = [wait(seed, 0.5) for seed in range(6)]
    assert 0.0 < min(waits) and max(waits) < 0.055


@pytest.mark.parametrize('size, longest', [(1.0, 0.045), (3.0, 0.055)])
def test_a_harder_push_is_not_found_later(size, longest):
    """A harder push is not rejected as an outlier, and is found no later."""
    waits = [wait(seed, size) for seed in range(4)]
    assert 0.0 < min(waits) and max(waits) < longest


def test_where_nothing_pushes_chances_are_those_of_noise():
    """Without a push the normalised squares follow chi squared with three degrees of freedom."""
    squares = []
    for seed in range(4):
        found = [push for t, push in looks(seed, 2.5, np.zeros(3), np.inf) if t > 0.3]
        assert min(push.probability for push in found) > CERTAIN
        squares += [push.square for push in found]
    assert all(push.rank == 3 for push in found)
    assert 2.3 < np.mean(squares) < 3.8
    assert 0.3 < np.mean(np.array(squares) < chi2.ppf(0.5, 3)) < 0.7
    assert [push.probability for push in found] == pytest.approx(
        [chi2.sf(push.square, 3) for push in found]
    )


def test_before_measurements_no_push_is_reported():
    """Before any measurement no push is reported."""
    own, rest = arm()
    own.begin(0.0, q=rest, u=TENSIONS)
    found = own.push()
    assert found.probability == 1.0 and found.square == 0.0 and np.isfinite(found.value).all()
