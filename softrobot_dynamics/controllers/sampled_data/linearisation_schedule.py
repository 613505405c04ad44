# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Schedule of a linearisation: its work in shares, some of which each tick does.

The same ticks do the same work, so that a replay gives the same numbers.
"""

import numpy as np
from softrobot_dynamics.annotations import Integers

WORK_SHARE_TIME = 1e-3  # [s] of a period in which a tick does one share of the work, at least
CYCLE_SHARES = 32  # from one linearisation to the next, of up to some 30 coordinates
DERIVATIVE_SHARES = 26  # of them at most, in which bodies are differentiated
MAX_SHARE_MULTIPLICATIONS = 20_000  # of matrices of many coordinates, in one share
# operations of the schedule; after a pause in the next share
PAUSE, EVALUATE, DERIVATIVES, ACCUMULATE = range(4)
SET_UP, ELIMINATE, FIRST_STEP, MULTIPLY, DOUBLE, SYMMETRISE, FINISH = range(4, 11)


def schedule(n: int, modules: int) -> Integers:
    """
    Return the work of a linearisation of n coordinates, rows (what, first, last).

    What is done row by row is so of coordinates, or of the ``modules`` of a robot.
    """
    pause, rows = (PAUSE, 0, 0), _shares(n, max(1, MAX_SHARE_MULTIPLICATIONS // n**2))
    found = [(EVALUATE, 0, n)]
    for share in _shares(modules, -(-modules // DERIVATIVE_SHARES)):
        found += [pause, (DERIVATIVES, *share)]
    found += [pause, (ACCUMULATE, 0, n), pause, (SET_UP, 0, n)]
    for share in rows:
        found += [pause, (ELIMINATE, *share)]
    found.append((FIRST_STEP, 0, n))
    for _ in range(2):
        for what in (MULTIPLY, DOUBLE):
            for share in rows:
                found += [(what, *share), pause][: 1 + (share[1] < n)]
        found += [(SYMMETRISE, 0, n), pause]
    return np.array([*found, (FINISH, 0, n)])


def _shares(n: int, size: int) -> list[tuple[int, int]]:
    """Return the ranges (first, last) of ``size`` at most that make up n."""
    return [(first, min(n, first + size)) for first in range(0, n, size)]
