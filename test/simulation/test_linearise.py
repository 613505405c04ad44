# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Linearisation of a robot near a state."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from support.robots import compiled, states

PERIOD = 1e-3


@pytest.fixture(scope='module')
def here():
    """Return a model with tendons, and a state and a command."""
    model = compiled('hand')
    ((q, qd, _),) = states(model, 1, seed=4, size=0.5)
    return model, {'q': q, 'qd': qd, 'u': np.linspace(1.0, 2.0, model.m)}


def test_the_continuous_matrices_are_derivatives(here):
    """Rates of q are qd, and those of qd have the derivatives of forward dynamics."""
    model, at = here
    n, found = model.n, sd.linearise(model, **at)
    change = sd.forward_dynamics_derivatives(model, **at)
    assert np.array_equal(found.A[:n], np.eye(2 * n)[n:]) and not found.B[:n].any()
    assert np.array_equal(found.A[n:], np.hstack([change.by_q, change.by_qd]))
    assert np.array_equal(found.B[n:], change.by_u)


def test_held_matrices_compose(here):
    """The map of two periods is that of one twice, and of a short one that of the rates."""
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
    """A period that is not positive is refused with its value."""
    model, at = here
    with pytest.raises(ArgumentError, match='dt'):
        sd.linearise(model, **at, dt=dt)


def differenced(model, at, dt, substep, h=1e-6, wrenches=None):
    """Return (A, B) by central differences of what the simulator makes of a period."""
    reach = np.concatenate([np.ones(2 * model.n), np.ones(model.m)]) * h
    x = np.concatenate([at['q'], at['qd'], at['u']])
    columns, robot = [], sd.Simulator(model, substep=substep)
    for j, step in enumerate(np.diag(reach)):
        ends = []
        for sign in (1.0, -1.0):
            q, qd, u = np.split(x + sign * step, [model.n, 2 * model.n])
            robot.reset(q, qd)
            robot.step(u, dt, wrenches)
            ends.append(np.concatenate([robot.q, robot.qd]))
        columns.append((ends[0] - ends[1]) / (2.0 * reach[j]))
    return np.hsplit(np.array(columns).T, [2 * model.n])


@pytest.mark.parametrize('share', [1.0, 0.4, 0.2])
def test_linearisation_is_the_derivative_of_steps(share):
    """The linearisation of a linear robot is the derivative of a step, stiff springs included."""
    bodies = [
        {
            'name': f'cart{k}',
            'joint': {'type': 'prismatic', 'axis': [1, 0, 0], 'stiffness': s, 'damping': d},
            'body': {'type': 'rigid', 'mass': 1.0},
        }
        for k, (s, d) in enumerate([(100.0, 1.0), (1e8, 3.0)])
    ]
    pull = {'name': 'f', 'type': 'joint', 'joint': 'cart0'}
    model = sd.compile_model(
        sd.load_robot(
            {'name': 'carts', 'gravity': [0, 0, 0], 'bodies': bodies, 'actuators': [pull]}
        )
    )
    at = {'q': np.array([0.1, 1e-4]), 'qd': np.array([0.3, -0.2]), 'u': np.array([2.0])}
    dt = 2e-3
    found = sd.linearise(model, **at, dt=dt, substep=share * dt)
    A, B = differenced(model, at, dt, share * dt, h=1e-4)
    np.testing.assert_allclose(found.A, A, atol=1e-9 * np.abs(A).max())
    np.testing.assert_allclose(found.B, B, atol=1e-9 * np.abs(B).max())
    assert np.abs(sd.linearise(model, **at, dt=dt).A - A).max() > 0.1 * np.abs(A).max()


def test_steps_of_a_soft_robot_are_linearised():
    """At rest the result is the derivative of a step, and of short steps the exact one."""
    model = compiled('pcc_arm')
    u = np.linspace(1.0, 3.0, model.m)
    at = {'q': sd.equilibrium(model, u=u).q, 'qd': np.zeros(model.n), 'u': u}
    scale = np.concatenate([np.ones(model.n), np.full(model.n, 1e-2)])[:, None]
    found = sd.linearise(model, **at, dt=PERIOD, substep=5e-4)
    for mine, wanted in zip(found, differenced(model, at, PERIOD, 5e-4)):
        assert np.abs(scale * (mine - wanted)).max() < 1e-3 * np.abs(scale * wanted).max()
    exact, fine = (sd.linearise(model, **at, dt=PERIOD, **own) for own in ({}, {'substep': 1e-6}))
    assert np.abs(scale * (exact.A - fine.A)).max() < 1e-4 * np.abs(scale * exact.A).max()


@pytest.mark.parametrize('dt, substep', [(PERIOD, 5e-4), (8e-3, 4e-3)])
def test_steps_under_wrenches_are_linearised(dt, substep):
    """Under wrenches the result is the derivative of the simulator's steps, to rounding."""
    model = compiled('pcc_arm')
    u, value = np.linspace(1.0, 2.0, model.m), [0.1, 0.2, -0.1, 1.0, 2.0, -3.0]
    pushed = {'segment3': [sd.Wrench(value, None, 'body'), sd.Wrench(value, None, 'base')]}
    rest = sd.equilibrium(model, u=u, wrenches=pushed).q
    at = {'q': rest, 'qd': np.zeros(model.n), 'u': u}
    found = sd.linearise(model, **at, dt=dt, substep=substep, wrenches=pushed)
    wanted = differenced(model, at, dt, substep, 1e-5, pushed)
    scale = np.concatenate([np.ones(model.n), np.full(model.n, 1e-2)])[:, None]
    for mine, theirs in zip(found, wanted):
        assert np.abs(scale * (mine - theirs)).max() < 1e-7 * np.abs(scale * theirs).max()
    without = sd.linearise(model, **at, dt=dt, substep=substep).A
    assert np.abs(scale * (without - found.A)).max() > 0.01 * np.abs(scale * found.A).max()


def test_a_substep_without_a_period_is_refused(here):
    """A sub-step without a period is refused."""
    model, at = here
    with pytest.raises(ArgumentError, match='`dt` is not given'):
        sd.linearise(model, **at, substep=1e-3)
