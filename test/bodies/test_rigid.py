# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Rigid bodies without mass and without inertia of their own."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import SingularMassError
from support.robots import link, rod, states

FLANGE = {'type': 'rigid', 'mass': 0.0}
POSE = {'xyz': [0.02, -0.01, 0.03], 'rpy': [0.4, -0.2, 0.3]}
HINGE = {'type': 'revolute', 'axis': [0.0, 1.0, 0.0]}


def chain(*modules):
    """Return the model of bodies, each on a joint, base to tip."""
    rows = [{'name': name, 'joint': joint, 'body': body} for name, joint, body in modules]
    return sd.compile_model(sd.load_robot({'name': 'chain', 'bodies': rows}))


def test_a_flange_only_places_what_it_carries():
    """A massless flange between a link and a soft body acts as a displaced joint."""
    fixed = {'type': 'fixed'}
    flanged = chain(
        ('link', HINGE, link()), ('flange', fixed, {**FLANGE, 'tip': POSE}), ('soft', fixed, rod())
    )
    placed = chain(('link', HINGE, link()), ('soft', {**fixed, 'origin': POSE}, rod()))
    for q, qd, qdd in states(placed, 3):
        for call in (sd.inverse_dynamics, sd.inertial_inverse_dynamics):
            wanted = call(placed, q=q, qd=qd, qdd=qdd)
            found = call(flanged, q=q, qd=qd, qdd=qdd)
            np.testing.assert_allclose(found, wanted, atol=1e-13 * np.abs(wanted).max())
        zero = np.zeros(placed.n)
        found, wanted = (sd.forward_dynamics(m, q=q, qd=qd, u=[]) for m in (flanged, placed))
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
        assert sd.inertial_inverse_dynamics(flanged, q=q, qd=zero, qdd=qdd) @ qdd > 0.0


def test_a_point_mass_swings_as_in_the_book():
    """M = m l^2 about a hinge, gravity m g l sin(q): nothing else."""
    model = chain(('bob', HINGE, {'type': 'rigid', 'mass': 0.7, 'com': [0.0, 0.0, -0.5]}))
    q, zero = np.array([0.3]), np.zeros(1)
    force, mass = sd.mass_inverse_dynamics(model, q=q, qd=np.array([2.0]), qdd=zero)
    assert mass[0, 0] == pytest.approx(0.7 * 0.25, rel=1e-15)
    assert abs(force[0]) == pytest.approx(0.7 * 9.81 * 0.5 * np.sin(0.3), rel=1e-14)


@pytest.mark.parametrize('carried', [(), (('tool', {'type': 'fixed'}, FLANGE),)], ids=len)
def test_a_joint_that_moves_no_mass_is_named(carried):
    """A last joint that moves no mass is named by forward dynamics and simulation."""
    model = chain(('link', HINGE, link()), ('wrist', HINGE, FLANGE), *carried)
    zero = np.zeros(2)
    for call in (
        lambda: sd.forward_dynamics(model, q=zero, qd=zero, u=[]),
        lambda: sd.Simulator(model),
    ):
        with pytest.raises(SingularMassError) as caught:
            call()
        assert caught.value.coordinates == ('wrist',)


def test_a_point_on_its_own_axis_is_named():
    """A point mass has no inertia about a line through it."""
    model = chain(('bob', {'type': 'revolute'}, {'type': 'rigid', 'mass': 0.7, 'com': [0, 0, 1]}))
    with pytest.raises(SingularMassError) as caught:
        sd.forward_dynamics(model, q=np.zeros(1), qd=np.zeros(1), u=[])
    assert caught.value.coordinates == ('bob',)


def test_a_spring_holds_what_has_no_mass():
    """A body without mass on a spring has a stable equilibrium."""
    sprung = {**HINGE, 'stiffness': 2.0, 'rest': 0.4}
    model = chain(('link', HINGE, link()), ('wrist', sprung, FLANGE))
    found = sd.equilibrium(model, u=[], q0=[np.pi, 0.0])
    assert found.q[1] == pytest.approx(0.4, abs=1e-9) and found.stable


def test_an_inertia_without_mass_resists_turns_alone():
    """An inertia without mass resists rotation about its axis and no translation."""
    moments = {'ixx': 0.02, 'iyy': 0.01, 'izz': 0.015}
    rotor = {**FLANGE, 'inertia': moments, 'com': [0.3, 0.0, 0.0]}
    model = chain(('rotor', HINGE, rotor))
    q, zero = np.array([0.3]), np.zeros(1)
    force, mass = sd.mass_inverse_dynamics(model, q=q, qd=np.array([2.0]), qdd=zero)
    assert mass[0, 0] == pytest.approx(0.01, rel=1e-15) and abs(force[0]) < 1e-15
    assert sd.forward_dynamics(model, q=q, qd=zero, u=[]) == pytest.approx([0.0], abs=1e-15)
    sliding = chain(('rotor', {'type': 'prismatic', 'axis': [0.0, 0.6, 0.8]}, rotor))
    with pytest.raises(SingularMassError, match='rotor'):
        sd.forward_dynamics(sliding, q=zero, qd=zero, u=[])


@pytest.mark.parametrize('mass', [0.0, 0.7])
def test_material_points_have_the_mass_and_the_inertia(mass):
    """Sums over material points are the ten inertial numbers of a body, also without mass."""
    own = {'ixx': 0.02, 'iyy': 0.01, 'izz': 0.015, 'ixy': 0.002}
    body = {'type': 'rigid', 'mass': mass, 'inertia': own, 'com': [0.1, 0.2, -0.3]}
    rigid = chain(('body', HINGE, body)).description.modules[0].body
    points, masses = rigid.material_points()
    assert masses.sum() == pytest.approx(mass, abs=1e-15)
    np.testing.assert_allclose(masses @ points, mass * np.array(rigid.com), atol=1e-15)
    x = points - rigid.com
    second = np.einsum('k,ki,kj', masses, x, x)
    found = np.trace(second) * np.eye(3) - second
    np.testing.assert_allclose(found, rigid.inertia.matrix(), rtol=1e-12, atol=1e-15)
