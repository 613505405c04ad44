# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A robot file becomes a RobotDescription; nothing is computed yet."""
