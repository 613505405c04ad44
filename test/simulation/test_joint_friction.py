# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Dry friction of joints in simulation, and its compensation by a law."""

import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.references.piecewise import spline
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator

MASS, FORCE = 2.0, 3.0
MOTOR = {'name': 'motor', 'type': 'joint', 'joint': 'rail'}


@functools.cache
def sledge(friction=FORCE, derivative=0.0):
    """Return a block on a rail along x that rises by ``derivative`` [rad], with a motor."""
    gravity = [-9.81 * np.sin(derivative), 0.0, -9.81 * np.cos(derivative)]
    joint = {
        'name': 'rail',
        'type': 'prismatic',
        'axis': [1.0, 0.0, 0.0],
        'coulomb_friction': friction,
    }
    block = {'name': 'block', 'joint': joint, 'body': {'type': 'rigid', 'mass': MASS}}
    robot = {'name': 'sledge', 'gravity': gravity, 'bodies': [block], 'actuators': [MOTOR]}
    return sd.compile_model(sd.load_robot(robot))


@pytest.mark.parametrize('tolerance', [None, 1e-8])
def test_a_block_slides_to_a_stop_as_coulomb_has_it(tolerance):
    """A block stops after m v^2 / 2 F and m v / F, then creeps slower than v0."""
    v = 0.6
    simulator = ActuatedSimulator(sledge(), q=[0.0], qd=[v], tolerance=tolerance)
    stop = MASS * v / FORCE
    simulator.step([0.0], 0.5 * stop)
    assert simulator.qd[0] == pytest.approx(0.5 * v, rel=1e-3)
    simulator.step([0.0], stop)
    assert simulator.q[0] == pytest.approx(0.5 * MASS * v**2 / FORCE, rel=2e-3)
    assert abs(simulator.qd[0]) < sledge().dry_friction.creep_speed[0]


@pytest.mark.parametrize('push, holds', [(0.9 * FORCE, True), (1.2 * FORCE, False)])
def test_what_friction_holds_creeps_and_more_moves_it(push, holds):
    """Below the friction a joint creeps at F s = push, and beyond it the rest moves it."""
    simulator = ActuatedSimulator(sledge(), q=[0.0], qd=[0.0])
    simulator.step([push], 1.0)
    ratio = push / FORCE
    creep_speed = sledge().dry_friction.creep_speed[0]
    creep = creep_speed * ratio / np.sqrt(1.0 - ratio**2) if holds else (push - FORCE) / MASS
    assert simulator.qd[0] == pytest.approx(creep, rel=1e-2)


@pytest.mark.parametrize('size', [1e-3, 1.0, 100.0])
def test_what_friction_holds_creeps_by_the_same_part_of_any_size(size):
    """Under half of what would move it a slider of any size creeps by F s = load, for its size."""
    mass, time = 1000.0 * size**3, np.sqrt(size / 9.81)
    inertia = dict.fromkeys(('ixx', 'iyy', 'izz'), 0.1 * mass * size**2)
    joint = {'name': 'rail', 'type': 'prismatic', 'axis': [0.0, 0.0, 1.0]}
    joint['coulomb_friction'] = 2.0 * mass * 9.81
    block = {'name': 'block', 'joint': joint}
    block['body'] = {'type': 'rigid', 'mass': mass, 'inertia': inertia}
    robot = {'name': 'slider', 'bodies': [block], 'actuators': [MOTOR]}
    model = sd.compile_model(sd.load_robot({**robot, 'gravity': [0.0, 0.0, -9.81]}))
    simulator = ActuatedSimulator(model, q=[0.0], qd=[0.0], substep=0.01 * time)
    simulator.step([0.0], 10.0 * time)
    creep_speed = model.dry_friction.creep_speed[0]
    crept = creep_speed * 0.5 / np.sqrt(0.75) * 10.0 * time
    assert -simulator.q[0] == pytest.approx(crept, rel=0.01)
    assert creep_speed / np.sqrt(9.81 * size) == pytest.approx(6.22333e-5, rel=1e-5)


def test_the_exact_simulator_has_none():
    """The exact simulator has no joint friction: commands alone act."""
    simulator = sd.Simulator(sledge(), q=[0.0], qd=[0.5])
    simulator.step([0.0], 1.0)
    assert simulator.qd[0] == pytest.approx(0.5, rel=1e-12)


def test_energy_is_only_lost():
    """A block thrown up an incline only loses energy."""
    model = sledge(derivative=0.4)
    simulator = ActuatedSimulator(model, q=[0.0], qd=[1.5])
    last = np.inf
    for _ in range(200):
        simulator.step([0.0], 5e-3)
        q, qd = simulator.q, simulator.qd
        energy = sd.kinetic_energy(model, q=q, qd=qd) + sd.potential_energy(model, q=q)
        assert energy < last
        last = energy
    assert simulator.qd[0] < 0.0  # it came down again


def test_a_law_that_knows_the_friction_follows():
    """A law with the friction has a twentieth of the error, and no chatter at the end."""
    times = np.linspace(0.0, 2.0, 5)
    reference = spline(times, np.array([[0.0], [0.3], [-0.2], [0.1], [0.1]]))
    errors = []
    for known in (FORCE, 0.0):
        run = sd.closed_loop(
            sledge(known),
            sd.Law('pfbl', parameters={'p': 100.0, 'd': 20.0, 'observer': 0.0}),
            reference,
            2.5,
            plant=sledge(),
        )
        assert run.ok.all()
        errors.append(np.sqrt(np.mean((run.y - run.y_d)[200:2000] ** 2)))
    assert errors[0] < 0.05 * errors[1]
