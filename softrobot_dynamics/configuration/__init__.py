# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parameter values become the robot, law, reference and simulator that a node runs; no ROS."""
