# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Limits that the law `task` keeps beside those of the actuators, one file for each kind."""
