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

SINGULAR = 1e-9  # pivots of the scaled H that count as zero
PULL = 1e-8  # towards what is favoured, where the scaled H is singular


class AllocationWorkspace(NamedTuple):
    """Room for an allocation of c commands."""

    scale: Vector  # (c,)
    H: Matrix  # (c, c) scaled
    L: Matrix  # (c, c) its factor: columns up to its rank
    F: Matrix  # (c, c)
    r: Vector  # (c,)
    w: Vector  # (c,)
    bounds: Matrix  # (2, c)
    left: Vector  # (c,) of the diagonal of H while it is factorised by pivots
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
        left=np.zeros(c),
        b=np.zeros(c),
        box=allocate_scratch(c),
    )


@kernel
def allocate_commands(H, r, lower, upper, favoured, w, room):
    """
    Fill w (c,), which holds the last answer: within limits the next one is looked for from there.

    Returns False, and w stays, where there is no answer to be trusted. H and r stay as they are.
    """
    c = len(r)
    if not (all_finite(r) and all_finite(favoured) and _scale(H, r, lower, upper, favoured, room)):
        return False
    if _factorise(room, SINGULAR) != 0:
        _regularise(favoured, _factorise_by_pivots(room), room)
        if _factorise(room, 0.0) != 0:
            return False
    copy(room.r, room.w)
    solve_lower(room.F, room.w)
    solve_lower_transposed(room.F, room.w)
    if not _within(room):
        for i in range(c):
            room.w[i] = w[i] / room.scale[i]
        if not _solve_in_box(room):
            return False
    for i in range(c):
        room.w[i] = min(max(room.scale[i] * room.w[i], lower[i]), upper[i])
    if not all_finite(room.w):
        return False
    copy(room.w, w)
    return True


@kernel
def _scale(H, r, lower, upper, favoured, room):
    """Fill H, r and bounds for w = scale * (scaled w); False if H is good for no command."""
    c, some = len(r), False
    for i in range(c):
        useful = 0.0 < H[i, i] < np.inf
        some |= useful
        room.scale[i] = 1.0 / math.sqrt(H[i, i]) if useful else 0.0
    for i in range(c):
        a = room.scale[i]
        for j in range(c):
            room.H[i, j] = a * room.scale[j] * H[i, j]
        room.r[i] = a * r[i]
        if a == 0.0:  # nothing comes of this one: it does what is favoured
            room.scale[i] = a = room.H[i, i] = 1.0
            room.r[i] = favoured[i]
        room.bounds[0, i], room.bounds[1, i] = lower[i] / a, upper[i] / a
    return some


@kernel
def _factorise(room, floor):
    """Fill F with the Cholesky factor of H; not 0 where a pivot is not above the floor."""
    for i in range(len(room.r)):
        for j in range(i + 1):
            room.F[i, j] = room.H[i, j]
    return cholesky(room.F, floor)


@kernel
def _factorise_by_pivots(room):
    """Fill L (c, rank) with H = L L', by the largest pivots; returns the rank."""
    H, L, left, c = room.H, room.L, room.left, len(room.r)
    for i in range(c):
        left[i] = H[i, i]
        for j in range(c):
            L[i, j] = 0.0
    for k in range(c):
        p = 0
        for i in range(c):
            if left[i] > left[p]:
                p = i
        if not left[p] > SINGULAR:
            return k
        pivot = math.sqrt(left[p])
        for i in range(c):
            total = H[i, p]
            for j in range(k):
                total -= L[i, j] * L[p, j]
            L[i, k] = total / pivot if left[i] != -np.inf else 0.0
        L[p, k] = pivot
        for i in range(c):
            left[i] -= L[i, k] * L[i, k]
        left[p] = -np.inf
    return c


@kernel
def _regularise(favoured, rank, room):
    """Keep of H and r what is within the rank; beyond it, pull towards what is favoured."""
    H, L, F, b, c = room.H, room.L, room.F, room.b[:rank], len(room.r)
    for i in range(rank):
        b[i] = 0.0
        for k in range(c):
            b[i] += L[k, i] * room.r[k]
        for j in range(i + 1):
            F[i, j] = 0.0
            for k in range(c):
                F[i, j] += L[k, i] * L[k, j]
    cholesky(F[:rank, :rank])
    solve_lower(F[:rank, :rank], b)
    solve_lower_transposed(F[:rank, :rank], b)
    for i in range(c):
        room.r[i] = PULL * favoured[i] / room.scale[i]
        for k in range(rank):
            room.r[i] += L[i, k] * b[k]
        for j in range(c):
            H[i, j] = PULL if i == j else 0.0
            for k in range(rank):
                H[i, j] += L[i, k] * L[j, k]


@kernel
def _within(room):
    for i in range(len(room.w)):
        if not room.bounds[0, i] <= room.w[i] <= room.bounds[1, i]:
            return False
    return True


@kernel
def _solve_in_box(room):
    lower, upper = room.bounds[0], room.bounds[1]
    return solve_box_qp(room.H, room.r, lower, upper, room.w, room.box) >= 0
