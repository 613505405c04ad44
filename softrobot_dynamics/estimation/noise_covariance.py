# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Covariance of the estimate's errors by noise alone, of a robot that nothing pushes.

The filter's own P allows for forces that may act. Where none does, errors e of its estimate,
x = (q, qd, force, shares), are smaller: with the gain K of the filter, and R of the measurements,
of covariance N with ::

    N <- Phi N Phi'                          as the robot moves on
    N <- (1 - K H) N (1 - K H)' + K R K'     as it is measured

So the estimated force then, which is an error alone, has the covariance of its n rows and
columns of N: what is larger than that does not come of noise. Shares by which the model is off
(:mod:`.model_error`) are as unknown to N as to P.
"""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.estimation.square_root_filter import backward_euler_step
from softrobot_dynamics.kernels.linalg import solve_lower_transposed
from softrobot_dynamics.kernels.sums import dot, row_times
from softrobot_dynamics.recursion.constants import L_STABLE_GAMMA
from softrobot_dynamics.simulation.integrators.exponential_step import (
    ONE_STEP_WEIGHT,
    TWO_STEPS_WEIGHT,
)


class NoisePredictionArrays(NamedTuple):
    """Work arrays of :func:`predict_noise`, for N numbers; all are (N, N)."""

    once: Matrix
    twice: Matrix
    propagated: Matrix


class NoiseUpdateArrays(NamedTuple):
    """Work arrays of :func:`update_noise`, for k measured numbers and N uncertain ones."""

    K: Matrix  # (N, k) gain of what is taken
    G: Matrix  # (k, N) the same, row by row
    C: Matrix  # (k, N) H N
    Z: Matrix  # (N, N) (1 - K H) N
    L: Matrix  # (N, k) Z H' - K R


def allocate_noise_prediction(size: int) -> NoisePredictionArrays:
    """Return a :class:`NoisePredictionArrays` of so many numbers."""
    return NoisePredictionArrays(*(np.zeros((size, size)) for _ in range(3)))


def allocate_noise_update(k: int, N: int) -> NoiseUpdateArrays:
    """Return a :class:`NoiseUpdateArrays` of k measured numbers."""
    gain, Z = np.zeros((N, k)), np.zeros((N, N))
    return NoiseUpdateArrays(gain, np.zeros((k, N)), np.zeros((k, N)), Z, np.zeros((N, k)))


def initial_noise_covariance(P: Matrix, n: int) -> Matrix:
    """Return N (N, N) of the first covariance: as much, but that there is no force (n,)."""
    N, force = P.copy(), slice(2 * n, 3 * n)
    N[force], N[:, force] = 0.0, 0.0
    return N


@kernel
def predict_noise(w, b, N, h, keep):
    """Move N (N, N) by h [s], right after :func:`~.square_root_filter.predict` with its ``w``."""
    n, g = len(w.M), L_STABLE_GAMMA * h
    for _ in range(2):  # Phi (Phi N)' is Phi N Phi', as N is symmetric
        backward_euler_step(w, g, N, b.once)
        backward_euler_step(w, g, b.once, b.twice)
        for i in range(len(N)):
            share = keep if 2 * n <= i < 3 * n else 1.0
            once, twice = b.once[i], b.twice[i]
            row = b.propagated[i]
            for c in range(len(N)):
                row[c] = share * (TWO_STEPS_WEIGHT * twice[c] + ONE_STEP_WEIGHT * once[c])
        for i in range(len(N)):
            for c in range(len(N)):
                N[i, c] = b.propagated[c, i]


@kernel
def update_noise(w, b, N):
    """Measure N (N, N), right after :func:`~.square_root_filter.update` with its ``w``."""
    count, size = int(w.total[1]), len(N)
    if count == 0:
        return
    root = w.array[:count, :count]  # of the innovation's covariance; K root is what stands below
    for i in range(size):
        gain, own = b.K[i], w.array[count + i]
        for a in range(count):
            gain[a] = own[a]
        solve_lower_transposed(root, gain[:count])
        for a in range(count):
            b.G[a, i] = gain[a]
    for a in range(count):
        row_times(w.H[w.rows[a]], N, b.C[a])
    for i in range(size):
        row, own, gain = b.Z[i], N[i], b.K[i]
        for c in range(size):
            row[c] = own[c]
        for a in range(count):
            factor, source = gain[a], b.C[a]
            for c in range(size):
                row[c] -= factor * source[c]
        for a in range(count):
            r = w.rows[a]
            b.L[i, a] = dot(row, w.H[r]) - gain[a] * w.noise[r] ** 2
    for i in range(size):  # the same above the diagonal as below it, but for rounding
        row, own = b.Z[i], N[i]
        for c in range(size):
            own[c] = row[c]
        for a in range(count):
            factor, source = b.L[i, a], b.G[a]
            for c in range(size):
                own[c] -= factor * source[c]
    for i in range(size):
        for c in range(i):
            N[c, i] = N[i, c]
