# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Reduce columns to coordinates where joints follow others (`mimic`).

The columns x = E q of a robot (:mod:`softrobot_dynamics.recursion.passes`) are copies of its
coordinates, so that a matrix A_x of second derivatives along x becomes E^T A_x E along q.
"""

import numpy as np
from softrobot_dynamics.annotations import Array
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.recursion.passes import Robot


def folded(robot: Robot, columns: Array) -> Array:
    """Return an array (., n_x) by columns as that (., n) by coordinates, those of one added."""
    n = int(robot.coordinates.max()) + 1
    if n == len(robot.coordinates):
        return columns
    found: Array = columns @ np.eye(n)[robot.coordinates]
    return found


@kernel
def add_folded(coordinates, columns, folded):
    """
    Add to ``folded`` the entries of ``columns``, those along one coordinate together.

    ``coordinates`` (n_x,) of the columns; ``columns`` (n_x, b n_x) are b blocks side by side that
    become those of ``folded`` (n, b n).
    """
    n_x, n = len(columns), len(folded)
    for a in range(n_x):
        i = coordinates[a]
        for c in range(columns.shape[1]):
            folded[i, c // n_x * n + coordinates[c % n_x]] += columns[a, c]
