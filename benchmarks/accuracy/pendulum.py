# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The double pendulum of R. N. Watanabe: its equations of motion, and its energy over time."""

import numpy as np
from scipy.integrate import solve_ivp
import softrobot_dynamics as sd
from study import Answer, ANYHOW, EXACT, matrix, Problem, random_states, STATES, studies

UPRIGHT = np.array([[1.0, 0.0], [-1.0, 1.0]])  # joint angles from absolute ones
START = UPRIGHT @ [np.pi / 6, np.pi / 3], UPRIGHT @ [np.pi, -2.0 * np.pi]
DURATION = 10.0  # [s]


def pendulum_terms(angles, rates):
    """M, c and g in absolute angles (R. N. Watanabe), bars of 1 m and 1 kg: (2, 2), (2,), (2,)."""
    (a, b), difference = angles, angles[0] - angles[1]
    coupling = 0.5 * np.cos(difference)
    M = np.array([[4.0 / 3.0, coupling], [coupling, 1.0 / 3.0]])
    c = 0.5 * np.sin(difference) * np.array([rates[1] ** 2, -(rates[0] ** 2)])
    return M, c, 9.81 * np.array([1.5 * np.sin(a), 0.5 * np.sin(b)])


def closed_forms():
    """M, c and g in random states, in rows."""
    terms = [pendulum_terms(*state[:2]) for state in random_states(2, size=3.0)]
    return [np.concatenate([M.ravel(), c, g]) for M, c, g in terms]


def pendulum(bodies, resolution):
    """M, c and g of the shipped pendulum in absolute angles, in random states."""
    model, rows = sd.compile_model(sd.load_robot('double_pendulum')), []
    for angles, rates, _ in random_states(2, size=3.0):
        q, qd = UPRIGHT @ angles, UPRIGHT @ rates
        zero = np.zeros(2)
        c, M = sd.mass_inertial_inverse_dynamics(model, q=q, qd=qd, qdd=zero)
        g = sd.gravity_force(model, q=q)
        M = UPRIGHT.T @ M @ UPRIGHT
        rows.append([*M.ravel(), *(UPRIGHT.T @ c), *(UPRIGHT.T @ g)])
    return Answer(np.array(rows), model.n)


def energy(q, qd):
    """Energy [J] of the pendulum in joint angles."""
    angles, rates = np.cumsum(q), np.cumsum(qd)
    M = pendulum_terms(angles, rates)[0]
    return 0.5 * rates @ M @ rates - 9.81 * (1.5 * np.cos(angles[0]) + 0.5 * np.cos(angles[1]))


def drift(path):
    """Largest change of energy along states (q, qd), relative to the first kinetic energy."""
    energies = np.array([energy(q, qd) for q, qd in path])
    kinetic = energy(*START) - energy(START[0], np.zeros(2))
    return Answer(np.array([[np.abs(energies - energies[0]).max() / kinetic]]), 2)


def by_scipy(bodies, digits):
    """Drift with DOP853 at a tolerance of 10^-digits and the package's forward dynamics."""
    model = sd.compile_model(sd.load_robot('double_pendulum'))

    def derivative(t, state):
        qdd = sd.forward_dynamics(model, q=state[:2], qd=state[2:], u=np.zeros(model.m))
        return np.append(state[2:], qdd)

    options = {'rtol': 10.0**-digits, 'atol': 10.0**-digits}
    path = solve_ivp(derivative, (0.0, DURATION), np.concatenate(START), 'DOP853', **options)
    return drift((state[:2], state[2:]) for state in path.y.T)


def by_simulator(bodies, frequency):
    """Drift with the package's own simulator at a number of steps per second."""
    model = sd.compile_model(sd.load_robot('double_pendulum'))
    simulator = sd.Simulator(model, q=START[0], qd=START[1], substep=1.0 / frequency)

    def path():
        for _ in range(round(100 * DURATION)):
            yield simulator.q.copy(), simulator.qd.copy()
            simulator.step(np.zeros(model.m), 0.01)

    return drift(path())


def problems():
    """Return the problems of this file."""
    cases = tuple(f'state {i + 1}' for i in range(STATES))
    one = ('kinetic energy at the start',)
    return (
        Problem(
            'Double pendulum: equations of motion',
            'The shipped `double_pendulum`, in absolute angles, against the closed form of '
            'R. N. Watanabe.',
            cases,
            (*matrix('M', 2), 'c1', 'c2', 'g1', 'g2'),
            closed_forms,
            studies(pendulum, ('`rigid`', None, (2,), EXACT, 1e-12)),
            tabulated=False,
        ),
        Problem(
            'Double pendulum: energy over 10 s',
            'From angles (π/6, π/3) and rates (π, -2π): largest change of energy, relative to the '
            'kinetic energy at the start, by scipy’s DOP853 at the tolerance 10^-d with our '
            'forward dynamics, and by our simulator at f steps per second.',
            one,
            ('energy drift',),
            lambda: [[0.0]],
            (
                *studies(by_scipy, ('DOP853, d', None, (6, 8, 10, 12), ANYHOW, 1e-9)),
                *studies(by_simulator, ('simulator, f', None, (500, 1000, 2000, 4000), 2.0, 1e-3)),
            ),
            tabulated=False,
        ),
    )
