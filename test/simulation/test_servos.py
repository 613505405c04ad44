# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Drives of joints with control loops of their own, in the simulated robot."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.wrenches import Wrench
from softrobot_dynamics.errors import DescriptionError
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.joint_drives import compiled, link, with_joint_drives

FREE = {'effort': 1e6}


def settle(q0, v0, w, t):
    """Return q and its rate at t [s] of q'' = -w^2 q - 2 w q', in closed form."""
    b = v0 + w * q0
    return (q0 + b * t) * np.exp(-w * t), (b - w * (q0 + b * t)) * np.exp(-w * t)


@pytest.mark.parametrize('integrator', [None, 'rosenbrock'])
def test_a_position_drive_moves_its_joint_by_two_equal_poles(integrator):
    """A position drive gives its joint two equal poles at any weight, damping and friction."""
    model = compiled('position', 5.0, **FREE)
    w, target = model.servos.rate[0], 0.4
    options = {} if integrator is None else {'integrator': integrator, 'tolerance': 1e-8}
    robot = ActuatedSimulator(model, q=[0.1], qd=[0.5], **options)
    for _ in range(60):
        robot.step([target], 1e-3)
        q, qd = settle(0.1 - target, 0.5, w, robot.time)
        assert robot.q[0] == pytest.approx(q + target, abs=2e-5)
        assert robot.qd[0] == pytest.approx(qd, abs=2e-3)


def test_the_bandwidth_is_the_frequency_of_3_db():
    """A sine of that frequency comes out smaller by the square root of 2; a velocity does, too."""
    for command in ('position', 'velocity'):
        model, f, h = compiled(command, 8.0, **FREE), 8.0, 5e-4
        robot, seen = ActuatedSimulator(model, q=[0.0]), []
        for k in range(2000):
            robot.step([0.05 * np.sin(2.0 * np.pi * f * (k + 0.5) * h)], h)
            seen.append((robot.q if command == 'position' else robot.qd)[0])
        last = seen[-500:]  # two periods
        assert np.ptp(last) / 0.1 == pytest.approx(1.0 / np.sqrt(2.0), rel=0.01)


def test_a_velocity_drive_moves_its_joint_by_one_pole():
    """A velocity drive brings its joint to the velocity with one pole, that of its loop."""
    model = compiled('velocity', 5.0, **FREE)
    robot = ActuatedSimulator(model, q=[0.0])
    for _ in range(60):
        robot.step([0.8], 1e-3)
        assert robot.qd[0] == pytest.approx(
            0.8 * (1.0 - np.exp(-model.servos.rate[0] * robot.time)), abs=1e-3
        )


@pytest.mark.parametrize('bandwidth, substep', [(200.0, 5e-4), (50.0, 1e-2)])
def test_fast_drives_are_stable_with_long_steps(bandwidth, substep):
    """A fast drive is stable with long steps, and its joint ends at the set-point."""
    robot = ActuatedSimulator(compiled('position', bandwidth, **FREE), q=[0.0], substep=substep)
    for _ in range(100):
        robot.step([0.3], 1e-2)
        assert abs(robot.q[0]) < 0.5
    assert robot.q[0] == pytest.approx(0.3, abs=1e-6)


def test_the_force_of_a_drive_is_that_of_the_equation_of_motion():
    """At rest it carries the weight; on the way the robot would move as it does under it alone."""
    model = compiled('position', 5.0)
    robot = ActuatedSimulator(model, q=[0.2])
    for _ in range(2000):
        robot.step([0.2], 1e-3)
    assert robot.acting[0] == pytest.approx(-2.0 * 9.81 * 0.3 * np.cos(0.2), rel=1e-6)


def test_a_drive_pushes_no_harder_than_its_limit():
    """Beyond it the joint moves as it does under that force, and comes back once less is asked."""
    model, pushed = compiled('position', 20.0), sd.compile_model(sd.load_robot(link('force')))
    robot, free = ActuatedSimulator(model, q=[0.0]), ActuatedSimulator(pushed, q=[0.0])
    for _ in range(20):
        robot.step([1.5], 1e-3)
        free.step([40.0], 1e-3)
        assert robot.acting[0] == 40.0
        assert robot.q[0] == pytest.approx(free.q[0], abs=1e-12)
    for _ in range(1000):
        robot.step([1.5], 1e-3)
    assert robot.q[0] == pytest.approx(1.5, abs=1e-6) and abs(robot.acting[0]) < 1.0


def test_what_pushes_a_joint_from_outside_does_not_move_it_unless_it_is_stronger():
    """A wrench within the limit of the drive leaves the joint where it is, and is borne by it."""
    model = compiled('position', 10.0)
    robot = ActuatedSimulator(model, q=[0.0])
    push = {'link': Wrench([0.0, 10.0, 0.0, 0.0, 0.0, 0.0])}
    for _ in range(100):
        robot.step([0.0], 1e-3, push)
    assert abs(robot.q[0]) < 1e-9
    assert robot.acting[0] == pytest.approx(-2.0 * 9.81 * 0.3 - 10.0, rel=1e-3)
    push = {'link': Wrench([0.0, 60.0, 0.0, 0.0, 0.0, 0.0])}
    for _ in range(20):
        robot.step([0.0], 1e-3, push)
    assert robot.acting[0] == -40.0 and robot.q[0] > 0.01


def test_bodies_on_a_joint_that_is_moved_feel_its_acceleration():
    """Two links: one that a drive moves, and one that swings as inverse dynamics says."""
    first, second = link('position', 5.0, effort=1e6), link('force')
    second['bodies'][0]['name'] = 'swing'
    second['bodies'][0]['joint'] = {'name': 'knee', 'type': 'revolute', 'axis': [0, 1, 0]}
    first['bodies'].append(second['bodies'][0])
    model = sd.compile_model(sd.load_robot(first))
    robot, h = ActuatedSimulator(model, q=[0.0, 0.3], substep=2e-5), 2e-5
    for _ in range(50):
        robot.step([0.4], 1e-3)
    q, qd, told = robot.q.copy(), robot.qd.copy(), robot.model.servos.rate[0]
    robot.step([0.4], h)
    qdd = (robot.qd - qd) / h
    assert qdd[0] == pytest.approx(told**2 * (0.4 - q[0]) - 2.0 * told * qd[0], rel=5e-3)
    assert sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd)[1] == pytest.approx(0.0, abs=5e-3)
    assert abs(qdd[1]) > 10.0


def test_a_plain_simulator_takes_forces():
    """A plain simulator applies u as forces, exactly, as forward dynamics does."""
    model, forces = compiled('position', 10.0), sd.compile_model(sd.load_robot(link('force')))
    robots = [sd.Simulator(each, q=[0.1]) for each in (model, forces)]
    for robot in robots:
        robot.step([3.0], 0.05)
    assert robots[0].q[0] == robots[1].q[0]


def test_a_rigid_arm_with_a_soft_one_holds_still():
    """The drives of hybrid_arm bear what the soft parts do as they come to rest."""
    model = sd.compile_model(sd.load_robot(with_joint_drives('hybrid_arm')))
    robot = ActuatedSimulator(model)
    u = np.clip(np.zeros(model.m), model.lower, model.upper)
    u[model.servos.actuators] = model.servos.resting(robot.q)
    before = robot.q.copy()
    for _ in range(200):
        robot.step(u, 1e-3)
    assert np.abs(robot.q - before)[model.servos.coordinates].max() < 1e-9


@pytest.mark.parametrize(
    'changes, words',
    [
        ({'command': 'torque'}, 'one of force, position, velocity'),
        ({'dead_band': 1.0}, '0 of a drive that takes a position'),
        ({'rate_limit': 5.0}, 'limits.velocity of the joint'),
        ({'bandwidth': 0.0}, 'bandwidth'),
    ],
)
def test_fields_that_do_not_go_with_such_a_drive_are_refused(changes, words):
    """Fields that a drive of positions or velocities cannot have are refused by name."""
    wrong = link()
    wrong['actuators'][0].update(changes)
    with pytest.raises(DescriptionError, match=words):
        sd.load_robot(wrong)


def test_such_a_drive_needs_a_limit_of_the_velocity():
    """A position drive without a limit of the velocity is refused: it bounds the set-points."""
    wrong = link()
    del wrong['bodies'][0]['joint']['limits']['velocity']
    with pytest.raises(DescriptionError, match='a limits.velocity of hip'):
        sd.load_robot(wrong)


def test_messages_have_commands_in_the_field_of_what_the_drive_takes():
    """Messages hold the command of a position drive in `position`, others in `effort`."""
    fields = sd.load_robot(with_joint_drives('hybrid_arm')).wire_fields
    assert fields == ('position',) * 6 + ('effort',) * 4
    assert set(sd.load_robot('hybrid_arm').wire_fields) == {'effort'}
