# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Small dense linear algebra that neither allocates nor calls back: faster than LAPACK here."""

import math

from softrobot_dynamics.compiling.jit import kernel


@kernel
def cholesky(A, floor=0.0):
    """
    Replace the lower triangle of A (n, n) by its Cholesky factor; only that triangle is read.

    Returns 0, or 1 + i at the first pivot that is not above ``floor`` (or not a number).
    """
    for i in range(len(A)):
        for j in range(i):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total / A[j, j]
        pivot = A[i, i]
        for k in range(i):
            pivot -= A[i, k] * A[i, k]
        if not pivot > floor:
            return 1 + i
        A[i, i] = math.sqrt(pivot)
    return 0


@kernel
def solve_lower(L, b):
    """Replace b (n,) by L^-1 b."""
    for i in range(len(b)):
        total = b[i]
        for k in range(i):
            total -= L[i, k] * b[k]
        b[i] = total / L[i, i]


@kernel
def solve_lower_transposed(L, b):
    """Replace b (n,) by L^-T b."""
    for i in range(len(b) - 1, -1, -1):
        total = b[i]
        for k in range(i + 1, len(b)):
            total -= L[k, i] * b[k]
        b[i] = total / L[i, i]


@kernel
def factorise(A):
    """
    Replace A (n, n) by its triangular factors L U, the diagonal of L being ones.

    Without pivots: for matrices whose symmetric part is positive definite. Returns 0, or 1 + i at
    the first pivot that is not above 0 (or not a number).
    """
    n = len(A)
    for k in range(n):
        source = A[k]
        if not source[k] > 0.0:
            return 1 + k
        for i in range(k + 1, n):
            target = A[i]
            factor = target[k] / source[k]
            target[k] = factor
            for j in range(k + 1, n):
                target[j] -= factor * source[j]
    return 0


@kernel
def solve_factorised(LU, b):
    """Replace b (n,) by A^-1 b, given the factors of A by :func:`factorise`."""
    n = len(b)
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= LU[i, k] * b[k]
        b[i] = total
    for i in range(n - 1, -1, -1):
        total = b[i]
        for k in range(i + 1, n):
            total -= LU[i, k] * b[k]
        b[i] = total / LU[i, i]


@kernel
def invert(A):
    """
    Replace A (n, n) by its inverse, row by row, to multiply often by it.

    Without pivots: for matrices whose symmetric part is positive definite. Returns 0, or 1 + i at
    the first pivot that is not above 0 (or not a number).
    """
    n = len(A)
    for k in range(n):
        source = A[k]
        if not source[k] > 0.0:
            return 1 + k
        pivot = 1.0 / source[k]
        source[k] = 1.0
        for j in range(n):
            source[j] *= pivot
        for i in range(n):
            if i != k:
                target = A[i]
                factor = target[k]
                target[k] = 0.0
                for j in range(n):
                    target[j] -= factor * source[j]
    return 0


@kernel
def all_finite(values):
    """Tell whether every number of a 1-D array is finite."""
    total = 0.0
    for value in values:
        total += value * 0.0
    return total == 0.0


@kernel
def solve_general(A, B):
    """
    Replace B (n, p) by A^-1 B by elimination with row pivots; A (n, n) is destroyed.

    Returns 0, or 1 + i where column i holds no usable pivot.
    """
    n, p = B.shape
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if not abs(A[best, k]) > 0.0:
            return 1 + k
        if best != k:
            for j in range(k, n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
            for j in range(p):
                B[k, j], B[best, j] = B[best, j], B[k, j]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            if factor != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= factor * A[k, j]
                for j in range(p):
                    B[i, j] -= factor * B[k, j]
    for i in range(n - 1, -1, -1):
        for j in range(p):
            for c in range(i + 1, n):
                B[i, j] -= A[i, c] * B[c, j]
            B[i, j] /= A[i, i]
    return 0


@kernel
def copy(source, target):
    """Copy all numbers of a 1-D array; between slices, ``=`` would allocate."""
    for i in range(len(source)):
        target[i] = source[i]
