# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Closed loops in simulation: position, rates, energy, order; refusals."""

import copy
import pickle

import numpy as np
from oracles.planar_links import solved
import pytest
from scipy.integrate import solve_ivp
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.closures import five_bar, four_bar, model, parallel_rods


def energy(simulator):
    """Return kinetic and potential energy [J]."""
    robot, q = simulator.model, simulator.q
    kinetic = sd.kinetic_energy(robot, q=q, qd=simulator.qd)
    return kinetic + sd.potential_energy(robot, q=q)


def test_a_free_four_bar_keeps_its_energy():
    """Without friction it changes by less than 1e-6 of it in 2 s, with the square of the step."""
    robot = model(four_bar)
    q, qd = sd.assemble(robot, q=robot.q0, qd=[3.0, 0.0, 0.0])
    drifts = []
    for substep in (2e-4, 1e-4):
        simulator = sd.Simulator(robot, q=q, qd=qd, substep=substep)
        before, drift = energy(simulator), 0.0
        for _ in range(100):
            simulator.step([0.0], 0.02)
            drift = max(drift, abs(energy(simulator) - before))
        drifts.append(drift)
    assert drifts[1] < 1e-6 * before
    assert drifts[1] < 0.3 * drifts[0]


def test_loops_stay_closed_after_every_step():
    """After each step of 1 ms residuals are below 1e-9 of the size, and rates of them rounding."""
    for make, options in ((four_bar, {}), (parallel_rods, {'order': 3})):
        robot = model(make, **options)
        qd = sd.assemble(robot, q=robot.q0, qd=robot.scales.units).qd
        simulator = sd.Simulator(robot, q=robot.q0, qd=qd)
        for _ in range(300):
            simulator.step([1.0], 1e-3)
            found = sd.closures(robot, q=simulator.q, qd=simulator.qd)
            assert np.abs(found.residual).max() < 1e-9 * robot.scales.length
            speed = np.abs(found.jacobian) @ np.abs(simulator.qd)
            assert (np.abs(found.jacobian @ simulator.qd) <= 1e-12 * speed.max()).all()


def test_a_five_bar_moves_as_free_links_with_pins():
    """After 0.5 s both cranks are where links in absolute coordinates take them, to 1e-5 rad."""
    robot, lengths, u = model(five_bar), np.array([0.5, 0.6, 0.45, 0.65]), np.array([2.0, -1.0])
    pins = [
        ((0, -1), None),
        ((1, -1), (0, 1)),
        ((2, -1), None),
        ((3, -1), (2, 1)),
        ((1, 1), (3, 1)),
    ]
    torques = np.array([u[0], 0.0, u[1], 0.0])

    def slope(t, x):
        return np.r_[x[4:], solved(lengths, np.ones(4), x[:4], x[4:], pins, torques)[0]]

    q = robot.q0
    angles = np.array([q[0], q[0] + q[1], q[2], q[2] + q[3]])
    expected = solve_ivp(slope, (0.0, 0.5), np.r_[angles, np.zeros(4)], rtol=1e-11, atol=1e-12)
    simulator = sd.Simulator(robot, substep=1e-4)
    simulator.step(u, 0.5)
    q = simulator.q
    own = np.array([q[0], q[0] + q[1], q[2], q[2] + q[3]])
    np.testing.assert_allclose(own, expected.y[:4, -1], atol=1e-5)


def test_a_soft_robot_comes_to_rest_where_statics_have_it():
    """Two rods with a plate, pulled aside, swing and end in their equilibrium."""
    robot = model(parallel_rods, order=3, damping=0.2)
    rest = sd.equilibrium(robot, u=[0.5])
    assert rest.stable
    simulator = sd.Simulator(robot)
    for _ in range(110):
        simulator.step([0.5], 0.05)
    units = robot.scales.units
    np.testing.assert_allclose(simulator.q / units, rest.q / units, atol=1e-4)
    tip = [sd.frame(robot, q=q, body='plate')[:3, 3] for q in (simulator.q, rest.q)]
    np.testing.assert_allclose(*tip, atol=1e-6)


def test_wrenches_and_copies_go_on_with_closed_loops():
    """A pickled simulator, and one that is copied, go on bit by bit, under a wrench as well."""
    robot = model(four_bar)
    simulator = sd.Simulator(robot)
    simulator.step([0.5], 0.05)
    others = copy.deepcopy(simulator), pickle.loads(pickle.dumps(simulator))
    pull = {'coupler': sd.Wrench([0, 0, 0, 3.0, 0, 1.0], frame='base')}
    simulator.step([0.5], 0.05, wrenches=pull)
    for other in others:
        other.step([0.5], 0.05, wrenches=pull)
        np.testing.assert_array_equal(other.q, simulator.q)
        np.testing.assert_array_equal(other.qd, simulator.qd)
    J = sd.jacobian(robot, q=simulator.q, body='coupler')
    assert np.abs(J[3:]).max() > 0.0
    rates = sd.forward_dynamics(robot, q=simulator.q, qd=simulator.qd, u=[0.5], wrenches=pull)
    h = 1e-5
    ahead = sd.Simulator(robot, q=simulator.q, qd=simulator.qd, substep=h)
    ahead.step([0.5], h, wrenches=pull)
    np.testing.assert_allclose((ahead.qd - simulator.qd) / h, rates, rtol=1e-3)


def test_simulated_actuators_drive_closed_loops():
    """The simulator of the simulation node moves a four-bar with a lag, its loop closed."""
    robot = four_bar()
    robot['actuators'][0]['lag'] = 0.02
    robot['bodies'][0]['joint']['coulomb_friction'] = 0.05
    own = sd.compile_model(sd.load_robot(robot))
    simulator = ActuatedSimulator(own)
    simulator.begin_under([0.0])
    for _ in range(100):
        simulator.step([2.0], 1e-3)
    assert np.abs(sd.closures(own, q=simulator.q).residual).max() < 1e-9
    assert np.abs(simulator.qd).max() > 0.1


def test_robots_without_closures_make_the_steps_that_they_did():
    """A robot without closures is stepped by the kernel for trees."""
    tree = sd.compile_model(sd.load_robot({**four_bar(), 'closures': []}))
    assert tree.closure_plan is None
    names = [sd.Simulator(each)._steps.advance.__name__ for each in (tree, model(four_bar))]
    assert names == ['exponential_steps', 'closed_steps']


def test_a_linkage_that_falls_on_a_floor_rests_as_statics_have_it():
    """A ball on the coupler hits the floor; posture and force at rest are those of statics."""
    robot = four_bar(damping=0.05)
    ball = {'type': 'sphere', 'centre': [0, 0, 0.6], 'radius': 0.05, 'friction': 0.0}
    robot['bodies'][1]['collision'] = ball
    robot['environment'] = [{'name': 'floor', 'type': 'plane', 'point': [0, 0, 0.1]}]
    own = sd.compile_model(sd.load_robot(robot))
    simulator, total = sd.Simulator(own), []
    for _ in range(1500):
        simulator.step([0.0], 1e-3)
        total.append(energy(simulator))
    assert np.abs(simulator.qd).max() < 1e-6
    assert np.abs(sd.closures(own, q=simulator.q).residual).max() < 1e-9
    assert max(total) <= total[0]
    rest = sd.equilibrium(own, u=[0.0], q0=simulator.q)
    assert rest.stable
    np.testing.assert_allclose(simulator.q, rest.q, atol=1e-7)
    touch = sd.contacts(own, q=simulator.q)
    assert touch.bodies == (('coupler', 'floor'),)
    # moments of the force and of all weights along the one motion that is left
    basis = sd.closures(own, q=rest.q).basis[:, 0]
    weight = basis @ sd.gravity_force(own, q=rest.q)
    assert basis @ touch.generalized_force == pytest.approx(weight, rel=1e-5)


@pytest.mark.parametrize('joint', [0, 2])
def test_a_stop_of_one_joint_holds_the_whole_linkage(joint):
    """A four-bar that falls on a stop rests there, bears its load, and is let go by a torque."""
    robot = four_bar()
    q0 = model(four_bar).q0
    low, high = (q0[joint] - 2.0, q0[joint] + 0.2) if joint == 0 else (q0[joint] - 2.0, 2.0)
    robot['bodies'][joint]['joint']['limits'] = {'position': [float(low), float(high)]}
    own = sd.compile_model(sd.load_robot(robot))
    push = 10.0 if sd.closures(own, q=q0).basis[[0, joint], 0].prod() > 0.0 else -10.0
    simulator = sd.Simulator(own)
    for _ in range(600):
        simulator.step([push], 1e-3)
        found = sd.closures(own, q=simulator.q, qd=simulator.qd)
        assert np.abs(found.residual).max() < 1e-9
        assert np.abs(found.jacobian @ simulator.qd).max() < 1e-11
        assert simulator.q[joint] <= high + 1e-9
    assert simulator.q[joint] == pytest.approx(high, abs=1e-9)
    assert np.abs(simulator.qd).max() < 1e-8
    force = simulator.stop_forces
    assert force[joint] < 0.0 and np.count_nonzero(force) == 1
    # with the force of the stop in its place nothing moves
    basis = found.basis[:, 0]
    held = basis @ (force + sd.actuation(own, q=simulator.q, qd=0 * q0).matrix @ [push])
    needed = basis @ sd.gravity_force(own, q=simulator.q)
    assert held == pytest.approx(needed, rel=1e-6)
    for _ in range(100):
        simulator.step([-push], 1e-3)
    assert simulator.q[joint] < high - 0.01


def test_a_start_with_open_loops_is_refused():
    """A simulator starts at closed states only, which sd.assemble makes of others."""
    robot = model(four_bar)
    simulator = sd.Simulator(robot)
    with pytest.raises(ArgumentError, match='loop is open by'):
        simulator.reset(robot.q0 + 0.1)
    with pytest.raises(ArgumentError, match='they open loop/'):
        simulator.reset(robot.q0, [1.0, 0.0, 0.0])
    simulator.reset(*sd.assemble(robot, q=robot.q0 + 0.1, qd=[1.0, 0.0, 0.0]))


DRIVEN = four_bar()
DRIVEN['actuators'][0] |= {'command': 'position', 'bandwidth': 20.0}
DRIVEN['bodies'][0]['joint']['limits'] = {'velocity': 3.0}


@pytest.mark.parametrize('robot, options, words', [
    (four_bar(), {'tolerance': 1e-6}, 'steps within a tolerance'),
    (DRIVEN, {}, 'drives of joints'),
], ids=['tolerance', 'drives'])  # fmt: skip
def test_a_simulator_refuses_what_it_does_not_know_of_with_loops(robot, options, words):
    """Steps within a tolerance and drives of joints are refused, with the closure's name."""
    own = sd.compile_model(sd.load_robot(robot))
    with pytest.raises(ArgumentError, match=words) as caught:
        ActuatedSimulator(own, **options)
    assert 'loop' in str(caught.value)
