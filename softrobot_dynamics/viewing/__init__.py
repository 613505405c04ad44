# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Show a robot: its surfaces and tendons in a posture, in a browser."""
