# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of a robot under commands of position drives."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.derivatives import Differentiator
from support.differences import gradient
from support.robots import compiled
from support.servos import servo

DRIVE = {'compliance': 1e-3, 'pretension': 3.0}


def robots(name):
    """Return a compiled robot, and commands with which some of its cables are slack."""
    if name == 'servo_arm':
        return compiled(name), np.array([0.8, -2.5, 0.4, 0.2])
    model = sd.compile_model(sd.load_robot(servo(DRIVE, pairs=name == 'pairs')))
    return model, np.array([2e-3, -2e-2, 1e-3])[: model.m]


@pytest.mark.parametrize('name', ['servo_arm', 'pairs', 'single'])
def test_derivatives_under_commands(name):
    """Derivatives by q and qd equal differences; tensions alone cause the acceleration."""
    model, u = robots(name)
    rng = np.random.default_rng(1)
    q, qd = model.q0 + 0.02 * rng.normal(size=model.n), 0.1 * rng.normal(size=model.n)
    force = rng.normal(size=model.n)
    own = Differentiator(model, force, commanded=True)

    def acceleration(q, qd=qd):
        return own.forward(q, qd, u).qdd.copy()

    found = own.forward(q, qd, u)
    qdd, by_q, by_qd = found.qdd.copy(), found.by_q.copy(), found.by_qd.copy()
    for derivative, wanted in (
        (by_q, gradient(acceleration, q, 1e-5)),
        (by_qd, gradient(lambda v: acceleration(q, v), qd, 1e-5)),
    ):
        np.testing.assert_allclose(derivative, wanted, rtol=0.0, atol=1e-7 * np.abs(wanted).max())
    if name == 'single':
        T = sd.efforts(model, q=q, command=u)
        assert T.min() == 0.0 < T.max()  # one is slack
        M, h = (sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=0.0 * q)[k] for k in (1, 0))
        pull = sd.actuation(model, q=q, qd=qd).matrix @ T
        np.testing.assert_allclose(M @ qdd, pull + force - h, rtol=1e-9)


@pytest.mark.parametrize('name', ['servo_arm', 'pairs'])
def test_nothing_accelerates_in_equilibrium(name):
    """In equilibrium nothing accelerates, with a common pull of two cables included."""
    model, u = robots(name)
    q = sd.equilibrium(model, command=u).q
    qdd = Differentiator(model, commanded=True).forward(q, 0.0 * q, u).qdd
    free = Differentiator(model).forward(q, 0.0 * q, sd.efforts(model, q=q, command=u)).qdd
    assert np.abs(qdd).max() < 1e-5 * np.abs(free).max()
