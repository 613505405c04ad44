# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Exponential steps of equal length: order, stiff motions and rates."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.kernels.quadrature import gauss_legendre
from softrobot_dynamics.model.terms import allocate_terms
from softrobot_dynamics.simulation.integrators import exponential_step, forces
from support.robots import compiled

PERIOD = 1e-3  # [s] for which a command is held


def move(acceleration, K, D, state, h, steps, parts=2):
    """State (2, n) after steps of h [s] of qdd = acceleration(q, qd), by given K, D, and M = 1."""
    (q, qd), n = np.array(state), len(K)
    b, terms, force = exponential_step.allocate_motion(n, parts), allocate_terms(n, 0), np.zeros(0)

    def evaluate(q, qd):
        terms.M[:], terms.h[:] = np.eye(n), -acceleration(q, qd)

    for _ in range(steps):
        evaluate(q, qd)
        cached(forces.save_start)(terms, force, b)
        assert cached(exponential_step.predict)(K, D, q, qd, h, b) == 0
        evaluate(b.q, b.qd)
        assert cached(exponential_step.correct)(terms, K, D, force, q, h, b) == 0
        q, qd = b.q.copy(), b.qd.copy()
    return np.array([q, qd])


@pytest.mark.quick
@pytest.mark.parametrize('parts', [1, 2])
@pytest.mark.parametrize('share', [0.0, 0.7, 1.0, 1.4])
def test_second_order_whatever_the_matrices(share, parts):
    """The method is of second order in q and qd for any share of the true matrices."""
    K, D = np.diag([40.0, 9.0, 1.0]), np.array([[3.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.5]])
    start = [[0.3, -0.2, 0.5], [0.1, 0.4, -0.3]]

    def acceleration(q, qd):
        return np.sin(q[::-1]) + qd * q - K @ q - D @ qd

    def rate(t, y):
        return [*y[3:], *acceleration(y[:3], y[3:])]

    exact = solve_ivp(rate, (0, 1), np.ravel(start), 'DOP853', rtol=1e-12, atol=1e-13).y[:, -1]
    errors = [
        np.abs(
            move(acceleration, share * K, share * D, start, 1 / n, n, parts) - exact.reshape(2, 3)
        )
        for n in (40, 80, 160)
    ]
    errors = np.array([each.max(axis=1) for each in errors])
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx(2.0, abs=0.35)
    assert errors[-1].max() < 5e-4


@pytest.mark.quick
@pytest.mark.parametrize('stiffer', [0.0, 0.5, 1.0, 1.3])
def test_forces_may_be_stiffer_than_known(stiffer):
    """Motions that damping ends at once do not grow where the true damping is another."""
    D = np.diag([1e2, 1e4, 1e6])
    after = move(lambda q, qd: -stiffer * D @ qd, 0.0 * D, D, [[0.0] * 3, [1.0] * 3], PERIOD, 40)
    assert np.abs(after[1]).max() <= 1.0 + 1e-9
    assert stiffer == 0.0 or np.abs(after[1, 1:]).max() < 1e-3


@pytest.mark.quick
@pytest.mark.parametrize('h', [1e-3, 1e-4])
def test_linear_motions_are_nearly_exact(h):
    """Damped linear motions are within 4.5 % at any rate, slow ones far closer."""
    rates = np.geomspace(1.0, 1e6, 25)
    K, D, n = np.diag(5.0 * rates), np.diag(rates), len(rates)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-K, -D]])
    start = np.array([np.zeros(n), np.ones(n)])
    exact = (expm(h * A) @ start.ravel()).reshape(2, n)
    found = move(lambda q, qd: -K @ q - D @ qd, K, D, start, h, 1)
    errors = np.abs(found - exact)[1]
    assert errors.max() < 0.045
    assert (errors < 0.12 * (rates * h) ** 3)[rates * h < 1.0].all()


@pytest.fixture(scope='module')
def held():
    """Model, start, commands (2, m) and (q, qd) (2, n) after each, one a period, by Radau IIA."""
    model = compiled('trimmed_helicoid')
    evaluate, first, n = model.evaluator(), Differentiator(model), model.n
    tensions = np.array([41.0, 24.0, 24.0, 41.0, 114.0, 114.0, 24.0, 7.0, 7.0])
    commands = tensions * (1.0 + np.array([1e-2, -1e-2])[:, None] * np.resize([1, -1], 9))
    start = sd.equilibrium(model, u=tensions, ramp=True).q, np.zeros(n)
    states, y = [], np.ravel(start)
    for u in commands:

        def rate(t, y, u=u):
            terms = evaluate(y[:n], y[n:])
            push = terms.J.T @ (model.signs * u) - terms.h
            return np.append(y[n:], np.linalg.solve(terms.M, push))

        def each(t, y, u=u):
            found = first.forward(y[:n], y[n:], u)
            return np.block([[np.zeros((n, n)), np.eye(n)], [found.by_q, found.by_qd]])

        y = solve_ivp(rate, (0, PERIOD), y, 'Radau', rtol=1e-7, atol=1e-9, jac=each).y[:, -1]
        states.append(y.reshape(2, n))
    return model, start, commands, states


@pytest.mark.parametrize('substep, bound', [(PERIOD, 0.1), (0.5 * PERIOD, 0.004)])
def test_rates_are_right_when_a_command_has_just_changed(held, substep, bound):
    """Rates of the outputs are right after a step of the command, parts that damp in 5 us too."""
    model, start, commands, states = held
    robot = sd.Simulator(model, q=start[0], substep=substep)
    errors, sizes = [], []
    for u, (q, qd) in zip(commands, states):
        robot.step(u, PERIOD)
        exact, found = (
            sd.actuation(model, q=a, qd=b).velocities for a, b in ((q, qd), (robot.q, robot.qd))
        )
        errors.append(np.abs(found - exact).max())
        sizes.append(np.abs(exact).max())
    assert max(errors) < bound * max(sizes)


def test_vibrations_of_an_undamped_solid_gather_no_energy():
    """Vibrations far too fast for the step are damped under changing stiffness."""
    description = sd.load_robot('trimmed_helicoid')
    modules = [
        replace(m, body=replace(m.body, material=replace(m.body.material, damping=0.0)))
        for m in description.modules
    ]
    model = sd.compile_model(replace(description, modules=tuple(modules)))
    tensions = np.array([30.0, 0.0, 0.0, 0.0, 20.0, 0.0, 0.0, 0.0, 20.0])
    robot = sd.Simulator(model, q=sd.equilibrium(model, u=tensions).q)
    energies = [energy(model, robot)]
    for _ in range(8):
        robot.step(np.zeros(model.m), 0.5)
        energies.append(energy(model, robot))
    assert max(energies) < 1.02 * energies[0]
    assert min(energies) > 0.0


def energy(model, robot):
    """Energy of motion, and the work against stress and gravity from q = 0 [J]."""
    q, qd, zero = robot.q, robot.qd, np.zeros(model.n)
    M = sd.mass_inertial_inverse_dynamics(model, q=q, qd=qd, qdd=zero)[1]
    along = [
        w * q @ sd.inverse_dynamics(model, q=s * q, qd=zero, qdd=zero)
        for s, w in zip(*gauss_legendre(16))
    ]
    return 0.5 * qd @ M @ qd + sum(along)
