# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""References beyond a robot's limits are reported with the numbers of physics."""

import copy

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, ExcessiveReferenceError
from softrobot_dynamics.references import feasibility
from softrobot_dynamics.references.circle import Circle, tip_circle
from softrobot_dynamics.references.inverse_statics import PathPostures
from softrobot_dynamics.references.output_postures import hold_outputs
from softrobot_dynamics.references.setpoint import SetPoint
from softrobot_dynamics.references.tips import LAP_SAMPLES
from support.servos import servo

pytestmark = pytest.mark.quick

LENGTH, MASS, INERTIA = 0.5, 2.0, 0.04


@pytest.fixture(scope='module')
def pendulum():
    """Return a bar on a motor of 12 N m, 30 N m/s, which turns at most at 4 rad/s."""
    bar = {'type': 'rigid', 'mass': MASS, 'com': [0.0, 0.0, -LENGTH],
           'inertia': {'ixx': INERTIA, 'iyy': INERTIA, 'izz': INERTIA}}  # fmt: skip
    joint = {'name': 'hinge', 'type': 'revolute', 'axis': [0.0, -1.0, 0.0],
             'limits': {'velocity': 4.0, 'position': [-2.0, 2.0]}}  # fmt: skip
    motor = {'name': 'motor', 'type': 'joint', 'joint': 'hinge', 'limits': [-12.0, 12.0],
             'rate_limit': 30.0}  # fmt: skip
    bodies = [{'name': 'bar', 'joint': joint, 'body': bar}]
    return sd.compile_model(
        sd.load_robot({'name': 'pendulum', 'bodies': bodies, 'actuators': [motor]})
    )


def actuators(model):
    """Return the indices of all of a robot's actuators."""
    return np.arange(model.m)


def swing(model, amplitude, frequency):
    """Return the times and postures of a swing about the lowest point."""
    times = np.linspace(0.0, 1.0 / frequency, 129)[:-1]
    q = amplitude * np.sin(2.0 * np.pi * frequency * times)[:, None]
    hold = MASS * 9.81 * LENGTH * np.sin(q)
    return times, PathPostures(q, hold, q)


def test_inertia_counts(pendulum):
    """The effort includes (m l^2 + I) q'' beside what holds the posture."""
    times, postures = swing(pendulum, 0.3, 1.0)
    assert feasibility.examine(pendulum, actuators(pendulum), times, postures) == []
    inertia = MASS * LENGTH**2 + INERTIA
    peak = 0.5 * (2.0 * np.pi * 2.0) ** 2 * inertia - MASS * 9.81 * LENGTH * np.sin(0.5)
    with pytest.raises(ExcessiveReferenceError) as caught:
        feasibility.examine(pendulum, actuators(pendulum), *swing(pendulum, 0.5, 2.0))
    assert caught.value.quantity in ('effort of hinge [N m]', 'change of hinge [N m/s]')
    free = limited(pendulum, rate_limit=np.array([1e9]))
    with pytest.raises(ExcessiveReferenceError) as caught:
        feasibility.examine(free, actuators(free), *swing(pendulum, 0.5, 2.0))
    assert caught.value.quantity == 'effort of hinge [N m]' and caught.value.upper == 12.0
    assert abs(caught.value.value) == pytest.approx(peak, rel=0.02)


def limited(model, **changes):
    """Return the model with other limits, of commands and of efforts."""
    model = copy.copy(model)
    for name, value in changes.items():
        setattr(model, name, np.array(value, dtype=float))
        if name in ('lower', 'upper'):
            setattr(model, f'effort_{name}', np.array(value, dtype=float))
    return model


def test_speed_and_change_of_effort_are_remarked_with_numbers(pendulum):
    """Speeds and effort rates beyond limits are reported with both numbers."""
    wide = limited(pendulum, lower=np.array([-1e3]), upper=np.array([1e3]),
                         rate_limit=np.array([np.inf]))  # fmt: skip
    amplitude, frequency = 1.0, 5.0 / (2.0 * np.pi)
    (words,) = feasibility.examine(wide, actuators(wide), *swing(pendulum, amplitude, frequency))
    assert 'speed of hinge would have to be' in words and 'limits -4 to 4' in words
    rate = float(words.split('have to be ')[1].split(',')[0])
    assert abs(rate) == pytest.approx(5.0, rel=1e-3)
    with pytest.raises(ExcessiveReferenceError, match='speed of hinge'):
        feasibility.examine(wide, actuators(wide), *swing(pendulum, 1.7, frequency))


def test_a_set_point_is_held_by_what_statics_says(pendulum):
    """A set-point is held by m g l sin(q), 9.8 of 12 N m, within the limits of joints."""
    chosen, q = np.array([0]), np.zeros(1)
    found, u = hold_outputs(pendulum, chosen, np.array([0.5 * np.pi]), q)
    assert found == pytest.approx([0.5 * np.pi]) and u == pytest.approx([MASS * 9.81 * LENGTH])
    assert feasibility.plan(pendulum, chosen, SetPoint((1.5,)), q).remarks == ()
    with pytest.raises(ExcessiveReferenceError, match='position of hinge would have to be 5'):
        feasibility.plan(pendulum, chosen, SetPoint((5.0,)), q)
    weak = limited(pendulum, upper=np.array([8.0]), lower=np.array([-8.0]))
    (words,) = feasibility.plan(weak, chosen, SetPoint((1.5,)), q).remarks
    assert 'effort of hinge [N m] would have to be 9.785, with limits -8 to 8' in words
    feeble = limited(pendulum, upper=np.array([4.0]), lower=np.array([-4.0]))
    with pytest.raises(ExcessiveReferenceError, match='effort of hinge'):
        feasibility.plan(feeble, chosen, SetPoint((1.5,)), q)


@pytest.fixture(scope='module')
def arm():
    """Return the soft arm."""
    return sd.compile_model(sd.load_robot('pcc_arm'))


def test_set_points_of_the_arm(arm):
    """Lengths under tension are fine; a little beyond is remarked; metres are refused."""
    chosen = np.arange(arm.m)
    q = sd.equilibrium(arm, u=np.full(arm.m, 8.0)).q
    y = sd.actuation(arm, q=q, qd=np.zeros(arm.n)).coordinates
    planned = feasibility.plan(arm, chosen, SetPoint(y), arm.q0)
    assert planned.remarks == () and planned.reference.coefficients[0, 0] == pytest.approx(y)
    apart = y + 2e-3 * np.resize([1.0, -1.0], arm.m)
    (words,) = feasibility.plan(arm, chosen, SetPoint(apart), q).remarks
    assert 'effort of t' in words and 'limits 0 to 40' in words
    found, u = hold_outputs(arm, chosen, apart, q)
    assert sd.actuation(arm, q=found, qd=0.0 * found).coordinates == pytest.approx(apart, abs=1e-9)
    assert sd.forward_dynamics(arm, q=found, qd=0.0 * found, u=u) == pytest.approx(0.0, abs=1e-4)
    for metres in (5.0, -5.0, np.resize([5.0, 0.0], arm.m)):
        with pytest.raises((ExcessiveReferenceError, ArgumentError)) as caught:
            feasibility.plan(arm, chosen, SetPoint(np.full(arm.m, metres)), arm.q0)
        assert 'effort of t' in str(caught.value) or 'an equilibrium' in str(caught.value)


def test_circles_of_the_arm(arm):
    """A circle is fine in 5 s, needs pushing tendons in 1 s, and is refused in 0.05 s."""
    times = np.linspace(0.0, 1.0, LAP_SAMPLES + 1)[:-1]
    circle = Circle('tip', (0.0, 0.0, 0.57), (0.0, 0.0, 1.0), 0.1, 5.0)
    _, postures = tip_circle(arm, circle)
    assert feasibility.examine(arm, actuators(arm), 5.0 * times, postures) == []
    words = feasibility.examine(arm, actuators(arm), 1.0 * times, postures)
    assert len(words) == 2 and 'effort of t' in words[0] and 'change of t' in words[1]
    with pytest.raises(ExcessiveReferenceError):
        feasibility.examine(arm, actuators(arm), 0.05 * times, postures)


def test_position_drives_are_checked_by_motor_and_tension():
    """Position drives are checked by travel of the motor and tension of the cable."""
    drive = {'compliance': 2e-4, 'radius': 0.01, 'pretension': 20.0, 'tension': [0.0, 12.0]}
    model = sd.compile_model(sd.load_robot(servo(drive, limits=[-0.4, 0.6])))
    chosen, q = np.arange(3), sd.equilibrium(model, u=[6.0, 1.0, 1.0]).q
    y = sd.actuation(model, q=q, qd=0.0 * q).coordinates
    planned = feasibility.plan(model, chosen, SetPoint(tuple(y)), np.zeros(3))
    command = sd.commands(model, q=q, u=[6.0, 1.0, 1.0])
    assert planned.remarks == () and np.abs(command).max() < 0.4
    far = sd.equilibrium(model, u=[14.0, 1.0, 1.0]).q
    y = sd.actuation(model, q=far, qd=0.0 * far).coordinates
    words = ' '.join(feasibility.plan(model, chosen, SetPoint(tuple(y)), np.zeros(3)).remarks)
    assert 'effort of t0 [N] would have to be 14, with limits 0 to 12' in words
    assert 'command of t0 [rad]' in words and 'limits -0.4 to 0.6' in words
