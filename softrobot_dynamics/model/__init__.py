# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A RobotDescription becomes flat arrays and compiled kernels: all that one robot needs."""
