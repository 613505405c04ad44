# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Slow, readable models in plain numpy, with which the compiled ones must agree."""
