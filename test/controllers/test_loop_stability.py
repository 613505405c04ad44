# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The growth of errors in sampled loops against simulations and a double integrator."""

import math

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.references.piecewise import constant
from softrobot_dynamics.simulation.simulator import Simulator
from support.contacts import arm as rods
from support.robots import compiled


def law(name, period, p, d):
    """Return a controller without limits, and a posture (n,) with the u (m,) that hold it."""
    model = compiled(name)
    free, u = np.full(model.m, np.inf), np.linspace(1.0, 3.0, model.m)
    settings = PartialFeedbackLinearization.make_settings(
        model, p=p, d=d, lower=-free, upper=free, rate=free
    )
    made = PartialFeedbackLinearization(model, period=period, settings=settings)
    return made, equilibrium(model, u=u).q, u


def growth(made, q, u):
    """Return the rate at which errors grow [1/s]."""
    return made.growth(q, u, made.settings)


@pytest.mark.parametrize('gains', [(10.0, 1.0), (100.0, 20.0), (400.0, 40.0)])
def test_a_sound_loop_has_the_eigenvalue_of_a_held_double_integrator(gains):
    """The slowest motion of pcc_arm in tension is that of its gains, to 1 %."""
    (p, d), T = gains, 1e-3
    held = [[1.0 - T * T * p / 2.0, T - T * T * d / 2.0], [-T * p, 1.0 - T * d]]
    wanted = math.log(np.abs(np.linalg.eigvals(held)).max()) / T
    made, q, u = law('pcc_arm', T, p, d)
    assert growth(made, q, u) == pytest.approx(wanted, rel=0.05)


@pytest.mark.parametrize('gains, grows', [((100.0, 20.0), False), ((3e5, 900.0), True)])
def test_growth_is_that_of_the_simulated_loop(gains, grows):
    """At 200 Hz a small error grows or decays in simulation at the predicted rate."""
    made, q, u = law('planar_cc_chain', 5e-3, *gains)
    rate = growth(made, q, u)
    assert (rate > 0.0) == grows
    simulator, sizes = Simulator(made.model, q=q + 1e-9, tolerance=1e-10), []
    made.follow(constant(made.outputs(q, 0.0 * q)[0]), 0.0, 0.0)
    made.start(simulator.q, simulator.qd, 0.0, u)
    for k in range(8 if grows else 40):
        sizes.append(np.abs(simulator.qd).max())
        command = made.compute(k * made.period, simulator.q, simulator.qd)
        simulator.step(command.u.copy(), made.period)
    found = math.log(sizes[-1] / sizes[-4]) / (3 * made.period)
    assert found == pytest.approx(rate, rel=0.1) if grows else found < 0.0


def test_growth_on_a_wall_is_that_of_the_simulated_loop():
    """An arm that presses on a wall comes to rest at the rate that growth says, to 5 %."""
    surface = {'stiffness': 4e3, 'damping': 0.0, 'friction': 0.0}
    wall = {'name': 'wall', 'type': 'plane', 'point': [0.04, 0.0, 0.0], 'normal': [-1.0, 0.0, 0.0]}
    model, period, u = rods([{**wall, **surface}], segments=1, **surface), 5e-3, np.array([20.0])
    free = {'lower': [-np.inf], 'upper': [np.inf], 'rate': [np.inf]}
    settings = PartialFeedbackLinearization.make_settings(model, p=100.0, d=20.0, **free)
    made = PartialFeedbackLinearization(model, period=period, settings=settings)
    q = equilibrium(model, u=u).q
    made.follow(constant(made.outputs(q, 0.0 * q)[0]), 0.0, 0.0)
    runs = []
    for error in (0.0, 1e-6):
        simulator, states = Simulator(model, q=q, substep=2e-4), []
        made.start(q, 0.0 * q, 0.0, u)
        for k in range(450):
            if k == 300:
                simulator.reset(simulator.q + error, simulator.qd)
            command = made.compute(k * period, simulator.q, simulator.qd).u.copy()
            states.append(simulator.q.copy())
            simulator.step(command, period)
        runs.append(np.array(states[350:]))
    assert sd.contacts(model, q=simulator.q).force.sum() > 1.0
    apart = np.log(np.abs(runs[1] - runs[0]).max(axis=1))
    rate = np.polyfit(np.arange(len(apart)) * period, apart, 1)[0]
    assert growth(made, simulator.q, command) == pytest.approx(rate, rel=0.05)


def test_an_undamped_rod_neither_grows_nor_decays():
    """An undamped steel rod at 1 kHz grows or decays by less than a tenth per second."""
    made, q, u = law('steel_rod', 1e-3, 100.0, 20.0)
    assert abs(growth(made, q, u)) < 0.1


def test_an_unstable_loop_is_recognised():
    """A rod whose elongation turns two thirds per period is reported as unstable."""
    bend = {'basis': 'legendre', 'order': 1}
    strains = {'kappa_x': bend, 'kappa_y': bend, 'gamma_z': {'basis': 'legendre', 'order': 0}}
    body = {
        'type': 'cosserat', 'length': 0.2, 'section': {'type': 'circular', 'radius': 1e-3},
        'density': 6450.0, 'young_modulus': 6e10, 'poisson_ratio': 0.3, 'strains': strains,
    }  # fmt: skip
    disc = {'type': 'rigid', 'mass': 0.05, 'com': [0.0, 0.0, 0.0]}
    disc['inertia'] = {'ixx': 1e-6, 'iyy': 1e-6, 'izz': 1e-6}
    angles = 2.0 * np.pi * np.arange(3) / 3.0
    tendons = [
        {
            'name': f't{i}',
            'type': 'tendon',
            'path': [{'body': 'r', 'offset': [0.008 * math.cos(a), 0.008 * math.sin(a)]}],
        }
        for i, a in enumerate(angles)
    ]
    bodies = [
        {'name': 'r', 'joint': {'type': 'fixed'}, 'body': body},
        {'name': 'd', 'joint': {'type': 'fixed'}, 'body': disc},
    ]
    robot = {'name': 'wire', 'gravity': [0.0, 0.0, 9.81], 'bodies': bodies, 'actuators': tendons}
    model = sd.compile_model(sd.load_robot(robot))
    made = PartialFeedbackLinearization(model, period=1e-3)
    u = np.array([7.0, 5.0, 5.0])
    assert made.growth(equilibrium(model, u=u).q, u, made.settings) > 0.5


def test_growth_is_nan_where_there_is_no_posture():
    """The growth is nan at a posture that the robot cannot take."""
    made, q, u = law('pcc_arm', 1e-3, 100.0, 20.0)
    q[2] = np.nan
    assert math.isnan(growth(made, q, u))


def _decays(made, plant, q, u, delay):
    """Return the rate of a small error [1/s], simulated, of a loop with a delay of periods."""
    runs = []
    for error in (0.0, 1e-7):
        made.follow(constant(made.outputs(q, 0.0 * q)[0]), 0.0, 0.0)
        simulator = Simulator(plant, q=q, tolerance=1e-11)
        made.start(q, 0.0 * q, 0.0, u)
        sent, states = [u] * delay, []
        for k in range(220):
            if k == 60:
                simulator.reset(simulator.q + error, simulator.qd)
            sent.append(made.compute(k * made.period, simulator.q, simulator.qd).u.copy())
            states.append(simulator.q.copy())
            simulator.step(sent.pop(0), made.period)
        runs.append(np.array(states[60:]))
    apart = np.abs(runs[1] - runs[0]).max(axis=1)
    envelope = np.log([apart[k : k + 15].max() for k in range(60, len(apart) - 15)])
    return np.polyfit(np.arange(len(envelope)) * made.period, envelope, 1)[0]


def test_growth_of_late_states_is_that_of_the_simulated_loop():
    """With states of 8 periods ago, predicted, errors decay as slowly as growth says it."""
    off, delay = 0.3, 8
    made, q, u = law('pcc_arm', 2e-3, 1e4, 200.0)
    made.use(made.settings.replace(delay=delay * made.period, observer=made.period))
    exact = made.settings.replace(delay=0.0)
    assert growth(made, q, u) == pytest.approx(made.growth(q, u, exact), rel=0.02)
    rate = made.growth(q, u, made.settings, off)
    soft = sd.vary(made.model.description, {'young_modulus': '×0.7', 'damping': '×1.857'})
    plants = [soft, sd.vary(soft, {'young_modulus': '×1.857', 'damping': '×0.2899'})]
    found = max(_decays(made, sd.compile_model(plant), q, u, delay) for plant in plants)
    assert found == pytest.approx(rate, rel=0.25)
    assert made.growth(q, u, exact, off) < 2.0 * rate  # it would decay faster


def test_growth_of_late_states_may_be_by_any_part_of_a_period():
    """With four and a half periods of delay, growth is between those with four and five."""
    made, q, u = law('pcc_arm', 2e-3, 1e4, 200.0)
    rates = [
        made.growth(q, u, made.settings.replace(delay=part * made.period, observer=2e-3), 0.3)
        for part in (4.0, 4.5, 5.0)
    ]
    assert np.isfinite(rates).all() and rates[0] < rates[1] < rates[2]
