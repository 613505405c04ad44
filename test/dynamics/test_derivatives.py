# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of the dynamics equal differences of the dynamics."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.derivatives import (
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
)
from softrobot_dynamics.errors import ArgumentError
from support.differences import gradient
from support.robots import compiled, reaches, states

TOLERANCE = 1e-9  # of the largest entry


def assert_close(found, wanted):
    """Compare with the largest entry of the wanted array."""
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= TOLERANCE * np.abs(wanted).max()


@pytest.mark.parametrize('name', ['double_pendulum', 'pcc_arm', 'gallery', 'zoo'])
def test_inverse_dynamics_has_its_derivatives(name):
    """Derivatives of inverse dynamics by q, qd, qdd are exact for every joint and body."""
    model = compiled(name)
    ((q, qd, qdd),) = states(model, 1, seed=3, size=0.5)
    reach = reaches(model.coordinate_names)

    def force(**changed):
        return sd.inverse_dynamics(model, **{'q': q, 'qd': qd, 'qdd': qdd, **changed})

    found = inverse_dynamics_derivatives(model, q=q, qd=qd, qdd=qdd)
    assert_close(found.by_q, gradient(lambda x: force(q=x), q, reach=reach))
    assert_close(found.by_qd, gradient(lambda x: force(qd=x), qd))
    assert_close(found.by_qdd, gradient(lambda x: force(qdd=x), qdd))


@pytest.mark.parametrize('name', ['pcc_arm', 'hand'])
def test_forward_dynamics_has_its_derivatives(name):
    """Derivatives of forward dynamics by q, qd, u are exact, nonlinear tendons included."""
    model = compiled(name)
    ((q, qd, _),) = states(model, 1, seed=4, size=0.5)
    u = np.linspace(1.0, 2.0, model.m)

    def acceleration(**changed):
        return sd.forward_dynamics(model, **{'q': q, 'qd': qd, 'u': u, **changed})

    found = forward_dynamics_derivatives(model, q=q, qd=qd, u=u)
    np.testing.assert_allclose(found.qdd, acceleration(), rtol=1e-9)
    reach = reaches(model.coordinate_names)
    assert_close(found.by_q, gradient(lambda x: acceleration(q=x), q, 2e-3, reach))
    assert_close(found.by_qd, gradient(lambda x: acceleration(qd=x), qd))
    assert_close(found.by_u, gradient(lambda x: acceleration(u=x), u))


def loads(model):
    """Return wrenches on the first and the last body, that follow and that are dead."""
    value, point = [0.01, 0.02, -0.01, 0.1, 0.2, -0.3], [0.001, 0.002, 0.03]
    last = [sd.Wrench(value, None, frame) for frame in ('body', 'base')]
    last += [sd.Wrench(value, point, frame) for frame in ('body', 'base')]
    return {model.body_names[-1]: last, model.body_names[0]: value}


@pytest.mark.parametrize('name', ['pcc_arm', 'tree'])
def test_derivatives_under_wrenches_are_exact(name):
    """Derivatives by q are exact under follower and dead loads, at tips and other points."""
    model = compiled(name)
    ((q, qd, qdd),) = states(model, 1, seed=5, size=0.5)
    u, reach, pushed = np.ones(model.m), reaches(model.coordinate_names), loads(model)
    found = sd.inverse_dynamics_derivatives(model, q=q, qd=qd, qdd=qdd, wrenches=pushed)

    def force(x, wrenches):
        return sd.inverse_dynamics(model, q=x, qd=qd, qdd=qdd, wrenches=wrenches)

    assert_close(found.by_q, gradient(lambda x: force(x, pushed), q, reach=reach))
    found = sd.forward_dynamics_derivatives(model, q=q, qd=qd, u=u, wrenches=pushed)

    def acceleration(x, wrenches):
        return sd.forward_dynamics(model, q=x, qd=qd, u=u, wrenches=wrenches)

    np.testing.assert_allclose(found.qdd, acceleration(q, pushed), rtol=1e-9)
    assert_close(found.by_q, gradient(lambda x: acceleration(x, pushed), q, 2e-3, reach))
    without = sd.forward_dynamics_derivatives(model, q=q, qd=qd, u=u)
    assert np.abs(found.by_q - without.by_q).max() > 1e-4 * np.abs(found.by_q).max()
    assert_close(found.by_u, without.by_u)


def test_arguments_are_checked():
    """Wrong arguments are refused by name."""
    model = compiled('double_pendulum')
    with pytest.raises(ArgumentError, match='qdd'):
        inverse_dynamics_derivatives(model, q=[0, 0], qd=[0, 0], qdd=[0, np.nan])
    with pytest.raises(ArgumentError, match='u'):
        forward_dynamics_derivatives(model, q=[0, 0], qd=[0, 0], u=[0])
    at = {'q': [0, 0], 'qd': [0, 0], 'wrenches': {'arm': [0.0] * 6}}
    for call, own in ((sd.linearise, 'u'), (sd.forward_dynamics_derivatives, 'u'),
                      (sd.inverse_dynamics_derivatives, 'qdd')):  # fmt: skip
        with pytest.raises(ArgumentError, match='wrenches.*arm'):
            call(model, **at, **{own: [0, 0]})
