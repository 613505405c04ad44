# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Encoders that report an angle within a turn."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.simulation.simulator import Simulator

WHEEL = {
    'name': 'wheel',
    'gravity': [0.0, 0.0, -9.81],
    'bodies': [
        {
            'name': 'w',
            'joint': {'name': 'j', 'type': 'revolute', 'axis': [0.0, 1.0, 0.0], 'damping': 0.1},
            'body': {'type': 'rigid', 'mass': 1.0, 'com': [0.1, 0.0, 0.0],
                     'inertia': {'ixx': 0.02, 'iyy': 0.02, 'izz': 0.02}},
        }
    ],
    'actuators': [{'name': 'j', 'type': 'joint', 'joint': 'j', 'limits': [-5.0, 5.0]}],
}  # fmt: skip
ENCODER = {'name': 'encoder', 'type': 'joint', 'names': ['j'], 'noise': 1e-3, 'rate': 100.0}
SENSORS = {'sensors': [ENCODER]}


@pytest.mark.parametrize('u', [3.0, -3.0])
def test_the_estimate_goes_on_where_the_joint_does(u):
    """Over several turns no measurement is an outlier, and angle and rate are the robot's."""
    model = sd.compile_model(sd.load_robot(WHEEL))
    robot, estimator = Simulator(model), sd.Estimator(model, SENSORS)
    estimator.begin(0.0, u=[u])
    for k in range(1, 301):
        robot.step([u], 0.01)
        encoder = (robot.q + np.pi) % (2.0 * np.pi) - np.pi
        found = estimator.measure(0.01 * k, 'encoder', encoder)
        assert found.outliers == 0 and found.numbers == 1
    assert abs(robot.q[0]) > 4.0 * np.pi
    there = estimator.estimate(3.0)
    assert there.q == pytest.approx(robot.q, abs=5e-3)
    assert there.qd == pytest.approx(robot.qd, abs=0.2)


def test_a_joint_whose_limits_are_within_a_turn_does_not_go_round():
    """With joint limits within a turn, an encoder value off by a turn is rejected."""
    limited = {'name': 'j', 'type': 'revolute', 'limits': {'position': [-3.0, 3.0]}}
    body = {**WHEEL['bodies'][0], 'joint': limited}
    model = sd.compile_model(sd.load_robot({**WHEEL, 'bodies': [body]}))
    estimator = sd.Estimator(model, SENSORS)
    assert estimator.measure(0.01, 'encoder', [2.0 * np.pi]).outliers == 1
