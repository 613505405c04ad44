# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Helpers that tests share: robots, plants, ROS nodes, records and numerical checks."""
