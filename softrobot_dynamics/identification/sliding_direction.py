# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Sliding direction of each tendon before a posture was held, for its friction at rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.arguments import checked, one_of
from softrobot_dynamics.dynamics.sliding import checked_ways, WORDS
from softrobot_dynamics.errors import ArgumentError

BY_ROWS = 'rows'
_CELLS = {**WORDS, '': 0.0, '1': 1.0, '+1': 1.0, '-1': -1.0, '0': 0.0}


def read_ways(sliding: ArrayLike | str | None, commands: Matrix, least: ArrayLike = 0.0) -> Matrix:
    """
    Return the ways (P, m) in which tendons slid last, each 1 (in), -1 (out) or 0 (not known).

    ``sliding`` are these numbers; one word for all of them, as 'in'; 'rows', by the order of the
    ``commands`` (P, m), see :func:`ways_by_rows`; or None: not known. Raises ArgumentError.
    """
    if sliding is None:
        return np.zeros(commands.shape)
    if isinstance(sliding, str):
        if one_of('sliding', sliding, (*WORDS, BY_ROWS)) == BY_ROWS:
            return ways_by_rows(commands, least)
        return np.full(commands.shape, WORDS[sliding])
    ways: Matrix = checked_ways('sliding', checked('sliding', sliding, commands.shape))
    return ways


def ways_by_rows(commands: Matrix, least: ArrayLike = 0.0) -> Matrix:
    """
    Return the ways (P, m) in which tendons slid last that were commanded so one after the other.

    A command above the one before draws in, one below pays out; one that stays leaves the way as
    it was. Before the first row nothing was commanded. A way turns when a command has come back by
    more than ``least`` (m,), in its unit, from as far as it had gone, so that noise turns nothing.
    """
    way, farthest = np.zeros((2, commands.shape[1]))
    ways: list[Vector] = []
    for u in commands:
        way = np.where(u - farthest > least, 1.0, np.where(farthest - u > least, -1.0, way))
        farthest = np.where(way * (u - farthest) > 0.0, u, farthest)
        ways.append(way)
    return np.array(ways)


def ways_of(cells: Sequence[str], column: str) -> Vector:
    """Return the ways (P,) that cells of a table tell: in, out, none, 1, -1, 0; ArgumentError."""
    for i, cell in enumerate(cells):
        if cell not in _CELLS:
            raise ArgumentError(f'{column}, row {i + 1}', cell, 'in, out or none; 1, -1 or 0')
    return np.array([_CELLS[cell] for cell in cells])
