# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Robots whose joints follow others, in simulation."""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
import softrobot_dynamics as sd
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.followers import Pair

pytestmark = pytest.mark.quick

INERTIA = dict.fromkeys(('ixx', 'iyy', 'izz'), 2e-4)


@functools.cache
def pair():
    """Return the gripper, with and without joints that follow others."""
    return Pair()


@functools.cache
def four_fingers():
    """Return four fingers of two links each around a palm, all driven by one joint."""
    bodies = [
        {
            'name': 'palm',
            'joint': {'name': 'wrist', 'type': 'revolute', 'axis': [0.0, 0.6, 0.8]},
            'body': {'type': 'rigid', 'mass': 0.5, 'com': [0, 0, 0.05], 'inertia': INERTIA},
        }
    ]
    for k in range(4):
        for j, parent in enumerate(('palm', f'finger{k}_0')):
            joint = {'name': f'joint{k}_{j}', 'type': 'revolute', 'axis': [1.0, 0.0, 0.0]}
            if (k, j) != (0, 0):
                joint['mimic'] = {'joint': 'joint0_0', 'multiplier': 1.0 + 0.2 * j - 0.1 * k}
                joint['mimic']['offset'] = 0.1 * k
            if j == 0:
                joint['origin'] = {'xyz': [0.0, 0.03, 0.1], 'rpy': [0.0, 0.0, 0.5 * np.pi * k]}
            tip = {'xyz': [0.0, 0.0, 0.05]}
            body = {'type': 'rigid', 'mass': 0.1, 'com': [0, 0.01, 0.03], 'inertia': INERTIA}
            body['tip'] = tip
            bodies.append(
                {'name': f'finger{k}_{j}', 'parent': parent, 'joint': joint, 'body': body}
            )
    return sd.compile_model(sd.load_robot({'name': 'four_fingers', 'bodies': bodies}))


@pytest.mark.parametrize('tolerance', [None, 1e-8])
def test_a_gripper_of_four_fingers_conserves_its_energy(tolerance):
    """A free motion of joints that follow each other keeps T + V; its angles move by radians."""
    model = four_fingers()
    start = [0.3, 0.2]
    simulator = sd.Simulator(model, q=start, qd=[1.0, 3.0], substep=1e-4, tolerance=tolerance)

    def energy():
        kinetic = sd.kinetic_energy(model, q=simulator.q, qd=simulator.qd)
        return kinetic + sd.potential_energy(model, q=simulator.q), kinetic

    before, kinetic = energy()
    allowed = (2e-3 if tolerance is None else 1e-6) * kinetic
    for _ in range(10):
        simulator.step(np.zeros(0), 0.05)
        assert energy()[0] == pytest.approx(before, abs=allowed)
    assert np.abs(simulator.q - start).max() > 0.5


@pytest.mark.parametrize(('tolerance', 'error'), [(None, 2e-3), (1e-8, 1e-6)])
def test_motions_are_those_of_joints_that_are_constrained(tolerance, error):
    """A motion under tendons and motors equals scipy's of G' (M_x G qdd + h_x) = J' u."""
    own = pair()
    model, free = own.model, own.free
    u = np.array([2.0, 1.0, 0.5, 0.2, 0.5, -0.2, 3.0])
    ((q, qd, _),) = own.states(1, seed=4)
    q *= 0.3

    def rates(_, state):
        q, qd = np.split(state, 2)
        x, xd = own.lead(q, qd)
        h, M = sd.mass_inverse_dynamics(free, q=x, qd=xd, qdd=np.zeros(free.n))
        push = free.evaluator()(x, xd).J.T @ (free.signs * u)
        return np.r_[qd, np.linalg.solve(own.G.T @ M @ own.G, own.G.T @ (push - h))]

    wanted = solve_ivp(rates, (0.0, 0.1), np.r_[q, qd], method='LSODA', rtol=1e-9, atol=1e-11)
    simulator = sd.Simulator(model, q=q, qd=qd, substep=1e-4, tolerance=tolerance)
    simulator.step(u, 0.1)
    scale = np.abs(wanted.y[: model.n]).max(axis=1)
    np.testing.assert_allclose(simulator.q / scale, wanted.y[: model.n, -1] / scale, atol=error)


def test_dry_friction_of_followers_acts_on_their_leader():
    """F of a follower is multiplier F along its leader, whose own is added to it."""
    block = {'type': 'rigid', 'mass': 1.0}
    rail = {'type': 'prismatic', 'axis': [1.0, 0.0, 0.0]}
    bodies = [
        {'name': 'a', 'joint': {**rail, 'name': 'one', 'coulomb_friction': 2.0}, 'body': block},
        {
            'name': 'b',
            'parent': 'base',
            'joint': {
                **rail,
                'name': 'two',
                'coulomb_friction': 3.0,
                'mimic': {'joint': 'one', 'multiplier': -2.0},
            },
            'body': block,
        },
    ]
    model = sd.compile_model(sd.load_robot({'name': 'blocks', 'bodies': bodies}))
    simulator = ActuatedSimulator(model, q=[0.0], qd=[2.0])
    simulator.step(np.zeros(0), 0.5)
    braked = (2.0 + 2.0 * 3.0) / (1.0 + 4.0)
    assert simulator.qd[0] == pytest.approx(2.0 - 0.5 * braked, rel=1e-3)


def sliding(own, follower, ratio, multiplier):
    """Return two blocks on rails, the second of which a chain of two joints ties to the first."""
    block = {'type': 'rigid', 'mass': 1.0}
    rail = {'type': 'prismatic', 'axis': [1.0, 0.0, 0.0]}
    given = [
        ('one', own, None),
        ('two', 0.0, {'joint': 'one', 'multiplier': ratio}),
        ('three', follower, {'joint': 'two', 'multiplier': multiplier}),
    ]
    bodies = []
    for name, friction, mimic in given:
        joint = {**rail, 'name': name, 'coulomb_friction': friction}
        joint.update({} if mimic is None else {'mimic': mimic})
        bodies.append({'name': f'{name}_block', 'parent': 'base', 'joint': joint, 'body': block})
    motor = {'name': 'motor', 'type': 'joint', 'joint': 'one'}
    robot = {'name': 'blocks', 'bodies': bodies, 'actuators': [motor]}
    return sd.compile_model(sd.load_robot(robot))


@pytest.mark.parametrize('push', [0.0, 8.9, 12.0])
def test_friction_of_a_follower_is_that_of_its_leader_by_the_ratio_of_their_speeds(push):
    """
    A chain of ratios -2 and 1.5 with 3 N at its end moves as with 9 N at its first joint.

    It sticks under less, and slides under more.
    """
    ends = []
    for model in (sliding(0.5, 3.0, -2.0, 1.5), sliding(9.5, 0.0, -2.0, 1.5)):
        robot = ActuatedSimulator(model, q=[0.0], qd=[0.05])
        for _ in range(400):
            robot.step([push], 5e-3)
        ends.append([*robot.q, *robot.qd])
    assert ends[0] == pytest.approx(ends[1], rel=1e-12)
    assert (abs(ends[0][1]) < 1.1e-2) == (push < 9.5)
