# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Many closed loops without ROS, with other numbers in each: where it degrades, where it fails."""
