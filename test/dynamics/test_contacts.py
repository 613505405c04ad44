# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Contacts at a state: gaps, Jacobians, forces, and their derivatives."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from support.contacts import arm, thing, world

WALL = {'name': 'wall', 'type': 'plane', 'point': [0.06, 0, 0], 'normal': [-1, 0, 0]}
BALL = {'name': 'ball', 'type': 'sphere', 'centre': [0.075, 0.01, 0.5], 'radius': 0.05}
BOX = {'name': 'box', 'type': 'box', 'edges': [0.1, 0.3, 0.2], 'pose': {'xyz': [0.168, 0, 0.5]}}


@pytest.mark.parametrize('obstacle', [WALL, BALL, BOX], ids=lambda o: o['name'])
def test_jacobians_are_derivatives_of_gaps(obstacle):
    """The normal row of each Jacobian is the gap's derivative by q, by differences."""
    model = arm([obstacle])
    q = np.array([0.12, 0.05, 0.002, 0.1, -0.04, 0.001, 0.15, 0.02, 0.0])
    found = sd.contacts(model, q=q)
    assert len(found.gap)

    def gap(q):
        return sd.contacts(model, q=q).gap[0]

    rates = [(gap(q + e) - gap(q - e)) / 2e-6 for e in 1e-6 * np.eye(9)]
    np.testing.assert_allclose(found.normals[0] @ found.jacobians[0], rates, atol=1e-8)


def test_forces_are_those_of_the_law():
    """F = k d (1 + c d') along the normal, mu f against sliding, and J^T of both."""
    shape = {'type': 'sphere', 'radius': 0.05, 'stiffness': 2e3, 'damping': 0.7, 'friction': 0.4}
    model = world([thing('o', shape, (0, 0, 0.05))], [{'name': 'f', 'type': 'plane'}])
    q, qd = np.array([0.0, 0.0, 0.0, 0.049, 0, 0, 0]), np.array([0, 0.3, 0.0, -0.2, 0, 0, 0])
    found = sd.contacts(model, q=q, qd=qd)
    assert found.bodies == (('o', 'f'),)
    assert found.gap[0] == pytest.approx(-1e-3)
    force = 2e3 * 1e-3 * (1.0 + 0.7 * 0.2)
    assert found.force[0] == pytest.approx(force)
    mu = 2.0 * 0.4 * 0.5 / 0.9
    slip = model.contact_plan.slip
    held = mu * force * 0.3 / np.hypot(0.3, slip)
    np.testing.assert_allclose(found.friction[0], [-held, 0, 0], atol=1e-9)
    total = found.force[0] * found.normals[0] + found.friction[0]
    np.testing.assert_allclose(found.generalized_force, total @ found.jacobians[0], atol=1e-12)
    assert found.generalized_force[5] == pytest.approx(held * 0.0495)  # about y, at mid depth


def test_an_action_has_an_equal_reaction():
    """Forces between two objects have no resultant, and no moment."""
    sphere = {'type': 'sphere', 'radius': 0.05}
    model = world([thing('a', sphere), thing('b', sphere, (0.08, 0.03, 0.04))])
    q, rates = model.q0.copy(), np.random.default_rng(0).normal(size=model.n)
    force = sd.contacts(model, q=q, qd=rates).generalized_force
    assert np.abs(force).max() > 0.0
    np.testing.assert_allclose(force[1:4], -force[7:10], atol=1e-9)
    moments = force[4:7] + force[10:13] + np.cross(q[7:10], force[7:10])
    np.testing.assert_allclose(moments, 0.0, atol=1e-9)


def test_accelerations_have_contact_and_its_derivatives():
    """Derivatives of forward dynamics in contact agree with differences."""
    model = arm([WALL], stiffness=500.0, damping=0.5)
    q = np.array([0.12, 0.05, 0.002, 0.1, -0.04, 0.001, 0.15, 0.02, 0.0])
    qd = 0.1 * np.random.default_rng(1).normal(size=9)
    assert sd.contacts(model, q=q, qd=qd).force.max() > 0.0
    found = sd.forward_dynamics_derivatives(model, q=q, qd=qd, u=[1.0])

    def qdd(q, qd):
        return sd.forward_dynamics(model, q=q, qd=qd, u=[1.0])

    np.testing.assert_allclose(found.qdd, qdd(q, qd), rtol=1e-9)
    by_q = np.array([(qdd(q + e, qd) - qdd(q - e, qd)) / 2e-6 for e in 1e-6 * np.eye(9)]).T
    by_qd = np.array([(qdd(q, qd + e) - qdd(q, qd - e)) / 2e-5 for e in 1e-5 * np.eye(9)]).T
    np.testing.assert_allclose(found.by_q, by_q, atol=1e-5 * np.abs(by_q).max())
    np.testing.assert_allclose(found.by_qd, by_qd, atol=1e-5 * np.abs(by_qd).max())


def test_a_robot_without_surroundings_has_no_contacts():
    """A robot without surroundings has no contacts: the arrays are empty, of the right widths."""
    found = sd.contacts(sd.compile_model(sd.load_robot('pcc_arm')), q=np.zeros(9))
    assert found.bodies == ()
    assert found.jacobians.shape == (0, 3, 9)
    assert not found.generalized_force.any()
