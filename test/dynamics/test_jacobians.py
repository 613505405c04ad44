# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of Jacobians of tips and material points equal differences of the Jacobians."""

import mpmath
import numpy as np
from oracles import derivatives
from oracles.precise import PRECISE
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from support.differences import derivative, gradient
from support.robots import compiled, reaches, rod, states


def assert_close(found, wanted, tolerance=1e-9):
    """Compare with the largest entry of the wanted array; differences twice are good to 1e-9."""
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= tolerance * np.abs(wanted).max()


@pytest.mark.parametrize(
    'name, body, point',
    [
        ('pcc_arm', 'segment2', None),
        ('pcc_arm', 'tip', None),
        ('gallery', 'b5', None),
        ('gallery', 'tip', None),
        ('pcc_arm', 'segment2', [0.01, -0.005, 0.1]),
        ('hand', 'index3', [0.005, 0.003, 0.04]),
        ('gallery', 'b5', [0.005, 0.003, 0.04]),
    ],
)
def test_jacobian_and_bias(name, body, point):
    """Jacobians and biases of tips and points are exact behind joints of all sizes."""
    model = compiled(name)
    ((q, qd, _),) = states(model, 1, seed=3, size=0.4)
    reach = reaches(model.coordinate_names)

    def jacobian(q):
        return sd.jacobian(model, q=q, body=body, point=point)

    def bias(q, qd):
        step = 0.02 / max(1.0, np.abs(qd).max())
        return derivative(lambda t: jacobian(q + t * qd) @ qd, step)

    found = sd.jacobian_derivatives(model, q=q, qd=qd, body=body, point=point)
    np.testing.assert_allclose(found.jacobian, jacobian(q), atol=1e-13)
    assert_close(found.by_q, gradient(jacobian, q, reach=reach))
    assert_close(found.bias, bias(q, qd))
    assert_close(found.bias_by_q, gradient(lambda q: bias(q, qd), q, reach=reach))
    assert_close(found.bias_by_qd, gradient(lambda qd: bias(q, qd), qd))


def test_a_point_in_many_digits():
    """A point's frame and derivatives equal the formula, orthonormalised in many digits."""
    x, module = [0.004, -0.003, 0.07], {'name': 'b', 'joint': {'type': 'fixed'}, 'body': rod()}
    model = sd.compile_model(sd.load_robot({'name': 'one', 'bodies': [module]}))
    body = model.description.modules[0].body
    ((q, qd, _),) = states(model, 1, seed=3, size=0.4)

    def frame(q):
        """Rotation and origin (3, 4)."""

        def place(x):
            return np.array(body.position(list(x), list(q), PRECISE), dtype=object)

        a, b, _ = derivatives.gradient(place, derivatives.vector(x))
        return np.column_stack([rotation(a, b), place(derivatives.vector(x))])

    def jacobian(q):
        """Angular rows by the rotation R, linear ones by the origin, both in its axes."""
        R = frame(q)[:, :3]
        rates = [R.T @ by_q for by_q in derivatives.gradient(frame, q)]
        return np.array([[W[2, 1], W[0, 2], W[1, 0], *W[:, 3]] for W in rates]).T

    def bias(z):
        q, qd = np.split(z, 2)
        return derivatives.along(jacobian, q, qd) @ qd

    found = sd.jacobian_derivatives(model, q=q, qd=qd, point=x)
    way = np.random.default_rng(1).uniform(-1.0, 1.0, (2, model.n))
    with mpmath.workdps(derivatives.DIGITS):
        z, both = derivatives.vector([*q, *qd]), derivatives.vector(way.ravel())
        J, b = jacobian(z[: model.n]), bias(z)
        J_along = derivatives.along(jacobian, z[: model.n], both[: model.n])
        b_along = derivatives.along(bias, z, both)
    pairs = [
        (found.jacobian, J),
        (found.by_q @ way[0], J_along),
        (found.bias, b),
        (found.bias_by_q @ way[0] + found.bias_by_qd @ way[1], b_along),
    ]
    for ours, precise in pairs:
        assert_close(ours, precise.astype(float), 1e-10)


def rotation(a, b):
    """Return the rotation (3, 3) whose x is along a, and y in the plane of a and b."""
    x = a / mpmath.sqrt(a @ a)
    z = derivatives.cross(x, b)
    z = z / mpmath.sqrt(z @ z)
    return np.array([x, derivatives.cross(z, x), z]).T


def test_an_unknown_body_is_refused():
    """An unknown body is refused by name."""
    model = compiled('pcc_arm')
    with pytest.raises(ArgumentError, match='nowhere'):
        sd.jacobian_derivatives(model, q=model.q0, qd=model.q0, body='nowhere')


@pytest.mark.parametrize('point, words', [([0.0, 0.0], 'shape'), ([0.0, 0.0, np.nan], 'finite')])
def test_an_invalid_point_is_refused(point, words):
    """A point of wrong shape, or that is not finite, is refused."""
    model = compiled('pcc_arm')
    with pytest.raises(ArgumentError, match=f'point.*{words}'):
        sd.jacobian_derivatives(model, q=model.q0, qd=model.q0, point=point)
