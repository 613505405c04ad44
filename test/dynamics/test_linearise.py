# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A robot near a state as a linear system."""

import numpy as np
import pytest
from robots import compiled, states
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError

PERIOD = 1e-3


@pytest.fixture(scope='module')
def here():
    """Return a model with tendons, and a state and a command."""
    model = compiled('hand')
    ((q, qd, _),) = states(model, 1, seed=4, size=0.5)
    return model, {'q': q, 'qd': qd, 'u': np.linspace(1.0, 2.0, model.m)}


def test_continuous(here):
    """The rates of q are qd, those of qd what forward dynamics has for derivatives."""
    model, at = here
    n, found = model.n, sd.linearise(model, **at)
    change = sd.forward_dynamics_derivatives(model, **at)
    assert np.array_equal(found.A[:n], np.eye(2 * n)[n:]) and not found.B[:n].any()
    assert np.array_equal(found.A[n:], np.hstack([change.by_q, change.by_qd]))
    assert np.array_equal(found.B[n:], change.by_u)


def test_held(here):
    """Over two periods it is the same map twice; over a short one, what the rates say."""
    model, at = here
    one, two, rates = (sd.linearise(model, **at, dt=dt) for dt in (PERIOD, 2 * PERIOD, None))
    scale = np.abs(two.A).max()
    np.testing.assert_allclose(one.A @ one.A, two.A, atol=1e-11 * scale)
    wanted = one.A @ one.B + one.B
    np.testing.assert_allclose(wanted, two.B, atol=1e-11 * np.abs(two.B).max())
    short = 1e-4 / np.abs(rates.A).max()
    found = sd.linearise(model, **at, dt=short)
    np.testing.assert_allclose((found.A - np.eye(2 * model.n)) / short, rates.A, rtol=1e-3,
                               atol=1e-3 * np.abs(rates.A).max())  # fmt: skip
    np.testing.assert_allclose(found.B / short, rates.B, atol=1e-3 * np.abs(rates.B).max())


@pytest.mark.parametrize('dt', [0.0, -1.0, np.nan])
def test_a_period_is_positive(here, dt):
    """Named with its value."""
    model, at = here
    with pytest.raises(ArgumentError, match='dt'):
        sd.linearise(model, **at, dt=dt)
