# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Check material points that a user asks for."""

import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.errors import ArgumentError

_LENGTH_TOLERANCE = 1e-9  # of the length


def points_along(points: Matrix, length: float) -> Matrix:
    """Return points (K, 3) [m] if 0 <= x3 <= length [m] for all of them, else ArgumentError."""
    off = np.abs(points[:, 2] / length - 0.5) > 0.5 + _LENGTH_TOLERANCE
    if off.any():
        raise ArgumentError('points', points[off][0], f'material points, 0 <= x3 <= {length} m')
    return points
