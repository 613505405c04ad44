# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Inertial units against frames differentiated in time, and their derivatives."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.errors import ArgumentError, DescriptionError, UnknownNameError
from softrobot_dynamics.estimation.sensors.contract import BoundRobot
from softrobot_dynamics.references.piecewise import constant
from support.robots import compiled, states

pytestmark = pytest.mark.quick

MOUNT = {'xyz': [0.01, -0.02, 0.03], 'rpy': [0.3, -0.4, 0.5]}
EVERY = {'orientation_noise': 0.1, 'acceleration_noise': 0.3}
ROBOTS = [('pcc_arm', 'segment2'), ('ur10e', 'wrist_3_link'), ('tree', 'head')]


class Bound:
    """An IMU on a robot, under a command and a force from outside."""

    def __init__(self, robot, body, still=False, **given):
        self.model = model = compiled(robot)
        given = {'name': 'own', 'type': 'imu', 'body': body, 'mount': MOUNT, **given}
        (self.sensor,) = sd.load_estimator({'sensors': [given]}).sensors
        self.force = 0.1 * np.random.default_rng(3).normal(size=model.n)
        self.differentiate = Differentiator(model, self.force)
        self.u = np.linspace(0.1, 0.5, model.m)
        self.seen = self.sensor.bind(BoundRobot(model, self.differentiate, self.u, still))

    def __call__(self, q, qd, force=None, z=None):
        """Return what it should say."""
        if force is not None:
            self.force[:] = force
        self.seen.observe(q, qd, np.zeros(15) if z is None else z)
        return self.seen.observed.predicted.copy()


@pytest.mark.parametrize('robot, body', ROBOTS)
def test_it_measures_the_motion_of_its_frame(robot, body):
    """The predicted value equals differences of the sensor frame along the motion."""
    own = Bound(robot, body, **EVERY)
    ((q, qd, _),) = states(own.model, 1, seed=2, size=0.1)
    found, qdd, h = own(q, qd), own.differentiate.response.qdd.copy(), 1e-3
    mount = own.sensor.mount.matrix()
    before2, before, now, after, after2 = (
        sd.frame(own.model, q=q + t * qd + 0.5 * t * t * qdd, body=body) @ mount
        for t in h * np.arange(-2, 3)
    )
    a = (-after2 + 16 * after - 30 * now + 16 * before - before2)[:3, 3] / (12 * h * h)
    turning = now[:3, :3].T @ (-after2 + 8 * after - 8 * before + before2)[:3, :3] / (12 * h)
    wanted = now[:3, :3].T @ (a - own.model.description.gravity)
    assert found[:9] == pytest.approx(now[:3, :3].ravel(), abs=1e-12)
    assert found[9:12] == pytest.approx([turning[2, 1], turning[0, 2], turning[1, 0]], abs=1e-6)
    assert found[12:] == pytest.approx(wanted, abs=1e-6 * np.abs(wanted).max())


@pytest.mark.parametrize('robot, body', ROBOTS)
def test_derivatives_are_those_of_residuals(robot, body):
    """H against central differences of the residual, by q, qd and the force from outside."""
    own, h = Bound(robot, body, **EVERY), 1e-6
    ((q, qd, _),) = states(own.model, 1, seed=2, size=0.1)
    x = np.concatenate([q, qd, own.force])
    z = own(q, qd)
    own(q, qd, z=z)
    assert np.abs(own.seen.observed.residual).max() < 1e-12
    H, found = own.seen.observed.H.copy(), []
    for step in h * np.eye(len(x)):
        ends = []
        for sign in (1.0, -1.0):
            own(*np.split(x + sign * step, 3), z=z)
            ends.append(own.seen.observed.residual.copy())
        found.append((ends[1] - ends[0]) / (2.0 * h))
    scale = np.abs(H).max(axis=1, keepdims=True)
    np.testing.assert_allclose(H / scale, np.transpose(found) / scale, atol=1e-7)


def test_at_rest_it_measures_gravity():
    """At rest an inertial unit measures gravity, whatever commands and forces are."""
    own = Bound('pcc_arm', 'segment3', still=True, **EVERY)
    ((q, qd, _),) = states(own.model, 1, size=0.6)
    found = own(q, qd)
    up = -found[:9].reshape(3, 3).T @ own.model.description.gravity
    assert found[9:] == pytest.approx([0.0, 0.0, 0.0, *up], abs=1e-12)
    h = 1e-6
    H = own.seen.observed.H[6:, :9].copy()
    for j, step in enumerate(h * np.eye(9)):
        derivative = (own(q + step, qd) - own(q - step, qd))[12:] / (2.0 * h)
        assert H[:, j] == pytest.approx(derivative, abs=1e-7)


def test_parts_that_are_not_measured_are_left_out():
    """Parts that are undeclared, or NaN in a value, are left out one by one."""
    gyro = Bound('pcc_arm', 'segment3', acceleration_noise=None)
    q = np.zeros(9)
    z = gyro.sensor.read([[0.1, 0.2, 0.3], [0.0, 0.0, 9.8]])
    gyro(q, q, z=z)
    assert np.isnan(gyro.seen.observed.residual).tolist() == [True] * 3 + [False] * 3 + [True] * 3
    assert gyro.seen.observed.residual[3:6] == pytest.approx([0.1, 0.2, 0.3])
    assert not gyro.seen.observed.H[6:].any()
    simulated = gyro.sensor.value(gyro(q, q))
    assert np.isnan(simulated).all(axis=1).tolist() == [True, True, True, False, True]
    both = Bound('pcc_arm', 'segment3')
    both(q, q, z=both.sensor.read([[np.nan] * 3, [0.0, 0.0, 9.8]]))
    assert np.isnan(both.seen.observed.residual).tolist() == [True] * 6 + [False] * 3


def test_simulated_noise_has_the_assumed_size():
    """Simulated noise has the covariance that the estimator assumes."""
    own = Bound('pcc_arm', 'segment3', **EVERY)
    q, qd, _ = states(own.model, 1, size=0.6)[0]
    error = np.random.default_rng(0).normal(0.0, 0.3, 9)
    blurred = own.sensor.add_noise(own(q, qd), error)
    assert own.sensor.read(own.sensor.value(blurred)) == pytest.approx(blurred, abs=1e-12)
    own(q, qd, z=blurred)
    assert own.seen.observed.residual == pytest.approx(error, abs=1e-9)


@pytest.mark.parametrize('value', [
    np.zeros(6), np.zeros((3, 3)), 'turning', [[np.inf, 0, 0], [0, 0, 9]], np.zeros((5, 3)),
])  # fmt: skip
def test_a_wrong_value_is_refused(value):
    """A wrong value is refused with the sensor's name and what would be right."""
    with pytest.raises(ArgumentError, match='own'):
        Bound('pcc_arm', 'segment3').sensor.read(value)


@pytest.mark.parametrize('given, error, words', [
    ({'acceleration_noise': None, 'angular_velocity_noise': None}, DescriptionError, 'at least'),
    ({'acceleration_noise': 0.0}, DescriptionError, 'or null: not measured'),
    ({'body': 'nobody'}, UnknownNameError, 'segment1'),
])  # fmt: skip
def test_a_wrong_imu_is_refused(given, error, words):
    """A wrong description of an inertial unit is refused with the reason."""
    with pytest.raises(error, match=words):
        Bound('pcc_arm', **{'body': 'segment3', **given})


def test_units_on_segments_improve_rates():
    """With inertial units beside cable lengths the rates of a heavier arm are far better."""
    model = compiled('pcc_arm')
    plant = sd.compile_model(sd.vary(model.description, {'density': '×1.1'}))
    cables = {'type': 'joint', 'names': [f't{k}' for k in range(1, 10)], 'noise': 2e-4}
    sensors = [{'name': 'cables', **cables}]
    units = [{'name': f'imu{k}', 'type': 'imu', 'body': f'segment{k}'} for k in (1, 2, 3)]
    y = sd.actuation(model, q=np.full(9, 0.5), qd=np.zeros(9)).coordinates
    errors = []
    for given in (sensors, sensors + units):
        own = {'sensors': given, 'disturbance': {'force': 0.05, 'moment': 5e-4}}
        run = sd.closed_loop(
            model,
            sd.Law('pd_plus', parameters={'p': 4.0, 'd': 4.0}),
            constant(y),
            0.3,
            start=sd.Start(ramp=0.2),
            plant=plant,
            feedback=sd.Feedback(estimator=sd.Estimator(model, own), sensors={'seed': 1}),
        )
        errors.append(np.sqrt(((run.qd_heard - run.qd)[50:] ** 2).mean()))
    assert errors[1] < 0.5 * errors[0]


def test_a_posture_at_rest_is_found_by_gravity():
    """One inertial unit on the tip and the model alone find a posture at rest."""
    model = compiled('pcc_arm')
    u = np.tile([3.0, 1.0, 1.0], 3)
    q = sd.equilibrium(model, u=u).q
    up = -sd.frame(model, q=q)[:3, :3].T @ model.description.gravity
    given = {'sensors': [{'name': 'own', 'type': 'imu', 'body': 'segment3'}]}
    found = sd.ShapeFit(model, given)({'own': [[0.0] * 3, up]}, u=u)
    assert found.q == pytest.approx(q, abs=1e-6) and found.numbers == 6
