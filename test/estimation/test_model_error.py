# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Estimation of a robot heavier, stiffer and more damped than its model."""

import functools

import numpy as np
import pytest
from scipy.linalg import expm
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.errors import ArgumentError, DescriptionError
from softrobot_dynamics.estimation.command_history import CommandHistory
from softrobot_dynamics.estimation.filter_state import FilterState, StatePredictor
from softrobot_dynamics.estimation.model_error import Columns, ScaledModel
from softrobot_dynamics.estimation.sensor_simulation import SimulatedSensors
from softrobot_dynamics.estimation.settings import load_estimator
from support.robots import compiled, states

SHARES = np.array([0.2, -0.1, 0.3])
CAMERA = {'name': 'camera', 'type': 'pose', 'body': 'segment3'}
CABLES = {'name': 'cables', 'type': 'joint', 'names': [f't{k}' for k in range(1, 10)],
          'noise': 2e-4}  # fmt: skip
QUIET = {'force': 0.02, 'moment': 2e-4, 'fading': 10.0}
LEARNING = {'inertia': 0.2, 'stiffness': 0.2, 'damping': 0.3}
GIVEN = {'sensors': [CAMERA, CABLES], 'disturbance': QUIET, 'model_error': LEARNING}
PERIOD = 1e-3


@functools.cache
def varied(inertia, stiffness, damping):
    """Return the arm with more inertia, stiffness and damping, which is s times a modulus."""
    changes = {'density': inertia, 'young_modulus': stiffness, 'damping': damping / stiffness}
    description = compiled('pcc_arm').description
    words = {name: f'×{float(factor)!r}' for name, factor in changes.items()}
    return sd.compile_model(sd.vary(description, words))


@functools.cache
def learner():
    """Return an estimator that looks for what the model has wrong."""
    return sd.Estimator(compiled('pcc_arm'), GIVEN)


def at(model, seed):
    """Return a state (q, qd), contiguous."""
    return next(iter(states(model, 1, seed=seed)))[:2]


def test_terms_are_those_of_the_other_robot():
    """M, h and derivatives: equal to rounding where stress is linear, as in this arm."""
    off, other = ScaledModel(compiled('pcc_arm')), varied(*(1.0 + SHARES))
    off.shares[:] = SHARES
    q, qd = at(other, 3)
    found, wanted = off.evaluator()(q, qd), other.evaluator()(q, qd)
    assert np.allclose(found.M, wanted.M, rtol=1e-12, atol=0.0)
    assert np.abs(found.h - wanted.h).max() < 1e-12 * np.abs(wanted.h).max()
    assert np.array_equal(found.y, wanted.y)
    u, own, exact = np.ones(9), Differentiator(off), Differentiator(other)
    columns = Columns(off, own)
    qdd = own.forward(q, qd, u).qdd
    assert np.allclose(qdd, exact.forward(q, qd, u).qdd, rtol=1e-9)
    columns.fill()
    assert np.abs(own.by_state - exact.by_state).max() < 1e-11 * np.abs(exact.by_state).max()


def test_columns_are_derivatives_by_shares():
    """Each column is M times the change of acceleration by a model-error share."""
    off, step = ScaledModel(compiled('pcc_arm')), 1e-5
    own = Differentiator(off)
    columns, (q, qd) = Columns(off, own), at(compiled('pcc_arm'), 5)
    u = np.ones(9)
    for k, unit in enumerate(np.eye(3)):
        ends = []
        for side in (1.0, -1.0):
            off.shares[:] = SHARES + side * step * unit
            ends.append(own.forward(q, qd, u).qdd.copy())
        off.shares[:] = SHARES
        own.forward(q, qd, u)
        columns.fill()
        wanted = own.M @ (ends[0] - ends[1]) / (2.0 * step)
        assert np.abs(columns.E[:, k] - wanted).max() < 1e-6 * np.abs(wanted).max()


def mover(model):
    """Return a Mover that knows of shares, with little noise of the force, and its settings."""
    own = load_estimator(GIVEN)
    noise = 1e-3 * np.eye(model.n)
    return StatePredictor(model, noise, own.model_error.deviations, own), noise, own


def test_a_mean_is_predicted_as_the_scaled_robot():
    """The mean moves for 0.1 s as the simulator of the robot with the shares."""
    model, other = compiled('pcc_arm'), varied(*(1.0 + SHARES))
    q, qd = (0.3 * x for x in at(model, 7))
    commands, u = CommandHistory(1.0), np.ones(9)
    commands.begin(u)
    x = np.concatenate([q, qd, np.zeros(9), SHARES])
    own = mover(model)[0]
    own.begin(q)
    own.predict_mean(x, 0.0, 0.1, commands)
    robot = sd.Simulator(other, q=q, qd=qd)
    robot.step(u, 0.1)
    way = np.abs(robot.q - q).max()
    assert way > 0.1 and np.abs(x[:9] - robot.q).max() < 1e-3 * way
    assert x[27:] == pytest.approx(np.exp(-0.1 / 100.0) * SHARES)


def test_covariances_move_by_the_exponential():
    """Covariances of q, qd, force and shares are propagated by the matrix exponential."""
    model = compiled('pcc_arm')
    own, noise, given = mover(model)
    q, qd = (0.3 * x for x in at(model, 9))
    rng, u, n, h = np.random.default_rng(2), np.ones(9), 9, 1e-5  # the arm's fastest motion
    scale = np.repeat([1e-3, 1e-3, 1e-2, 0.3], [9, 9, 9, 3])
    S = np.linalg.cholesky(np.eye(30) + 0.2 * np.cov(rng.normal(size=(30, 60))))
    S *= scale[:, None]
    commands = CommandHistory(1.0)
    commands.begin(u)
    x = np.concatenate([q, qd, np.zeros(9), 0.1 * SHARES])
    own.begin(q)
    state = FilterState(0.0, x.copy(), S.copy(), S @ S.T)
    moved = own.predict(state, h, commands)
    own.set_state(x)
    own.u[:] = u
    own.linearise()
    A, inverse = np.zeros((30, 30)), np.linalg.inv(own.differentiate.M)
    K = own.differentiate.by_state - np.hstack([own.differentiate.stiffness, np.zeros((n, n))])
    A[:n, n : 2 * n], A[n : 2 * n, : 2 * n] = np.eye(n), -inverse @ K
    A[n : 2 * n, 2 * n : 3 * n], A[n : 2 * n, 3 * n :] = inverse, inverse @ own.E
    force, shares = np.exp(-h / QUIET['fading']), np.exp(-h / given.model_error.fading)
    keep = np.repeat([1.0, force, shares], [18, 9, 3])
    F = keep[:, None] * expm(h * A)
    late = 0.5 * (1.0 - force**2)
    early, Q = np.zeros((30, 30)), np.zeros((30, 30))
    Q[18:27, 18:27] = late * noise @ noise.T
    early[18:27, 18:27] = Q[18:27, 18:27] / force**2
    Q[27:, 27:] = (1.0 - shares**2) * np.diag(given.model_error.deviations**2)
    wanted = F @ (S @ S.T + early) @ F.T + Q
    spread = np.sqrt(np.diag(wanted))
    assert np.abs((moved.S @ moved.S.T - wanted) / np.outer(spread, spread)).max() < 5e-3
    F[27:] = np.eye(30)[27:]
    wanted = F @ S @ S.T @ F.T
    assert np.abs((moved.N - wanted) / np.outer(spread, spread)).max() < 5e-3


def tensions(t):
    """Return commands (9,) that move the arm about."""
    phase = 2.0 * np.pi * np.arange(9) / 3.0
    return 4.0 + 3.0 * np.sin(3.0 * t + phase) + 0.5 * np.sin(11.0 * t + 2.0 * phase)


def followed(own, plant, span, seed=4):
    """Let a robot move and be estimated; return the last estimate and the mean square."""
    robot = sd.Simulator(plant, q=np.zeros(9))
    instruments = SimulatedSensors(plant, own.settings.sensors, seed=seed)
    own.begin(0.0, u=tensions(0.0))
    squares, numbers = 0.0, 0
    for k in range(round(span / PERIOD)):
        t = k * PERIOD
        own.command(t, tensions(t))
        for reading in instruments.look(t, robot.q, robot.qd, tensions(t)):
            told = own.measure(*reading)
            if t > 1.0:
                squares, numbers = squares + told.square, numbers + told.numbers
        robot.step(tensions(t), PERIOD)
    return own.estimate(span, covariance=True), squares / max(1, numbers)


@pytest.mark.parametrize('factors', [(1.2, 1.0, 1.0), (0.85, 1.2, 1.3), (1.0, 1.0, 1.0)],
                         ids=['heavier', 'stiffer', 'the model itself'])  # fmt: skip
def test_shares_are_estimated(factors):
    """Shares are estimated within three small standard deviations, for any arm."""
    found, square = followed(learner(), varied(*factors), 3.0)
    deviations = np.sqrt(np.diag(found.covariance)[27:])
    assert (deviations < [0.05, 0.05, 0.1]).all()
    assert (np.abs(found.model_error - np.array(factors) + 1.0) < 3.0 * deviations + 0.01).all()
    assert 0.8 < square < 1.3


def test_a_stiffer_robot_is_not_taken_for_a_push():
    """A stiffer robot is taken for a force of newtons only if model errors are not estimated."""
    blind = sd.Estimator(
        compiled('pcc_arm'), {**GIVEN, 'model_error': {}, 'disturbance': {'force': 0.5}}
    )
    sizes = []
    for own in (blind, learner()):
        followed(own, varied(1.0, 1.2, 1.0), 2.0)
        sizes.append(np.linalg.norm(own.push('segment3').value))
    assert sizes[0] > 1.0 and sizes[1] < 0.2


def test_a_new_start_resets_shares():
    """A new start resets shares and their deviations; observability and pushes still work."""
    own = learner()
    first = sd.Estimator(compiled('pcc_arm'), GIVEN).estimate(0.0, covariance=True)
    followed(own, varied(1.2, 1.0, 1.0), 1.0)
    assert own.observability().rank > 9 and np.isfinite(own.push().value).all()
    own.begin(0.0)
    again = own.estimate(0.0, covariance=True)
    assert (again.model_error == 0.0).all() and np.array_equal(again.covariance, first.covariance)
    own.begin(0.0, covariance=2.0 * first.covariance)
    with pytest.raises(ArgumentError, match='covariance'):
        own.begin(0.0, covariance=first.covariance[:27, :27])


def test_by_default_no_share_is_estimated():
    """By default no model-error share is estimated."""
    own = sd.Estimator(compiled('pcc_arm'), [*learner().settings.sensors])
    found = own.estimate(0.0, covariance=True)
    assert found.model_error.shape == (0,) and found.covariance.shape == (27, 27)


@pytest.mark.quick
@pytest.mark.parametrize('given', [{'inertia': -0.1}, {'stiffness': 0.6}, {'fading': 0.0},
                                   {'weight': 0.1}])  # fmt: skip
def test_wrong_shares_are_refused(given):
    """Wrong shares are refused with the place, the value and what would be right."""
    with pytest.raises(DescriptionError, match=f'model_error.{next(iter(given))}'):
        load_estimator({**GIVEN, 'model_error': given})
