# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Rigid robots against Pinocchio, built from the description by other formulas than ours."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.derivatives import Differentiator
from support.robots import compiled, states

pinocchio = pytest.importorskip('pinocchio')

from support.pinocchio_models import assert_equal, pinocchio_model, random_tree  # noqa: E402

pytestmark = pytest.mark.quick


@pytest.fixture(scope='module', params=['ur10e', 'tree'])
def pair(request):
    """Our model, Pinocchio's model and data, and Pinocchio's joints and tips."""
    model = (
        compiled('ur10e')
        if request.param == 'ur10e'
        else sd.compile_model(sd.load_robot(random_tree()))
    )
    other, ids, tips = pinocchio_model(model.description)
    return model, other, other.createData(), ids, tips


def test_inverse_dynamics_equals_rnea_and_crba(pair):
    """ID equals rnea and M equals crba to 1e-12 on 100 random states."""
    model, other, data, *_ = pair
    for q, qd, qdd in states(model, 100, seed=1, size=3.0):
        Q, M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
        assert_equal(Q - model.damping @ qd, pinocchio.rnea(other, data, q, qd, qdd))
        pinocchio.crba(other, data, q)
        assert_equal(M, np.triu(data.M) + np.triu(data.M, 1).T)


def test_bias_and_gravity_equal_pinocchio(pair):
    """C + g equals the nonlinear effects and g the generalized gravity, to 1e-12."""
    model, other, data, *_ = pair
    for q, qd, _ in states(model, 100, seed=2, size=3.0):
        h = sd.inverse_dynamics(model, q=q, qd=qd, qdd=np.zeros(model.n))
        assert_equal(h, pinocchio.nonLinearEffects(other, data, q, qd))
        g = pinocchio.computeGeneralizedGravity(other, data, q)
        assert_equal(sd.gravity_force(model, q=q), g)


def test_tip_frames_and_jacobians_equal_pinocchio(pair):
    """Tip frames and tip Jacobians equal Pinocchio's joint placements and Jacobians to 1e-12."""
    model, other, data, ids, tips = pair
    for q, _, _ in states(model, 10, seed=3, size=3.0):
        frames = sd.forward_kinematics(model, q=q)
        pinocchio.computeJointJacobians(other, data, q)
        for i, name in enumerate(model.body_names):
            assert_equal(frames[i], (data.oMi[ids[i]] * tips[i]).homogeneous)
            local = pinocchio.getJointJacobian(other, data, ids[i], pinocchio.LOCAL)
            wanted = tips[i].inverse().action @ local  # linear rows first
            found = sd.jacobian(model, q=q, body=name)
            assert_equal(found, np.vstack([wanted[3:], wanted[:3]]))


def test_derivatives_equal_pinocchio(pair):
    """Derivatives of ID and FD equal computeRNEADerivatives and computeABADerivatives to 1e-11."""
    model, other, data, *_ = pair
    own = Differentiator(model)
    for q, qd, qdd in states(model, 20, seed=4, size=3.0):
        wanted = np.hstack(pinocchio.computeRNEADerivatives(other, data, q, qd, qdd)[:2])
        wanted[:, model.n :] += model.damping
        force, found = own.inverse(q, qd, qdd)
        assert_equal(force, sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd))
        assert_equal(found, wanted, 1e-11)
        M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)[1]
        assert not found[np.hstack([M, M]) == 0.0].any()  # branches do not see each other
        if model.m == model.n:  # motors at all joints
            force = qdd - model.damping @ qd
            wanted = np.hstack(pinocchio.computeABADerivatives(other, data, q, qd, force)[:2])
            wanted[:, model.n :] -= np.linalg.solve(M, model.damping)
            found = own.forward(q, qd, qdd)
            assert_equal(np.hstack([found.by_q, found.by_qd]), wanted, 1e-11)
