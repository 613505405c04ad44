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
