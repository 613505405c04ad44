# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Imperfect actuators: lag, delay, dead band and slack against closed forms."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import DescriptionError
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator, ActuatorDynamics
from support.robots import compiled

ROBOT, LONGEST = 'double_pendulum', 5e-4
REST = np.zeros(1)
FIRST, SECOND = np.array([1.0, -2.0]), np.array([3.0, -2.0])


def varied(**changes):
    """Return the double pendulum with other actuators."""
    return sd.compile_model(sd.vary(compiled(ROBOT).description, changes))


def stretches(changes, *commands):
    """Return (force (m,), time) under commands (u, time), one after the other."""
    model = varied(**changes)
    actuation, q = ActuatorDynamics(model), model.q0
    return [each for u, time in commands for each in actuation.mean_forces(u, time, LONGEST, q)]


def test_without_fields_it_is_the_simulator_bit_by_bit():
    """Without imperfections the motion equals the plain simulator's bit by bit."""
    model = compiled(ROBOT)
    plain, actuated = sd.Simulator(model), ActuatedSimulator(model)
    for u in (FIRST, SECOND):
        for robot in (plain, actuated):
            robot.step(u, 7e-3)
    assert np.array_equal(plain.q, actuated.q) and plain.substeps == actuated.substeps


def test_a_lag_is_an_exponential():
    """The mean over each stretch is that of the step response, so its integral is exact."""
    lag, time = 5e-3, 20e-3
    found = stretches({'shoulder_motor.lag': lag}, (FIRST, 1e-3), (SECOND, time))[1:]
    force, h = np.array([f for f, _ in found]), np.array([h for _, h in found])
    assert h.sum() == pytest.approx(time) and h.max() <= LONGEST * (1 + 1e-9)
    ends = h.cumsum()
    integral = 3.0 * ends - 2.0 * lag * (1.0 - np.exp(-ends / lag))
    assert (force[:, 0] * h).cumsum() == pytest.approx(integral, rel=1e-12)
    assert (force[:, 1] == -2.0).all()


@pytest.mark.parametrize('delay', [2.3e-4, 1e-3, 3.7e-3])
def test_a_command_acts_exactly_a_delay_later(delay):
    """A command acts exactly after its delay, for any steps; that of others at once."""
    commands = [(FIRST, 1e-3)] + [(np.array([3.0, 5.0]), 1e-3)] * 6
    found = stretches({'shoulder_motor.delay': delay}, *commands)
    late = sum(h for force, h in found if force[0] == 1.0)
    assert late == pytest.approx(1e-3 + delay, abs=1e-12)
    assert sum(h for force, h in found if force[1] == -2.0) == pytest.approx(1e-3, abs=1e-12)
    assert sum(h for _, h in found) == pytest.approx(7e-3, abs=1e-12)


def test_commands_that_are_underway_keep_their_order():
    """Delayed commands keep their order, and each acts for its own time."""
    ramp = [(np.array([float(k), 0.0]), 1e-3) for k in range(8)]
    found = stretches({'shoulder_motor.delay': 2.5e-3}, *ramp)
    times = {k: sum(h for f, h in found if f[0] == k) for k in range(6)}
    assert times[0] == pytest.approx(3.5e-3) and times[5] == pytest.approx(5e-4)
    assert [times[k] for k in range(1, 5)] == pytest.approx([1e-3] * 4)


@pytest.mark.parametrize('u, force', [(0.3, 0.0), (-0.5, 0.0), (2.0, 1.5), (-2.0, -1.5)])
def test_a_dead_band_removes_the_start_of_a_command(u, force):
    """A dead band removes the first part of a command of either sign, without a jump."""
    found = stretches({'shoulder_motor.dead_band': 0.5}, (np.array([u, u]), 1e-3))
    assert [f.tolist() for f, _ in found] == [[force, u]]


def test_lag_follows_delay_and_dead_band():
    """Lag, delay and dead band of one actuator act in sequence and move the robot."""
    changes = {'lag': 4e-3, 'delay': 2e-3, 'dead_band': 0.5}
    model = varied(**changes)
    robot, plain = ActuatedSimulator(model, substep=1e-4), sd.Simulator(model, substep=1e-5)
    robot.step(FIRST, 1e-3)
    robot.step(SECOND, 2e-2)
    plain.step([0.5, -1.5], 3e-3)
    for k in range(18_00):
        t = (k + 0.5) * 1e-5
        plain.step([2.5 - 2.0 * np.exp(-t / 4e-3), -1.5], 1e-5)
    assert robot.time == pytest.approx(21e-3, abs=1e-12)
    assert robot.q == pytest.approx(plain.q, rel=1e-6) and abs(robot.q - model.q0).max() > 1e-4


def test_equal_commands_move_equally_and_a_reset_forgets_what_was_underway():
    """Equal commands give equal motions bit by bit, and a reset drops delayed ones."""
    robot = ActuatedSimulator(varied(lag=3e-3, delay=2e-3))
    states = []
    for _ in range(2):
        robot.reset()
        for u in (FIRST, SECOND, FIRST):
            robot.step(u, 1e-3)
        states.append((robot.q.tobytes(), robot.qd.tobytes()))
    assert states[0] == states[1]


def with_slack(slack):
    """Return a soft arm under tendons without limits, which may go slack or not."""
    path = [{'body': 'arm', 'offset': [0.02, 0.0]}]
    body = {'type': 'pcc', 'length': 0.2, 'radius': 0.03, 'density': 1000.0,
            'young_modulus': 1e5, 'poisson_ratio': 0.5, 'damping': 0.1}  # fmt: skip
    tendon = {'name': 't', 'type': 'tendon', 'path': path, 'slack': slack}
    robot = {'name': 'one', 'bodies': [{'name': 'arm', 'joint': {'type': 'fixed'}, 'body': body}]}
    return sd.load_robot({**robot, 'actuators': [tendon]})


def test_a_slack_tendon_does_not_push():
    """A negative tension acts as zero on the robot, also during a lag."""
    slack, stiff = (ActuatorDynamics(sd.compile_model(with_slack(x))) for x in (True, False))
    assert not slack.direct and stiff.direct
    forces = [next(a.mean_forces(np.array([-2.0]), 1e-3, 1.0, REST))[0][0] for a in (slack, stiff)]
    assert forces == [0.0, -2.0]
    assert next(slack.mean_forces(np.array([2.0]), 1e-3, 1.0, REST))[0][0] == 2.0


@pytest.mark.parametrize('name', ['lag', 'delay', 'dead_band'])
@pytest.mark.parametrize('value', [-1e-3, np.nan, np.inf])
def test_wrong_values_are_refused(name, value):
    """Wrong values are refused with the place in the robot and what would be right."""
    with pytest.raises(DescriptionError, match=f'motor.{name}: .*expected a number >= 0'):
        sd.vary(compiled(ROBOT).description, {name: value})


def test_every_actuator_kind_has_imperfections():
    """Every kind of actuator takes all imperfections from the robot file."""
    robot = with_slack(False)
    actuator = robot.actuators[0].actuator
    assert (actuator.lag, actuator.delay, actuator.dead_band) == (0.0, 0.0, 0.0)
    assert sd.vary(robot, {'t.lag': 0.02}).actuators[0].actuator.lag == 0.02
