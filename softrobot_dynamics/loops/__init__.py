# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The control, simulation and estimation loops and what they need in real time; no ROS."""
