# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Bounds of the law `task`: inequalities that it keeps, one file for each kind."""
