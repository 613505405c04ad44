# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The recursion against slow models: point by point, by energies, and by differences of poses."""

import numpy as np
from oracles import euler_lagrange, newton_euler
from oracles.jets import Jet, jet, JETS
from oracles.trees import place
import pytest
import softrobot_dynamics as sd
from support.differences import gradient
from support.robots import compiled, EXACT, reaches, ROBOTS, states, within

TOLERANCE = 1e-11  # of the largest entry


def assert_close(found, wanted, tolerance=TOLERANCE, scale=0.0):
    """Compare arrays relative to the largest entry of the wanted one, or to ``scale``."""
    assert np.abs(found - wanted).max() <= tolerance * max(scale, np.abs(wanted).max())


def inertial(model, q, qd, qdd):
    """IID (n,) and M (n, n)."""
    return sd.mass_inertial_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)


@pytest.mark.parametrize('name', EXACT)
@pytest.mark.parametrize('size', [0.0, 1e-3, 2.0], ids='size={}'.format)
def test_newton_and_euler_point_by_point(name, size):
    """M is sum m J'J, and IID and g are sum m J'(p'' - g) over all material points."""
    model = compiled(name)
    ((q, _, _), (_, qd, qdd)) = states(model, 2, seed=1)
    q = within(model, size * q)
    Q, M = inertial(model, q, qd, qdd)
    wanted, mass = newton_euler.mass_inverse_dynamics(model.description, q, qd, qdd)
    assert_close(M, mass)
    assert_close(Q, wanted)
    g = newton_euler.inverse_dynamics(
        model.description, q, 0.0 * qd, 0.0 * qd, model.description.gravity
    )
    weight = 9.81 * sum(b.masses.sum() for b in place(model.description, list(q), JETS))
    assert_close(sd.gravity_force(model, q=q), g, scale=weight)


@pytest.mark.parametrize('name', EXACT)
def test_the_recursion_equals_lagrange_by_energies(name):
    """M qdd, IID and g equal Lagrange's equations of the energies."""
    model = compiled(name)
    ((q, qd, qdd),) = states(model, 1, seed=2)
    Q, M = inertial(model, q, qd, qdd)
    assert_close(M @ qdd, euler_lagrange.momentum(model.description, q, qdd))
    assert_close(Q, euler_lagrange.inverse_dynamics(model.description, q, qd, qdd))
    g = euler_lagrange.gravity_force(model.description, q)
    assert_close(sd.gravity_force(model, q=q), g, scale=np.abs(Q).max())


@pytest.mark.parametrize('name', ROBOTS)
def test_tip_frames_are_composed_along_the_tree(name):
    """Forward kinematics is the product of joint frames and tip frames, and gives rotations."""
    model = compiled(name)
    for q, _, _ in states(model, 3, seed=4, size=2.0):
        frames = sd.forward_kinematics(model, q=q)
        for frame, body in zip(frames, place(model.description, [float(x) for x in q], JETS)):
            R, t = body.tip_frame
            wanted = [float(jet(x).value) for x in (*R, *t)]
            np.testing.assert_allclose([*frame[:3, :3].flat, *frame[:3, 3]], wanted, atol=1e-13)
            np.testing.assert_allclose(frame[:3, :3] @ frame[:3, :3].T, np.eye(3), atol=1e-13)
            assert np.linalg.det(frame[:3, :3]) > 0.0
            assert np.array_equal(frame[3], [0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize('name', ROBOTS)
def test_jacobian_is_the_derivative_of_the_tip_frame(name):
    """The Jacobian of every body's tip is the derivative of its pose, in its own frame."""
    model = compiled(name)
    ((q, _, _),) = states(model, 1, seed=5)
    frames = sd.forward_kinematics(model, q=q)
    reach = reaches(model.coordinate_names)
    derivatives = gradient(lambda x: sd.forward_kinematics(model, q=x), q, reach=reach)
    for i, body in enumerate(model.body_names):
        R = frames[i, :3, :3]
        spin = np.einsum('ji,jkn->ikn', R, derivatives[i, :3, :3])
        angular = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        linear = R.T @ derivatives[i, :3, 3]
        found = sd.jacobian(model, q=q, body=body)
        np.testing.assert_allclose(found, np.vstack([angular, linear]), atol=1e-10)
    assert np.array_equal(sd.jacobian(model, q=q), found)
    assert np.array_equal(sd.jacobian(model, q=q, body='tip'), found)


def test_branches_of_a_tree_do_not_couple_inertially():
    """M is zero, exactly, between coordinates of different branches on a base."""
    bodies = [
        {'name': name, 'parent': parent, 'joint': {'type': 'revolute'}, 'body': LINK}
        for name, parent in (('a', 'base'), ('b', 'base'), ('c', 'a'), ('d', 'b'))
    ]
    model = sd.compile_model(sd.load_robot({'name': 'two_arms', 'bodies': bodies}))
    ((q, qd, qdd),) = states(model, 1, seed=6)
    _, M = inertial(model, q, qd, qdd)
    assert np.count_nonzero(M) == 8
    assert not M[np.ix_([0, 2], [1, 3])].any()


LINK = {
    'type': 'rigid', 'mass': 1.0, 'com': [0.1, 0.0, 0.0],
    'inertia': {'ixx': 0.01, 'iyy': 0.01, 'izz': 0.01}, 'tip': {'xyz': [0.3, 0.0, 0.0]},
}  # fmt: skip


@pytest.mark.parametrize(
    'function', ['sqrt', 'exp', 'log', 'sin', 'cos', 'tan', 'tanh', 'arctan2']
)
def test_the_jets_of_the_oracles_differentiate(function):
    """First and second derivatives by jets equal numerical ones, for every function used."""
    arguments = (0.7, 0.4) if function == 'arctan2' else (0.7,)
    moving = [Jet(a, 0.3 + i, -0.8 + i) for i, a in enumerate(arguments)]
    found = getattr(JETS, function)(*moving)

    def along(t):
        values = [j.value + j.first * t + 0.5 * j.second * t * t for j in moving]
        return getattr(np, function)(*values)

    h = 1e-3
    np.testing.assert_allclose(found.value, along(0.0), rtol=1e-15)
    np.testing.assert_allclose(found.first, (along(h) - along(-h)) / (2 * h), rtol=1e-5)
    second = (along(h) - 2 * along(0.0) + along(-h)) / h**2
    np.testing.assert_allclose(found.second, second, rtol=1e-4)
