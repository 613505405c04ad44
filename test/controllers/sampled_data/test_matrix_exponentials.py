# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Matrix exponentials and spectral radii against LAPACK."""

import math

import numpy as np
import pytest
from scipy.linalg import expm
from softrobot_dynamics.controllers.sampled_data.matrix_exponentials import (
    exponential,
    log_spectral_radius,
)

pytestmark = pytest.mark.quick


def exp_of(A):
    """Return exp(A)."""
    E, scratch = np.empty_like(A), np.empty_like(A)
    exponential(A.copy(), E, scratch)
    return E


@pytest.mark.parametrize('size', [0.0, 1e-3, 1.0, 300.0])
def test_matrix_exponentials_are_exact(size):
    """Exponentials of decaying, oscillating and zero matrices of any size are exact to 1e-12."""
    rng = np.random.default_rng(1)
    V, rates = rng.normal(size=(7, 7)), np.diag([-1.0, -0.3, 0.0, 0.0, -0.1, 0.0, 0.0])
    rates[3, 4], rates[4, 3] = 1.0, -1.0
    A = size * V @ rates @ np.linalg.inv(V)
    wanted = expm(A)
    assert np.abs(exp_of(A) - wanted).max() < 1e-11 * np.abs(wanted).max()


@pytest.mark.parametrize('seed', range(5))
def test_spectral_radii_are_found(seed):
    """The spectral radius of random matrices is found for real and complex eigenvalues."""
    A = 10.0 ** (seed - 2) * np.random.default_rng(seed).normal(size=(9, 9))
    wanted = np.log(np.abs(np.linalg.eigvals(A)).max())
    assert log_spectral_radius(A.copy(), np.empty_like(A)) == pytest.approx(wanted, abs=1e-6)


def test_a_zero_or_nan_matrix_has_no_finite_radius():
    """The logarithmic radius of a zero matrix is -inf, and that of a nan matrix is nan."""
    assert log_spectral_radius(np.zeros((2, 2)), np.empty((2, 2))) == -math.inf
    wrong = np.array([[1.0, np.nan], [0.0, 1.0]])
    assert math.isnan(log_spectral_radius(wrong.copy(), np.empty((2, 2))))
    assert math.isnan(exp_of(wrong)[0, 0])
