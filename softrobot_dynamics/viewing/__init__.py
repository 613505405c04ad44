# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What a robot looks like: its surfaces and tendons in a posture, shown in a browser."""
