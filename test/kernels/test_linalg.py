# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Small dense linear algebra: factors solve, and failures return their pivot."""

import numpy as np
import pytest
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.kernels import linalg, mass_solve

pytestmark = pytest.mark.quick


def positive(n, seed=0):
    """Return a positive definite matrix (n, n)."""
    half = np.random.default_rng(seed).normal(size=(n, n))
    return half @ half.T + 0.1 * np.eye(n)


def test_cholesky_solves():
    """Cholesky factors solve a symmetric system by two triangular solves."""
    A, b = positive(5), np.arange(5.0)
    L, x = A.copy(), b.copy()
    assert cached(linalg.cholesky)(L, 0.0) == 0
    np.testing.assert_allclose(np.tril(L) @ np.tril(L).T, A, rtol=1e-13)
    cached(linalg.solve_lower)(L, x)
    cached(linalg.solve_lower_transposed)(L, x)
    np.testing.assert_allclose(A @ x, b, atol=1e-12)


def test_factors_solve_unsymmetric_systems():
    """L U factors without pivoting solve unsymmetric systems."""
    A = positive(4) + np.array(np.triu(np.ones((4, 4)), 1) - np.tril(np.ones((4, 4)), -1))
    LU, x = A.copy(), np.arange(4.0)
    assert cached(linalg.factorise)(LU) == 0
    cached(linalg.solve_factorised)(LU, x)
    np.testing.assert_allclose(A @ x, np.arange(4.0), atol=1e-12)


def test_inverse_of_an_unsymmetric_matrix():
    """The inverse in place is exact, also with coordinates a billion times apart."""
    scale = np.array([1.0, 1e-9, 1e6, 1.0])
    A = positive(4) + np.array(np.triu(np.ones((4, 4)), 1) - np.tril(np.ones((4, 4)), -1))
    inverse = A * np.outer(scale, scale)
    assert cached(linalg.invert)(inverse) == 0
    np.testing.assert_allclose(inverse * np.outer(scale, scale) @ A, np.eye(4), atol=1e-12)


@pytest.mark.parametrize('A', [
    np.random.default_rng(1).normal(size=(5, 5)), [[0.0, 2.0], [-1.0, 3.0]],
    [[1e-20, 1.0, 0.0], [-1.0, 1.0, 2.0], [0.5, 0.0, 1.0]],
], ids=['any', 'zero', 'small'])  # fmt: skip
def test_elimination_takes_the_largest_pivot_of_either_sign(A):
    """Elimination takes the largest pivot by size, also where the first is zero or tiny."""
    A, B = np.array(A), np.arange(1.0, 1.0 + 2 * len(A)).reshape(-1, 2)
    X = B.copy()
    assert cached(linalg.solve_general)(A.copy(), X) == 0
    np.testing.assert_allclose(X, np.linalg.solve(A, B), rtol=1e-12)
    A[:, 1] = 0.0
    assert cached(linalg.solve_general)(A, B) == 2


def test_a_mass_matrix_of_mixed_units_solves_rows_and_columns():
    """A factorised mass matrix of mixed units solves rows and names lacking inertia."""
    scale = np.array([1.0, 1e-4, 1e3, 1.0])
    M, X = positive(4) * np.outer(scale, scale), np.random.default_rng(2).normal(size=(4, 3))
    L, unit, columns = np.zeros((4, 4)), np.zeros(4), X.copy()
    assert cached(mass_solve.factorise_mass)(M, np.zeros(4), 1e-12, L, unit) == 0
    cached(mass_solve.solve_columns)(L, unit, columns)
    wanted = np.linalg.solve(M, X)
    np.testing.assert_allclose(columns, wanted, rtol=1e-9)
    row = X[:, 0].copy()
    cached(mass_solve.solve_row)(L, unit, row)
    np.testing.assert_allclose(row, wanted[:, 0], rtol=1e-9)
    M[2, 2] = 0.0
    assert cached(mass_solve.factorise_mass)(M, np.zeros(4), 1e-12, L, unit) == 3


@pytest.mark.parametrize('value', [0.0, -1.0, np.nan])
@pytest.mark.parametrize('place', [0, 2])
def test_a_failed_factorisation_returns_its_pivot(place, value):
    """A matrix that is not positive definite, or nan, returns the index of its pivot."""
    A = np.eye(4)
    A[place, place] = value
    assert cached(linalg.cholesky)(A.copy(), 0.0) == 1 + place
    assert cached(linalg.factorise)(A.copy()) == 1 + place
    assert cached(linalg.invert)(A.copy()) == 1 + place
