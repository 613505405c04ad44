# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Estimators of robots some of whose joints have drives that take positions or velocities."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.joint_drives import compiled, link, with_joint_drives

JOINTS = [
    'shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint',
    'wrist_1_joint', 'wrist_2_joint', 'wrist_3_joint',
]  # fmt: skip
ENCODERS = {'name': 'arm', 'type': 'joint', 'names': JOINTS, 'noise': 1e-4, 'rate': 100.0}
CAMERA = {'name': 'camera', 'type': 'pose', 'body': 'soft_arm', 'rate': 50.0}
CABLES = {'name': 'cables', 'type': 'joint', 'names': ['t1', 't2', 't3'], 'noise': 2e-4}
SMALL = {'force': 0.05, 'moment': 5e-4}
HIP = {'name': 'hip', 'type': 'joint', 'names': ['hip'], 'noise': 1e-4}
PERIOD = 0.01  # [s]


@pytest.fixture(scope='module', params=['position', 'velocity'])
def hybrid(request):
    """Return the hybrid arm, the joints of which are told positions or velocities."""
    return sd.compile_model(sd.load_robot(with_joint_drives('hybrid_arm', request.param)))


def told(model, t):
    """Return a command (m,): the rigid arm sways and the soft arm is bent slowly."""
    u = np.zeros(model.m)
    if model.servos.positions.all():
        u[:6] = 0.4 * np.sin(2.0 * t + np.arange(6)) - 0.4 * np.sin(np.arange(6))
    else:
        u[:6] = 0.8 * np.cos(2.0 * t + np.arange(6))
    u[6:9] = 6.0 + 4.0 * np.sin(3.0 * t + np.array([0.0, 2.1, 4.2]))
    return u


def test_a_soft_arm_on_a_moving_rigid_arm_is_estimated(hybrid):
    """
    The bends of the soft arm are found to milliradians, and each joint to its encoder's noise.

    The rigid arm shakes the soft arm, which the estimator has to foresee by the drives' loops.
    """
    given = {'sensors': [ENCODERS, CAMERA, CABLES], 'disturbance': SMALL}
    estimator, robot = sd.Estimator(hybrid, given), ActuatedSimulator(hybrid)
    rng = np.random.default_rng(1)
    estimator.begin(0.0, u=told(hybrid, 0.0))
    errors = []
    for k in range(1, 151):
        before, t = (k - 1) * PERIOD, k * PERIOD
        u = told(hybrid, before)
        estimator.command(before, u)
        robot.step(u, PERIOD)
        y = sd.actuation(hybrid, q=robot.q, qd=robot.qd).coordinates
        estimator.measure(t, 'arm', robot.q[:6] + 1e-4 * rng.standard_normal(6))
        estimator.measure(t, 'cables', y[6:9] + 2e-4 * rng.standard_normal(3))
        found = estimator.estimate(t)
        errors.append(np.r_[found.q - robot.q, found.qd - robot.qd])
    late = np.abs(errors[50:])
    n = hybrid.n
    assert late[:, :6].max() < 5e-4
    assert late[:, 6:8].max() < 2e-2
    assert late[:, n : n + 6].max() < 0.03


def test_derivatives_are_those_of_the_simulated_motion(hybrid):
    """Derivatives of the acceleration by the state equal differences, drives included."""
    from softrobot_dynamics.estimation.filter_state import StatePredictor
    from softrobot_dynamics.estimation.settings import load_estimator

    settings = load_estimator({'sensors': [ENCODERS], 'disturbance': SMALL})
    n = hybrid.n
    predictor = StatePredictor(hybrid, np.eye(n), np.zeros(0), settings)
    rng = np.random.default_rng(2)
    q, qd = hybrid.q0.copy(), np.zeros(n)
    q[:6], qd[:6] = told(hybrid, 0.1)[:6] + 1e-3 * rng.standard_normal(6), 0.01
    if not hybrid.servos.positions.all():  # or the forces that they need are beyond their limits
        qd[:6] += told(hybrid, 0.1)[:6]
    q[6:8], qd[6:9] = [0.3, -0.2], [0.1, 0.2, -0.01]

    def look(q, qd):
        predictor.q[:], predictor.qd[:], predictor.u[:] = q, qd, told(hybrid, 0.1)
        predictor.linearise()
        return predictor.differentiate.response.qdd.copy()

    found = look(q, qd)
    w = hybrid.servos.rate
    u = told(hybrid, 0.1)[:6]
    to_position = w * (w * (u - q[:6]) - 2.0 * qd[:6])
    due = to_position if hybrid.servos.positions.all() else w * (u - qd[:6])
    assert found[:6] == pytest.approx(due, rel=1e-6)
    change = predictor.differentiate.response.change[:, : 2 * n].copy()
    h = 1e-6
    for i in range(2 * n):
        d = np.zeros(2 * n)
        d[i] = h
        slope = (look(q + d[:n], qd + d[n:]) - look(q - d[:n], qd - d[n:])) / (2 * h)
        scale = np.abs(change[:, i]).max() + 100.0
        assert change[:, i] == pytest.approx(slope, abs=1e-4 * scale, rel=1e-4)


@pytest.mark.parametrize('command', ['position', 'velocity'])
def test_a_drive_of_another_bandwidth_is_followed(command):
    """With a true drive of half the known bandwidth the estimate is within the encoder's noise."""
    model, true = compiled(command), compiled(command, 5.0)
    given = {'sensors': [HIP], 'disturbance': {'force': 20.0, 'moment': 20.0, 'fading': 0.1}}
    estimator, robot = sd.Estimator(model, given), ActuatedSimulator(true)
    estimator.begin(0.0)
    errors = []
    for k in range(1, 101):
        u = np.array([0.5 * np.sin(0.05 * k)])
        estimator.command((k - 1) * PERIOD, u)
        robot.step(u, PERIOD)
        estimator.measure(k * PERIOD, 'hip', robot.q)
        errors.append(abs(estimator.estimate(k * PERIOD).q[0] - robot.q[0]))
    assert max(errors[20:]) < 2e-3


def test_the_posture_at_rest_is_that_of_the_drives(hybrid):
    """
    Without measurements the posture at rest is that of the set-points, or the initial one.

    The latter where drives take velocities: they are known to about a radian then.
    """
    u, to_position = told(hybrid, 0.3), hybrid.servos.positions.all()
    fit = sd.ShapeFit(hybrid, {'sensors': [ENCODERS], 'disturbance': SMALL})
    found = fit({}, u=u)
    due = u[:6] if to_position else hybrid.q0[:6]
    assert found.q[:6] == pytest.approx(due, abs=1e-6)
    deviation = np.sqrt(np.diag(found.covariance)[:6])
    assert np.isfinite(found.covariance).all()
    assert (deviation > 0.3).all() == (not to_position)


def test_encoders_give_the_posture_at_rest_of_joints_with_velocity_drives():
    """With velocity drives the posture at rest is the encoder's, whatever the commands were."""
    fit = sd.ShapeFit(compiled('velocity'), {'sensors': [HIP]})
    assert fit({'hip': [0.7]}, u=[0.3], q0=[-0.4]).q == pytest.approx([0.7], abs=1e-6)


def test_a_joint_whose_velocity_drive_slips_is_found_by_its_encoder():
    """The error of a velocity drive is estimated as a force: the rate is the measured one."""
    model = compiled('velocity')
    given = {'sensors': [HIP], 'disturbance': {'force': 20.0, 'moment': 20.0, 'fading': 0.5}}
    estimator = sd.Estimator(model, given)
    u, rate = np.array([0.5]), 0.4  # [rad/s] told, and what the joint does
    estimator.begin(0.0, u=u)
    for k in range(1, 151):
        estimator.measure(k * PERIOD, 'hip', [rate * k * PERIOD])
        found = estimator.estimate(k * PERIOD)
    assert found.qd[0] == pytest.approx(rate, abs=0.01)


@pytest.mark.parametrize(
    ('command', 'more', 'place'),
    [
        ('velocity', {'efforts': [{'name': 'cell', 'names': ['hip']}]}, 'efforts'),
        ('velocity', {'model_error': {'inertia': 0.1}}, 'model_error'),
        ('position', {'efforts': [{'name': 'cell', 'names': ['hip']}]}, 'efforts'),
        ('position', {'model_error': {'inertia': 0.1}}, 'model_error'),
    ],
)
def test_what_needs_drives_of_forces_is_refused_in_words(command, more, place):
    """Measured efforts of drives with a loop of their own, and model errors, are refused."""
    model = sd.compile_model(sd.load_robot(link(command)))
    with pytest.raises(ArgumentError, match=place):
        sd.Estimator(model, {'sensors': [HIP], **more})
