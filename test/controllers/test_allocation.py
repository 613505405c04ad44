# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Commands within limits: of mixed units, redundant, without effect."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from softrobot_dynamics.controllers.allocation import allocate_commands, allocate_workspace

FREE = np.inf


def allocate(S, r, lower=-FREE, upper=FREE, favoured=0.0, start=0.0):
    """Return (whether there is an answer, w)."""
    c = len(r)
    w, full = np.full(c, start), np.ones(c)
    found = allocate_commands(
        S, r, lower * full, upper * full, favoured * full, w, allocate_workspace(c)
    )
    return found, w


def random_response(c, rank, seed=0):
    """Return J (c, rank), rows of about unit length, and S = J J'."""
    J = np.random.default_rng(seed).normal(size=(c, rank)) / np.sqrt(rank)
    return J, J @ J.T


@pytest.mark.parametrize('seed', range(5))
def test_units_do_not_matter(seed):
    """Scaling of units by 1 to 1e12 does not change the commands, with and without limits."""
    _, S = random_response(7, 9, seed)
    r, limit = np.linspace(1.0, -2.0, 7), 2.0
    units = 10.0 ** np.random.default_rng(seed).uniform(0.0, 12.0, 7)
    for bound in (FREE, limit):
        ok, w = allocate(S, r, -bound, bound)
        scaled_ok, scaled = allocate(
            S * np.outer(units, units), r * units, -bound / units, bound / units
        )
        assert ok and scaled_ok
        np.testing.assert_allclose(scaled * units, w, rtol=1e-9, atol=1e-9)
    free = allocate(S, r)[1]
    np.testing.assert_allclose(S @ free, r, atol=1e-9)
    assert np.abs(free).max() > limit  # so that the limits were felt


@pytest.mark.parametrize('seed', range(5))
def test_the_start_of_the_search_does_not_matter(seed):
    """From inside, at and beyond the limits the same commands are found."""
    _, S = random_response(7, 9, seed)
    r = np.linspace(1.0, -2.0, 7)
    wanted = lsq_linear(
        np.linalg.cholesky(S).T, np.linalg.solve(np.linalg.cholesky(S), r), (-1, 1)
    )
    assert (np.abs(wanted.x) > 0.999).any()
    for start in (0.0, 0.5, 1.0, -1.0, 1e9):
        ok, w = allocate(S, r, -1.0, 1.0, start=start)
        assert ok
        np.testing.assert_allclose(w, wanted.x, atol=1e-7)
    ok, w = allocate(S, np.nan * r, -1.0, 1.0, start=0.5)
    assert not ok and (w == 0.5).all()


@pytest.mark.parametrize('seed', range(5))
def test_redundant_commands_change_least(seed):
    """The solution is the w nearest to the favoured one, scaled by S, of all that meet r."""
    J, S = random_response(6, 3, seed)
    r = S @ np.linspace(1.0, 2.0, 6)
    favoured = 3.0
    ok, w = allocate(S, r, favoured=favoured)
    scale = np.sqrt(np.diag(S))
    nearest = np.linalg.pinv(S / scale) @ (r - S @ np.full(6, favoured)) / scale + favoured
    assert ok
    np.testing.assert_allclose(S @ w, r, atol=1e-6)
    np.testing.assert_allclose(w, nearest, atol=1e-5)


def test_the_feasible_part_of_a_demand_is_met():
    """The feasible part of a demand that lengthens both antagonists is met."""
    J = np.array([[1.0], [-1.0]])
    ok, w = allocate(J @ J.T, np.array([1.0, 1.0]))
    assert ok and np.abs(w).max() < 1e-6
    ok, w = allocate(J @ J.T, np.array([3.0, -1.0]))
    assert ok
    np.testing.assert_allclose(J.T @ w, 2.0, atol=1e-6)


@pytest.mark.parametrize('seed', range(8))
def test_limited_commands_equal_scipy(seed):
    """Within limits |J' w - a|^2 is minimal, as scipy finds, also for redundant w."""
    J, S = random_response(6, 6 if seed % 2 else 4, seed)
    a = 3.0 * np.random.default_rng(seed).normal(size=J.shape[1])
    ok, w = allocate(S, J @ a, 0.0, 1.0)
    wanted = lsq_linear(J.T, a, (0.0, 1.0), method='bvls', tol=1e-14)
    assert ok and (w >= 0.0).all() and (w <= 1.0).all()
    assert np.sum((J.T @ w - a) ** 2) <= 2.0 * wanted.cost * (1.0 + 1e-6) + 1e-9


def test_a_tendon_without_effect_keeps_its_favoured_tension():
    """A tendon without effect on y, or with the wrong one, keeps the favoured tension."""
    S = np.diag([2.0, 0.0, -1.0])
    ok, w = allocate(S, np.array([4.0, 1.0, 1.0]), favoured=0.5)
    assert ok
    np.testing.assert_allclose(w, [2.0, 0.5, 0.5], atol=1e-6)


@pytest.mark.parametrize('wrong', [np.nan, np.inf])
def test_a_problem_without_a_solution_is_reported(wrong):
    """Commands without effect and values that are not finite are reported as no solution."""
    _, S = random_response(3, 3)
    assert not allocate(np.zeros((3, 3)), np.ones(3))[0]
    assert not allocate(S, np.array([1.0, wrong, 0.0]))[0]
    S[1, 2] = S[2, 1] = wrong
    assert not allocate(S, np.ones(3))[0]
