# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The noise of measured efforts in the filter's covariance and in push detection."""

import functools
import itertools

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.stats import chi2
import softrobot_dynamics as sd
from softrobot_dynamics.estimation.effort_measurements import EffortHistory
from softrobot_dynamics.estimation.filter_state import FilterState, StatePredictor
from softrobot_dynamics.estimation.sensor_simulation import SimulatedSensors
from softrobot_dynamics.estimation.settings import load_estimator
from support.robots import compiled, states

PERIOD, NOISE = 1e-3, 0.2  # [s], [N]
TENSIONS = 2.0 + np.arange(9) % 4
CABLES = [f't{k}' for k in range(1, 10)]
SENSORS = [
    {'name': 'camera', 'type': 'pose', 'body': 'segment3'},
    {'name': 'cables', 'type': 'joint', 'names': CABLES, 'noise': 2e-4},
]
QUIET = {'force': 0.02, 'moment': 2e-4}


def gauged(noise, rate, names=CABLES):
    """Return what an estimator is told of gauges with so much noise [N]."""
    gauges = {'name': 'gauges', 'names': list(names), 'noise': noise, 'rate': rate}
    known = {'position': 2e-3, 'velocity': 1e-2}
    return {'sensors': SENSORS, 'disturbance': QUIET, 'initial': known, 'efforts': [gauges]}


@functools.cache
def estimator(noise, rate):
    """Return one of the shipped arm."""
    return sd.Estimator(compiled('pcc_arm'), gauged(noise, rate))


def moved(name, h, values, seed=3, size=0.3, u=1.0):
    """
    Return covariances of (q, qd) (2 n, 2 n) after a step of h [s] with so many values of gauges.

    As N and as S S^T have them, and as each error that is held makes them: exactly.
    """
    model = compiled(name)
    n, m, names = model.n, model.m, model.actuator_names
    settings = load_estimator(
        {
            'sensors': [{**SENSORS[1], 'names': list(names)}],
            'efforts': gauged(NOISE, values / h, names)['efforts'],
        }
    )
    q, qd = (size * x for x in next(iter(states(model, 1, seed=seed)))[:2])
    own, u = StatePredictor(model, 1e-25 * np.eye(n), np.zeros(0), settings), np.full(m, u)
    acting = EffortHistory(1.0, settings.efforts, names)
    acting.begin(u)
    acting.measure(0.0, 'gauges', u)
    x = np.concatenate([q, qd, np.zeros(n)])
    own.begin(q)
    state = own.predict(
        FilterState(0.0, x, 1e-25 * np.eye(3 * n), np.zeros((3 * n, 3 * n))), h, acting
    )
    own.set_state(np.concatenate([q, qd, np.zeros(n)]))
    own.u[:] = u
    own.linearise()
    there, rates = own.differentiate, np.zeros((2 * n + m, 2 * n + m))
    inverse = np.linalg.inv(there.M)
    K = there.by_state - np.hstack([there.stiffness, np.zeros((n, n))])
    rates[:n, n : 2 * n] = np.eye(n)
    rates[n : 2 * n] = np.hstack([-inverse @ K, inverse @ efforts_along(model, q, u)])
    step = expm(h / values * rates)
    F, G, P = step[: 2 * n, : 2 * n], step[: 2 * n, 2 * n :], np.zeros((2 * n, 2 * n))
    for _ in range(values):
        P = F @ P @ F.T + NOISE**2 * G @ G.T
    return state.N[: 2 * n, : 2 * n], (state.S @ state.S.T)[: 2 * n, : 2 * n], P


def efforts_along(model, q, u):
    """Return dnu/du (n, m) by differences, whatever a command is."""
    derivatives, rest = [], np.zeros(model.n)
    own = StatePredictor(model, np.eye(model.n), np.zeros(0), load_estimator({'sensors': [
        {**SENSORS[1], 'names': list(model.coordinate_names)}]}))  # fmt: skip
    for unit in 1e-6 * np.eye(model.m):
        sides = []
        for side in (1.0, -1.0):
            own.differentiate.forward(q, rest, u + side * unit)
            sides.append(own.differentiate.M @ own.differentiate.response.qdd)
        derivatives.append((sides[0] - sides[1]) / 2e-6)
    return np.array(derivatives).T


@pytest.mark.parametrize('values', [1, 2, 5, 12])
def test_held_errors_spread_as_in_simulation(values):
    """An error held over a step spreads as in simulation, for short and for long steps."""
    for h, far in ((1e-6, 0.12), (1e-2, 0.2)):
        N, P, exact = moved('pcc_arm', h, values)
        deviations = np.sqrt(np.diag(exact))
        assert (np.abs(np.sqrt(np.diag(N)) / deviations - 1.0) < far).all()
        assert np.abs((P - N) / np.outer(deviations, deviations)).max() < 1e-6
    N, _, exact = moved('pcc_arm', 1e-6, 1)  # one value: but for what the step itself is off by
    deviations = np.sqrt(np.diag(exact))
    assert np.abs((N - exact) / np.outer(deviations, deviations)).max() < 5e-3


@pytest.mark.parametrize('name', ['ur10e', 'servo_arm'])
def test_errors_of_torques_and_positions_spread_as_in_simulation(name):
    """Errors of joint torques and of positions of drives spread as in simulation."""
    N, _, exact = moved(name, 1e-5, 1, u=0.0 if name == 'ur10e' else 2.0)
    deviations = np.sqrt(np.diag(exact))
    assert np.abs((N - exact) / np.outer(deviations, deviations)).max() < 0.02


def test_commands_have_no_noise():
    """Noise counts for the time that measured values count: half of a step, or none."""
    model, given = compiled('pcc_arm'), load_estimator(gauged(NOISE, 100.0))
    blind = load_estimator(gauged(0.0, 100.0))
    found = []
    for settings, measured in ((given, 0.0), (given, 5e-3), (given, 1.0), (blind, 0.0)):
        own = StatePredictor(model, np.eye(9), np.zeros(0), settings)
        acting = EffortHistory(1.0, settings.efforts, model.actuator_names)
        acting.begin(TENSIONS)
        if measured < 1.0:
            acting.measure(measured, 'gauges', TENSIONS)
        own.begin(np.zeros(9))
        start = FilterState(0.0, np.zeros(27), 1e-3 * np.eye(27), np.zeros((27, 27)))
        found.append(own.predict(start, 1e-2, acting))
    whole, half, none, exact = found
    assert np.array_equal(none.S, exact.S) and not none.N.any() and not exact.N.any()
    assert half.N == pytest.approx(0.5 * whole.N, rel=1e-6, abs=1e-15) and whole.N.any()


def ways(estimators, seed, plant_noise, rate, push=True, span=0.3):
    """Let the arm move with noisy gauges; yield (robot, force) whenever all were told of it."""
    model, rng = estimators[0].model, np.random.default_rng(seed)
    spread, keep = np.repeat([QUIET['moment'], QUIET['force']], 3), np.exp(-PERIOD)
    rest = sd.equilibrium(model, u=TENSIONS).q
    for own in estimators:
        own.begin(0.0, q=rest, u=TENSIONS)
    P, *others = [own.estimate(0.0, covariance=True).covariance for own in estimators]
    assert all(np.array_equal(P, other) for other in others)
    x = np.linalg.cholesky(P) @ rng.standard_normal(27)
    x[:9] += rest
    robot = sd.Simulator(model, q=x[:9], qd=x[9:18])
    efforts = load_estimator(gauged(plant_noise, rate)).efforts
    eyes = SimulatedSensors(model, estimators[0].settings.sensors, efforts=efforts, seed=seed)
    wrench = push * spread * rng.standard_normal((3, 6))
    for k in range(round(span / PERIOD)):
        readings = list(eyes.look(k * PERIOD, robot.q, robot.qd, TENSIONS))
        for reading, own in itertools.product(readings, estimators):
            own.measure(*reading)
        if readings:
            yield robot, wrench
        loads = {b: sd.Wrench(w, None, 'base') for b, w in zip(model.body_names, wrench)}
        robot.step(TENSIONS, PERIOD, loads)
        fresh = push * spread * rng.standard_normal((3, 6))
        wrench = keep * wrench + np.sqrt(1.0 - keep**2) * fresh


def errors_of(estimators, rate, runs):
    """
    Return normalised errors squared, and which numbers were within 95 %, of some runs.

    Of each estimator, (E, runs) and (E, runs, 27): all are told of the same motions.
    """
    squares, inside, model = [], [], estimators[0].model
    for seed in range(runs):
        *_, (robot, wrench) = ways(estimators, seed, NOISE, rate)
        axes = [sd.jacobian(model, q=robot.q, body=b, frame='base') for b in model.body_names]
        force = sum(J.T @ w for J, w in zip(axes, wrench))
        for own in estimators:
            found = own.estimate(own.time, covariance=True)
            error = np.concatenate([found.q, found.qd, found.force])
            error -= np.concatenate([robot.q, robot.qd, force])
            squares.append(error @ np.linalg.solve(found.covariance, error))
            inside.append(np.abs(error) < 1.96 * np.sqrt(np.diag(found.covariance)))
    shape = runs, len(estimators)
    return np.reshape(squares, shape).T, np.reshape(inside, (*shape, -1)).swapaxes(0, 1)


@pytest.mark.parametrize('rate', [100.0, 500.0])
def test_the_covariance_matches_errors_of_gauges(rate):
    """Errors match the covariance, and are far too large for a filter that trusts gauges."""
    squares, inside = errors_of([estimator(NOISE, rate), estimator(0.0, rate)], rate, 16)
    assert chi2.ppf(1e-4, 27 * 16) < squares[0].sum() < chi2.ppf(1.0 - 1e-4, 27 * 16)
    assert 0.92 < inside[0].mean() < 0.99
    assert np.median(squares[1]) > 100.0 and inside[1, :, :18].mean() < 0.75


def test_noise_of_gauges_is_not_taken_for_a_push():
    """Without a push noise of gauges raises few alarms; trusting gauges fully raises many."""
    both = [estimator(noise, 100.0) for noise in (NOISE, 0.0)]
    chances = [
        [own.push('segment3').probability for own in both]
        for seed in range(3)
        for k, _ in enumerate(ways(both, seed, NOISE, 100.0, push=False, span=1.5))
        if k > 30
    ]
    known, trusted = np.transpose(chances)
    assert known.min() > 1e-5 and 0.35 < known.mean() < 0.65
    assert (trusted < 1e-6).mean() > 0.1


def test_a_posture_is_as_uncertain_as_gauges_are():
    """At rest the squared errors match the covariance, and do not without noise."""
    model, rng = compiled('pcc_arm'), np.random.default_rng(4)
    q, squares = sd.equilibrium(model, u=TENSIONS).q, {}
    for noise in (NOISE, 0.0):
        sensors = [{**SENSORS[1], 'noise': 2e-3}]
        fit = sd.ShapeFit(model, {**gauged(noise, 100.0), 'sensors': sensors})
        squares[noise] = []
        y = sd.actuation(model, q=q, qd=0.0 * q).coordinates
        for _ in range(30):
            cables = y + 2e-3 * rng.standard_normal(9)
            values = {'cables': cables, 'gauges': TENSIONS + NOISE * rng.standard_normal(9)}
            found = fit(values, u=np.zeros(9))
            squares[noise].append((found.q - q) @ np.linalg.solve(found.covariance, found.q - q))
    total = np.sum(squares[NOISE])
    assert chi2.ppf(1e-4, 9 * 30) < total < chi2.ppf(1.0 - 1e-4, 9 * 30)
    assert np.sum(squares[0.0]) > 10.0 * total
    given = {**gauged(NOISE, 100.0), 'sensors': sensors}
    again = sd.ShapeFit(model, given)({'cables': y, 'gauges': np.full(9, np.nan)}, u=TENSIONS)
    known = fit({'cables': y}, u=TENSIONS)  # what is commanded has no noise
    assert np.array_equal(again.covariance, known.covariance)
