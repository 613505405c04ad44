# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Inertia of motors behind gears against Pinocchio."""

import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import DescriptionError
from support.robots import link, rod, states

pinocchio = pytest.importorskip('pinocchio')

from support.pinocchio_models import assert_equal, pinocchio_model, random_tree  # noqa: E402


@functools.cache
def geared():
    """Return a tree whose joints have armatures, here and of Pinocchio."""
    rng, robot = np.random.default_rng(3), random_tree()
    for body in robot['bodies']:
        body['joint']['armature'] = float(rng.uniform(0.5, 20.0))
    loaded = sd.load_robot(robot)
    peer = pinocchio_model(loaded)[0]
    peer.armature = np.array([module.joint.armature for module in loaded.modules])
    return sd.compile_model(loaded), peer, peer.createData()


@pytest.mark.parametrize('state', range(3))
def test_dynamics_and_derivatives_equal_those_of_pinocchio(state):
    """Forces, M, accelerations, derivatives and energy with armature equal Pinocchio's."""
    model, peer, data = geared()
    q, qd, qdd = states(model, 3, seed=5)[state]
    forces = pinocchio.rnea(peer, data, q, qd, qdd)
    assert_equal(sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd), forces, 1e-11)
    M = np.triu(pinocchio.crba(peer, data, q))
    free = sd.forward_dynamics(model, q=q, qd=qd, u=[])
    assert_equal(free, pinocchio.aba(peer, data, q, qd, 0.0 * q), 1e-10)
    both = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
    assert_equal(both[0], forces, 1e-11)
    assert_equal(np.triu(both[1]), M, 1e-11)
    M += np.triu(M, 1).T
    assert_equal(sd.kinetic_energy(model, q=q, qd=qd), 0.5 * qd @ M @ qd, 1e-11)
    derivatives = pinocchio.computeRNEADerivatives(peer, data, q, qd, qdd)
    found = sd.inverse_dynamics_derivatives(model, q=q, qd=qd, qdd=qdd)
    for own, other in zip(found, derivatives[:2]):
        assert_equal(own, other, 1e-10)
    regressor = sd.torque_regressor(model, q=q, qd=qd, qdd=qdd)
    numbers = [module.joint.armature for module in model.description.modules]
    assert_equal(regressor.rest, np.array(numbers) * qdd, 1e-9)


def test_a_motor_beside_soft_bodies_adds_to_its_own_coordinate_alone():
    """The armature adds to its own diagonal entry of the mass matrix of a robot with a rod."""

    def arm(armature):
        joint = {'type': 'revolute', 'name': 'j', 'armature': armature}
        bodies = [
            {'name': 'a', 'joint': joint, 'body': link()},
            {'name': 'b', 'joint': {'type': 'fixed'}, 'body': rod()},
        ]
        return sd.compile_model(sd.load_robot({'name': 'arm', 'bodies': bodies}))

    bare, heavy = arm(0.0), arm(0.7)
    q, qd, qdd = states(bare, 1, seed=2, size=0.5)[0]
    masses = [sd.mass_inverse_dynamics(m, q=q, qd=qd, qdd=qdd)[1] for m in (bare, heavy)]
    more = masses[1] - masses[0]
    assert more[0, 0] == pytest.approx(0.7) and not more.ravel()[1:].any()
    bias = [sd.inverse_dynamics(m, q=q, qd=qd, qdd=0.0 * qdd) for m in (bare, heavy)]
    assert np.array_equal(*bias)


def test_an_invalid_armature_is_refused():
    """An invalid armature is refused with the place and what would be right."""
    robot = random_tree(1)
    robot['bodies'][0]['joint']['armature'] = -1.0
    with pytest.raises(DescriptionError, match=r'armature.*>= 0'):
        sd.load_robot(robot)
