# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Numbers that kernels of several modules share."""

TINY = 1e-300  # in place of a divisor that is zero
L_STABLE_GAMMA = 1.0 - 0.5**0.5  # of the step, for a stage of SDIRK2 and of ROS2
