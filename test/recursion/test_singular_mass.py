# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Mass matrices that are singular, and those that are only badly scaled."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.derivatives import forward_dynamics_derivatives
from softrobot_dynamics.errors import SingularMassError
from softrobot_dynamics.recursion.singular_mass import without_inertia
from support.robots import compiled, states


def thin_rod(joint='fixed', order=1, **fields):
    """Return a rod that twists about its axis, without inertia there unless told otherwise."""
    strains = {name: {'basis': 'legendre', 'order': order} for name in ('kappa_y', 'kappa_z')}
    section = {'type': 'circular', 'radius': 0.002}
    rod = {
        'type': 'cosserat', 'length': 0.2, 'section': section, 'density': 1000.0,
        'young_modulus': 1e6, 'damping': 0.01, 'section_inertia': False, 'strains': strains,
        **fields,
    }  # fmt: skip
    bodies = [{'name': 'rod', 'joint': {'type': joint}, 'body': rod}]
    robot = {'name': 'thin', 'gravity': [9.81, 0.0, 0.0], 'bodies': bodies}
    return sd.compile_model(sd.load_robot(robot))


@pytest.mark.parametrize('bend', [0.0, 1e-17])
def test_a_twist_without_inertia_is_refused(bend):
    """Straight, nothing has inertia along a thin rod's twist: no acceleration, but their names."""
    model = thin_rod()
    q, zero = np.array([bend, 0.0, 0.0, 0.0]), np.zeros(4)
    for call in (sd.forward_dynamics, forward_dynamics_derivatives):
        with pytest.raises(SingularMassError) as caught:
            call(model, q=q, qd=zero, u=[])
        assert caught.value.coordinates == ('rod/kappa_z_0', 'rod/kappa_z_1')
        assert 'kappa_z_1; expected a mass' in str(caught.value)


@pytest.mark.parametrize('bend, fields', [(1.0, {}), (0.0, {'section_inertia': True})])
def test_inertia_of_whatever_kind_will_do(bend, fields):
    """A rod that is bent, or whose sections have inertia, has accelerations with ID = 0."""
    model, q = thin_rod(**fields), np.array([bend, 0.5 * bend, 0.0, 0.0])
    qd = np.array([0.0, 0.0, 0.1, 0.2])
    qdd = sd.forward_dynamics(model, q=q, qd=qd, u=[])
    nu, M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
    assert np.abs(nu).max() < 1e-10 * np.abs(np.diag(M) * qdd).max()


def test_coordinates_that_move_the_same_are_refused():
    """Two joints about one axis, which together move nothing, are refused by name."""
    joint = {'type': 'revolute', 'axis': [0.0, 0.0, 1.0]}
    inertia = {'ixx': 0.01, 'iyy': 0.01, 'izz': 0.01}
    light = {'type': 'rigid', 'mass': 1e-16, 'inertia': dict.fromkeys(inertia, 1e-18)}
    body = {'type': 'rigid', 'mass': 1.0, 'inertia': inertia, 'com': [0.1, 0.0, 0.0]}
    bodies = [
        {'name': name, 'joint': joint, 'body': body}
        for name, body in (('arm', body), ('ring', light), ('disc', body))
    ]
    model = sd.compile_model(sd.load_robot({'name': 'coaxial', 'bodies': bodies}))
    zero = np.zeros(3)
    with pytest.raises(SingularMassError) as caught:
        sd.forward_dynamics(model, q=zero, qd=zero, u=[])
    assert caught.value.coordinates == ('ring', 'disc')


@pytest.mark.parametrize('name', ['trimmed_helicoid', 'planar_cc_chain', 'zoo'])
def test_mixed_units_are_not_singular(name):
    """No shipped robot or body lacks inertia, however its units condition M."""
    model = compiled(name)
    for q, qd, qdd in states(model, 5):
        M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)[1]
        assert without_inertia(model, M) == ()
        assert (np.diag(M) > 1e6 * model.least_mass).all()
    if name == 'trimmed_helicoid':
        assert np.linalg.cond(M) > 1e7
        qdd = sd.forward_dynamics(model, q=q, qd=qd, u=np.zeros(model.m))
        nu = sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
        assert np.abs(nu).max() < 1e-9 * np.abs(np.diag(M) * qdd).max()


def test_the_simulator_refuses_coordinates_without_inertia():
    """The simulator follows a stiff twist and refuses a joint about a thin rod's axis."""
    robots = sd.Simulator(thin_rod()), sd.Simulator(thin_rod(section_inertia=True))
    for robot in robots:
        robot.step([], 0.1)
    np.testing.assert_allclose(*(robot.q for robot in robots), rtol=5e-3, atol=1e-9)
    with pytest.raises(SingularMassError) as caught:
        sd.Simulator(thin_rod('revolute'))
    assert caught.value.coordinates == ('rod',)
