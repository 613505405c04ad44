# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Check a robot before it moves."""
