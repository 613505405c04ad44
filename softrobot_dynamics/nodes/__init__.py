# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The ROS 2 shell: the only package that imports rclpy; everything it calls works without it."""
