# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The integrator with a tolerance: its order for any matrices, and its error estimate."""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.simulation.integrators import forces, rosenbrock_stages
from softrobot_dynamics.simulation.integrators.rosenbrock_stages import ROS34PW2
from support.robots import compiled

pytestmark = pytest.mark.quick

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


def run(method, h, scale=1.0, duration=DURATION):
    """State (2, n) and last error estimate (n,), with matrices scaled by ``scale``."""
    model = compiled('pcc_arm')
    evaluate, force = model.evaluator(), model.signs * U
    b = rosenbrock_stages.allocate_stages(method, model.n)
    q, qd = START.copy(), np.zeros(model.n)
    K, D = scale * model.stiffness, scale * model.damping
    for _ in range(round(duration / h)):
        terms = evaluate(q, qd)
        cached(forces.save_start)(terms, force, b)
        assert cached(rosenbrock_stages.begin_step)(K, D, h, b) == 0
        for i in range(len(method.m)):
            if i > 0:
                cached(rosenbrock_stages.next_stage)(i, q, qd, b)
                terms = evaluate(b.q, b.qd)
            assert cached(rosenbrock_stages.solve_stage)(i, terms, K, force, qd, h, b) == 0
        assert cached(rosenbrock_stages.finish_step)(q, qd, b) == 0
        q[:], qd[:] = b.q, b.qd
    return np.array([q, qd]), b.error.copy()


def test_the_method_is_of_third_order():
    """The method is of third order in q and qd."""
    errors, orders = converged(ROS34PW2, 2.5e-4)
    assert (orders > 2.6).all() and (orders < 3.3).all(), orders
    assert (errors[0] < [1e-6, 1e-5]).all()


def converged(method, h, scale=1.0):
    """Errors (3, 2) with steps of h, h / 2, h / 4, and orders (2, 2)."""
    found = [run(method, h / k, scale)[0] for k in (1, 2, 4)]
    errors = np.array([np.abs(x - reference()).max(axis=1) for x in found])
    return errors, np.log2(errors[:-1] / errors[1:])


@pytest.mark.parametrize('share', [0.0, 1.0, 3.0])
def test_the_order_is_independent_of_the_matrix(share, method=ROS34PW2):
    """The formula keeps its order for y' = f(y) with any matrix A, zero included."""
    B, A = np.random.default_rng(0).normal(size=(2, 3, 3))

    def end(steps):
        y, h, left = np.array([0.3, -0.2, 0.5]), 1.0 / steps, np.eye(3) * steps / method.gamma
        for _ in range(steps):
            u = np.zeros((len(method.m), 3))
            for i in range(len(u)):
                stage = y + method.a[i] @ u
                rate = np.sin(B @ stage) + stage[::-1] * stage
                u[i] = np.linalg.solve(left - share * A, rate + method.c[i] @ u / h)
            y = y + method.m @ u
        return y

    errors = [np.abs(end(steps) - end(2000)).max() for steps in (40, 80)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(method.order, abs=0.3)


def test_the_error_estimate_is_that_of_the_order_below(method=ROS34PW2):
    """The error estimate falls by 2^order for half the step, and bounds the step's error."""
    estimates = [np.abs(run(method, h, duration=h)[1]).max() for h in (2e-5, 1e-5)]
    assert np.log2(estimates[0] / estimates[1]) == pytest.approx(method.order, abs=0.4)


def test_stiff_motions_are_damped_at_once(method=ROS34PW2):
    """A step of y' = -y / h' with h' -> 0 leaves nothing (L-stability)."""
    z, u = -1e9, []
    for i in range(len(method.m)):
        stage = 1.0 + sum(method.a[i, j] * u[j] for j in range(i))
        right = z * stage + sum(method.c[i, j] * u[j] for j in range(i))
        u.append(right / (1.0 / method.gamma - z))
    assert abs(1.0 + method.m @ u) < 1e-6
