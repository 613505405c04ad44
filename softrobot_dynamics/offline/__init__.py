# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The control loop without ROS: the laws of the nodes on the simulator of the nodes."""
