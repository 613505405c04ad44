# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Outlier gates: how far off a right value may be."""

import math


def widest(probability: float, size: int) -> float:
    """Return the normalised square of so many numbers that right ones exceed no more often."""
    from scipy.special import gammaincinv  # late: scipy is slow to import

    return math.inf if probability == 1.0 else 2.0 * float(gammaincinv(0.5 * size, probability))
