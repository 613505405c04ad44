# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Least squares in levels, against conditions of optimality and another solver."""

import numpy as np
import pytest
from scipy.optimize import minimize
from softrobot_dynamics.controllers.tasks.solver.hierarchy import (
    include_later_levels,
    solve_hierarchy,
)
from softrobot_dynamics.controllers.tasks.solver.weighted_projection import (
    LATER_LEVEL_FACTOR,
    MIN_LEVERAGE_FRACTION,
)
from softrobot_dynamics.controllers.tasks.solver.workspace import allocate_hierarchy
from support.kernel_calls import by_address

pytestmark = pytest.mark.quick


def problem(seed, c=5, K=7, L=9, levels=1, room=1.0):
    """Return a random problem that w = 0 is admissible for."""
    rng = np.random.default_rng(seed)
    p = allocate_hierarchy(c, K, L)
    p.A[:], p.b[:] = rng.standard_normal((K, c)), 3.0 * rng.standard_normal(K)
    p.level[:] = np.sort(rng.integers(1, levels + 1, K))
    p.C[:], p.C[:c] = rng.standard_normal((L, c)), np.eye(c)
    p.lower[:], p.upper[:] = -room, 1.5 * room
    p.favoured[:] = 0.3 * rng.standard_normal(c)
    return p


def solved(p):
    """Return (w, lower and upper bounds as they were)."""
    bounds, w = (p.lower.copy(), p.upper.copy()), np.zeros(p.A.shape[1])
    assert iterations(p, w) >= 0
    return w, bounds


def iterations(p, w):
    """Fill w with the solution of a problem; return the iterations, -1: there is none."""
    found = np.full(1, np.nan)
    by_address(solve_hierarchy, p=p)(w, found)
    return found[0]


@pytest.mark.parametrize('seed', range(20))
def test_one_level_meets_the_conditions_of_optimality(seed):
    """Gradient and multipliers balance, bounds hold, and only bounds that are met push."""
    p = problem(seed)
    w, (lower, upper) = solved(p)
    gradient = p.A.T @ (p.A @ w - p.b)
    assert gradient == pytest.approx(p.C.T @ p.multiplier, abs=1e-5)
    at = p.C @ w
    assert (at >= lower - 1e-7).all() and (at <= upper + 1e-7).all()
    met = np.minimum(at - lower, upper - at) < 1e-6
    assert (np.abs(p.multiplier[~met]) < 1e-9).all() and met.any()
    assert (p.multiplier[at < lower + 1e-6] >= 0.0).all()
    assert (p.multiplier[at > upper - 1e-6] <= 0.0).all()


@pytest.mark.parametrize('seed', range(6))
def test_two_levels_are_those_of_a_general_solver(seed):
    """Costs of both levels are those that SLSQP finds, one after the other."""
    p = problem(seed, c=6, K=7, L=8, levels=2, room=0.5)
    w, (lower, upper) = solved(p)
    limits = [
        {'type': 'ineq', 'fun': lambda x: p.C @ x - lower},
        {'type': 'ineq', 'fun': lambda x: upper - p.C @ x},
    ]
    x = np.zeros(6)
    for level in (1, 2):
        A, b = p.A[p.level == level], p.b[p.level == level]
        found = minimize(
            lambda x, A=A, b=b: 0.5 * np.sum((A @ x - b) ** 2),
            x,
            jac=lambda x, A=A, b=b: A.T @ (A @ x - b),
            constraints=limits,
            method='SLSQP',
            options={'ftol': 1e-14, 'maxiter': 500},
        )
        x = found.x
        cost = 0.5 * np.sum((A @ w - b) ** 2)
        assert cost == pytest.approx(found.fun, rel=1e-3, abs=1e-4)
        limits.append({'type': 'eq', 'fun': lambda y, A=A, x=x: A @ (y - x)})


def test_what_is_free_stays_at_what_is_favoured():
    """A row moves w only along itself; rows that repeat it, or are zero, change nothing."""
    p = problem(3, c=3, K=3, L=3, room=1e3)
    p.level[:] = 1, 1, 2
    p.A[:] = [[1.0, 2.0, 2.0], [2.0, 4.0, 4.0], [0.0, 0.0, 0.0]]
    p.b[:] = 9.0, 18.0, 5.0
    w, _ = solved(p)
    assert p.A[0] @ w == pytest.approx(9.0)
    assert np.cross(w - p.favoured, p.A[0]) == pytest.approx(np.zeros(3), abs=1e-9)


@pytest.mark.parametrize('softer', [1, 2])
def test_the_softer_of_two_contradicting_bounds_is_relaxed(softer):
    """If w >= 1 and w <= -1 are asked for, the softer bound is exceeded by 2 and reported."""
    p = allocate_hierarchy(1, 1, 3)
    p.A[:], p.b[:], p.level[:], p.C[:] = 1.0, 0.0, 1, 1.0
    p.lower[:], p.upper[:] = [-5.0, 1.0, -np.inf], [5.0, np.inf, -1.0]
    p.relaxation_order[:] = 0, 1, 1
    p.relaxation_order[softer] = 3
    w, _ = solved(p)
    assert w == pytest.approx(1.0 if softer == 2 else -1.0, abs=1e-5)
    assert p.relaxed[softer] == pytest.approx(2.0, abs=1e-5) and p.relaxed.argmax() == softer


def test_limits_are_kept_and_bounds_yield_in_their_order():
    """Limits are not exceeded at all, then an early bound least, then a late one, then a task."""
    p = allocate_hierarchy(2, 1, 4)
    p.A[:], p.b[:], p.level[:] = [[1e-3, 1.0]], -5.0, 1
    p.C[:] = [[1.0, 0.0], [0.0, 1.0], [1e-2, 1e-2], [1.0, 0.0]]
    p.lower[:], p.upper[:] = [-1.0, -1.0, 1.0, -np.inf], [1.0, 1.0, np.inf, 0.0]
    p.relaxation_order[:] = 0, 0, 1, 3
    w, _ = solved(p)
    assert w == pytest.approx([1.0, 1.0], abs=1e-4)
    assert p.relaxed == pytest.approx([0.0, 0.0, 0.98, 1.0], abs=1e-4)


def test_numbers_that_are_not_finite_have_no_answer():
    """A task that is not a number gives -1, not a command."""
    p = problem(0)
    p.b[0] = np.nan
    assert iterations(p, np.zeros(5)) == -1


def test_a_row_fades_near_a_singularity_of_its_task():
    """A row that is nearly none moves w ever less and without a jump; other tasks' rows all."""
    moved = []
    for share in (0.021, 0.01999, 0.01, 1e-3, 1e-5):
        p = allocate_hierarchy(2, 2, 2)
        p.A[:], p.b[:], p.level[:], p.task[:] = [[1.0, 0.0], [0.0, share]], [1.0, 0.1], 1, 1
        p.C[:], p.lower[:], p.upper[:] = np.eye(2), -1e9, 1e9
        w, _ = solved(p)
        assert w[0] == pytest.approx(1.0)
        moved.append(w[1])
        p.task[:] = 0
        assert solved(p)[0] == pytest.approx([1.0, 0.1 / share])
    assert moved[0] == pytest.approx(0.1 / 0.021)
    assert moved[1] == pytest.approx(5.0, rel=2e-3)
    assert moved[1:] == pytest.approx([0.1 * x / 0.02**2 for x in (0.01999, 0.01, 1e-3, 1e-5)])


@pytest.mark.parametrize('later', [0.0, 0.3])
@pytest.mark.parametrize('seed', range(6))
def test_rows_of_a_tip_are_weighed_against_work_where_limits_are_met(seed, later):
    """
    It is the nearest to that without limits, by rows of tips and a share of the work.

    Where later levels count, that without limits is the one without what is beyond, and rows of
    later levels come to it.
    """
    p, rng = problem(seed, c=5, K=5, L=5, room=0.4), np.random.default_rng([seed, 1])
    p.level[:], p.task[:] = [1, 1, 1, 2, 2], [1, 1, 1, 0, 0]
    p.C[:] = np.eye(5)
    lower, upper = p.lower.copy(), p.upper.copy()
    half = rng.standard_normal((5, 5))
    p.work[:] = np.eye(5) + 0.1 * half @ half.T
    p.lower[:], p.upper[:] = -1e9, 1e9
    p.excess_b[:3] = later * rng.standard_normal(3)
    b = p.b.copy()
    p.b[:] -= later * p.excess_b
    free, _ = solved(p)
    p.lower[:], p.upper[:] = lower, upper
    p.b[:] = b
    w, _ = solved(p)
    if later > 0.0:
        by_address(include_later_levels, p=p)(np.array([later]), w)
    tip = p.A[:3]
    share = MIN_LEVERAGE_FRACTION**2 * np.trace(tip @ np.linalg.solve(p.work, tip.T))
    push = (tip.T @ tip + share * p.work) @ (w - free)
    push += LATER_LEVEL_FACTOR * later * p.A[3:].T @ (p.A[3:] @ w - b[3:])
    size = np.abs(push).max()
    at_lower, at_upper = w < lower + 1e-6, w > upper - 1e-6
    assert (w >= lower - 1e-7).all() and (w <= upper + 1e-7).all()
    assert (at_lower | at_upper).any() and size > 0.1
    assert (push[at_lower] > 0.0).all() and (push[at_upper] < 0.0).all()
    assert (np.abs(push[~at_lower & ~at_upper]) < 1e-4 * size).all()
