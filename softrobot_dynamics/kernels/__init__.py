# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Compiled building blocks that know nothing of robots."""
