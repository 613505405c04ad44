# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Numbers that kernels of several modules share."""

TINY = 1e-300  # in place of a divisor that is zero
GOLDEN_SECTION = 0.6180339887498949  # (sqrt(5) - 1) / 2
L_STABLE_GAMMA = 1.0 - 0.5**0.5  # of the step, for a stage of SDIRK2 and of ROS2
