# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Measured efforts in place of commands: when they act, and what they improve."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, DescriptionError, UnknownNameError
from softrobot_dynamics.estimation.effort_measurements import Effort, EffortHistory
from softrobot_dynamics.estimation.sensor_simulation import SimulatedSensors
from softrobot_dynamics.estimation.settings import load_estimator
from softrobot_dynamics.references.piecewise import constant
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.robots import compiled

CABLES = [f't{k}' for k in range(1, 10)]
SENSORS = [{'name': 'cables', 'type': 'joint', 'names': CABLES, 'noise': 2e-4}]
GAUGES = {'name': 'gauges', 'names': CABLES, 'noise': 0.02}
QUIET = {'force': 0.05, 'moment': 5e-4}


@pytest.mark.quick
def test_the_latest_measured_effort_acts():
    """The latest measured effort acts from its time on, in any order of arrival."""
    acting = EffortHistory(10.0, [Effort(name='g', names=('c', 'a'))], ('a', 'b', 'c'))
    acting.begin(np.array([1.0, 2.0, 3.0]))
    acting.add(1.0, np.array([4.0, 5.0, 6.0]))
    assert acting.at(2.0).tolist() == [4.0, 5.0, 6.0]
    acting.measure(3.0, 'g', np.array([np.nan, 9.0]))
    acting.measure(2.0, 'g', np.array([8.0, 7.0]))
    assert acting.at(1.5).tolist() == [4.0, 5.0, 6.0]
    assert acting.at(2.0).tolist() == [7.0, 5.0, 8.0]
    assert acting.at(3.5).tolist() == [9.0, 5.0, 6.0]
    ((until, mean),) = acting.between(2.5, 3.5, 1.0)
    assert until == 3.5 and mean == pytest.approx([8.0, 5.0, 6.0])  # c: the command's, in part
    acting.begin(np.zeros(3))
    assert acting.at(9.0).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize('gauged', [False, True])
def test_tensions_other_than_commanded_are_not_taken_for_a_push(gauged):
    """With a load cell the weakness of a drive is not taken for an external force."""
    arm = compiled('pcc_arm')
    own = sd.Estimator(arm, {'sensors': SENSORS, 'efforts': [GAUGES]})
    told, true = np.full(9, 3.0), np.r_[2.0, np.full(8, 3.0)]
    q = sd.equilibrium(arm, u=true).q
    eyes = SimulatedSensors(arm, own.settings.sensors, efforts=own.settings.efforts, seed=1)
    own.begin(0.0, q=q, u=told)
    for k in range(60):
        for reading in eyes.look(0.01 * k, q, 0.0 * q, true):
            if gauged or reading.sensor == 'cables':
                own.measure(*reading)
    force = sd.actuation(arm, q=q, qd=0.0 * q).matrix @ (true - told)
    expected = 0.0 * force if gauged else force
    found = own.estimate(0.6).force
    assert np.abs(found - expected).max() < 0.35 * np.abs(force).max()


def test_late_efforts_count_from_their_stamps():
    """A late effort counts from its stamp: estimates since then are computed again."""
    arm = compiled('pcc_arm')
    gauges = {**GAUGES, 'delay': 0.03}
    own = [sd.Estimator(arm, {'sensors': SENSORS, 'efforts': [gauges]}) for _ in range(2)]
    y, pulled = np.zeros(9), np.r_[6.0, np.zeros(8)]
    for each, late in zip(own, (0.0, 0.05)):
        each.begin(0.0, u=np.zeros(9))
        events = [(0.01 * k, 'cables', y) for k in range(12)]
        events.append((0.05 + late, 'gauges', pulled))
        for at, name, value in sorted(events, key=lambda event: event[0]):
            stamp = 0.05 if name == 'gauges' else at
            each.measure(stamp, name, value)
    first, second = (each.estimate(0.11, covariance=True) for each in own)
    assert second.q == pytest.approx(first.q, abs=1e-12)
    assert second.force == pytest.approx(first.force, abs=1e-9)
    assert np.abs(first.q).max() > 1e-4


def test_gauges_reveal_an_unknown_lag():
    """Measured efforts make rates in closed loop more accurate under an unknown lag."""
    arm = compiled('pcc_arm')
    slow = sd.compile_model(sd.vary(arm.description, {'lag': 0.05}))
    q = sd.equilibrium(arm, u=np.tile([3.0, 1.0, 1.0], 3)).q
    y = sd.actuation(arm, q=q, qd=0.0 * q).coordinates
    errors = []
    for efforts in ({}, {'efforts': [{**GAUGES, 'rate': 500.0}]}):
        own = sd.Estimator(arm, {'sensors': SENSORS, **efforts, 'disturbance': QUIET})
        run = sd.closed_loop(
            arm,
            sd.Law('pd_plus', parameters={'p': 4.0, 'd': 4.0}),
            constant(y),
            0.6,
            start=sd.Start(ramp=0.1),
            plant=slow,
            feedback=sd.Feedback(estimator=own, sensors={'seed': 2}),
        )
        errors.append(np.sqrt(np.mean((run.qd_heard - run.qd)[50:] ** 2)))
    assert errors[1] < 0.7 * errors[0]


def test_a_posture_at_rest_uses_measured_efforts():
    """The posture at rest is that of measured efforts where commands differ from them."""
    arm = compiled('pcc_arm')
    fit = sd.ShapeFit(arm, {'sensors': SENSORS, 'efforts': [GAUGES]})
    true = np.r_[5.0, np.ones(8)]
    found = fit({'gauges': true}, u=np.ones(9))
    assert found.q == pytest.approx(sd.equilibrium(arm, u=true).q, abs=1e-6)
    assert fit({'gauges': np.full(9, np.nan)}, u=true).q == pytest.approx(found.q, abs=1e-6)


def test_inertial_units_of_a_robot_at_rest_feel_weight_alone():
    """At rest inertial units predict gravity alone under measured efforts, not commands."""
    slow = sd.compile_model(sd.vary(sd.load_robot('pcc_arm'), {'lag': 0.05}))
    unit = {'name': 'imu', 'type': 'imu', 'body': 'segment2', 'acceleration_noise': 1e-6}
    settings = load_estimator({'sensors': [unit], 'efforts': [{**GAUGES, 'noise': 0.0}]})
    u = np.r_[8.0, np.ones(8)]
    robot = ActuatedSimulator(slow, q=sd.equilibrium(slow, u=u).q)
    robot.begin_under(u)
    eyes = SimulatedSensors(slow, settings.sensors, efforts=settings.efforts)
    told = {r.sensor: r.value for r in eyes.look(0.0, robot.q, robot.qd, robot.acting)}
    assert np.linalg.norm(told['imu'][-1]) == pytest.approx(9.81, abs=1e-4)
    assert told['gauges'] == pytest.approx(u)
    robot.step(np.ones(9), 0.01)
    assert 1.0 < robot.acting[0] < 8.0 and robot.acting[1:] == pytest.approx(np.ones(8))


@pytest.mark.quick
@pytest.mark.parametrize(('efforts', 'error', 'words'), [
    ([{**GAUGES, 'name': 'cables'}], DescriptionError, 'no other sensor has'),
    ([GAUGES, {**GAUGES, 'name': 'more'}], DescriptionError, 'each actuator once'),
    ([{**GAUGES, 'names': ['thumb']}], UnknownNameError, 'thumb'),
    ([{**GAUGES, 'gate': 1.5}], DescriptionError, 'gate'),
    ([{**GAUGES, 'change': 0.0}], DescriptionError, 'change'),
    ([{**GAUGES, 'noise': -0.1}], DescriptionError, 'noise'),
])  # fmt: skip
def test_wrong_efforts_are_refused(efforts, error, words):
    """A wrong entry of `efforts` is refused by its place."""
    with pytest.raises(error, match=words):
        sd.Estimator(compiled('pcc_arm'), {'sensors': SENSORS, 'efforts': efforts})


@pytest.mark.quick
def test_wrong_values_of_efforts_are_refused():
    """Wrong values and names of efforts are refused, as those of sensors are."""
    own = sd.Estimator(compiled('pcc_arm'), {'sensors': SENSORS, 'efforts': [GAUGES]})
    for value in ([1.0], [np.inf] * 9, 'tight'):
        with pytest.raises(ArgumentError, match='gauges'):
            own.measure(0.1, 'gauges', value)
    with pytest.raises(UnknownNameError, match='gauges'):
        own.measure(0.1, 'gouges', np.zeros(9))
