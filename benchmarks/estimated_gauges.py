# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Errors of an estimator under noise of gauges, with this noise in its model and without it."""

from estimated_runs import ARM, arm, CABLES, PERIOD
import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.estimation.sensor_simulation import SimulatedSensors
from softrobot_dynamics.estimation.settings import load_estimator

NOISE = 0.2  # [N] of the gauges
SLIGHT = np.repeat([2e-4, 0.02], 3)  # [N m], [N] of what acts on every segment
KEEP = np.exp(-PERIOD)
CERTAIN = 1e-6  # chance, at one look, of a push that is none: below, it is believed


def gauges(options):
    """Print how often errors are within 95 % intervals, and pushes found that are none."""
    for rate in (100.0, 500.0):
        for noise in (NOISE, 0.0):
            own = sd.Estimator(arm(), _given(noise, rate))
            squares, inside = [], []
            for seed in range(options.runs):
                error, P = _error(own, seed, rate)
                squares.append(error @ np.linalg.solve(P, error))
                inside.append(np.abs(error) < 1.959964 * np.sqrt(np.diag(P)))
            state, force = np.mean(inside, axis=0)[:18].mean(), np.mean(inside, axis=0)[18:].mean()
            looks = [
                own.push().probability
                for seed in range(10)
                for k, _ in enumerate(_looks(own, seed, rate, pushed=False, span=2.0))
                if k > 30
            ]
            print(
                f'gauges of {NOISE:g} N at {rate:g} Hz, {noise:g} N known: q and qd {state:.1%},'
                f' force {force:.1%} within 95 %; error squared {np.median(squares):.1f} (median;'
                f' 26.3 is right); {np.mean(np.array(looks) < CERTAIN):.1%} of {len(looks)} looks'
                f' find a push that is none, least chance {min(looks):.0e}',
                flush=True,
            )


def _given(noise, rate):
    effort = {'name': 'gauges', 'names': CABLES, 'noise': noise, 'rate': rate}
    return {
        **ARM,
        'efforts': [effort],
        'disturbance': {'moment': SLIGHT[0], 'force': SLIGHT[-1]},
        'initial': {'position': 2e-3, 'velocity': 1e-2},
    }


def _error(own, seed, rate):
    """Return the error (3 n,) at the end of a run, and its covariance."""
    *_, (robot, wrench) = _looks(own, seed, rate)
    found = own.estimate(own.time, covariance=True)
    axes = [sd.jacobian(own.model, q=robot.q, body=b, frame='base') for b in own.model.body_names]
    force = sum(J.T @ w for J, w in zip(axes, wrench))
    error = np.concatenate([found.q - robot.q, found.qd - robot.qd, found.force - force])
    return error, found.covariance


def _looks(own, seed, rate, pushed=True, span=0.3):
    """Let the arm be measured near a posture; yield (robot, wrench) whenever it was."""
    model, rng, u = own.model, np.random.default_rng(seed), 2.0 + np.arange(9) % 4
    rest = sd.equilibrium(model, u=u).q
    own.begin(0.0, q=rest, u=u)
    P = own.estimate(0.0, covariance=True).covariance
    x = np.linalg.cholesky(P) @ rng.standard_normal(len(P))
    robot = sd.Simulator(model, q=rest + x[:9], qd=x[9:18])
    efforts = load_estimator(_given(NOISE, rate)).efforts
    eyes = SimulatedSensors(model, own.settings.sensors, efforts=efforts, seed=seed)
    wrench = pushed * SLIGHT * rng.standard_normal((3, 6))
    for k in range(round(span / PERIOD)):
        readings = eyes.look(k * PERIOD, robot.q, robot.qd, u)
        for reading in readings:
            own.measure(*reading)
        if any(reading.sensor != 'gauges' for reading in readings):
            yield robot, wrench
        loads = {b: sd.Wrench(w, None, 'base') for b, w in zip(model.body_names, wrench)}
        robot.step(u, PERIOD, loads)
        fresh = pushed * SLIGHT * rng.standard_normal((3, 6))
        wrench = KEEP * wrench + np.sqrt(1.0 - KEEP**2) * fresh
