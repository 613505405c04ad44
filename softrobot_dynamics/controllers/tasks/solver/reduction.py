# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Reduction of a level of :mod:`~.solver.hierarchy` to a triangular least-squares problem.

Householder reflections, by row pivots. Rows of a task for a tip that are nearly dependent are a
singularity: the motion that they ask for grows without bound as it is approached. Such pivots are
noted, and left out where the problem is to be solved without them.
"""

import math

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.sums import dot

RANK_TOLERANCE = 1e-6  # of a row, left by the rows before it; with less it depends on them
# of the largest row of its task; with less a pivot is near a singularity
NEAR_SINGULAR_RATIO = 0.02
PIVOT_RATIO, DAMPED = range(2)  # of ``pivot_state``, see :class:`.HierarchyWorkspace`


@kernel
def reduce_level(p, w, level, first):
    """
    Bring a level to the least squares of R y - r (rank,), y being along the next ``rank`` columns.

    B[:rank, :rank] is R then, upper triangular. Returns the rank.
    """
    c, rows = len(w), 0
    for k in range(len(p.b)):
        A = p.A[k]
        p.size[rows] = dot(A, A)
        if p.level[k] != level or not p.size[rows] > 0.0:
            continue
        p.row_of[rows] = k
        p.r[rows] = p.b[k] - dot(A, w)
        for j in range(first, c):
            total = 0.0
            for i in range(c):
                total += A[i] * p.Z[i, j]
            p.B[rows, j - first] = total
        rows += 1
    rank, d = 0, c - first
    while rank < min(rows, d):
        best, largest = -1, RANK_TOLERANCE * RANK_TOLERANCE
        for k in range(rows):
            remainder = 0.0
            for j in range(rank, d):
                remainder += p.B[k, j] * p.B[k, j]
            if p.size[k] > 0.0 and remainder > largest * p.size[k]:
                best, largest = k, remainder / p.size[k]
        if best < 0:
            break
        share = _relative_pivot(p, p.row_of[best], largest * p.size[best])
        p.size[best] = 0.0
        if share < NEAR_SINGULAR_RATIO:
            p.pivot_state[PIVOT_RATIO] = min(p.pivot_state[PIVOT_RATIO], share)
            if p.pivot_state[DAMPED] > 0.0:
                continue
        _reflect_columns(p, rows, best, rank, first)
        rank += 1
    for j in range(rank):
        _reflect_rows(p, rows, rank, j)
    return rank


@kernel
def _relative_pivot(p, k, remainder):
    """Return what is left of row k, given squared, as a share of its task's largest row."""
    if p.task[k] == 0:
        return 1.0
    largest = 0.0
    for i in range(len(p.b)):
        if p.task[i] == p.task[k]:
            largest = max(largest, dot(p.A[i], p.A[i]))
    return math.sqrt(remainder / largest)


@kernel
def _reflect_columns(p, rows, k, start, first):
    """Reflect the basis such that row k of B is zero beyond column ``start``."""
    d, u = len(p.y) - first, p.y
    size = 0.0
    for j in range(start, d):
        u[j] = p.B[k, j]
        size += u[j] * u[j]
    u[start] += math.sqrt(size) if u[start] >= 0.0 else -math.sqrt(size)
    share = 0.0
    for j in range(start, d):
        share += u[j] * u[j]
    share = 2.0 / share
    for i in range(rows):
        _reflect(p.B[i], u, share, start, d)
    for i in range(len(p.y)):
        _reflect(p.Z[i, first:], u, share, start, d)


@kernel
def _reflect(row, u, share, start, end):
    """Reflect entries of a row from ``start`` to ``end`` along u."""
    total = 0.0
    for j in range(start, end):
        total += row[j] * u[j]
    total *= share
    for j in range(start, end):
        row[j] -= total * u[j]


@kernel
def _reflect_rows(p, rows, rank, j):
    """Reflect the rows of B (rows, rank), and r, such that column j is zero below the diagonal."""
    B, r, size = p.B, p.r, 0.0
    for i in range(j, rows):
        size += B[i, j] * B[i, j]
    head = B[j, j] + (math.sqrt(size) if B[j, j] >= 0.0 else -math.sqrt(size))
    share = size - B[j, j] * B[j, j] + head * head
    if not share > 0.0:
        return
    share = 2.0 / share
    for m in range(j + 1, rank + 1):  # the last one is r
        total = head * (B[j, m] if m < rank else r[j])
        for i in range(j + 1, rows):
            total += B[i, j] * (B[i, m] if m < rank else r[i])
        total *= share
        for i in range(j, rows):
            change = total * (head if i == j else B[i, j])
            if m < rank:
                B[i, m] -= change
            else:
                r[i] -= change
    B[j, j] -= head
    for i in range(j + 1, rows):
        B[i, j] = 0.0
