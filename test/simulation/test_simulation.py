# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The simulator: determinism, second order, stability under stiff damping, failures."""

import numpy as np
from oracles.euler_lagrange import potential_energy
import pytest
from scipy.integrate import solve_ivp
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.errors import ArgumentError, SimulationDivergedError
from softrobot_dynamics.recursion.linearisation import Linearisation
from softrobot_dynamics.simulation.simulator import Simulator
from support.robots import compiled, link, SHIPPED, states


def run(model, u, duration, substep, q=None, dt=1e-2):
    """Return the simulator after ``duration`` [s] of constant actuation."""
    simulator = Simulator(model, q=q, substep=substep)
    for _ in range(round(duration / dt)):
        simulator.step(u, dt)
    return simulator


def moderate(model):
    """Actuation within the limits that moves the robot a little."""
    span = np.where(np.isfinite(model.upper), model.upper, 1.0)
    return 0.05 * span * (np.arange(model.m) % 2)


@pytest.mark.parametrize('name', SHIPPED)
def test_equal_inputs_give_equal_bits(name):
    """Simulators with the same inputs end in the same state, bit by bit; so after a reset."""
    model = compiled(name)
    u = moderate(model)
    first, second = (run(model, u, 0.1, 2.5e-4) for _ in range(2))
    assert np.array_equal(first.q, second.q) and np.array_equal(first.qd, second.qd)
    first.reset()
    assert first.time == 0.0 and not first.qd.any() and np.array_equal(first.q, model.q0)
    for _ in range(10):
        first.step(u, 1e-2)
    assert np.array_equal(first.q, second.q) and np.array_equal(first.qd, second.qd)


@pytest.mark.parametrize('name', SHIPPED)
def test_time_is_counted(name):
    """The simulator's time is the sum of its steps, whatever the sub-step."""
    simulator = run(compiled(name), moderate(compiled(name)), 0.03, 7e-4)
    assert simulator.time == pytest.approx(0.03, abs=1e-12)


@pytest.mark.parametrize('name', SHIPPED)
def test_one_step_is_that_of_the_method(name):
    """A step equals the method's two stages with stiffness and damping at its start."""
    model, h = compiled(name), 1e-3
    u, n = moderate(model), model.n
    near = Linearisation(model)

    def acceleration(q, qd):
        return sd.forward_dynamics(model, q=q, qd=qd, u=u)

    for q, qd, _ in states(model, 3, seed=1, size=0.5):
        simulator = sd.Simulator(model, q=q, qd=qd, substep=h)
        simulator.step(u, h)
        near.begin(q)
        M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=np.zeros(n))[1]
        K, D = (np.linalg.solve(M, each) for each in (near.stiffness, near.damping))
        push = acceleration(q, qd) + D @ qd
        half = half_a_step(K, D, push, np.zeros(n), h)
        middle = half @ [*np.zeros(n), *qd, 1.0, 0.0]
        x, v = middle[:n], middle[n : 2 * n]
        lack = 2.0 * (acceleration(q + x, v) - push + D @ v + K @ x)
        half = half_a_step(K, D, push, lack, h)
        end = half @ half @ [*np.zeros(n), *qd, 1.0, 0.0]
        scale = max(1.0, np.abs(end[n : 2 * n]).max())
        np.testing.assert_allclose(simulator.qd, end[n : 2 * n], atol=1e-9 * scale)
        np.testing.assert_allclose(simulator.q, q + end[:n], atol=1e-12 * scale)


def half_a_step(K, D, push, lack, h):
    """Rational function by which the method moves (x, v, 1, t / h) by h / 2."""
    n, gamma = len(K), 1.0 - np.sqrt(0.5)
    A = np.zeros((2 * n + 2, 2 * n + 2))
    A[:n, n : 2 * n], A[n : 2 * n, :n], A[n : 2 * n, n : 2 * n] = np.eye(n), -K, -D
    A[n : 2 * n, -2], A[n : 2 * n, -1], A[-1, -2] = push, lack, 1.0 / h
    A *= 0.5 * h
    left = np.eye(2 * n + 2) - gamma * A
    return np.linalg.solve(left, np.linalg.solve(left, np.eye(2 * n + 2) + (1 - 2 * gamma) * A))


@pytest.mark.parametrize('name', ['pcc_arm', 'planar_cc_chain', 'double_pendulum'])
def test_second_order_of_convergence(name):
    """The error against a tight solution of the same equations falls by 4 with half the step."""
    model, duration = compiled(name), 0.2
    u, n = moderate(model), model.n

    def rate(t, state):
        return [*state[n:], *sd.forward_dynamics(model, q=state[:n], qd=state[n:], u=u)]

    start = np.concatenate([model.q0, np.zeros(n)])
    exact = solve_ivp(rate, (0.0, duration), start, method='LSODA', rtol=1e-10, atol=1e-12)
    errors = np.array(
        [np.abs(run(model, u, duration, h).q - exact.y[:n, -1]).max() for h in (2e-3, 1e-3, 5e-4)]
    )
    orders = np.log2(errors[:-1] / errors[1:])
    assert np.all((1.7 < orders) & (orders < 2.5))
    assert errors[-1] < 1e-3 * np.abs(exact.y[:n, -1] - model.q0).max()


@pytest.mark.parametrize('name', ['pcc_arm', 'planar_cc_chain'])
def test_stiff_damping_is_stable_at_a_millisecond(name):
    """With damping rates far beyond 1/h, steps of 1 ms stay bounded and come to rest."""
    model = compiled(name)
    zero = np.zeros(model.n)
    M = sd.mass_inverse_dynamics(model, q=zero, qd=zero, qdd=zero)[1]
    fastest = np.linalg.eigvals(np.linalg.solve(M, model.damping)).real.max()
    assert fastest * 1e-3 > 5.0  # an explicit step would blow up
    simulator = run(model, moderate(model), 1.0, 1e-3, q=np.full(model.n, 0.03))
    assert np.abs(simulator.qd).max() < 1.0
    assert np.abs(simulator.q).max() < 3.0


@pytest.mark.parametrize('name', ['pcc_arm', 'planar_cc_chain'])
def test_a_passive_arm_settles_in_equilibrium(name):
    """With and without actuation the arm comes to rest where the statics say."""
    model, settled = compiled(name), {'pcc_arm': 50.0, 'planar_cc_chain': 30.0}[name]  # [s]
    for u in (np.zeros(model.m), moderate(model)):
        simulator = run(model, u, settled, 1e-3, q=np.full(model.n, 0.02))
        found = equilibrium(model, u=u)
        np.testing.assert_allclose(simulator.q, found.q, atol=1e-6)


@pytest.mark.parametrize('push', [1e300, 1e12])
def test_divergence_is_an_error_and_the_last_good_state_is_kept(push):
    """A divergence is an error with time and coordinate, and the last good state is kept."""
    model = compiled('pcc_arm')
    simulator = run(model, np.zeros(model.m), 0.01, 2.5e-4)
    u = np.zeros(model.m)
    u[0] = push
    with pytest.raises(SimulationDivergedError) as caught:
        for _ in range(1000):
            good = simulator.q.copy(), simulator.qd.copy(), simulator.time
            simulator.step(u, 2.5e-4)
    assert np.array_equal(simulator.q, good[0]) and np.array_equal(simulator.qd, good[1])
    assert caught.value.time == simulator.time == good[2]
    assert caught.value.coordinate in model.coordinate_names
    assert np.isfinite(simulator.q).all() and np.isfinite(simulator.qd).all()
    simulator.reset()
    simulator.step(np.zeros(model.m), 1e-3)


@pytest.mark.parametrize('name', ['pcc_arm', 'planar_cc_chain'])
def test_energy_only_falls(name):
    """The energy of an unactuated arm falls from each moment to the next."""
    model = compiled(name)
    bent = [0.0 if name.endswith('elongation') else 0.4 for name in model.coordinate_names]
    simulator = Simulator(model, q=np.array(bent))
    passed = []
    for _ in range(100):
        passed.append((simulator.q.copy(), simulator.qd.copy()))
        simulator.step(np.zeros(model.m), 1e-2)
    assert np.diff(energies(model, *map(np.array, zip(*passed)))).max() < 0.0


def energies(model, q, qd):
    """Energies [J] of motion, gravity and bending in states (T, n)."""
    gravity, motion = potential_energy(model.description, q), []
    for one, rate in zip(q, qd):
        M = sd.mass_inertial_inverse_dynamics(model, q=one, qd=rate, qdd=rate)[1]
        motion.append(0.5 * rate @ M @ rate)
    return np.array(motion) + gravity + 0.5 * np.einsum('ti,ij,tj->t', q, model.stiffness, q)


def test_a_tolerance_chooses_the_step():
    """The error falls with the tolerance, sub-steps become more, and time is kept."""
    model = compiled('pcc_arm')
    u, errors, counts = 0.2 * model.upper * (np.arange(model.m) % 2), [], []
    exact = run(model, u, 0.1, 2e-5)
    for tolerance in (1e-4, 1e-5, 1e-6):
        robot = Simulator(model, substep=1e-2, tolerance=tolerance)
        for _ in range(10):
            robot.step(u, 1e-2)
        assert robot.time == pytest.approx(0.1, abs=1e-12)
        errors.append(np.abs(robot.q - exact.q).max())
        counts.append(robot.substeps)
    assert errors[2] < 0.1 * errors[0] and counts[0] < counts[1] < counts[2]
    with pytest.raises(ArgumentError, match='tolerance'):
        Simulator(model, tolerance=-1.0)


@pytest.mark.parametrize('name', ['trimmed_helicoid', 'soft_hand'])
def test_a_tolerance_bounds_the_error(name):
    """With a tolerance the motion follows that of tiny steps for all kinds of bodies."""
    model = compiled(name)
    u, found = moderate(model), []
    exact = run(model, u, 0.03, 2e-5)
    for _ in range(2):
        robot = Simulator(model, substep=1e-2, tolerance=1e-5)
        for _ in range(3):
            robot.step(u, 1e-2)
        found.append(robot.q)
    assert np.array_equal(*found)
    assert np.abs(found[0] - exact.q).max() < 3e-4 * (1.0 + np.abs(exact.q).max())


def test_divergence_within_a_tolerance_is_an_error_too():
    """Divergence under a tolerance is an error, and the last good state stays."""
    model = compiled('pcc_arm')
    simulator = Simulator(model, tolerance=1e-3)
    simulator.step(np.zeros(model.m), 1e-2)
    with pytest.raises(SimulationDivergedError) as caught:
        simulator.step(np.full(model.m, 1e300), 1e-2)
    assert caught.value.time == simulator.time
    assert np.isfinite(simulator.q).all() and np.isfinite(simulator.qd).all()
    simulator.reset()
    simulator.step(np.zeros(model.m), 1e-3)


def test_a_robot_file_gives_initial_rates():
    """A robot starts with the rates of `initial`, and at rest at another posture."""
    description = {
        'name': 'wheel',
        'bodies': [{'name': 'w', 'joint': {'type': 'revolute'}, 'body': link()}],
        'initial': {'w': [0.3, -2.0]},
    }
    model = sd.compile_model(sd.load_robot(description))
    simulator = Simulator(model)
    assert (simulator.q[0], simulator.qd[0]) == (0.3, -2.0)
    simulator.step(np.zeros(0), 0.01)
    simulator.reset()
    assert (simulator.q[0], simulator.qd[0]) == (0.3, -2.0)
    simulator.reset(q=[0.1])
    assert (simulator.q[0], simulator.qd[0]) == (0.1, 0.0)


def several_wrenches(model):
    """Return wrenches at a tip and at a point, that turn with the body and that do not."""
    first, *_, last = model.body_names
    value = np.array([0.01, -0.02, 0.005, 0.3, 0.2, -0.4])
    return {
        last: [sd.Wrench(value), sd.Wrench(-0.5 * value, frame='base')],
        first: [
            sd.Wrench(value, point=[0.01, 0.0, 0.12]),
            sd.Wrench(2.0 * value, point=[0.0, 0.02, 0.2], frame='base'),
        ],
    }


@pytest.mark.parametrize('name', ['pcc_arm', 'hand'])
def test_wrenches_accelerate_as_the_dynamics_say(name):
    """All kinds of wrenches accelerate as forward dynamics says, at once and in turn."""
    model, h = compiled(name), 1e-8
    wrenches = several_wrenches(model) if name == 'pcc_arm' else {'thumb2': [0.1] * 6}
    ((q, qd, _),) = states(model, 1, seed=2, size=0.3)
    u = moderate(model)
    robot = Simulator(model, q=q, qd=qd)
    for given in ({}, wrenches, wrenches, None):
        robot.reset(q, qd)
        robot.step(u, h, given)
        qdd = sd.forward_dynamics(model, q=q, qd=qd, u=u, wrenches=given or None)
        near = np.abs((robot.qd - qd) / h - qdd).max()
        assert near < 1e-3 * np.abs(qdd).max()
    plain = Simulator(model, q=q, qd=qd)
    plain.step(u, h)
    assert np.array_equal(plain.q, robot.q) and np.array_equal(plain.qd, robot.qd)


@pytest.mark.parametrize('tolerance', [None, 1e-7])
def test_wrenches_keep_the_order_of_the_method(tolerance):
    """Wrenches that turn with bodies within a step keep the order of the method."""
    model, duration, n = compiled('pcc_arm'), 0.1, 9
    wrenches = several_wrenches(model)
    u = moderate(model)

    def rate(t, state):
        found = sd.forward_dynamics(model, q=state[:n], qd=state[n:], u=u, wrenches=wrenches)
        return [*state[n:], *found]

    start = np.concatenate([model.q0, np.zeros(n)])
    exact = solve_ivp(rate, (0.0, duration), start, method='LSODA', rtol=1e-9, atol=1e-11)
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        robot = Simulator(model, substep=h, tolerance=tolerance)
        for _ in range(10):
            robot.step(u, 1e-2, wrenches)
        errors.append(np.abs(robot.q - exact.y[:n, -1]).max())
    if tolerance:
        assert max(errors) < 1e-5
    else:
        orders = np.log2(np.divide(errors[:-1], errors[1:]))
        assert np.all((1.7 < orders) & (orders < 2.5))


def test_an_invalid_wrench_is_refused():
    """An invalid wrench is refused by name before anything moves."""
    robot = Simulator(compiled('pcc_arm'))
    for wrong in ({'elbow': np.zeros(6)}, {'segment1': np.zeros(5)}):
        with pytest.raises(ArgumentError, match='wrenches'):
            robot.step(np.zeros(9), 1e-3, wrong)
    assert robot.time == 0.0
