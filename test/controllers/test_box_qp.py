# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The box solver against scipy, on random problems and at the edges."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from softrobot_dynamics.controllers.box_qp import allocate_scratch, MAX_ITERATIONS, solve_box_qp

pytestmark = pytest.mark.quick


def solve(S, r, lower, upper, start=None):
    """Minimiser (m,) of 1/2 w' S w - r' w in a box, and the iterations."""
    m = len(r)
    w = np.zeros(m) if start is None else np.array(start, dtype=float)
    given = S.copy(), r.copy()
    count = solve_box_qp(S, r, lower, upper, w, allocate_scratch(m))
    assert np.array_equal(S, given[0], equal_nan=True) and np.array_equal(r, given[1])
    return w, count


def problem(rng, m, spread=1.0):
    """S with condition number 10^spread, r, and a box that some of the answer lies beyond."""
    Q = np.linalg.qr(rng.normal(size=(m, m)))[0]
    S = (Q * 10.0 ** np.linspace(0.0, spread, m)) @ Q.T
    centre = rng.normal(size=m)
    return 0.5 * (S + S.T), S @ rng.normal(size=m), centre - rng.uniform(0, 1, m), centre + 0.5


def by_scipy(S, r, lower, upper):
    """Return the same minimiser by bounded least squares."""
    L = np.linalg.cholesky(S)
    found = lsq_linear(L.T, np.linalg.solve(L, r), (lower, upper), method='bvls', tol=1e-14)
    return found.x


def optimality(S, r, lower, upper, w):
    """Largest violation of the conditions of optimality, relative to the gradient's parts."""
    g = S @ w - r
    free = np.where(w <= lower, np.minimum(g, 0.0), np.where(w >= upper, np.maximum(g, 0.0), g))
    return np.abs(free).max() / (np.abs(S) @ np.abs(w) + np.abs(r)).max()


@pytest.mark.parametrize('m', [1, 2, 3, 9, 20])
@pytest.mark.parametrize('spread', [0.5, 3.0])
def test_solution_equals_scipy(m, spread):
    """On random problems the solver finds scipy's minimiser."""
    rng = np.random.default_rng(m)
    for _ in range(30):
        S, r, lower, upper = problem(rng, m, spread)
        w, count = solve(S, r, lower, upper)
        assert 0 <= count < MAX_ITERATIONS
        assert (w >= lower).all() and (w <= upper).all()
        assert optimality(S, r, lower, upper, w) < 1e-11
        np.testing.assert_allclose(w, by_scipy(S, r, lower, upper), atol=1e-8)


def test_start_does_not_matter():
    """Any start, also outside the box, leads to the same minimiser; the minimiser at once."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        S, r, lower, upper = problem(rng, 9, 2.0)
        w, _ = solve(S, r, lower, upper)
        for start in (lower, upper, 100.0 * rng.normal(size=9)):
            np.testing.assert_allclose(solve(S, r, lower, upper, start)[0], w, atol=1e-9)
        assert solve(S, r, lower, upper, w)[1] <= 1


def test_badly_conditioned_problems_are_solved():
    """With a condition number of 1e10 the optimality conditions hold to rounding."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        S, r, lower, upper = problem(rng, 9, 10.0)
        w, count = solve(S, r, lower, upper)
        assert count >= 0
        assert optimality(S, r, lower, upper, w) < 1e-9


def test_boxes_without_limits_and_without_width():
    """Infinite limits do not bind; a variable whose limits coincide stays there."""
    rng = np.random.default_rng(3)
    S, r, _, _ = problem(rng, 5)
    free = np.full(5, np.inf)
    np.testing.assert_allclose(solve(S, r, -free, free)[0], np.linalg.solve(S, r), rtol=1e-9)
    lower, upper = -free.copy(), free.copy()
    lower[2] = upper[2] = 0.25
    w, _ = solve(S, r, lower, upper)
    others = [0, 1, 3, 4]
    rest = np.linalg.solve(S[np.ix_(others, others)], (r - 0.25 * S[:, 2])[others])
    np.testing.assert_allclose(w, np.insert(rest, 2, 0.25), rtol=1e-9)


def test_a_minimiser_in_a_corner_is_found():
    """A minimiser in a corner of the box is found exactly."""
    w, _ = solve(np.eye(3), np.array([5.0, -5.0, 5.0]), np.zeros(3), np.ones(3))
    assert w.tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    'S', [-np.eye(2), np.array([[1.0, 2.0], [2.0, 1.0]]), np.full((2, 2), np.nan)]
)
def test_an_indefinite_problem_is_reported(S):
    """An S that is not positive definite is reported, and w stays in the box."""
    w, count = solve(S, np.array([0.3, 0.2]), -np.ones(2), np.ones(2))
    assert count == -1
    assert (np.abs(w) <= 1.0).all()
