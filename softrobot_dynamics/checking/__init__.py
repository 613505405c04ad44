# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What can be said of a robot before it moves."""
