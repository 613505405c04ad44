# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Count accepted and refused inputs over many trials."""

from softrobot_dynamics.errors import SoftRobotError


def outcomes(trials):
    """Run them, and return how many were taken and how many refused in words."""
    taken = refused = 0
    for trial in trials:
        try:
            trial()
            taken += 1
        except SoftRobotError as error:
            assert str(error)
            refused += 1
    return taken, refused
