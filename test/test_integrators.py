# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The simulator's step: its order, with whatever matrices, and its error estimate."""

import functools

import numpy as np
import pytest
from robots import compiled
from scipy.integrate import solve_ivp
from softrobot_dynamics.integrators import allocate_stages, first_stage, second_stage
from softrobot_dynamics.kinematics.binding import cached

DURATION = 0.04
U = np.array([3.0, 1.0, 1.0] * 3)
START = np.array([0.5, -0.3, 0.01] * 3)


@functools.cache
def reference():
    """State (2, n) after DURATION by a method of high order at tight tolerance."""
    model = compiled('pcc_arm')
    evaluator, n = model.evaluator(), model.n

    def rate(t, y):
        terms = evaluator(y[:n].copy(), y[n:].copy())
        force = (model.signs * U) @ terms.J - terms.h
        return np.concatenate([y[n:], np.linalg.solve(terms.M, force)])

    start = np.concatenate([START, np.zeros(n)])
    done = solve_ivp(rate, (0, DURATION), start, method='Radau', rtol=1e-10, atol=1e-12)
    return done.y[:, -1].reshape(2, n)


def run(h, scale=1.0, duration=DURATION):
    """State (2, n) and last error estimate (2, n), with matrices scaled by ``scale``."""
    model = compiled('pcc_arm')
    evaluator, b, force = model.evaluator(), allocate_stages(model.n), model.signs * U
    q, qd = START.copy(), np.zeros(model.n)
    K, D = scale * model.stiffness, scale * model.damping
    for _ in range(round(duration / h)):
        assert cached(first_stage)(evaluator(q, qd), K, D, force, q, qd, h, b) == 0
        assert cached(second_stage)(evaluator(b.q, b.qd), K, force, q, qd, h, b) == 0
    return np.array([q, qd]), b.error.copy()


@pytest.mark.parametrize('scale', [1.0, 1.3, 0.9])
def test_second_order(scale):
    """In q and qd, also with matrices that are not those of the robot."""
    steps = 1e-3 * np.array([1.0, 0.5, 0.25])
    errors = [np.abs(run(h, scale)[0] - reference()).max(axis=1) for h in steps]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 1.7).all() and (orders < 2.6).all(), orders
    assert (errors[0] < [1e-4, 1e-2]).all()


def test_the_error_estimate_is_that_of_first_order():
    """It falls by four when the step is halved, and bounds the error of a step."""
    estimates = [np.abs(run(h, duration=h)[1]).max() for h in (2e-5, 1e-5)]
    assert np.log2(estimates[0] / estimates[1]) == pytest.approx(2.0, abs=0.4)
