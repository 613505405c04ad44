# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Stops of joints that drives with control loops of their own move."""

import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.joint_drives import compiled

STRONG = 1e6  # [N m] limit that no drive here reaches
both_kinds = pytest.mark.parametrize('command', ['position', 'velocity'])
both_ends = pytest.mark.parametrize('end', [2.0, -2.0])  # gravity presses to the upper one


def link(name, origin=None, joint=None):
    """Return a module: a link that hangs along -z and turns about y, or is fixed."""
    joint = joint or {'type': 'revolute', 'name': name, 'axis': [0.0, 1.0, 0.0]}
    if origin is not None:
        joint['origin'] = {'xyz': [0.0, 0.0, 0.0], 'rpy': origin}
    inertia = {'ixx': 0.05, 'iyy': 0.05, 'izz': 0.05, 'ixy': 0.0, 'ixz': 0.0, 'iyz': 0.0}
    tip = {'xyz': [0.0, 0.0, -0.8], 'rpy': [0.0, 0.0, 0.0]}
    body = {'type': 'rigid', 'mass': 1.3, 'com': [0.0, 0.0, -0.4], 'inertia': inertia, 'tip': tip}
    return {'name': f'{name}_link', 'joint': joint, 'body': body}


def made(*modules, actuators=()):
    """Return the model of a robot of modules."""
    robot = {'name': 'r', 'gravity': [0.0, 0.0, -9.81], 'bodies': list(modules)}
    return sd.compile_model(sd.load_robot({**robot, 'actuators': list(actuators)}))


@functools.cache
def double_pendulum(command):
    """Return two links, the second of which a drive moves within 0.5 rad, the first is free."""
    second = link('b')
    limits = {'position': [-0.5, 0.5], 'velocity': 30.0, 'effort': STRONG}
    second['joint']['limits'] = limits
    drive = {'name': 'd', 'type': 'joint', 'joint': 'b', 'command': command, 'bandwidth': 5.0}
    return made(link('a'), second, actuators=[drive])


def beyond(command, end):
    """Return what a drive is told to go beyond a stop."""
    return [end + np.sign(end) * 0.5] if command == 'position' else [np.sign(end) * 1.0]


@both_kinds
@both_ends
@pytest.mark.parametrize('effort', [40.0, STRONG])
def test_a_joint_commanded_beyond_its_stop_stays_at_it(command, end, effort):
    """A joint commanded beyond its stop rests there, with drive, stop and weight in balance."""
    model = compiled(command, 10.0, effort=effort)
    robot = ActuatedSimulator(model, q=[0.9 * end])
    for _ in range(1000):
        robot.step(beyond(command, end), 1e-3)
        assert abs(robot.q[0]) <= 2.0
    assert robot.q[0] == end and robot.qd[0] == 0.0
    weight = sd.inverse_dynamics(model, q=robot.q, qd=[0.0], qdd=[0.0])[0]
    assert robot.stop_forces[0] * end < 0.0 < robot.acting[0] * end
    assert robot.acting[0] + robot.stop_forces[0] == pytest.approx(weight, abs=1e-3)
    assert abs(robot.acting[0]) <= effort


@both_kinds
@both_ends
def test_a_joint_commanded_back_leaves_its_stop_by_the_law_of_its_drive(command, end):
    """A joint commanded back from its stop moves as one without stops, also against its weight."""
    model = compiled(command, 5.0, effort=STRONG)
    free = compiled(command, 5.0, effort=STRONG, position=[-9.0, 9.0])
    robot, other = (ActuatedSimulator(each, q=[end]) for each in (model, free))
    for _ in range(50):
        robot.step(beyond(command, end), 1e-3)
    back = [0.5 * end] if command == 'position' else [-np.sign(end) * 0.8]
    for _ in range(100):
        robot.step(back, 1e-3)
        other.step(back, 1e-3)
    assert abs(end - robot.q[0]) > 0.05
    assert robot.q[0] == pytest.approx(other.q[0], abs=1e-9)


@both_kinds
def test_a_drive_that_presses_against_a_stop_moves_no_other_joint(command):
    """Links before the joint swing as if it were fixed where the stop is."""
    model = double_pendulum(command)
    joint = {'type': 'fixed', 'name': 'b'}
    fixed = made(link('a'), link('b', [0.0, 0.5, 0.0], joint))
    robot, other = ActuatedSimulator(model, q=[1.2, 0.5]), sd.Simulator(fixed, q=[1.2])
    for _ in range(800):
        robot.step([3.0], 1e-3)
        other.step([], 1e-3)
    assert robot.q == pytest.approx([other.q[0], 0.5], abs=1e-6)


@both_kinds
def test_an_impact_of_a_driven_joint_at_its_stop_adds_no_energy(command):
    """The other joint gets the impulse, and the kinetic energy becomes smaller."""
    model = double_pendulum(command)
    robot = ActuatedSimulator(model, q=[1.2, -0.4])
    before = sd.kinetic_energy(model, q=robot.q, qd=robot.qd), robot.qd.copy()
    for _ in range(400):
        robot.step([3.0], 1e-3)
        now = sd.kinetic_energy(model, q=robot.q, qd=robot.qd)
        if robot.q[1] == 0.5:
            break
        before = now, robot.qd.copy()
    assert robot.q[1] == 0.5 and robot.qd[1] == 0.0
    assert now < before[0]
    assert abs(robot.qd[0] - before[1][0]) > 0.1
