# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of tip Jacobians equal differences of the Jacobians."""

from differences import derivative, gradient
import numpy as np
import pytest
from robots import compiled, reaches, states
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError

TOLERANCE = 1e-9  # of the largest entry


def assert_close(found, wanted):
    """Compare with the largest entry of the wanted array."""
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= TOLERANCE * np.abs(wanted).max()


@pytest.mark.parametrize('name', ['pcc_arm', 'gallery'])
def test_jacobian_and_bias(name):
    """Of tips within a tree and at its end, behind joints of several coordinates and bodies."""
    model = compiled(name)
    ((q, qd, _),) = states(model, 1, seed=3, size=0.4)
    reach = reaches(model.coordinate_names)
    for body in (model.body_names[len(model.body_names) // 2], 'tip'):

        def jacobian(q, body=body):
            return sd.jacobian(model, q=q, body=body)

        def bias(q, qd, jacobian=jacobian):
            step = 0.02 / max(1.0, np.abs(qd).max())
            return derivative(lambda t: jacobian(q + t * qd) @ qd, step)

        found = sd.jacobian_derivatives(model, q=q, qd=qd, body=body)
        np.testing.assert_allclose(found.jacobian, jacobian(q), atol=1e-13)
        assert_close(found.by_q, gradient(jacobian, q, reach=reach))
        assert_close(found.bias, bias(q, qd))
        assert_close(found.bias_by_q, gradient(lambda q: bias(q, qd), q, reach=reach))  # noqa: B023
        assert_close(found.bias_by_qd, gradient(lambda qd: bias(q, qd), qd))  # noqa: B023


def test_an_unknown_body_is_refused():
    """By name."""
    model = compiled('pcc_arm')
    with pytest.raises(ArgumentError, match='nowhere'):
        sd.jacobian_derivatives(model, q=model.q0, qd=model.q0, body='nowhere')
