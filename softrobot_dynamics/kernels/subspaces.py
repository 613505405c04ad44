# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Orthonormal bases of a row space and of its null space, without allocation."""

import math

from softrobot_dynamics.compiling.jit import kernel


@kernel
def split_space(J, Q, R):
    """
    Fill Q (n, n) with columns of unit length at right angles, the first k spanning the rows of J.

    J (k, n), k < n, is read and has full rank; the last n - k columns are its null space. R (n, k)
    is scratch. By reflections (Householder).
    """
    k, n = J.shape
    for i in range(n):
        for j in range(k):
            R[i, j] = J[j, i]
        for j in range(n):
            Q[i, j] = 1.0 if i == j else 0.0
    for c in range(k):
        square = 0.0
        for i in range(c, n):
            square += R[i, c] * R[i, c]
        size = math.sqrt(square)
        if size == 0.0:
            continue
        pivot = R[c, c]
        first = pivot + size if pivot > 0.0 else pivot - size
        R[c, c] = first  # the reflection stays in its column of R until it is applied to all
        square += first * first - pivot * pivot
        scale = 2.0 / square
        for j in range(c + 1, k):
            total = 0.0
            for i in range(c, n):
                total += R[i, c] * R[i, j]
            total *= scale
            for i in range(c, n):
                R[i, j] -= total * R[i, c]
        for j in range(n):
            total = 0.0
            for i in range(c, n):
                total += Q[j, i] * R[i, c]
            total *= scale
            for i in range(c, n):
                Q[j, i] -= total * R[i, c]
