# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What the source texts show, done again: systems, each with what it is checked against."""
