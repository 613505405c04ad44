# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Workspace of the hierarchical least squares of :mod:`~.solver.hierarchy`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector


class HierarchyWorkspace(NamedTuple):
    """A problem of c variables, K rows in levels and L inequalities, and scratch for it."""

    A: Matrix  # (K, c)
    b: Vector  # (K,)
    excess_b: Vector  # (K,) part of b that is left out as far as later levels count
    level: Integers  # (K,) 1, 2, ... ; 0: the row does not count
    C: Matrix  # (L, c)
    lower: Vector  # (L,) of C w; changed: relaxed bounds
    upper: Vector  # (L,)
    relaxation_order: Integers  # (L,) 0: relaxed last; 4 before 3
    unit: Vector  # (L,) by which what one is exceeded by counts beside others of its order
    favoured: Vector  # (c,)
    relaxed: Vector  # (L,) filled: by how much a bound is exceeded
    original_bounds: Matrix  # (2, L) scratch: the bounds as they were
    multiplier: Vector  # (L,) filled: of the last level, > 0 at a lower bound, < 0 at an upper one
    Z: Matrix  # (c, c)
    B: Matrix  # (max(K, c), c)
    r: Vector  # (max(K, c),)
    size: Vector  # (K,) of rows, squared; 0: used
    row_of: Integers  # (K,) index in A of each row of B
    task: Integers  # (K,) of rows that belong together, counted from 1; 0: no singularities
    pivot_state: Vector  # (2,) least ratio of a pivot; 1: pivots near a singularity are left out
    undamped: Vector  # (c,) the solution with all pivots, near a singularity
    work: Matrix  # (c, c) lower triangle of W, the work of w, any unit; for rows of tips
    free: Vector  # (c,) filled: w without limits
    limited: Vector  # (c,) filled: w within them, where later levels do not count
    slowed: Vector  # (c,) filled: w within them, where later levels count
    y: Vector  # (c,)
    V: Matrix  # (L, c) inequalities in whitened variables, of length one
    length: Vector  # (L,)
    inequality_values: Vector  # (L,) C w
    sign: Vector  # (L,) of active ones: 1 at the lower bound, -1 at the upper, 0: not active
    compliance: Vector  # (L,) by which active ones yield to each other; 0: firm
    order: Integers  # (L,) active ones first
    F: Matrix  # (L, L) factor
    s: Vector  # (L,)
    gap: Vector  # (L,) of active ones to their bounds, whitened
    residual: Vector  # (L,) what multipliers leave of it
    force: Vector  # (L,) multipliers in whitened variables


def allocate_hierarchy(c: int, K: int, L: int) -> HierarchyWorkspace:
    """Return a :class:`HierarchyWorkspace` for c variables, K rows and L inequalities."""
    more = max(K, c)
    vectors = 'lower', 'upper', 'compliance', 'relaxed', 'multiplier', 'length', 'sign', 's', 'gap'
    return HierarchyWorkspace(
        A=np.zeros((K, c)),
        b=np.zeros(K),
        excess_b=np.zeros(K),
        level=np.zeros(K, dtype=np.int64),
        C=np.zeros((L, c)),
        relaxation_order=np.zeros(L, dtype=np.int64),
        unit=np.ones(L),
        original_bounds=np.zeros((2, L)),
        favoured=np.zeros(c),
        Z=np.zeros((c, c)),
        B=np.zeros((more, c)),
        r=np.zeros(more),
        size=np.zeros(K),
        row_of=np.zeros(K, dtype=np.int64),
        task=np.zeros(K, dtype=np.int64),
        pivot_state=np.zeros(2),
        undamped=np.zeros(c),
        work=np.eye(c),
        free=np.zeros(c),
        limited=np.zeros(c),
        slowed=np.zeros(c),
        y=np.zeros(c),
        V=np.zeros((L, c)),
        order=np.zeros(L, dtype=np.int64),
        F=np.zeros((L, L)),
        **{name: np.zeros(L) for name in (*vectors, 'inequality_values', 'force', 'residual')},
    )
