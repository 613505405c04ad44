# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A simulated robot without commands, or after a loss of them, in simulated time."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

import softrobot_dynamics as sd  # noqa: E402
from softrobot_dynamics.configuration import build  # noqa: E402
from softrobot_dynamics.controllers.safe_command import SafeCommand  # noqa: E402
from softrobot_dynamics.loops.deadlines import Schedule  # noqa: E402
from softrobot_dynamics.loops.simulation_loop import DIVERGED, IDLE, SimulationLoop  # noqa: E402
from softrobot_dynamics.nodes.messaging.command_messages import CommandReader  # noqa: E402
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator  # noqa: E402
from softrobot_dynamics.simulation.bus import make_bus  # noqa: E402
from support.loops import Clock, Outlet  # noqa: E402
from support.mechanics import energy
from support.sensing import exact_sensing  # noqa: E402


def link(name, axis, mass, at):
    """Return a link of 0.3 m along z, with its joint, which nothing damps."""
    inertia = {'ixx': 0.01 * mass, 'iyy': 0.01 * mass, 'izz': 0.002 * mass}
    body = {'type': 'rigid', 'mass': mass, 'com': [0.0, 0.0, 0.15], 'inertia': inertia,
            'tip': {'xyz': [0.0, 0.0, 0.3]}}  # fmt: skip
    joint = {'name': f'{name}j', 'type': 'revolute', 'axis': axis, 'origin': {'xyz': [0, 0, at]}}
    return {'name': name, 'joint': joint, 'body': body}


def arm(lag):
    """Return an arm without friction, with a soft finger whose chamber is late or not."""
    finger = {'type': 'pcc', 'length': 0.1, 'radius': 0.012, 'density': 1070.0,
              'young_modulus': 3.0e5, 'damping': 0.05}  # fmt: skip
    bodies = [
        link('a', [0.0, 1.0, 0.0], 2.0, 0.1),
        link('b', [1.0, 0.0, 0.0], 1.0, 0.0),
        link('c', [0.0, 1.0, 0.0], 0.5, 0.0),
        {'name': 'finger', 'body': finger,
         'joint': {'name': 'f', 'type': 'fixed', 'origin': {'rpy': [0.0, 1.2, 0.0]}}},
    ]  # fmt: skip
    chamber = {'name': 'p', 'type': 'chamber', 'area': 3e-5, 'limits': [0.0, 2e5], 'lag': lag,
               'path': [{'body': 'finger', 'offset': [0.006, 0.0]}]}  # fmt: skip
    motors = [{'name': f'm{n}', 'type': 'joint', 'joint': f'{n}j'} for n in 'abc']
    initial = {'aj': 0.3, 'bj': -0.2, 'cj': 0.5}
    gravity = [0.0, 0.0, -9.81]
    return sd.load_robot({'name': 'arm', 'gravity': gravity, 'bodies': bodies,
                          'actuators': [*motors, chamber], 'initial': initial})  # fmt: skip


@pytest.fixture(scope='module')
def model():
    """Return the compiled arm."""
    return sd.compile_model(arm(0.03))


def test_constant_torques_do_the_work_that_the_robot_gains(model):
    """Constant torques do the work that the robot gains: the simulator adds none."""
    safe, simulator = SafeCommand.of_model(model), ActuatedSimulator(model)
    safe.begin(model.q0, None)
    u, h = safe.at(0.0), 1e-3
    before, work = energy(model, simulator.q, simulator.qd), 0.0
    for _ in range(3000):
        q, qd = simulator.q.copy(), simulator.qd.copy()
        simulator.step(u, h)
        rates = 0.5 * (qd + simulator.qd)
        work += u[:3] @ (simulator.q - q)[:3] - h * rates @ model.damping @ rates
    gained = energy(model, simulator.q, simulator.qd) - before
    assert np.abs(simulator.q - model.q0)[:3].max() > 1.0
    assert gained > 1.0 and gained == pytest.approx(work, rel=2e-2)


@pytest.mark.parametrize('rate, duration', [(50.0, 5.0), (250.0, 5.0), (1000.0, 3.0)])
def test_a_robot_that_nobody_drives_stays_where_it_is(model, monkeypatch, rate, duration):
    """
    A robot without commands keeps its posture at any rate, sagging parts included.

    It rests from 3 s on, to rounding, and what rests goes on to rest.
    """
    loop, publisher = running(model, monkeypatch, rate)
    for _ in range(round(duration * rate)):
        loop._cycle()
    q, qd, _ = publisher.states[-1]
    assert loop.mode == IDLE
    assert np.abs(q - model.q0)[:3].max() < 0.02 and np.abs(qd).max() < 1e-6
    held = sd.equilibrium(model, u=loop._safe_command(), q0=q).q
    np.testing.assert_allclose(q, held, atol=1e-6)


def test_a_robot_that_is_pushed_gives_way_and_stops(model, monkeypatch):
    """A pushed waiting robot gives way and stops, though it would move on without brakes."""
    loop, publisher = running(model, monkeypatch, 250.0)
    loop._simulator.reset(model.q0, np.array([1.0, -1.0, 2.0, 0.0, 0.0, 0.0]))
    for _ in range(1500):
        loop._cycle()
    q, qd, _ = publisher.states[-1]
    moved = np.abs(q - model.q0)[:3]
    assert 0.05 < moved.max() < 0.5 and np.abs(qd).max() < 1e-4 and loop.mode != DIVERGED


def running(model, monkeypatch, rate):
    """Return a simulation loop of the arm, and where its states go; time is the test's."""
    clock, publisher = Clock(monkeypatch), Outlet()
    plant = build.Simulated(
        model, ActuatedSimulator(model), SafeCommand.of_model(model), model.description, None
    )
    loop = SimulationLoop(
        plant, exact_sensing(model.n, 1.0 / rate), clock, CommandReader(model.actuator_names),
        publisher, Schedule(rate=rate, timeout=50, timing='arrival', waits=False, pace=1.0,
                         bus=make_bus({})), epoch=0,
    )  # fmt: skip
    loop._begin()
    return loop, publisher
