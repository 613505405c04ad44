# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Allocate commands w from H w = r within limits, H symmetric: also of mixed units, or redundant.

H is judged after scaling it to a unit diagonal, where it knows no units (a torque beside
pressures). Of a singular one the part of r that some w can meet is met, with the least change
from ``favoured``: redundant tendons neither chatter nor drift. Directions in which H is negative
are left alone like those in which it is zero. Within the limits |H^(1/2) (w - w*)|^2 is least.
"""

import math
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.box_qp import allocate_scratch, Scratch, solve_box_qp
from softrobot_dynamics.kernels.linalg import (
    all_finite,
    cholesky,
    copy,
    solve_lower,
    solve_lower_transposed,
)

PIVOT_TOLERANCE = 1e-9  # of the scaled H; smaller pivots count as zero
REGULARISATION = 1e-8  # weight of the favoured command where the scaled H is singular


class AllocationWorkspace(NamedTuple):
    """Workspace of an allocation of c commands."""

    scale: Vector  # (c,)
    H: Matrix  # (c, c) scaled
    L: Matrix  # (c, c) its factor: columns up to its rank
    F: Matrix  # (c, c)
    r: Vector  # (c,)
    w: Vector  # (c,)
    bounds: Matrix  # (2, c)
    remaining_diagonal: Vector  # (c,) of H, as far as it is not factorised by pivots
    b: Vector  # (c,)
    box: Scratch  # of a solution within the bounds


def allocate_workspace(c: int) -> AllocationWorkspace:
    """Return the :class:`AllocationWorkspace` for c commands."""
    H, L, F = np.zeros((3, c, c))
    return AllocationWorkspace(
        scale=np.zeros(c),
        H=H,
        L=L,
        F=F,
        r=np.zeros(c),
        w=np.zeros(c),
        bounds=np.zeros((2, c)),
        remaining_diagonal=np.zeros(c),
        b=np.zeros(c),
        box=allocate_scratch(c),
    )


@kernel
def allocate_commands(H, r, lower, upper, favoured, w, work):
    """
    Fill w (c,), which holds the last answer: within limits the next one is looked for from there.

    Returns False, and w stays, where there is no answer to be trusted. H and r stay as they are.
    """
    c = len(r)
    if not (all_finite(r) and all_finite(favoured) and _scale(H, r, lower, upper, favoured, work)):
        return False
    if _factorise(work, PIVOT_TOLERANCE) != 0:
        _regularise(favoured, _factorise_by_pivots(work), work)
        if _factorise(work, 0.0) != 0:
            return False
    copy(work.r, work.w)
    solve_lower(work.F, work.w)
    solve_lower_transposed(work.F, work.w)
    if not _is_within_bounds(work):
        for i in range(c):
            work.w[i] = w[i] / work.scale[i]
        if not _solve_in_box(work):
            return False
    for i in range(c):
        work.w[i] = min(max(work.scale[i] * work.w[i], lower[i]), upper[i])
    if not all_finite(work.w):
        return False
    copy(work.w, w)
    return True


@kernel
def _scale(H, r, lower, upper, favoured, work):
    """Fill H, r and bounds for w = scale * (scaled w); False if H is good for no command."""
    c, some = len(r), False
    for i in range(c):
        useful = 0.0 < H[i, i] < np.inf
        some |= useful
        work.scale[i] = 1.0 / math.sqrt(H[i, i]) if useful else 0.0
    for i in range(c):
        a = work.scale[i]
        for j in range(c):
            work.H[i, j] = a * work.scale[j] * H[i, j]
        work.r[i] = a * r[i]
        if a == 0.0:  # nothing comes of this one: it does what is favoured
            work.scale[i] = a = work.H[i, i] = 1.0
            work.r[i] = favoured[i]
        work.bounds[0, i], work.bounds[1, i] = lower[i] / a, upper[i] / a
    return some


@kernel
def _factorise(work, floor):
    """Fill F with the Cholesky factor of H; not 0 where a pivot is not above the floor."""
    for i in range(len(work.r)):
        for j in range(i + 1):
            work.F[i, j] = work.H[i, j]
    return cholesky(work.F, floor)


@kernel
def _factorise_by_pivots(work):
    """Fill L (c, rank) with H = L L', by the largest pivots; returns the rank."""
    H, L, remaining, c = work.H, work.L, work.remaining_diagonal, len(work.r)
    for i in range(c):
        remaining[i] = H[i, i]
        for j in range(c):
            L[i, j] = 0.0
    for k in range(c):
        p = 0
        for i in range(c):
            if remaining[i] > remaining[p]:
                p = i
        if not remaining[p] > PIVOT_TOLERANCE:
            return k
        pivot = math.sqrt(remaining[p])
        for i in range(c):
            total = H[i, p]
            for j in range(k):
                total -= L[i, j] * L[p, j]
            L[i, k] = total / pivot if remaining[i] != -np.inf else 0.0
        L[p, k] = pivot
        for i in range(c):
            remaining[i] -= L[i, k] * L[i, k]
        remaining[p] = -np.inf
    return c


@kernel
def _regularise(favoured, rank, work):
    """Keep of H and r what is within the rank; beyond it, pull towards what is favoured."""
    H, L, F, b, c = work.H, work.L, work.F, work.b[:rank], len(work.r)
    for i in range(rank):
        b[i] = 0.0
        for k in range(c):
            b[i] += L[k, i] * work.r[k]
        for j in range(i + 1):
            F[i, j] = 0.0
            for k in range(c):
                F[i, j] += L[k, i] * L[k, j]
    cholesky(F[:rank, :rank])
    solve_lower(F[:rank, :rank], b)
    solve_lower_transposed(F[:rank, :rank], b)
    for i in range(c):
        work.r[i] = REGULARISATION * favoured[i] / work.scale[i]
        for k in range(rank):
            work.r[i] += L[i, k] * b[k]
        for j in range(c):
            H[i, j] = REGULARISATION if i == j else 0.0
            for k in range(rank):
                H[i, j] += L[i, k] * L[j, k]


@kernel
def _is_within_bounds(work):
    for i in range(len(work.w)):
        if not work.bounds[0, i] <= work.w[i] <= work.bounds[1, i]:
            return False
    return True


@kernel
def _solve_in_box(work):
    lower, upper = work.bounds[0], work.bounds[1]
    return solve_box_qp(work.H, work.r, lower, upper, work.w, work.box) >= 0
