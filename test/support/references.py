# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""References at a time."""

import numpy as np
from softrobot_dynamics.references.piecewise import sample


def at(reference, t):
    """Return y_d, its rate and its acceleration, (3, m)."""
    out = np.empty((3, reference.coefficients.shape[2]))
    sample(reference, float(t), out)
    return out
