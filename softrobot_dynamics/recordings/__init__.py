# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Records of the nodes, read without ROS."""
