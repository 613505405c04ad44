# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Gradients of the energies are the forces, and motions conserve energy."""

import numpy as np
from oracles.euler_lagrange import kinetic_energy, potential_energy
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from support.mechanics import energy
from support.robots import compiled, link, rod, states

MIXED = ('zoo', 'gallery', 'hand', 'hybrid_arm')  # every body kind, every joint
STEP = 1e-3  # of the differences, in parts of a way


def derivative(energy, q, way):
    """Return the derivative of an energy at q (n,) along a way (n,), to fourth order."""
    near, far = (energy(q + k * way) - energy(q - k * way) for k in (STEP, 2.0 * STEP))
    return (8.0 * near - far) / (12.0 * STEP)


@pytest.mark.parametrize('name', MIXED)
def test_gradients_of_energies_are_the_forces(name):
    """Gradients of the energies are gravity g(q) and elastic force s(q) for all bodies."""
    model = compiled(name)
    for q, way, _ in states(model, 2, seed=3, size=0.4):
        found = derivative(lambda x: sd.potential_energy(model, q=x), q, way)
        shares = sd.gravity_force(model, q=q) * way
        assert found == pytest.approx(shares.sum(), abs=1e-9 * np.abs(shares).max())
        found = derivative(lambda x: sd.elastic_energy(model, q=x), q, way)
        shares = sd.elastic_force(model, q=q) * way
        assert found == pytest.approx(shares.sum(), abs=1e-8 * np.abs(shares).max())


@pytest.mark.quick
@pytest.mark.parametrize('name', ['hand', 'gallery'])
def test_energies_of_masses(name):
    """Kinetic and potential energy equal the sums over all material points."""
    model = compiled(name)
    for q, qd, _ in states(model, 2, seed=4):
        moving = kinetic_energy(model.description, q, qd)
        assert sd.kinetic_energy(model, q=q, qd=qd) == pytest.approx(moving, rel=1e-12)
        above = potential_energy(model.description, q)
        assert sd.potential_energy(model, q=q) == pytest.approx(above, rel=1e-12)


def test_energy_of_a_material():
    """The elastic energy of a material is W of the deformation gradient summed over the volume."""
    model = compiled('hybrid_arm')
    ((q, _, _),) = states(model, 1, seed=5, size=0.4)
    expected, first = 0.0, 0
    for module in model.description.modules:
        first += len(module.joint.coordinates())
        body, last = module.body, first + len(module.body.coordinates())
        own = q[first:last]
        if body.energy(np.eye(3).tolist(), NUMERIC) is None:
            expected += 0.5 * own @ body.stiffness() @ own
        else:
            points, masses = body.material_points()
            shifts = 1e-6 * np.eye(3)
            F = [
                (body._moved(points + e, own) - body._moved(points - e, own)) / 2e-6
                for e in shifts
            ]
            density = body.energy(np.transpose(F, (2, 0, 1)), NUMERIC)
            expected += density @ masses / body.density
        first = last
    assert sd.elastic_energy(model, q=q) == pytest.approx(expected, rel=1e-7)


def test_springs_have_no_energy_at_their_rest():
    """A spring has no energy at its rest, which may be elsewhere than q = 0."""
    joint = {'type': 'revolute', 'stiffness': 3.0, 'rest': 0.4}
    robot = {'name': 'flap', 'bodies': [{'name': 'b', 'joint': joint, 'body': link()}]}
    model = sd.compile_model(sd.load_robot(robot))
    assert sd.elastic_energy(model, q=[0.4]) == 0.0
    assert sd.elastic_energy(model, q=[0.6]) == pytest.approx(0.5 * 3.0 * 0.2**2)


def test_invalid_arguments_of_energies_are_refused():
    """A wrong number, shape or posture is refused with the name of the argument."""
    model = compiled('pcc_arm')
    for call in (sd.potential_energy, sd.elastic_energy):
        with pytest.raises(ArgumentError, match='argument q'):
            call(model, q=np.zeros(model.n - 1))
    with pytest.raises(ArgumentError, match='argument qd'):
        sd.kinetic_energy(model, q=model.q0, qd=np.full(model.n, np.nan))


@pytest.fixture(scope='module')
def undamped():
    """Return a link on a hinge with a soft rod at its end, nothing of which has damping."""
    hinge = {'type': 'revolute', 'axis': [0.0, 1.0, 0.2]}
    bodies = [
        {'name': 'link', 'joint': hinge, 'body': link()},
        {'name': 'rod', 'joint': {'type': 'fixed'}, 'body': rod(radius=0.01, damping=0.0)},
    ]
    return sd.compile_model(sd.load_robot({'name': 'whip', 'bodies': bodies}))


def test_energy_is_kept_to_the_order_of_the_method(undamped):
    """Without damping the energy loss falls with the step squared, or with the tolerance."""
    model, losses = undamped, []
    bent = np.array([0.5, 0.3, -0.2, 0.0])
    for substep in (4e-5, 2e-5, 1e-5):
        robot = sd.Simulator(model, q=bent, substep=substep)
        begin = energy(model, robot.q, robot.qd)
        robot.step([], 0.05)
        moving = sd.kinetic_energy(model, q=robot.q, qd=robot.qd)
        losses.append(abs(energy(model, robot.q, robot.qd) - begin) / moving)
    assert np.all(np.log2(np.divide(losses[:-1], losses[1:])) > 1.7)
    assert losses[-1] < 1e-4
    robot = sd.Simulator(model, q=bent, substep=1e-3, tolerance=1e-8)
    robot.step([], 0.05)
    assert abs(energy(model, robot.q, robot.qd) - begin) < 1e-5 * moving


def test_power_balance_with_wrenches():
    """The energy grows by the work of tendons and wrenches less the damping losses."""
    model, dt = compiled('pcc_arm'), 2.5e-4
    tip = model.body_names[-1]
    wrench = sd.Wrench([0.0, 0.02, 0.01, 0.3, -0.5, 0.2], frame='body')
    u = 0.3 * model.upper * (np.arange(model.m) % 2)
    robot, powers = sd.Simulator(model, substep=dt / 2.0), []
    begin = energy(model, robot.q, robot.qd)
    for k in range(401):
        q, qd = robot.q.copy(), robot.qd.copy()
        pull = u @ sd.actuation(model, q=q, qd=qd).matrix.T @ qd
        push = sd.jacobian(model, q=q, body=tip).T @ wrench.value @ qd
        powers.append([pull, push, -sd.damping_force(model, q=q, qd=qd) @ qd])
        if k < 400:
            robot.step(u, dt, {tip: wrench})
    works = np.trapezoid(powers[4:], dx=dt, axis=0)  # settled: rates jump with the tensions
    assert np.abs(works).min() > 1e-4
    grown = energy(model, q, qd) - begin - np.trapezoid(powers[:5], dx=dt, axis=0).sum()
    assert works.sum() == pytest.approx(grown, abs=0.01 * np.abs(works).max())
