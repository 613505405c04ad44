# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Exponentials and spectral radii of small dense matrices, without LAPACK.

Its threads wait for each other, with the interpreter's lock held, while a real-time loop keeps
their processors: a tenth of a second. These kernels hold no lock.
"""

import math

from softrobot_dynamics.compiling.jit import kernel, reduction

SERIES_TERMS = 12  # of an exponential, after scaling to a norm of a half: 1e-16
MATRIX_SQUARINGS = 26  # of a power whose growth is the spectral radius: 2e-7 of its logarithm


@reduction
def multiply_square(A, B, C):
    """Fill C with A B, (N, N) each; C is neither of them."""
    n = len(A)
    for i in range(n):
        row = C[i]
        for j in range(n):
            row[j] = 0.0
        for k in range(n):
            factor, source = A[i, k], B[k]
            for j in range(n):
                row[j] += factor * source[j]


@kernel
def _fill(source, factor, target):
    for i in range(len(source)):
        for j in range(len(source)):
            target[i, j] = factor * source[i, j]


@kernel
def _largest(A):
    """Largest sum of sizes in a row; nan if something is no number."""
    largest = 0.0
    for i in range(len(A)):
        total = 0.0
        for j in range(len(A)):
            total += abs(A[i, j])
        if not total <= largest:
            largest = total
    return largest


@kernel
def exponential(A, E, scratch):
    """Fill E with exp(A), (N, N) each, by scaling and squaring; A and ``scratch`` are used up."""
    norm = _largest(A)
    if not norm < 1e300:
        E[0, 0] = math.nan
        return
    halvings = max(0, int(math.ceil(math.log2(max(norm, 1e-300) / 0.5))))
    _fill(A, 0.5**halvings, A)
    _fill(A, 0.0, E)
    for i in range(len(A)):
        E[i, i] = 1.0
    for k in range(SERIES_TERMS, 0, -1):
        multiply_square(A, E, scratch)
        _fill(scratch, 1.0 / k, E)
        for i in range(len(A)):
            E[i, i] += 1.0
    for _ in range(halvings):
        multiply_square(E, E, scratch)
        _fill(scratch, 1.0, E)


@kernel
def log_spectral_radius(A, scratch):
    """Logarithm of the largest size of an eigenvalue of A (N, N), which is used up."""
    result, share = 0.0, 1.0
    for _ in range(MATRIX_SQUARINGS):
        norm = _largest(A)
        if not 0.0 < norm < 1e300:
            return -math.inf if norm == 0.0 else math.nan
        result += share * math.log(norm)
        share *= 0.5
        _fill(A, 1.0 / norm, A)
        multiply_square(A, A, scratch)
        _fill(scratch, 1.0, A)
    return result
