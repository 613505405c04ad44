# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The contract of every registered kind of sensor, here or in a package of a user's."""

import numpy as np
import pytest
from softrobot_dynamics.errors import ArgumentError, MissingMethodError
from softrobot_dynamics.estimation.sensors.contract import register, Sensor, SENSORS
from softrobot_dynamics.schema.registry import require_methods
from support.robots import compiled, states
from support.sensor_examples import bound, example

pytestmark = pytest.mark.quick

every_kind = pytest.mark.parametrize('kind', SENSORS.names())


def state(seed=1):
    """Return (q, qd) of the arm."""
    ((q, qd, _),) = states(compiled('pcc_arm'), 1, seed=seed, size=0.3)
    return q, qd


def predicted(sensor, seen, q, qd):
    """Return z as a sensor should measure it at a state."""
    seen.observe(q, qd, np.zeros(len(seen.observed.predicted)))
    return seen.observed.predicted.copy()


@every_kind
def test_an_observation_has_consistent_sizes(kind):
    """An observation of k numbers has k residuals, rows of H and deviations > 0, in G parts."""
    seen = bound(example(kind))
    k, n = len(seen.observed.residual), compiled('pcc_arm').n
    assert seen.observed.H.shape == (k, 3 * n) and seen.noise.shape == (k,)
    assert (seen.noise > 0.0).all()
    assert seen.starts[0] == 0 and seen.starts[-1] == k and (np.diff(seen.starts) > 0).all()


@every_kind
def test_a_predicted_value_is_read_without_a_residual(kind):
    """A predicted z goes through `value` and `read` unchanged, and then has no residual."""
    sensor, (q, qd) = example(kind), state()
    seen = bound(sensor)
    z = predicted(sensor, seen, q, qd)
    back = sensor.read(sensor.value(z))
    assert back == pytest.approx(z, abs=1e-12)
    seen.observe(q, qd, back)
    assert np.abs(seen.observed.residual).max() < 1e-9


@every_kind
def test_the_prediction_is_of_the_state_alone(kind):
    """The prediction depends on the state, but not on the measurement or on states before."""
    sensor, (q, qd) = example(kind), state()
    seen = bound(sensor)
    z = predicted(sensor, seen, q, qd)
    other = predicted(sensor, seen, *state(seed=2))
    assert np.abs(other - z).max() > 1e-6
    seen.observe(q, qd, other)
    assert seen.observed.predicted.tolist() == z.tolist()


@every_kind
def test_derivatives_are_those_of_the_residual(kind):
    """H equals central differences of the residual by q, qd and the generalized force."""
    model, sensor, (q, qd) = compiled('pcc_arm'), example(kind), state()
    force, n, units = np.zeros(model.n), model.n, model.scales.units
    seen = bound(sensor, force)
    z = predicted(sensor, seen, q, qd)
    point = np.concatenate([q, qd, force])
    steps = 1e-5 * np.concatenate([units, units, np.ones(n)])
    found = np.zeros_like(seen.observed.H)
    for j, h in enumerate(steps):
        for sign in (1.0, -1.0):
            at = point.copy()
            at[j] += sign * h
            force[:] = at[2 * n :]
            seen.observe(at[:n], at[n : 2 * n], z)
            found[:, j] -= sign * seen.observed.residual / (2.0 * h)
    force[:] = 0.0
    seen.observe(q, qd, z)
    wanted = seen.observed.H
    size = np.abs(wanted).max(axis=1, keepdims=True) + 1e-6
    np.testing.assert_allclose(found / size, wanted / size, atol=3e-5)


@every_kind
def test_a_noisy_value_is_off_by_its_error(kind):
    """A predicted z with an added error has that error as its residual."""
    sensor, (q, qd) = example(kind), state()
    seen = bound(sensor)
    error = seen.noise * np.random.default_rng(0).normal(size=len(seen.noise))
    z = sensor.add_noise(predicted(sensor, seen, q, qd), error)
    seen.observe(q, qd, sensor.read(sensor.value(z)))
    assert seen.observed.residual == pytest.approx(error, rel=1e-6, abs=1e-12)


@every_kind
def test_an_infinite_or_misshapen_value_is_refused_by_the_sensors_name(kind):
    """An infinite value, or one of another shape, is an ArgumentError with the sensor's name."""
    sensor, (q, qd) = example(kind), state()
    value = np.array(sensor.value(predicted(sensor, bound(sensor), q, qd)))
    for wrong in (np.full(value.shape, np.inf), np.zeros((7, 11)), 'seen', None):
        with pytest.raises(ArgumentError, match='own'):
            sensor.read(wrong)


def test_a_kind_without_a_method_is_refused_when_it_registers():
    """A missing method is named; those of messages may be left out without a message type."""
    with pytest.raises(MissingMethodError, match='Blind has no method bind'):
        register('blind')(type('Blind', (Sensor,), {}))
    own = {'read': len, 'value': len, 'bind': len}
    require_methods(type('Quiet', (Sensor,), own))
    own = {**own, 'message_type': 'sensor_msgs/Range', 'to_message': len}
    with pytest.raises(MissingMethodError, match='Deaf has no method from_message'):
        register('deaf')(type('Deaf', (Sensor,), own))
    assert not {'blind', 'deaf'} & set(SENSORS.names())
