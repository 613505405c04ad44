# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Robots whose joints follow others in the closed loop, estimated, identified and written."""

import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.identification.fitting import identify
from softrobot_dynamics.identification.motions import Coordinate, motion
from softrobot_dynamics.identification.robot_files import write_fitted
from softrobot_dynamics.references.piecewise import constant
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.followers import gripper
import yaml


def driven():
    """Return the gripper with a motor at the joint `turn` and one at a follower of `drive`."""
    motors = [
        {'name': name, 'type': 'joint', 'joint': name, 'limits': [-60.0, 60.0]}
        for name in ('turn', 'tip2')
    ]
    return {**gripper(), 'actuators': motors}


@functools.cache
def model():
    """Return the compiled model of the driven gripper."""
    return sd.compile_model(sd.load_robot(driven()))


def test_a_law_leads_a_joint_by_a_motor_at_its_follower():
    """Feedback linearization of the follower's motion k q brings the leader to y_d / k."""
    y = np.array([0.3, -0.36])
    law = sd.Law('pfbl', parameters={'p': 400.0, 'd': 40.0})
    run = sd.closed_loop(model(), law, constant(y), 1.0, start=sd.Start(q=np.zeros(5)))
    assert run.ok.all()
    np.testing.assert_allclose(run.y[-1], y, atol=1e-4)
    np.testing.assert_allclose(run.q[-1, :2], [0.3, -0.36 / 1.2], atol=1e-4)


def test_an_estimator_finds_the_state_of_a_leader_by_frames_of_its_followers():
    """Poses of three followers, with noise, and no encoder, tell where their leaders are."""
    poses = [
        {'name': f'camera_{body}', 'type': 'pose', 'body': body, 'rate': 100.0}
        for body in ('two_b', 'end', 'pusher')
    ]
    estimator = sd.Estimator(model(), {'sensors': poses})
    law = sd.Law('pfbl', parameters={'p': 100.0, 'd': 20.0})
    feedback = sd.Feedback(estimator=estimator, sensors={'seed': 1})
    start = sd.Start(q=np.zeros(5))
    run = sd.closed_loop(model(), law, constant([0.2, 0.24]), 1.0, start=start, feedback=feedback)
    np.testing.assert_allclose(run.q[-1, :2], [0.2, 0.2], atol=0.02)


def test_a_number_of_a_follower_is_identified_and_written(tmp_path):
    """Damping of a follower and its multiplier, from a motion of leaders; the file has both."""
    truth = {'tip1.damping': 0.5, 'slide.multiplier': 0.14}
    true = sd.compile_model(sd.vary(model().description, truth))
    t, rng = 0.01 * np.arange(60), np.random.default_rng(2)
    u = np.repeat(rng.uniform(-4.0, 4.0, (6, 2)), 10, axis=0)
    simulator, found = ActuatedSimulator(true, q=np.zeros(5)), []
    simulator.begin_under(u[0])
    for row in u:
        found.append(simulator.q[:2].copy())
        simulator.step(row, 0.01)
    seen = motion(
        model().description,
        t,
        u,
        coordinates=[Coordinate('turn'), Coordinate('drive')],
        values=np.array(found),
        start='free',
    )
    fit = identify(model().description, seen, list(truth), loss='linear')
    for estimate in fit.estimates:
        assert estimate.value == pytest.approx(truth[estimate.name], rel=0.02)
    source, output = tmp_path / 'gripper.yaml', tmp_path / 'fitted.yaml'
    source.write_text(yaml.safe_dump(driven(), sort_keys=False), encoding='utf-8')
    write_fitted(source, output, fit.robot, list(truth), [])
    assert sd.load_robot(output).digest == fit.robot.digest
