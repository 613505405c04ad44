# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Inverse dynamics as a linear function of the inertia of rigid bodies."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from support.robots import compiled, states

pytestmark = pytest.mark.quick


@pytest.mark.parametrize('name', ['ur10e', 'tree'])
def test_regressors_equal_pinocchios(name):
    """Column by column of computeJointTorqueRegressor, and its parameters, to 1e-10."""
    pinocchio = pytest.importorskip('pinocchio')
    from support.pinocchio_models import assert_equal, pinocchio_model, random_tree

    model = compiled(name) if name == 'ur10e' else sd.compile_model(sd.load_robot(random_tree()))
    other, ids, _ = pinocchio_model(model.description)
    data = other.createData()
    for q, qd, qdd in states(model, 10, seed=4, size=3.0):
        found = sd.torque_regressor(model, q=q, qd=qd, qdd=qdd)
        theirs = pinocchio.computeJointTorqueRegressor(other, data, q, qd, qdd)
        numbers = np.concatenate([other.inertias[i].toDynamicParameters() for i in ids])
        distal = [about_joint(model.description, other, i) for i in range(len(ids))]
        change = block_diagonal(distal)  # from S_J, where ours are, to Pinocchio's joint frame
        assert_equal(found.matrix, theirs @ change, 1e-10)
        assert_equal(change @ found.parameters, numbers, 1e-10)


def about_joint(description, other, index):
    """Return the matrix (10, 10) of a body's numbers from S_J to Pinocchio's joint frame."""
    import pinocchio
    from support.pinocchio_models import PLACED

    joint = description.modules[index].joint
    placed = PLACED['dh' if joint.dh else 'axis'](joint)[2]
    bases = [pinocchio.Inertia.FromDynamicParameters(each) for each in samples()]
    moved = [placed.act(inertia).toDynamicParameters() for inertia in bases]
    return np.linalg.solve(samples(), np.array(moved)).T


def samples():
    """Return the numbers (10, 10) of ten bodies that span all of them."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(10):
        points, masses = rng.normal(size=(6, 3)), rng.uniform(0.1, 1.0, 6)
        I = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points))  # noqa
        moments = [I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
        rows.append([masses.sum(), *(masses @ points), *moments])
    return np.array(rows)


def block_diagonal(blocks):
    """Return the matrix with these on its diagonal."""
    size = len(blocks[0])
    whole = np.zeros((size * len(blocks),) * 2)
    for k, block in enumerate(blocks):
        whole[size * k :, size * k :][:size, :size] = block
    return whole


@pytest.mark.parametrize('name', ['ur10e', 'hybrid_arm'])
def test_with_the_robots_own_numbers_it_is_inverse_dynamics(name):
    """The regressor times the inertial parameters equals inverse dynamics, soft robots too."""
    model = compiled(name)
    q, qd, qdd = states(model, 1, seed=2)[0]
    found = sd.torque_regressor(model, q=q, qd=qd, qdd=qdd)
    whole = sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
    assert found.matrix @ found.parameters + found.rest == pytest.approx(whole, rel=1e-12)
    assert found.matrix.shape == (model.n, 10 * len(found.bodies)) and found.bodies
    heavy = sd.compile_model(sd.vary(model.description, {f'{found.bodies[-1]}.mass': '×1.7'}))
    other = sd.torque_regressor(heavy, q=q, qd=qd, qdd=qdd)
    assert other.matrix == pytest.approx(found.matrix, abs=1e-9)
    assert other.rest == pytest.approx(found.rest, abs=1e-9)
    assert np.abs(other.parameters - found.parameters).max() > 0.01
    changed = found.matrix @ other.parameters + found.rest
    assert changed == pytest.approx(
        sd.inverse_dynamics(heavy, q=q, qd=qd, qdd=qdd), rel=1e-9, abs=1e-9
    )


def test_states_are_checked():
    """Wrong states are refused by name."""
    with pytest.raises(ArgumentError, match='qdd'):
        sd.torque_regressor(compiled('ur10e'), q=np.zeros(6), qd=np.zeros(6), qdd=[np.nan] * 6)
